"""Every method of the paper's tables 1 to 3 as scores of clips: a method is a name, what it is, and its scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from driveproof.judge.ask import Answers
from driveproof.judge.classifier import Embedding, GateClassifier, LabelClassifier, pixels_of
from driveproof.judge.clips import Clip, Pair
from driveproof.judge.gates import Gates
from driveproof.judge.score import Reading, judge_pair, judge_score
from driveproof.policy import derive_seed
from driveproof.policy.pictures import Pictures

Scores = dict[str, float | None]
"""Clip key -> score, None where unscored."""


@dataclass(frozen=True)
class Method:
    """One row of the tables.

    Attributes
    ----------
    name
        As the tables call it.
    vlm, tools, tuned
        Whether a vision-language model looks, rules are computed, and anything was fitted to labels (table 3).
    scores
        By clip key; higher is better.
    gates
        By clip key, for methods that gate.
    quality
        Whether the scores can classify driving quality; ADE and FDE cannot (higher is nearer to a demonstration).
    counts
        What was asked, unreadable and lost, for methods that ask a model.
    """

    name: str
    vlm: bool
    tools: bool
    tuned: bool
    scores: Scores
    gates: Mapping[str, Gates | None] | None = None
    quality: bool = True
    counts: Mapping[str, Any] = field(default_factory=dict)


def random_method(clips: Sequence[Clip], seed: int) -> Method:
    """Uniform scores, a function of seed and clip."""
    scores: Scores = {
        clip.key: derive_seed(seed, "random judge", clip.key) / (1 << 31) for clip in clips
    }
    return Method("Random", False, False, False, scores)


def displacement_methods(clips: Sequence[Clip]) -> list[Method]:
    """ADE and FDE to the demonstration, negated; unscored where there is none."""
    ade = {clip.key: None if clip.ade is None else -clip.ade for clip in clips}
    fde = {clip.key: None if clip.fde is None else -clip.fde for clip in clips}
    return [
        Method("ADE", False, False, False, ade, quality=False),
        Method("FDE", False, False, False, fde, quality=False),
    ]


def epdms_method(clips: Sequence[Clip]) -> Method:
    """EPDMS as it is."""
    return Method("EPDMS", False, True, False, {clip.key: clip.epdms for clip in clips})


def direct_method(name: str, answers: Answers, *, tuned: bool) -> Method:
    """A model's own score of the driving."""
    return Method(name, True, False, tuned, dict(answers.scores), counts=_counts(answers))


def judge_method(
    name: str, clips: Sequence[Clip], answers: Answers, reading: Reading, *, tuned: bool
) -> Method:
    """DriveJudge: a model's gates on the rules (equation 14)."""
    return _gated(
        name, clips, answers.gates, reading, vlm=True, tuned=tuned, counts=_counts(answers)
    )


def oracle_method(clips: Sequence[Clip], gates: Mapping[str, Gates], reading: Reading) -> Method:
    """The ceiling: the gates that the labels themselves imply. Not a method, it knows the label."""
    return _gated("gates of the labels (ceiling)", clips, gates, reading, vlm=False, tuned=True)


def classifier_methods(
    train: Sequence[Clip],
    clips: Sequence[Clip],
    thresholds: Mapping[str, float],
    reading: Reading,
    pictures: Pictures,
    *,
    frames: int,
    components: int,
    seed: int,
) -> list[Method]:
    """Non-VLM and Non-VLM-Agent: logistic regression on the pictures, of labels and of gates."""
    labelled = [clip for clip in train if clip.label is not None]
    pixels = pixels_of(labelled, pictures, frames)
    embed = Embedding.fit(pixels, components, seed)
    known, asked = embed(pixels), embed(pixels_of(clips, pictures, frames))

    labels = np.array([bool(clip.label) for clip in labelled])
    direct = LabelClassifier(known, labels).scores(asked)
    scores: Scores = {clip.key: float(value) for clip, value in zip(clips, direct, strict=True)}
    gates = GateClassifier(known, labelled, thresholds).gates(asked)
    by_key = {clip.key: gate for clip, gate in zip(clips, gates, strict=True)}
    return [
        Method("Supervised classifier", False, False, True, scores),
        _gated("Classifier agent", clips, by_key, reading, vlm=False, tuned=True),
    ]


def pair_scores(
    method: Method, pairs: Sequence[Pair], clips: Mapping[str, Clip], reading: Reading
) -> tuple[list[float | None], list[float | None]]:
    """Scores of first and second of each pair; with shared gates, those of methods that gate are computed anew."""
    firsts: list[float | None] = []
    seconds: list[float | None] = []
    for pair in pairs:
        a, b = method.scores.get(pair.first), method.scores.get(pair.second)
        if reading.shared and method.gates is not None:
            both = (method.gates.get(pair.first), method.gates.get(pair.second))
            if both[0] is not None and both[1] is not None:
                rules = (clips[pair.first].rules, clips[pair.second].rules)
                verdicts = judge_pair(rules, (both[0], both[1]), reading)
                a, b = (verdict.score for verdict in verdicts)
        firsts.append(a)
        seconds.append(b)
    return firsts, seconds


def _gated(
    name: str,
    clips: Sequence[Clip],
    gates: Mapping[str, Gates | None] | Mapping[str, Gates],
    reading: Reading,
    *,
    vlm: bool,
    tuned: bool,
    counts: Mapping[str, Any] | None = None,
) -> Method:
    scores: Scores = {}
    for clip in clips:
        gate = gates.get(clip.key)
        scores[clip.key] = None if gate is None else judge_score(clip.rules, gate, reading).score
    return Method(name, vlm, True, tuned, scores, dict(gates), counts=counts or {})


def _counts(answers: Answers) -> dict[str, Any]:
    return {
        "asked": answers.asked,
        "invalid": dict(sorted(answers.invalid.items())),
        "lost": dict(sorted(answers.lost.items())),
    }
