"""Bench2Drive: CARLA's left-handed clips become right-handed scenes; hostile clips become one line."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dataset_makers as make
import numpy as np
import pytest

from driveproof.datasets import bench2drive, import_logs
from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.errors import BadInput
from driveproof.scene import (
    AgentKind,
    Command,
    ImageRef,
    ImageStore,
    LightState,
    WindowReport,
    WindowRules,
    read_scenes,
    scenes_of,
)

NAME = "Accident_Town03_Route101_Weather23"


def scenes(path: Path):
    return [s for log in bench2drive.read(path) for s in scenes_of(log, RULES, WindowReport())]


RULES = WindowRules()


def test_motion_is_exact_and_right_handed(tmp_path: Path) -> None:
    found = scenes(make.make_bench2drive(tmp_path / f"{NAME}.tar"))
    assert len(found) == 3  # 7.9 s of log: t0 = 1.5, 2.0, 2.5 s; 3.0 s lacks 0.1 s of future
    for scene in found:
        np.testing.assert_allclose(scene.waypoints, make.expected_waypoints(), atol=1e-6)
        assert scene.waypoints[-1, 1] > 0  # a left turn stays a left turn
        assert scene.command is Command.LEFT
        np.testing.assert_allclose(scene.velocity, [make.SPEED, 0.0], atol=0.02)
        np.testing.assert_allclose(scene.acceleration, [0.0, make.SPEED * make.YAW_RATE], atol=1e-9)
    assert found[0].record_key == f"bench2drive/{NAME}/00015"
    assert (found[0].town, found[0].situation) == ("Town03", "Accident")


def test_road_users_lights_and_signs(tmp_path: Path) -> None:
    scene = scenes(make.make_bench2drive(tmp_path / f"{NAME}.tar"))[0]
    kinds = dict(zip(scene.agents.track_ids, scene.agents.kinds, strict=True))
    assert kinds == {"2": AgentKind.VEHICLE, "3": AgentKind.PEDESTRIAN, "6": AgentKind.OBSTACLE}
    ahead = make.motion(np.array([10.0 / make.SPEED]), speed=make.SPEED, yaw_rate=make.YAW_RATE)
    lead = scene.agents.at(0.0)[scene.agents.track_ids.index("2")]
    np.testing.assert_allclose(lead[:3], ahead[0][0], atol=1e-6)
    assert np.hypot(*lead[3:]) == pytest.approx(make.SPEED, rel=1e-3)  # differentiated
    np.testing.assert_allclose(scene.agents.dimensions[0], [4.8, 1.8, 1.5])
    walker = scene.agents.at(0.0)[scene.agents.track_ids.index("3")]
    assert np.hypot(*walker[3:]) > 5.0  # moves with the ego although its recorded speed is 0
    light, limit = scene.signals
    assert (light.kind, light.state, light.affects_ego) == ("traffic_light", LightState.RED, True)
    assert light.distance == pytest.approx(5.0)
    assert (limit.kind, limit.value) == ("speed_limit", pytest.approx(10.0))


def test_pictures_are_references_into_the_archive(tmp_path: Path) -> None:
    path = make.make_bench2drive(tmp_path / f"{NAME}.tar")
    scene = scenes(path)[1]  # t0 = 2.0 s
    assert set(scene.images) == {"front", "front_left"}
    refs = scene.images["front"]
    assert refs[-1] == ImageRef(str(path), f"{NAME}/camera/rgb_front/00020.jpg")
    assert refs[0] is not None
    assert refs[0].member.endswith("/00004.jpg")  # 0.5 s has none: the nearest within 0.15 s
    assert ImageStore().read_bytes(refs[-1]) == make.JPEG


def test_folders_and_compressed_tars_give_the_same_scenes(tmp_path: Path) -> None:
    path = make.make_bench2drive(tmp_path / f"{NAME}.tar")
    with tarfile.open(path) as archive:
        archive.extractall(tmp_path / "folder", filter="data")
    packed = tmp_path / f"{NAME}.tar.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for other in (packed, tmp_path / "folder", tmp_path / "folder" / NAME):
        assert bench2drive.claims(other)
        for one, two in zip(scenes(path), scenes(other), strict=True):
            np.testing.assert_array_equal(one.future, two.future)
            assert ImageStore().read_bytes(two.images["front"][-1]) == make.JPEG


def test_speed_may_be_none(tmp_path: Path) -> None:
    with ClipWriter(tmp_path / "A_Town01_1.tar") as clip:
        for anno in make.bench2drive_annos():
            clip.add_frame(anno | {"speed": None, "acceleration": None}, {})
    scene = scenes(tmp_path / "A_Town01_1.tar")[0]
    assert scene.speed == pytest.approx(make.SPEED, rel=1e-3)
    assert "acceleration" in scene.missing


def _edit(change: Callable[[dict[str, Any]], None]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with ClipWriter(path) as clip:
            for anno in make.bench2drive_annos(70):
                change(anno)
                clip.add_frame(anno, {})

    return write


def _member(name: str, data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        with tarfile.open(path, "w") as archive:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))

    return write


def _cut_short(path: Path) -> None:
    whole = make.make_bench2drive(path).read_bytes()
    path.write_bytes(whole[: len(whole) // 2 + 100])


HOSTILE = {
    "empty file": (lambda path: path.write_bytes(b""), "not a readable archive"),
    "not a tar": (lambda path: path.write_bytes(b"x" * 2000), "not a readable archive"),
    "truncated": (_cut_short, "unexpected end"),
    "no frames": (_member("c/readme.txt", b"x"), "no frames"),
    "path traversal": (_member("../c/anno/00000.json.gz", b"x"), "unsafe member name"),
    "not gzip": (_member("c/anno/00000.json.gz", b"x" * 40), "not gzip"),
    "not JSON": (_member("c/anno/00000.json.gz", gzip.compress(b"{")), "not JSON"),
    "zip bomb": (
        _member("c/anno/00000.json.gz", gzip.compress(b" " * (65 << 20))),
        "unpacks to more",
    ),
    "no boxes": (_edit(lambda anno: anno.pop("bounding_boxes")), "lacks 'bounding_boxes'"),
    "text for a number": (
        _edit(lambda anno: anno["bounding_boxes"][0].update(location=["a", 0, 0])),
        "expected a number",
    ),
    "two coordinates": (
        _edit(lambda anno: anno["bounding_boxes"][0].update(location=[1.0, 2.0])),
        "malformed",
    ),
    "an array": (_member("c/anno/00000.json.gz", gzip.compress(b"[1]")), "malformed"),
    "km/h": (_edit(lambda anno: anno.update(speed=anno["speed"] * 3.6)), "wrong unit or clock"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_clips_give_one_line_and_leave_nothing(tmp_path: Path, name: str) -> None:
    write, problem = HOSTILE[name]
    path = tmp_path / "A_Town01_1.tar"
    write(path)
    with pytest.raises(BadInput, match=problem) as caught:
        import_logs("bench2drive", [path], tmp_path / "out", RULES)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)
    assert [child.name for child in tmp_path.iterdir()] == [path.name]


def test_nan_poses_reject_only_the_moments_that_see_them(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        with tarfile.open(path, "w") as archive:
            for index, anno in enumerate(make.bench2drive_annos(150)):
                if index == 80:
                    anno["bounding_boxes"][0]["location"] = [float("nan"), 0.0, 0.0]
                data = gzip.compress(json.dumps(anno).encode())
                info = tarfile.TarInfo(f"c/anno/{index:05d}.json.gz")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))

    write(tmp_path / "c.tar")
    report = import_logs("bench2drive", [tmp_path / "c.tar"], tmp_path / "out", RULES)
    # t0 = 1.5 .. 9.5 s are long enough; 8.0 s is seen from 3.0 s (+5 s) to 9.5 s (-1.5 s)
    assert report.rejected["not_finite"] == 14
    assert report.kept == 3
    assert all(np.isfinite(s.future).all() for s in read_scenes(tmp_path / "out"))


def test_kilometres_are_a_jump_when_no_speed_contradicts_them(tmp_path: Path) -> None:
    def in_millimetres(anno: dict[str, Any]) -> None:
        box = anno["bounding_boxes"][0]
        box["location"] = [1000.0 * value for value in box["location"]]
        anno["speed"] = None

    _edit(in_millimetres)(tmp_path / "c.tar")
    report = import_logs("bench2drive", [tmp_path / "c.tar"], tmp_path / "out", RULES)
    assert (report.kept, report.rejected["jump"]) == (0, 1)  # 6.9 s: only t0 = 1.5 s is long enough


@pytest.mark.shared
def test_the_real_frame(shared_dir: Path, tmp_path: Path) -> None:
    source = shared_dir / "data/fixtures/bench2drive/anno_excerpt/00093.json.gz"
    clip = tmp_path / "Accident_Town03_Route24816_Weather25" / "anno"
    clip.mkdir(parents=True)
    (clip / "00093.json.gz").write_bytes(source.read_bytes())
    (log,) = bench2drive.read(clip.parent)
    np.testing.assert_allclose(log.poses[0, :2], [94.33071899, -193.85667419])
    assert log.poses[0, 2] == pytest.approx(-np.radians(166.0675506))
    assert log.times[0] == pytest.approx(9.3)
    report = WindowReport()
    assert list(scenes_of(log, RULES, report)) == []
    assert report.rejected == {"short_history": 1}
