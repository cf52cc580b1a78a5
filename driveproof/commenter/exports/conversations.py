"""Conversations for training, from the dataset: one question a conversation (ShareGPT), or a chain of thought.

Keep ratios follow Bench2Drive-VL's converter: 5 % of trivial frames, 10 % of frames that wait at a red light, and of
answers that say "none" a share by question; all are parameters.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from driveproof.commenter.dataset import AnswerRow
from driveproof.questions import Answer

CHAIN = (19, 15, 24, 7, 13, 47, 8, 43, 50)
"""The order of the paper's example graph; each question sees the answers before it."""


@dataclass(frozen=True)
class KeepRatios:
    """Shares to keep, 0 to 1.

    Attributes
    ----------
    trivial, waiting
        Of frames in which nothing happens, and that wait at a red light.
    none
        Of answers that name nothing and state nothing, unless ``none_of`` has a share of their own question.
    """

    trivial: float = 0.05
    waiting: float = 0.10
    none: float = 0.2
    none_of: Mapping[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, share in (
            ("trivial", self.trivial),
            ("waiting", self.waiting),
            ("none", self.none),
            *((f"none_of {n}", s) for n, s in self.none_of.items()),
        ):
            if not 0.0 <= share <= 1.0:
                raise ValueError(f"{name}: {share} is no share")

    def of_frame(self, trivial: bool, waiting: bool) -> float:
        """The share of such frames."""
        return min(self.trivial if trivial else 1.0, self.waiting if waiting else 1.0)

    def of_answer(self, number: int, answer: Answer) -> float:
        """The share of such answers."""
        return 1.0 if says_something(answer) else self.none_of.get(number, self.none)


def says_something(answer: Answer) -> bool:
    """Whether an answer names or states anything; "none", "no" and 0 do not."""
    return bool(answer.objects) or any(_says(value) for value in answer.facts.values())


def _says(value: object) -> bool:
    name = getattr(value, "name", "")
    return value not in (None, False, 0, frozenset()) and name not in ("NONE", "UNKNOWN")


def kept(seed: int, share: float, *key: object) -> bool:
    """Whether something with this key is among the share that is kept; the same for the same seed and key."""
    text = "/".join(map(str, (seed, *key)))
    draw = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little") / 2**64
    return draw < share


@dataclass(frozen=True)
class FrameFlags:
    """What is known of a frame beside its answers."""

    trivial: bool = False
    waiting: bool = False
    images: tuple[str, ...] = ()


def sharegpt(
    rows: Iterable[AnswerRow],
    flags: Mapping[tuple[str, int], FrameFlags],
    ratios: KeepRatios | None = None,
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """One conversation a question, in the ShareGPT form."""
    ratios = ratios or KeepRatios()
    for row in rows:
        about = flags.get((row.clip, row.frame), FrameFlags())
        frame = ratios.of_frame(about.trivial, about.waiting)
        if not kept(seed, frame, "frame", row.clip, row.frame):
            continue
        name = (row.clip, row.frame, row.key.number, row.key.subject)
        if kept(seed, ratios.of_answer(row.key.number, row.answer), "answer", *name):
            yield _conversation(
                row.clip, row.frame, f"{row.key.number}{row.key.subject}", about, [row]
            )


def chains(
    rows: Iterable[AnswerRow],
    flags: Mapping[tuple[str, int], FrameFlags],
    chain: Sequence[int] = CHAIN,
    ratios: KeepRatios | None = None,
    seed: int = 0,
) -> Iterator[dict[str, Any]]:
    """One conversation a frame that walks along ``chain``: the answers before are the thoughts of the later ones."""
    ratios = ratios or KeepRatios()
    for (clip, frame), group in groupby(rows, key=lambda row: (row.clip, row.frame)):
        about = flags.get((clip, frame), FrameFlags())
        by_number: dict[int, list[AnswerRow]] = defaultdict(list)
        for row in group:
            by_number[row.key.number].append(row)
        turns = [row for number in chain for row in by_number.get(number, [])[:1]]
        if turns and kept(
            seed, ratios.of_frame(about.trivial, about.waiting), "frame", clip, frame
        ):
            yield _conversation(clip, frame, "chain", about, turns)


def _conversation(
    clip: str, frame: int, name: str, about: FrameFlags, turns: Sequence[AnswerRow]
) -> dict[str, Any]:
    places = "<image>\n" * len(about.images)
    said = []
    for place, row in enumerate(turns):
        said.append({"from": "human", "value": f"{places if place == 0 else ''}{row.question}"})
        said.append({"from": "gpt", "value": row.text})
    return {
        "id": f"{clip}/{frame:05d}/{name}",
        "images": list(about.images),
        "conversations": said,
    }
