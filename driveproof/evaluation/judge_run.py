"""Running the judge benches: every method on the test clips and pairs, and the files that come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.judge import JudgeEvaluateParams
from driveproof.errors import BadInput
from driveproof.evaluation.judge_methods import (
    Method,
    classifier_methods,
    direct_method,
    displacement_methods,
    epdms_method,
    judge_method,
    oracle_method,
    pair_scores,
    random_method,
)
from driveproof.evaluation.judge_metrics import (
    by_group,
    perfect_match,
    quality,
    selection,
)
from driveproof.evaluation.statistics import Estimate
from driveproof.geometry.arrays import Float
from driveproof.judge.ask import Answers, Asking, ask
from driveproof.judge.clips import Clip, Pair
from driveproof.judge.gates import Gates, gate_labels
from driveproof.judge.prompt import JudgeStyle, Task, judge_hash
from driveproof.judge.score import Reading
from driveproof.judge.scripted.stats import mined
from driveproof.judge.thresholds import Sweep, sweep_thresholds
from driveproof.policy import ChatPolicy, PolicySettings, open_policy
from driveproof.policy.pictures import Pictures

Progress = Callable[[str, int, int], None]
"""Called with what is asked, how many answers are in, of how many."""


@dataclass(frozen=True)
class JudgeBench:
    """Results: the methods, what they reached, and what it rests on.

    ``quality`` (mined clips), ``quality_all`` (all test clips), ``selection`` (contested pairs: the preferred trajectory
    scores low on a rule) and ``selection_all`` (all test pairs) are by method name and measure; ``perfect`` by method
    that gates.
    """

    methods: list[Method]
    quality: dict[str, dict[str, Estimate]]
    quality_all: dict[str, dict[str, Estimate]]
    selection: dict[str, dict[str, Estimate]]
    selection_all: dict[str, dict[str, Estimate]]
    perfect: dict[str, Estimate]
    kinds: dict[str, dict[str, dict[str, Any]]]
    sweep: Sweep
    counts: dict[str, int]
    settings: dict[str, Any]
    label_sources: dict[str, int]


def reading_of(params: JudgeEvaluateParams) -> Reading:
    """The reading of equation 14 that the parameters ask for."""
    return Reading(params.empty, params.hard_gates, params.shared, params.unasked)


def run_benches(
    params: JudgeEvaluateParams,
    clips: Sequence[Clip],
    pairs: Sequence[Pair],
    thresholds: Mapping[str, float],
    seed: int,
    *,
    root: str | Path = ".",
    cache_dir: str | Path | None = None,
    progress: Progress = lambda what, done, total: None,
) -> JudgeBench:
    """Score the test clips by every method and measure both benches.

    Raises
    ------
    BadInput
        If there is no labelled test clip, or a policy does not talk.
    """
    pictures = Pictures(root)
    test, chosen = draw_test(clips, pairs, params.max_settings, seed)
    train = [clip for clip in clips if clip.split == "train" and clip.label is not None]
    reading = reading_of(params)
    truth = {clip.key: gate_labels(clip.criteria, bool(clip.label), thresholds) for clip in test}
    methods = [random_method(test, seed), *displacement_methods(test), epdms_method(test)]
    models: dict[str, Any] = {}
    for spec, tuned in [
        *((s, False) for s in params.zero_shot),
        *((s, True) for s in params.judges),
    ]:
        policy = open_judge(spec, params, seed, root)
        models[spec] = policy.identity()
        answers = {
            task: ask_judge(policy, test, task, params, seed, pictures, cache_dir, progress)
            for task in ("score", "gate")
        }
        label = f"{policy.name}, {'trained' if tuned else 'zero-shot'}"
        methods.append(direct_method(f"Direct score ({label})", answers["score"], tuned=tuned))
        methods.append(
            judge_method(f"DriveJudge ({label})", test, answers["gate"], reading, tuned=tuned)
        )
    if train:
        methods += classifier_methods(
            train, test, thresholds, reading, pictures,
            frames=params.frames, components=params.components, seed=seed,
        )  # fmt: skip
    methods.append(oracle_method(test, truth, reading))
    low = [clip for clip in test if mined(clip, thresholds)]
    by_key = {clip.key: clip for clip in test}
    disputed = [pair for pair in chosen if contested(pair, by_key, thresholds)]
    style = JudgeStyle(params.style, params.frames)
    return JudgeBench(
        methods=methods,
        quality=_qualities(methods, low, params, seed),
        quality_all=_qualities(methods, test, params, seed),
        selection=_selections(methods, test, disputed, reading, seed),
        selection_all=_selections(methods, test, chosen, reading, seed),
        perfect=_perfect(methods, low, truth, seed),
        kinds={
            method.name: by_group(
                method.scores,
                {clip.key: bool(clip.label) for clip in test},
                {clip.key: clip.kind for clip in test},
                params.cuts[len(params.cuts) // 2],
            )
            for method in methods
            if method.quality
        },
        sweep=sweep_thresholds(train or test, thresholds, reading=reading),
        counts={
            "test_clips": len(test), "mined_clips": len(low), "pairs": len(chosen),
            "contested_pairs": len(disputed),
            "train_clips": len(train), "places": len({clip.place for clip in test}),
        },
        settings={
            "seed": seed, "judge_hash": judge_hash(style), "reading": asdict(reading),
            "params": params.model_dump(mode="json"), "thresholds": dict(thresholds), "models": models,
        },
        label_sources={
            source: sum(clip.label_source == source for clip in test)
            for source in sorted({clip.label_source for clip in test})
        },
    )  # fmt: skip


def open_judge(
    spec: str, params: JudgeEvaluateParams, seed: int, root: str | Path = "."
) -> ChatPolicy:
    """The policy ``spec``; BadInput if it does not talk."""
    settings = PolicySettings(
        seed=seed, image_root=str(root), batch_size=params.batch_size, threads=params.threads,
        timeout_s=params.timeout_s, attempts=params.attempts, concurrency=params.concurrency,
    )  # fmt: skip
    policy = open_policy(spec, settings)
    if not isinstance(policy, ChatPolicy):
        raise BadInput("does not talk, so it cannot judge", field=spec)
    return policy


def contested(pair: Pair, clips: Mapping[str, Clip], thresholds: Mapping[str, float]) -> bool:
    """Whether the preferred trajectory of a pair scores low on a rule; ``clips`` by key."""
    return mined(clips[pair.first if pair.preferred == "A" else pair.second], thresholds)


def draw_test(
    clips: Sequence[Clip], pairs: Sequence[Pair], most: int, seed: int
) -> tuple[list[Clip], list[Pair]]:
    """The labelled test clips of at most ``most`` settings, and the pairs among them; BadInput without any clip."""
    test = [clip for clip in clips if clip.split == "test" and clip.label is not None]
    if not test:
        raise BadInput("no labelled test clip")
    names = sorted({clip.setting for clip in test})
    if len(names) > most:
        rows = np.random.default_rng(seed).choice(len(names), most, replace=False)
        names = [names[int(row)] for row in sorted(rows)]
    kept = set(names)
    test = [clip for clip in test if clip.setting in kept]
    keys = {clip.key for clip in test}
    return test, [pair for pair in pairs if {pair.first, pair.second} <= keys]


def ask_judge(
    policy: ChatPolicy,
    clips: Sequence[Clip],
    task: Task,
    params: JudgeEvaluateParams,
    seed: int,
    pictures: Pictures,
    cache_dir: str | Path | None,
    progress: Progress,
) -> Answers:
    """Ask about clips as the parameters say, gates or scores; ``progress`` is told how far it is."""
    asking = Asking(
        JudgeStyle(params.style, params.frames), params.repeats, params.temperature, params.top_p,
        params.max_tokens, seed,
    )  # fmt: skip
    done, total = 0, len(clips) * params.repeats

    def count(answers: int) -> None:
        nonlocal done
        done += answers
        progress(f"{policy.name}: {task}", done, total)

    return ask(policy, clips, task, asking, pictures=pictures, cache_dir=cache_dir, progress=count)


def scores_of(method: Method, clips: Sequence[Clip]) -> Float:
    """Scores ``[N]`` of clips, NaN where unscored."""
    scores = [method.scores.get(clip.key) for clip in clips]
    return np.array([np.nan if score is None else score for score in scores])


def _qualities(
    methods: Sequence[Method], clips: Sequence[Clip], params: JudgeEvaluateParams, seed: int
) -> dict[str, dict[str, Estimate]]:
    if not clips:
        return {}
    labels = np.array([bool(clip.label) for clip in clips])
    places = [clip.place for clip in clips]
    return {
        method.name: quality(scores_of(method, clips), labels, places, params.cuts, seed)
        for method in methods
        if method.quality
    }


def _selections(
    methods: Sequence[Method],
    clips: Sequence[Clip],
    pairs: Sequence[Pair],
    reading: Reading,
    seed: int,
) -> dict[str, dict[str, Estimate]]:
    by_key = {clip.key: clip for clip in clips}
    wanted, places = [pair.preferred for pair in pairs], [pair.place for pair in pairs]
    found = {}
    for method in methods:
        firsts, seconds = pair_scores(method, pairs, by_key, reading)
        found[method.name] = selection(firsts, seconds, wanted, places, seed, reading.margin)
    return found


def _perfect(
    methods: Sequence[Method], clips: Sequence[Clip], truth: Mapping[str, Gates], seed: int
) -> dict[str, Estimate]:
    places = [clip.place for clip in clips]
    return {
        method.name: perfect_match(
            [method.gates.get(clip.key) for clip in clips],
            [truth[clip.key] for clip in clips],
            places,
            seed,
        )
        for method in methods
        if method.gates is not None and clips
    }
