"""Commentaries as a typed dataset: one row a question, one row a frame with its objects.

A folder holds ``answers-NNNNN.parquet`` and ``frames-NNNNN.parquet``, one pair a clip, and ``index.json``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.commenter.commentary import Commentary
from driveproof.errors import BadInput
from driveproof.questions import QUESTIONS, Answer, ObjectRef, QuestionKey
from driveproof.questions.serial import (
    answer_from_json,
    answer_to_json,
    object_from_json,
    object_to_json,
)
from driveproof.questions.terms import Braking, Reason
from driveproof.questions.wording import Sentences, ask

SCHEMA_VERSION = "1"
_META = {"driveproof_table": "vqa", "schema_version": SCHEMA_VERSION}
ANSWERS = pa.schema(
    {
        "clip": pa.string(),
        "scenario": pa.string(),
        "frame": pa.int32(),
        "number": pa.int16(),
        "subject": pa.string(),
        "category": pa.string(),
        "chain": pa.int8(),
        "layer": pa.int8(),
        "question": pa.string(),
        "answer": pa.string(),
        "facts": pa.string(),
        "tags": pa.list_(pa.string()),
    },
    metadata=_META,
)
FRAMES = pa.schema(
    {
        "clip": pa.string(),
        "town": pa.string(),
        "scenario": pa.string(),
        "frame": pa.int32(),
        "time_s": pa.float64(),
        "ego_speed": pa.float64(),
        "command_near": pa.int8(),
        "command_far": pa.int8(),
        "direction": pa.string(),
        "speed": pa.string(),
        "trivial": pa.bool_(),
        "waiting": pa.bool_(),
        "objects": pa.string(),
    },
    metadata=_META,
)


@dataclass(frozen=True)
class ClipName:
    """Which clip a commentary belongs to."""

    clip: str
    town: str
    scenario: str


@dataclass
class ClipTable:
    """The rows of one clip, in memory until they are written."""

    name: ClipName
    seed: int = 0
    references: bool = True

    def __post_init__(self) -> None:
        self._write = Sentences(references=self.references)
        self.answers: list[dict[str, Any]] = []
        self.frames: list[dict[str, Any]] = []

    def add(self, said: Commentary) -> None:
        """Take in what the expert says about a frame."""
        refs = known_objects(said)
        self.frames.append(self._frame_row(said, refs))
        for key, answer in said.answers.items():
            self.answers.append(self._answer_row(said, key, answer, refs))

    def write(self, folder: Path, number: int) -> None:
        """Write ``answers-NUMBER.parquet`` and ``frames-NUMBER.parquet`` into ``folder``."""
        for stem, rows, schema in (
            ("answers", self.answers, ANSWERS),
            ("frames", self.frames, FRAMES),
        ):
            table = pa.Table.from_pylist(rows, schema=schema)
            pq.write_table(table, folder / f"{stem}-{number:05d}.parquet", compression="zstd")

    def _frame_row(self, said: Commentary, refs: Mapping[str, ObjectRef]) -> dict[str, Any]:
        frame, keys = said.frame, said.decision.keys
        return {
            "clip": self.name.clip,
            "town": self.name.town,
            "scenario": self.name.scenario,
            "frame": frame.index,
            "time_s": frame.time,
            "ego_speed": frame.ego.speed,
            "command_near": int(frame.command_near),
            "command_far": int(frame.command_far),
            "direction": keys.direction,
            "speed": keys.speed,
            "trivial": trivial(said),
            "waiting": waiting_for_red(said),
            "objects": json.dumps([object_to_json(ref) for ref in refs.values()]),
        }

    def _answer_row(
        self, said: Commentary, key: QuestionKey, answer: Answer, refs: Mapping[str, ObjectRef]
    ) -> dict[str, Any]:
        question = QUESTIONS[key.number]
        subject = refs.get(key.subject)
        about: Any = subject if subject is not None else key.subject
        if question.given_objects:
            about = answer.refs
        text = ask(
            question,
            seed=self.seed,
            key=f"{self.name.clip}/{said.frame.index}/{key.subject}",
            subject=about,
            references=self.references,
        )
        return {
            "clip": self.name.clip,
            "scenario": self.name.scenario,
            "frame": said.frame.index,
            "number": key.number,
            "subject": key.subject,
            "category": question.category.value,
            "chain": question.chain,
            "layer": question.layer,
            "question": text,
            "answer": self._write.write(key.number, answer, subject),
            "facts": json.dumps(answer_to_json(answer)),
            "tags": [ref.tag for ref in answer.refs],
        }


STANDING_MPS = 0.5


def waiting_for_red(said: Commentary) -> bool:
    """Whether the ego stands before a red light."""
    stands = abs(said.frame.ego.speed) < STANDING_MPS
    return stands and said.decision.brake.reason is Reason.RED_LIGHT


def trivial(said: Commentary) -> bool:
    """Whether nothing happens: the lane is followed and nothing is to be heeded."""
    decision = said.decision
    quiet = not decision.move.needed and decision.brake.level is Braking.NONE
    keys = decision.keys.text()
    return quiet and keys in ("FOLLOW_LANE, KEEP", "FOLLOW_LANE, ACCELERATE") and not said.objects


def known_objects(said: Commentary) -> dict[str, ObjectRef]:
    """Everything that a commentary names, by tag: the important objects first."""
    refs = {ref.tag: ref for ref in said.objects}
    for answer in said.answers.values():
        for ref in answer.refs:
            refs.setdefault(ref.tag, ref)
    return refs


@dataclass(frozen=True)
class AnswerRow:
    """One question of the dataset with its typed answer and the things of its frame."""

    clip: str
    scenario: str
    frame: int
    key: QuestionKey
    question: str
    text: str
    answer: Answer
    known: tuple[ObjectRef, ...]
    ego_speed: float


def read_answers(folder: str | Path, clips: Collection[str] | None = None) -> Iterator[AnswerRow]:
    """All questions of a dataset, clip by clip and frame by frame; of the named clips where ``clips`` names some.

    Raises
    ------
    BadInput
        Naming the file and the row.
    """
    for answers in shards(folder, "answers"):
        frames = {
            row["frame"]: row
            for row in _rows(answers.with_name(answers.name.replace("answers", "frames")), FRAMES)
        }
        objects: dict[int, dict[str, ObjectRef]] = {}
        for number, row in enumerate(_rows(answers, ANSWERS)):
            if clips is not None and row["clip"] not in clips:
                continue
            try:
                frame = frames[row["frame"]]
                if row["frame"] not in objects:
                    refs = [object_from_json(item) for item in json.loads(frame["objects"])]
                    objects[row["frame"]] = {ref.tag: ref for ref in refs}
                known = objects[row["frame"]]
                yield AnswerRow(
                    clip=row["clip"],
                    scenario=row["scenario"],
                    frame=row["frame"],
                    key=QuestionKey(row["number"], row["subject"]),
                    question=row["question"],
                    text=row["answer"],
                    answer=answer_from_json(json.loads(row["facts"]), known),
                    known=tuple(known.values()),
                    ego_speed=frame["ego_speed"],
                )
            except (ValueError, KeyError, TypeError) as error:
                raise BadInput(
                    f"no question: {error}", path=answers, field=f"row {number}"
                ) from None


@dataclass(frozen=True)
class FrameRow:
    """A frame of the dataset: see the columns of ``frames-*.parquet``."""

    clip: str
    town: str
    scenario: str
    frame: int
    time_s: float
    ego_speed: float
    direction: str
    speed: str
    trivial: bool
    waiting: bool
    objects: int


def read_frames(folder: str | Path) -> Iterator[FrameRow]:
    """All frames of a dataset, with the number of things in each.

    Raises
    ------
    BadInput
        Naming the file and the row.
    """
    for path in shards(folder, "frames"):
        for number, row in enumerate(_rows(path, FRAMES)):
            try:
                objects = len(json.loads(row["objects"]))
            except (ValueError, TypeError) as error:
                raise BadInput(f"no frame: {error}", path=path, field=f"row {number}") from None
            kept = {name: row[name] for name in FrameRow.__dataclass_fields__ if name != "objects"}
            yield FrameRow(**kept, objects=objects)


def shards(folder: str | Path, stem: str) -> list[Path]:
    """The files ``STEM-*.parquet`` of a dataset in order; BadInput if there is none."""
    found = sorted(Path(folder).glob(f"{stem}-*.parquet"))
    if not found:
        raise BadInput(
            f"no {stem}-*.parquet here", path=folder, hint="driveproof comment CLIP --out DIR"
        )
    return found


def _rows(path: Path, schema: pa.Schema) -> Iterable[dict[str, Any]]:
    try:
        table = pq.read_table(path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(
            f"not a readable parquet file: {str(error).splitlines()[0]}", path=path
        ) from None
    version = (table.schema.metadata or {}).get(b"schema_version", b"?").decode()
    if (table.schema.metadata or {}).get(
        b"driveproof_table"
    ) != b"vqa" or version != SCHEMA_VERSION:
        raise BadInput(f"schema version {version}, this program reads {SCHEMA_VERSION}", path=path)
    if table.schema.names != schema.names or table.schema.types != schema.types:
        raise BadInput("has other columns than a table of this version", path=path)
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
