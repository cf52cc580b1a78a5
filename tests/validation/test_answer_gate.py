"""The gate on commentaries: good ones pass, and each damage fails exactly its own expectation."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from driveproof.commenter import Agent, Commenter, Frame, Window
from driveproof.commenter.dataset import ANSWERS, FRAMES, ClipName, ClipTable
from driveproof.config.validate import ValidateParams
from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.scene import Command
from driveproof.validation import validate_data

LIMITS = ValidateParams(min_answers=50)


def _car(key: str, x: float, y: float, heading: float, speed: float) -> Agent:
    return Agent(
        key, "vehicle.audi.tt", "car", "vehicle", x, y, 0.7, heading, 4.2, 2.0, 1.4, speed, colour=(190, 30, 35)
    )  # fmt: skip


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    town = load_town("Town01")
    line = town.lanes.polyline(0)
    table = ClipTable(ClipName("Accident_Town01_Route001_Weather1", "Town01", "Accident"))
    for index in range(3):
        place = (*map(float, line.at(5.0 + index)), float(line.heading(5.0)))
        ahead = (*map(float, line.at(20.0)), place[2])
        ego, other = _car("1", *place, 5.0), _car("7", *ahead, 1.0)
        follow = Command.FOLLOW
        frame = Frame(index, index / 10, "Accident", ego, (other,), (), follow, follow)
        table.add(Commenter(town).comment(Window((), frame)))
    folder = root / "data" / "vqa"
    folder.mkdir(parents=True)
    table.write(folder, 0)
    return root


def _failed(root: Path) -> set[str]:
    results = validate_data(root, LIMITS, ["vqa"])
    return {f"{result.table}/{check.name}" for result in results for check in result.failed}


@pytest.mark.slow
def test_good_commentaries_pass(good: Path) -> None:
    assert _failed(good) == set()


def _damaged(good: Path, tmp_path: Path, stem: str, change: dict[str, Any], rows: slice) -> Path:
    root = tmp_path / "root"
    shutil.copytree(good, root)
    path = root / "data" / "vqa" / f"{stem}-00000.parquet"
    table = pq.read_table(path).to_pylist()
    for row in table[rows]:
        row.update(change)
    pq.write_table(pa.Table.from_pylist(table, schema=ANSWERS if stem == "answers" else FRAMES), path)  # fmt: skip
    return root


ONE, FIRST = slice(0, 1), slice(0, 2)


@pytest.mark.parametrize(
    ("stem", "change", "rows", "failed"),
    [
        ("answers", {"number": 45}, ONE, {"number", "category"}),
        ("answers", {"category": "gossip"}, ONE, {"category"}),
        ("answers", {"answer": " "}, slice(3, 4), {"answer"}),
        ("answers", {"question": ""}, ONE, {"question"}),
        ("answers", {"facts": '{"facts": {"count": "Sky.PURPLE"}, "objects": []}'}, ONE, {"typed"}),
        ("answers", {"facts": "no json"}, ONE, {"typed"}),
        ("answers", {"answer": "There are 9 pedestrians."}, ONE, {"own_score"}),
        ("answers", {"number": 1, "subject": "", "category": "perception"}, FIRST, {"key_unique"}),
        ("answers", {"frame": 99}, ONE, {"at_home"}),
        ("frames", {"direction": "FLY"}, ONE, {"frames/direction"}),
        ("frames", {"speed": "WARP"}, ONE, {"frames/speed_key"}),
        ("frames", {"ego_speed": 400.0}, ONE, {"frames/ego_speed"}),
        ("frames", {"ego_speed": None}, ONE, {"frames/ego_speed_known"}),
        ("frames", {"objects": "["}, slice(2, 3), {"frames/objects"}),
    ],
)  # fmt: skip
def test_each_damage_fails_its_own_expectation(
    good: Path, tmp_path: Path, stem: str, change: dict[str, Any], rows: slice, failed: set[str]
) -> None:
    found = _failed(_damaged(good, tmp_path, stem, change, rows))
    wanted = {f"vqa/{name if '/' in name else f'answers/{name}'}" for name in failed}
    assert wanted <= found
    assert len(found) <= len(wanted) + 2, found


def test_no_commentaries_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no answers-"):
        validate_data(tmp_path, LIMITS, ["vqa"])
