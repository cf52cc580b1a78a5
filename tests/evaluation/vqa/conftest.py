"""A small dataset of the expert's, made of two drives along a lane among others."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from driveproof.commenter import Agent, Commenter, Frame
from driveproof.commenter.clips import windows
from driveproof.commenter.dataset import AnswerRow, ClipName, ClipTable, read_answers
from driveproof.maps import TownMap, load_town
from driveproof.scene import Command

CLIPS = ("Accident_Town01_Route001_Weather1", "CutIn_Town01_Route002_Weather2")
FRAMES = (0, 5, 10)
LAST = 52
"""Four seconds and a little after the last of them."""


def _car(key: str, x: float, y: float, heading: float, speed: float, colour: tuple) -> Agent:
    return Agent(key, "vehicle.lincoln.mkz_2020", "car", "vehicle", x, y, 0.7, heading,
                 4.9, 2.1, 1.5, speed, colour=colour)  # fmt: skip


def _frame(town: TownMap, clip: int, index: int) -> Frame:
    """The ego on a lane, one ahead in it, one that comes towards it; the second drive has nobody."""
    lane = town.lanes.polyline(clip)
    x, y = map(float, lane.at(5.0 + 0.5 * index))
    heading = float(lane.heading(5.0 + 0.5 * index))
    ego = _car("1", x, y, heading, 5.0, (90, 90, 90))
    ahead = map(float, lane.at(20.0 + 0.1 * index))
    others = (_car("7", *ahead, heading, 1.0, (190, 30, 35)),) if clip == 0 else ()
    far = tuple(map(float, lane.at(40.0)))
    weather = {"sun_altitude_angle": 45.0 if clip else -20.0}
    follow = Command.FOLLOW
    return Frame(index, index / 10, "Accident", ego, others, (), follow, follow, far, far, weather)


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder as ``driveproof comment`` writes it."""
    folder = tmp_path_factory.mktemp("vqa")
    town = load_town("Town01")
    for number, name in enumerate(CLIPS):
        table = ClipTable(ClipName(name, "Town01", name.split("_")[0]))
        commenter = Commenter(town)
        frames = [_frame(town, number, index) for index in range(LAST + 1)]
        for window in windows(iter(frames)):
            if window.now.index in FRAMES:
                table.add(commenter.comment(window))
        table.write(folder, number)
    (folder / "index.json").write_text("{}")
    return folder


@pytest.fixture(scope="session")
def rows(dataset: Path) -> list[AnswerRow]:
    """All its questions."""
    return list(read_answers(dataset))


@pytest.fixture
def give(tmp_path: Path):
    """Writes a file of answers: rows with changed texts, or other lines."""

    def write(rows: list[AnswerRow], texts: list[str | None] | None = None, name="a.jsonl") -> Path:
        path = tmp_path / name
        said = texts if texts is not None else [row.text for row in rows]
        with path.open("w") as stream:
            for row, text in zip(rows, said, strict=True):
                line = {"clip": row.clip, "frame": row.frame, "number": row.key.number,
                        "subject": row.key.subject, "text": text}  # fmt: skip
                stream.write(json.dumps(line) + "\n")
        return path

    return write
