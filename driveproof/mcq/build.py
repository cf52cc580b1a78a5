"""From scenes and a codebook to the questions of the three splits (DEFT-RLVR, appendix D.1)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import McqParams
from driveproof.errors import BadInput
from driveproof.geometry.kinematics import constant_velocity
from driveproof.mcq.candidates import (
    Options,
    Rejected,
    Vocabulary,
    record_rng,
    structured_options,
    uniform_options,
)
from driveproof.mcq.classes import HARD_CAUSAL, DriveClass, classify, heading_of, motion_of
from driveproof.mcq.items import McqItem
from driveproof.scene import FUTURE_TIMES, Scene

SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class Candidate:
    """A scene that may become a question.

    ``gap`` ranks it; ``oracle`` is the code nearest to the logged future, ``inertial`` that nearest to
    going on at the recorded velocity.
    """

    scene: Scene
    drive_class: DriveClass
    heading: str
    gap: float
    oracle: int
    inertial: int


@dataclass
class SplitResult:
    """The questions of a split and what became of every scene that gave none, by reason."""

    split: str
    scenes: int
    items: list[McqItem] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)


def candidates_of(
    scenes: Sequence[Scene], codebook: TrajectoryCodebook, params: McqParams
) -> list[Candidate]:
    """Classify and quantise scenes."""
    if not scenes:
        return []
    oracles = codebook.encode(np.stack([scene.waypoints for scene in scenes]))
    velocities = np.stack([scene.velocity for scene in scenes])
    inertials = codebook.encode(constant_velocity(velocities, FUTURE_TIMES))
    found = []
    for scene, oracle, inertial in zip(scenes, oracles.tolist(), inertials.tolist(), strict=True):
        motion = motion_of(scene)
        drive_class = classify(motion, params.classes, scene.source)
        heading = heading_of(motion, params.classes)
        found.append(Candidate(scene, drive_class, heading, motion.gap, oracle, inertial))
    return found


def build_splits(
    scenes: Iterable[Scene],
    splits: Mapping[str, str],
    vocabulary: Vocabulary,
    params: McqParams,
    seed: int,
    on_progress: Callable[[str], None] = lambda split: None,
) -> dict[str, SplitResult]:
    """Build the questions of train, dev and test.

    Parameters
    ----------
    scenes
        In any order; the result is ordered by record key.
    splits
        Scene key -> "train", "dev" or "test".

    Raises
    ------
    BadInput
        If a drive has no split or two scenes have one record key.
    """
    by_split: dict[str, list[Scene]] = {split: [] for split in SPLITS}
    seen: set[str] = set()
    for scene in sorted(scenes, key=lambda scene: scene.record_key):
        if scene.scene_key not in splits:
            raise BadInput("drive without a split", field=scene.scene_key)
        if scene.record_key in seen:
            raise BadInput("two scenes of one record key", field=scene.record_key)
        seen.add(scene.record_key)
        by_split[splits[scene.scene_key]].append(scene)
    results = {}
    for split, members in by_split.items():
        on_progress(split)
        found = candidates_of(members, vocabulary.codebook, params)
        build = _build_train if split == "train" else _build_hard
        results[split] = build(split, found, vocabulary, params, seed)
    return results


def _build_train(
    split: str, found: list[Candidate], vocabulary: Vocabulary, params: McqParams, seed: int
) -> SplitResult:
    """The natural distribution: all scenes, or a random draw of ``max_train`` of them."""
    result = SplitResult(split, len(found), classes=Counter(c.drive_class.value for c in found))
    if params.max_train is not None and len(found) > params.max_train:
        order = record_rng(seed, split, "scenes").permutation(len(found))[: params.max_train]
        result.rejected["not_drawn"] = len(found) - params.max_train
        found = [found[i] for i in sorted(order)]
    for candidate in found:
        rng = record_rng(seed, candidate.scene.record_key)
        try:
            options = uniform_options(
                vocabulary, candidate.oracle, params.train_band, params.distractors, rng
            )
        except Rejected as error:
            result.rejected[error.reason] += 1
        else:
            result.items.append(make_item(candidate, split, options, vocabulary))
    return result


def _build_hard(
    split: str, found: list[Candidate], vocabulary: Vocabulary, params: McqParams, seed: int
) -> SplitResult:
    """The hardest scenes of the hard-causal classes.

    Within each source and class (dev), or source, class and direction (test), scenes are taken in order of
    the gap between the log and constant velocity until ``top_per_class`` have given a question.
    """
    result = SplitResult(split, len(found), classes=Counter(c.drive_class.value for c in found))
    groups: dict[tuple[str, ...], list[Candidate]] = defaultdict(list)
    for candidate in found:
        if candidate.drive_class not in HARD_CAUSAL:
            result.rejected[f"class_{candidate.drive_class.value}"] += 1
            continue
        key = (candidate.scene.source, candidate.drive_class.value)
        groups[(*key, candidate.heading) if split == "test" else key].append(candidate)
    for _, group in sorted(groups.items()):
        kept = 0
        for candidate in sorted(group, key=lambda c: (-c.gap, c.scene.record_key)):
            if kept == params.top_per_class:
                result.rejected["beyond_top_of_class"] += 1
                continue
            try:
                options = _structured(candidate, vocabulary, params, seed)
            except Rejected as error:
                result.rejected[error.reason] += 1
            else:
                result.items.append(make_item(candidate, split, options, vocabulary))
                kept += 1
    result.items.sort(key=lambda item: item.record_key)
    return result


def _structured(
    candidate: Candidate, vocabulary: Vocabulary, params: McqParams, seed: int
) -> Options:
    return structured_options(
        vocabulary,
        candidate.oracle,
        candidate.inertial,
        params.eval_band,
        params.distractors,
        params.scale_matched,
        params.scale_tolerance,
        record_rng(seed, candidate.scene.record_key),
    )


def make_item(
    candidate: Candidate, split: str, options: Options, vocabulary: Vocabulary, variant: str = ""
) -> McqItem:
    """The question of a scene with given options."""
    scene = candidate.scene
    return McqItem(
        record_key=scene.record_key,
        scene_key=scene.scene_key,
        split=split,
        source=scene.source,
        situation=scene.situation,
        drive_class=candidate.drive_class.value,
        observation=scene.observe(),
        waypoints=scene.waypoints,
        options=vocabulary.codebook.decode(options.codes),
        option_codes=options.codes,
        option_kinds=options.kinds,
        similarities=options.similarities,
        oracle_index=options.oracle_index,
        variant=variant,
    )
