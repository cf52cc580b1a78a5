"""What a judge is asked: which of the seven criteria apply, or, as a baseline, how good the driving is.

The questions follow DriveJudge, appendices A.1 and A.3, in our own words. They hold nothing of the clip: all that a
judge can know of it is in the pictures, so no text can give a label away.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any, Literal

from driveproof.judge.criteria import CRITERIA

Task = Literal["gate", "score"]
APPLY, WAIVE = "apply", "waive"
"""The two labels: the criterion counts here, or circumstances excuse breaking it."""

_WORDS = {0: "no", 1: "one", 2: "two", 3: "three", 4: "four"}
_MEANING = {
    "LK": "lane keeping. Low when the car's centre stays away from the middle of its lane. Passing an obstacle, leaving "
    "room for somebody beside the lane, a closed lane or a long vehicle's turn can make that right.",
    "DDC": "driving direction. Low when the car drives where traffic comes towards it. Passing something that blocks "
    "the lane, or a detour, can require it.",
    "DAC": "drivable area. Low when a corner of the car leaves the roadway. A detour round works, or making room for an "
    "ambulance, can require it.",
    "TTC": "time to collision. Low when keeping speed and heading would soon end at somebody ahead. It matters whenever "
    "anybody is near, unless somebody else closed the gap and the car is already opening it.",
    "NC": "no collision. Low when the car hits somebody or something by its own fault. It matters whenever anything is "
    "near.",
    "EP": "progress. Low when the car gets less far along its way than it safely could. Somebody about to cross, or a "
    "place that cannot be seen into, makes slowness right.",
    "COMFORT": "comfort. Low when the car brakes, accelerates or steers harshly. Somebody who suddenly comes into the "
    "way makes that right.",
}
_PICTURES = (
    "The pictures show {frames} moments of one clip, oldest first. The left part of each is the view of the front "
    "camera; cyan dots on the road mark where the car drives in the following four seconds. The right part is a map "
    "seen from above, the car's heading up: the car and the course of the same four seconds in red, other road users "
    "and obstacles as blue boxes, lane boundaries in black, the middle of each lane as an arrow in its direction of "
    "travel, the roadway grey."
)
_SYSTEM = (
    "You are an experienced examiner of drivers. Traffic drives on the right. Judge only what the pictures show; do not "
    "guess at what may lie outside them, and leave out names, makes and scenery."
)
_GATE = (
    "Seven criteria can measure how the car drives:\n{criteria}\n"
    "Say for each of them whether it measures the quality of driving here (apply), or whether breaking it is what a "
    "good driver would do here, so that a low value says nothing (waive). Do not say whether the car breaks it.\n"
    "Answer with one line and nothing else: seven labels, each apply or waive, separated by commas, in the order "
    "{order}. For example: {example}"
)
_SCORE = (
    "Consider whether the car keeps its lane, its side and the roadway, how safely it passes others, whether it gets on "
    "as it reasonably can, and how smoothly it drives, each as far as the circumstances allow.\n"
    "Say briefly what happens, then give the quality of driving as a number: 1 is wholly reasonable, 0 wholly "
    "unreasonable or dangerous. End with one line of the form SCORE: 0.85"
)
_COMPACT = {"gate": "criteria", "score": "quality"}


@dataclass(frozen=True)
class JudgeStyle:
    """How a judge is asked.

    ``verbosity`` "full" gives complete instructions, "compact" a single word, for a tiny model that was trained on
    the task; ``frames`` is how many pictures a clip shows, 1 to 4, the latest ones.
    """

    verbosity: Literal["full", "compact"] = "full"
    frames: int = 4

    def __post_init__(self) -> None:
        if self.verbosity not in ("full", "compact"):
            raise ValueError(f"JudgeStyle.verbosity: {self.verbosity!r} is not full or compact")
        if not 1 <= self.frames <= 4:
            raise ValueError(f"JudgeStyle.frames: {self.frames} is not within 1 .. 4")


def render(task: Task, style: JudgeStyle) -> tuple[str, str]:
    """System text ("" if none) and the user's text after the pictures."""
    if style.verbosity == "compact":
        return "", _COMPACT[task]
    pictures = _PICTURES.format(frames=_WORDS[style.frames])
    if task == "score":
        return _SYSTEM, f"{pictures}\n\n{_SCORE}"
    criteria = "\n".join(f"- {code}: {_MEANING[code]}" for code in CRITERIA)
    example = ", ".join([WAIVE, *[APPLY] * (len(CRITERIA) - 1)])
    asked = _GATE.format(criteria=criteria, order=", ".join(CRITERIA), example=example)
    return _SYSTEM, f"{pictures}\n\n{asked}"


def judge_messages(task: Task, style: JudgeStyle) -> list[dict[str, Any]]:
    """The conversation before the answer; its image places stand for the frames of the clip, oldest first."""
    system, text = render(task, style)
    pictures = [{"type": "image"} for _ in range(style.frames)]
    user = {"role": "user", "content": [*pictures, {"type": "text", "text": text}]}
    if not system:
        return [user]
    return [{"role": "system", "content": [{"type": "text", "text": system}]}, user]


def judge_hash(style: JudgeStyle) -> str:
    """sha256 of both questions in a style; results carry it."""
    texts = [render("gate", style), render("score", style), style.verbosity, style.frames]
    return hashlib.sha256(json.dumps(texts).encode()).hexdigest()
