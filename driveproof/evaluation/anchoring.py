"""Does seeing the outcome change the reasons? One teacher, two prompts that differ in one block (DEFT-RLVR, section 2 and B.1).

The causal arm gets turn 1 as it is, the anchored arm the same bytes with the ten logged waypoints between the scene and the
instructions. Neither prompt asks to justify a known action.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput
from driveproof.evaluation.cfs import CfsJudge
from driveproof.evaluation.cfs_table import CfsReport, report_cfs
from driveproof.evaluation.facts import SceneFacts
from driveproof.evaluation.mcq import AnswerTable, tabulate
from driveproof.evaluation.statistics import (
    Estimate,
    bootstrap_mean,
    mean_over_repeats,
    paired_difference,
)
from driveproof.files import atomic_dir, write_json
from driveproof.geometry.arrays import Float
from driveproof.mcq import McqItem
from driveproof.mcq.answers import write_answers
from driveproof.mcq.interaction import Answer
from driveproof.policy import ChatPolicy, ChatReply, ChatRequest, derive_seed
from driveproof.prompts import Message, PromptStyle, parse_decision, scene_messages, shown_images
from driveproof.scene import FUTURE_TIMES

ARMS = ("causal", "anchored")
_COMMAND = re.compile(r"^(?:- navigation )?command:? \w+$", re.MULTILINE)
Progress = Callable[[int], None]


@dataclass(frozen=True)
class AnchoringSettings:
    """How the teacher is asked: wording, repeats, sampling. Both arms of a repeat have the same seed."""

    style: PromptStyle
    repeats: int = 1
    temperature: float = 0.6
    top_p: float = 0.95
    max_tokens: int = 2048
    seed: int = 0
    chunk: int = 64


@dataclass(frozen=True)
class Effect:
    """One figure in both arms, and anchored minus causal, paired by question."""

    causal: Estimate
    anchored: Estimate
    difference: Estimate


@dataclass(frozen=True)
class AnchoringReport:
    """What the block changes.

    Attributes
    ----------
    items, repeats
        Questions, and how often each arm was asked.
    cfs, axes
        Normalised CFS and its four axes.
    severe
        Share of texts in which the judge finds something made up.
    hld
        Consistency of the decision with the log: what the block gives away.
    by_class
        CFS by drive class.
    arms
        The judge's report of each arm, with lost counts.
    """

    items: int
    repeats: int
    cfs: Effect
    axes: dict[str, Effect]
    severe: Effect
    hld: Effect
    by_class: dict[str, Effect]
    arms: dict[str, CfsReport]


def future_block(item: McqItem, style: PromptStyle) -> str:
    """The inserted block: the logged future as ten raw waypoints, ego frame, metres."""
    points = " ".join(f"{x:.{style.decimals}f},{y:.{style.decimals}f}" for x, y in item.waypoints)
    if style.verbosity == "compact":
        return f"\nfuture {points}"
    times = ", ".join(f"{t:.1f}" for t in FUTURE_TIMES)
    return f"\n\nLOGGED FUTURE\nPositions x,y of the ego vehicle at {times} s: {points}"


def arm_messages(item: McqItem, style: PromptStyle, *, anchored: bool) -> list[Message]:
    """The prompt of an arm; the anchored one is the causal one with one block more.

    Raises
    ------
    ValueError
        If the template does not end the scene with its command line.
    """
    messages = scene_messages(item.observation, style)
    if not anchored:
        return messages
    part = messages[-1]["content"][-1]
    places = list(_COMMAND.finditer(part["text"]))
    if len(places) != 1:
        raise ValueError(f"scene template: {len(places)} command lines")
    end = places[0].end()
    text = part["text"][:end] + future_block(item, style) + part["text"][end:]
    content = [*messages[-1]["content"][:-1], {**part, "text": text}]
    return [*messages[:-1], {**messages[-1], "content": content}]


def ask_arms(
    teacher: ChatPolicy,
    items: Sequence[McqItem],
    settings: AnchoringSettings,
    progress: Progress | None = None,
) -> dict[str, list[Answer]]:
    """The turn-1 answers of both arms by arm, in the order (item, repeat)."""
    jobs = [
        (arm, item, repeat) for item in items for repeat in range(settings.repeats) for arm in ARMS
    ]
    answers: dict[str, list[Answer]] = {arm: [] for arm in ARMS}
    for start in range(0, len(jobs), settings.chunk):
        part = jobs[start : start + settings.chunk]
        replies = teacher.reply([_request(arm, item, r, settings) for arm, item, r in part])
        for (arm, item, repeat), reply in zip(part, replies, strict=True):
            answers[arm].append(_answer(item, repeat, reply))
        if progress:
            progress(len(part))
    return answers


def _request(arm: str, item: McqItem, repeat: int, settings: AnchoringSettings) -> ChatRequest:
    return ChatRequest(
        arm_messages(item, settings.style, anchored=arm == "anchored"),
        [image.ref for image in shown_images(item.observation, settings.style)],
        max_tokens=settings.max_tokens,
        temperature=settings.temperature,
        top_p=settings.top_p,
        seed=derive_seed(settings.seed, item.record_key, item.variant, repeat),
    )


def _answer(item: McqItem, repeat: int, reply: ChatReply) -> Answer:
    return Answer(
        record_key=item.record_key,
        repeat=repeat,
        mode="deft",
        turn1=reply.text,
        decision=parse_decision(reply.text),
        reason="not_asked",
        error=reply.error,
        variant=item.variant,
        usage=reply.usage,
    )


def report_anchoring(
    items: Sequence[McqItem],
    answers: Mapping[str, Sequence[Answer]],
    judge: CfsJudge,
    *,
    facts: Mapping[str, SceneFacts] | None = None,
    seed: int = 0,
) -> AnchoringReport:
    """Judge both arms and compare; intervals are bootstraps over drives, a question lost in one arm is lost to the difference."""
    if not items:
        raise BadInput("no questions to ask")
    tables = {arm: tabulate(items, answers[arm]) for arm in ARMS}
    arms: dict[str, CfsReport] = {}
    values: dict[str, dict[str, Float]] = {}
    for arm, table in tables.items():
        arms[arm], values[arm] = report_cfs(table, judge, seed, facts=facts)
    scenes = [item.scene_key for item in items]

    def effect(causal: Float, anchored: Float, rows: Sequence[int] | None = None) -> Effect:
        kept = range(len(items)) if rows is None else rows
        one, other = (mean_over_repeats(v[list(kept)]) for v in (causal, anchored))
        names = [scenes[n] for n in kept]
        return Effect(
            bootstrap_mean(one, seed, clusters=names),
            bootstrap_mean(other, seed, clusters=names),
            paired_difference(other, one, seed, clusters=names),
        )

    def both(name: str) -> tuple[Float, Float]:
        return values["causal"][name], values["anchored"][name]

    classes = sorted({item.drive_class for item in items})
    clean, tainted = both("no_hallucination")
    return AnchoringReport(
        items=len(items),
        repeats=_repeats(tables),
        cfs=effect(*both("score")),
        axes={name: effect(*both(name)) for name in arms["causal"].axes},
        severe=effect(1.0 - clean, 1.0 - tainted),
        hld=effect(tables["causal"].consistent, tables["anchored"].consistent),
        by_class={
            name: effect(*both("score"), [n for n, i in enumerate(items) if i.drive_class == name])
            for name in classes
        },
        arms=arms,
    )


def _repeats(tables: Mapping[str, AnswerTable]) -> int:
    return max(int(table.correct.shape[1]) for table in tables.values())


def write_anchoring(
    report: AnchoringReport,
    answers: Mapping[str, Sequence[Answer]],
    settings: Mapping[str, Any],
    directory: str | Path,
) -> None:
    """Write summary.json and answers.parquet (runs "causal" and "anchored"); both or none."""
    with atomic_dir(directory) as folder:
        write_json(folder / "summary.json", {**asdict(report), "settings": dict(settings)})
        write_answers(answers, folder / "answers.parquet")
