"""Every format: closed-form motion comes out as the exact waypoints; every damaged file is one clear line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import dataset_makers as make
import numpy as np
import pytest

from driveproof.datasets import FORMATS, import_logs, sniff
from driveproof.datasets.importing import FileImport, import_file
from driveproof.errors import BadInput
from driveproof.scene import AgentKind, Command, ImageStore, Scene, WindowRules

RULES = WindowRules()


def made(name: str, folder: Path) -> Path:
    """A made log of the format; its path is what the adapter reads."""
    file, maker = make.MAKERS[name]
    return maker(folder / file)


def imported(name: str, path: Path) -> FileImport:
    result = import_file(name, path, RULES)
    assert result.error is None, result.error
    return result


def test_every_format_has_a_maker() -> None:
    assert set(make.MAKERS) == set(FORMATS)


# Moments: t0 from 1.5 s to 5 s before the end, every 0.5 s.
EXPECTED = {
    "bench2drive": 3,  # 7.9 s: 1.5 .. 2.5
    "waymo_e2e": 3,  # one a record
    "womd": 6,  # 9.0 s: 1.5 .. 4.0
    "womd_json": 6,
    "scenarionet": 8,  # 10 s: 1.5 .. 5.0
    "nuscenes": 54,  # two scenes of 40 key frames: 19.5 s: 1.5 .. 14.5
    "navsim": 28,  # 20 s: 1.5 .. 15.0
    "physical_ai": 56,  # two clips
    "av2_sensor": 19,  # 15.9 s: 1.5 .. 10.5
    "av2_forecasting": 9,  # 10.9 s: 1.5 .. 5.5
    "plain": 5,  # one a row
    "kitti": 8,
    "comma2k19": 8,
    "commonroad": 16,
    "interaction": 16,
    "l5kit": 8,
}


@pytest.mark.parametrize("name", sorted(make.MAKERS))
def test_waypoints_history_and_velocity_are_exact(name: str, tmp_path: Path) -> None:
    path = made(name, tmp_path)
    assert sniff(path).name == name
    scenes = imported(name, path).scenes
    assert len(scenes) == EXPECTED[name]
    past = make.motion(np.linspace(-1.5, 0.0, 4), speed=make.SPEED, yaw_rate=make.YAW_RATE)[0]
    for scene in scenes:
        np.testing.assert_allclose(scene.waypoints, make.expected_waypoints(), atol=2e-4)
        assert np.hypot(*(scene.velocity - [make.SPEED, 0.0])) < 0.1
        assert abs(scene.future[-1, 2] - 1.0) < 0.06  # 5 s at 0.2 rad/s
        if "history" not in scene.missing:
            np.testing.assert_allclose(scene.history[:, :2], past[:, :2], atol=2e-4)
        if scene.acceleration.any():
            np.testing.assert_allclose(scene.acceleration, [0.0, 1.6], atol=0.15)


@pytest.mark.parametrize(
    "name", sorted(set(make.MAKERS) - {"waymo_e2e", "plain", "kitti", "comma2k19"})
)
def test_the_car_ahead_stays_ten_metres_of_arc_ahead(name: str, tmp_path: Path) -> None:
    angle = 10.0 / make.SPEED * make.YAW_RATE
    radius = make.SPEED / make.YAW_RATE
    ahead = np.array([radius * np.sin(angle), radius * (1 - np.cos(angle)), angle])
    speed = make.SPEED * np.array([np.cos(angle), np.sin(angle)])
    seen = 0
    for scene in imported(name, made(name, tmp_path)).scenes:
        states = scene.agents.at(0.0)
        found = np.abs(states[:, :3] - ahead).max(axis=1) < 2e-3
        if found.any():
            seen += 1
            lead = int(found.argmax())
            assert scene.agents.kinds[lead] is AgentKind.VEHICLE
            assert (
                np.hypot(*(states[lead, 3:] - speed)) < 0.4
            )  # 2 Hz sources: a chord of the circle
    assert seen >= 3


PICTURES = {"bench2drive", "waymo_e2e", "nuscenes", "navsim", "av2_sensor"}


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_pictures_can_be_loaded_where_the_references_say(name: str, tmp_path: Path) -> None:
    scenes = imported(name, made(name, tmp_path)).scenes
    ref = scenes[0].images["front"][-1]
    assert ref is not None
    assert ImageStore().read_bytes(ref).startswith(make.JPEG)


@pytest.mark.parametrize("name", ["waymo_e2e", "navsim", "bench2drive"])
def test_left_is_left(name: str, tmp_path: Path) -> None:
    assert {s.command for s in imported(name, made(name, tmp_path)).scenes} == {Command.LEFT}


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from sorted(f for f in path.rglob("*") if f.is_file() and f.suffix != ".jpg")


def _cut(data: bytes) -> bytes:
    """The first half; of lines of text, up to the middle of one (a cut between two is a shorter log)."""
    half = len(data) // 2
    if b"\0" in data or b"\n" not in data[half:]:
        return data[:half]
    start = data.index(b"\n", half) + 1
    return data[: start + (data.find(b"\n", start) - start) // 2]


DAMAGE = {
    "empty": lambda data: b"",
    "cut in half": _cut,
    "text": lambda data: b"these are not the bytes you are looking for\n" * 30,
    "zeros": lambda data: bytes(len(data)),
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("name", sorted(make.MAKERS))
def test_damaged_files_are_one_line_and_leave_nothing(
    name: str, damage: str, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    path = made(name, tmp_path / "in")
    for file in _files(path):
        whole = file.read_bytes()
        file.write_bytes(DAMAGE[damage](whole))
        with pytest.raises(BadInput) as caught:
            import_logs(name, [path], tmp_path / "out", RULES)
        file.write_bytes(whole)
        message = str(caught.value)
        assert "\n" not in message
        assert str(tmp_path) in message
        assert len(message) < 400
        assert sorted(child.name for child in tmp_path.iterdir()) == ["in"]
    assert import_logs(name, [path], tmp_path / "out", RULES).kept == EXPECTED[name]


@pytest.mark.parametrize("name", sorted(make.MAKERS))
@pytest.mark.parametrize("suffix", [".tar", ".zip", ".gz", ".csv.gz"])
def test_a_suffix_promises_nothing(name: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"log{suffix}"
    path.write_bytes(bytes(range(256)) * 9)
    with pytest.raises(BadInput, match=re.escape(str(tmp_path))):
        import_logs(name, [path], tmp_path / "out", RULES)


@pytest.mark.parametrize("name", sorted(make.MAKERS))
def test_a_missing_path_is_one_line(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file or folder"):
        import_logs(name, [tmp_path / "nowhere"], tmp_path / "out", RULES)


def test_record_keys_are_unique_and_name_the_scene(tmp_path: Path) -> None:
    for name in make.MAKERS:
        folder = tmp_path / name
        folder.mkdir()
        scenes: list[Scene] = imported(name, made(name, folder)).scenes
        keys = [scene.record_key for scene in scenes]
        assert len(set(keys)) == len(keys)
        assert all(re.match(r"[a-z0-9_]+/.+", key) for key in keys)
