"""Making the rubrics of many scenes: the generator that parameters name, and what it could not do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from driveproof.config.rubrics import RubricsParams
from driveproof.errors import BadInput, Unreachable
from driveproof.evaluation.facts import SceneFacts
from driveproof.files import atomic_dir, write_json
from driveproof.policy import ChatPolicy, PolicySettings, open_policy
from driveproof.prompts import STYLES
from driveproof.rewards.rubric_model import ModelGenerator
from driveproof.rewards.rubric_offline import offline_rubric
from driveproof.rewards.rubrics import Rubric, write_rubrics
from driveproof.scene import Observation

Progress = Callable[[int], None]
"""Called with the number of scenes that were just finished."""


@dataclass(frozen=True)
class RubricSet:
    """Rubrics in the order of the scenes, and record key -> why there is none."""

    rubrics: list[Rubric]
    lost: dict[str, str]


def make_rubrics(
    observations: Sequence[Observation],
    facts: Mapping[str, SceneFacts],
    params: RubricsParams,
    *,
    seed: int = 0,
    image_root: str = ".",
    cache_dir: str | None = None,
    progress: Progress | None = None,
) -> RubricSet:
    """One rubric a scene. Neither argument can tell the future or the candidates.

    Parameters
    ----------
    observations
        What the policy sees; a scene that stands twice (in several questions) has one rubric.
    facts
        Record key -> facts, for the offline generator.

    Raises
    ------
    BadInput
        If the generator cannot be opened.
    """
    scenes = list({o.record_key: o for o in observations}.values())
    generate = _generator(params, facts, seed, image_root, cache_dir)
    offline = params.generator == "offline"
    rubrics, lost = [], {}
    with ThreadPoolExecutor(1 if offline else params.concurrency) as pool:
        for scene, made in zip(scenes, pool.map(generate, scenes), strict=True):
            if isinstance(made, Rubric):
                rubrics.append(made)
            else:
                lost[scene.record_key] = made
            if progress:
                progress(1)
    return RubricSet(rubrics, lost)


def some_rubrics(made: RubricSet) -> RubricSet:
    """The set itself.

    Raises
    ------
    Unreachable
        If every rubric was lost: an empty table would pass for a result.
    """
    if made.lost and not made.rubrics:
        raise Unreachable(f"no rubric could be made: {next(iter(made.lost.values()))}")
    return made


def _generator(
    params: RubricsParams,
    facts: Mapping[str, SceneFacts],
    seed: int,
    image_root: str,
    cache_dir: str | None,
) -> Callable[[Observation], Rubric | str]:
    if params.generator == "offline":

        def from_facts(observation: Observation) -> Rubric | str:
            known = facts.get(observation.record_key)
            return offline_rubric(known) if known else "no facts of this scene"

        return from_facts
    settings = PolicySettings(
        image_root=image_root,
        timeout_s=params.timeout_s,
        attempts=params.attempts,
        concurrency=params.concurrency,
        cache_dir=cache_dir,
    )
    policy = open_policy(params.generator, settings)
    if not isinstance(policy, ChatPolicy):
        raise BadInput(
            f"cannot write rubrics: {params.generator}", hint="offline or openai:URL#MODEL"
        )
    style = replace(STYLES[params.style], frames=params.frames)
    return ModelGenerator(
        policy,
        style,
        attempts=params.attempts,
        temperature=params.temperature,
        top_p=params.top_p,
        max_tokens=params.max_tokens,
        seed=seed,
    ).generate


def summary_of(made: RubricSet) -> dict[str, Any]:
    """How many rubrics, criteria and kinds; how many were lost and why."""
    rubrics = made.rubrics
    kinds = Counter(c.kind for r in rubrics for c in r.criteria)
    return {
        "rubrics": len(rubrics),
        "lost": len(made.lost),
        "reasons": dict(sorted(Counter(made.lost.values()).items())),
        "versions": sorted({r.version for r in rubrics}),
        "generators": sorted({r.generator for r in rubrics}),
        "criteria": dict(sorted(Counter(str(len(r.criteria)) for r in rubrics).items())),
        "kinds": dict(sorted(kinds.items())),
        "named_by_expert": sum("(" in c.text for r in rubrics for c in r.criteria),
    }


def write_rubric_set(made: RubricSet, directory: str | Path, name: str = "train") -> None:
    """Write ``NAME.parquet``, ``lost.json`` and ``summary.json`` into a folder; all of them or none."""
    with atomic_dir(directory) as folder:
        write_rubrics(made.rubrics, folder / f"{name}.parquet")
        write_json(folder / "lost.json", made.lost)
        write_json(folder / "summary.json", summary_of(made))
