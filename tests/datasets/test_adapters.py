"""What is special to one format: its frame traps, what it may lack, and how it may lie."""

from __future__ import annotations

import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dataset_makers as make
import numpy as np
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from driveproof.datasets import import_logs, waymo_pb2
from driveproof.datasets.importing import FileImport, import_file
from driveproof.datasets.motion import path_headings, quaternion_yaw
from driveproof.datasets.tfrecord import frame_records, read_records
from driveproof.errors import BadInput
from driveproof.scene import AgentKind, LightState, Scene, WindowRules

RULES = WindowRules()


def scenes(name: str, path: Path) -> list[Scene]:
    result = import_file(name, path, RULES)
    assert result.error is None, result.error
    return result.scenes


def problem(name: str, path: Path) -> str:
    result = import_file(name, path, RULES)
    assert result.error is not None
    return str(result.error)


def rejected(result: FileImport) -> dict[str, int]:
    (report,) = result.reports.values()
    return dict(report.rejected)


# ---- quaternions and paths


def test_quaternions_with_pitch_and_roll_still_give_the_heading() -> None:
    half = 0.3
    yaw = (np.cos(half), 0.0, 0.0, np.sin(half))
    assert quaternion_yaw(*yaw) == pytest.approx(0.6)
    # yaw 0.6 then pitch 0.2 (about the turned y axis): the product of the two quaternions
    p = 0.1
    both = (
        np.cos(half) * np.cos(p),
        -np.sin(half) * np.sin(p),
        np.cos(half) * np.sin(p),
        np.sin(half) * np.cos(p),
    )
    assert quaternion_yaw(*both) == pytest.approx(0.6)
    assert quaternion_yaw(*(3.0 * np.array(both))) == pytest.approx(0.6)  # length does not matter
    assert np.isnan(quaternion_yaw(0.0, 0.0, 0.0, 0.0))


def test_headings_of_a_path_hold_at_standstill_and_do_not_flip_when_reversing() -> None:
    forward = np.array([[0, 0], [1, 0], [2, 0], [2.01, 0.02], [2.0, -0.03], [1, 0], [0, 0.0]])
    np.testing.assert_allclose(path_headings(forward, 0.0), 0.0, atol=0.05)
    left = np.array([[0, 0], [0, 1], [0, 2]], dtype=float)
    np.testing.assert_allclose(path_headings(left), np.pi / 2)


# ---- Waymo end-to-end


def test_e2e_pictures_are_matched_by_name(tmp_path: Path) -> None:
    scene = scenes("waymo_e2e", make.make_waymo_e2e(tmp_path / "x.tfrecord"))[2]
    data = (tmp_path / "x.tfrecord").read_bytes()
    for camera, number in (("front", 1), ("front_left", 2), ("front_right", 3)):
        refs = scene.images[camera]
        assert refs[:3] == (None, None, None)
        at, count = (int(part) for part in refs[3].member[1:].split("+"))
        assert data[at : at + count] == make.JPEG + bytes([number])


def test_e2e_frames_of_one_drive_share_a_scene_key(tmp_path: Path) -> None:
    found = scenes("waymo_e2e", make.make_waymo_e2e(tmp_path / "x.tfrecord"))
    assert {scene.scene_key for scene in found} == {"waymo_e2e/drive"}
    assert [scene.record_key for scene in found] == [f"waymo_e2e/drive/00{i}" for i in range(3)]


def test_the_e2e_test_split_has_no_future(tmp_path: Path) -> None:
    path = make.make_waymo_e2e(tmp_path / "x.tfrecord", future=False)
    assert rejected(import_file("waymo_e2e", path, RULES)) == {"short_future": 3}


def _edit_e2e(path: Path, change: Callable[[waymo_pb2.E2EDFrame], object]) -> Path:
    make.make_waymo_e2e(path, frames=1)
    (_, payload), *_ = read_records(path)
    message = waymo_pb2.E2EDFrame.FromString(payload)
    change(message)
    path.write_bytes(frame_records([message.SerializeToString()]))
    return path


LIES: dict[str, tuple[Callable[[Any], object], str]] = {
    "fewer y than x": (lambda m: m.future_states.pos_y.pop(), "20 x and 19 y"),
    "not at the ego": (
        lambda m: m.past_states.pos_x.append(9.0) or m.past_states.pos_y.append(0.0),
        "end at the ego",
    ),
    "no velocity": (lambda m: m.past_states.ClearField("vel_x"), "0 x and 16 y"),
    "no past": (lambda m: m.ClearField("past_states"), "end at the ego"),
    "no name": (lambda m: m.frame.context.ClearField("name"), "lacks frame.context.name"),
    "km/h": (
        lambda m: (
            m.past_states.vel_x.MergeFrom([])
            or [
                m.past_states.vel_x.__setitem__(i, 3.6 * v)
                for i, v in enumerate(m.past_states.vel_x)
            ]
        ),
        "wrong unit or clock",
    ),
}


@pytest.mark.parametrize("name", LIES)
def test_e2e_lies_are_named(name: str, tmp_path: Path) -> None:
    change, text = LIES[name]
    assert text in problem("waymo_e2e", _edit_e2e(tmp_path / "x.tfrecord", change))


def test_e2e_nan_and_kilometres_are_rejected_moments(tmp_path: Path) -> None:
    def nan(message: Any) -> None:
        message.future_states.pos_x[7] = float("nan")

    def kilometres(message: Any) -> None:
        for states in (message.future_states.pos_x, message.future_states.pos_y):
            for i, value in enumerate(states):
                states[i] = 1000.0 * value

    path = tmp_path / "x.tfrecord"
    assert rejected(import_file("waymo_e2e", _edit_e2e(path, nan), RULES)) == {"not_finite": 1}
    assert rejected(import_file("waymo_e2e", _edit_e2e(path, kilometres), RULES)) == {"jump": 1}


# ---- Waymo motion


def test_womd_lights_stand_at_their_stop_point(tmp_path: Path) -> None:
    scene = scenes("womd", make.make_womd(tmp_path / "x.tfrecord"))[0]
    (light,) = scene.signals
    assert light.state is LightState.RED
    assert np.hypot(*light.position) == pytest.approx(2 * 40.0 * np.sin(0.15), abs=1e-3)
    assert light.position[0] < 0  # the start of the log lies behind


def _edit_womd(path: Path, change: Callable[[waymo_pb2.Scenario], object]) -> Path:
    (_, payload), *_ = read_records(make.make_womd(path))
    scenario = waymo_pb2.Scenario.FromString(payload)
    change(scenario)
    path.write_bytes(frame_records([scenario.SerializeToString()]))
    return path


def test_womd_lies_are_named(tmp_path: Path) -> None:
    def negative(s: Any) -> None:
        s.sdc_track_index = -1

    def short(s: Any) -> None:
        del s.tracks[0].states[50:]

    def kmh(s: Any) -> None:
        for state in s.tracks[1].states:
            state.velocity_x *= 3.6
            state.velocity_y *= 3.6

    path = tmp_path / "x.tfrecord"
    assert "own car" in problem("womd", _edit_womd(path, negative))
    assert "tracks[0]: 50 states for 91 times" in problem("womd", _edit_womd(path, short))
    assert "velocity of track 101: speed is 3.6 times" in problem("womd", _edit_womd(path, kmh))


def test_womd_samples_where_the_car_is_not_valid_are_a_gap(tmp_path: Path) -> None:
    def lose(s: Any) -> None:
        for state in s.tracks[1].states[50:60]:
            state.valid = False

    result = import_file("womd", _edit_womd(tmp_path / "x.tfrecord", lose), RULES)
    assert result.scenes == []
    assert rejected(result)["gap"] == 6


# ---- JSON and pickles


def test_another_json_layout_is_refused(tmp_path: Path) -> None:
    path = make.make_womd_json(tmp_path / "x.json")
    content = json.loads(path.read_text())
    content["objects"][0]["position"] = {"x": 1}
    path.write_text(json.dumps(content))
    assert "objects[0]: another layout" in problem("womd_json", path)


def test_a_left_handed_scenario_is_refused(tmp_path: Path) -> None:
    path = make.make_scenarionet(tmp_path / "sd_x.pkl")
    content = pickle.loads(path.read_bytes())
    content["metadata"]["coordinate"] = "carla left-handed"
    path.write_bytes(pickle.dumps(content))
    assert "metadata.coordinate: is not right-handed" in problem("scenarionet", path)


def test_navsim_without_boxes_says_so(tmp_path: Path) -> None:
    folder = tmp_path / "openscene"
    make.make_navsim(folder, annotated=False)
    path = next(folder.rglob("*.pkl"))
    found = scenes("navsim", path)
    assert "agents" in found[0].missing
    assert found[0].record_key.endswith("/token3")


def test_navsim_names_the_frame_that_lacks_a_field(tmp_path: Path) -> None:
    path = make.make_navsim(tmp_path)
    frames = pickle.loads(path.read_bytes())
    del frames[7]["ego2global_rotation"]
    path.write_bytes(pickle.dumps(frames))
    assert "frame 7: lacks 'ego2global_rotation'" in problem("navsim", path)
    frames = frames[:7]
    frames[3]["cams"]["CAM_F0"]["data_path"] = "../../etc/passwd"
    path.write_bytes(pickle.dumps(frames))
    assert "unsafe picture path" in problem("navsim", path)


# ---- nuScenes


def test_nuscenes_without_can_bus_differentiates(tmp_path: Path) -> None:
    tables = make.make_nuscenes(tmp_path, can_bus=False)
    found = scenes("nuscenes", tables)
    chord = 40.0 * np.sin(0.1) / 0.5  # central difference over +-0.5 s on a circle of 40 m
    assert found[0].velocity == pytest.approx([chord, 0.0], abs=1e-6)


def test_nuscenes_names_table_row_and_dangling_token(tmp_path: Path) -> None:
    tables = make.make_nuscenes(tmp_path)
    path = tables / "ego_pose.json"
    rows = json.loads(path.read_text())
    del rows[5]["rotation"]
    path.write_text(json.dumps(rows))
    assert problem("nuscenes", tables).endswith("ego_pose.json: row 5: lacks 'rotation'")
    path.write_text("[]")
    assert "scene scene-0001: lacks 'scene-0001-0-LIDAR_TOP'" in problem("nuscenes", tables)


def test_nuscenes_can_bus_in_kmh_is_noticed(tmp_path: Path) -> None:
    tables = make.make_nuscenes(tmp_path)
    path = tmp_path / "can_bus/scene-0001_pose.json"
    rows = json.loads(path.read_text())
    for row in rows:
        row["vel"][0] *= 3.6
    path.write_text(json.dumps(rows))
    assert "vel: speed is 3.6" in problem("nuscenes", tables)


# ---- PhysicalAI


def test_physical_ai_zipped_and_unpacked_are_the_same(tmp_path: Path) -> None:
    zipped = scenes("physical_ai", make.make_physical_ai(tmp_path / "z"))
    unpacked = scenes("physical_ai", make.make_physical_ai(tmp_path / "u", zipped=False))
    for one, two in zip(zipped, unpacked, strict=True):
        assert one.record_key == two.record_key
        np.testing.assert_array_equal(one.future, two.future)
        np.testing.assert_array_equal(one.agents.states, two.agents.states)
    assert zipped[0].scene_key == "physical_ai/clip-a"


def test_physical_ai_velocity_is_turned_out_of_the_anchor_frame(tmp_path: Path) -> None:
    for scene in scenes("physical_ai", make.make_physical_ai(tmp_path / "z")):
        np.testing.assert_allclose(scene.velocity, [make.SPEED, 0.0], atol=1e-9)


def test_physical_ai_velocity_in_body_axes_is_noticed(tmp_path: Path) -> None:
    """The classic mistake: the writer (or an adapter) takes the anchor frame for the body."""
    root = make.make_physical_ai(tmp_path / "u", zipped=False)
    for path in (root / "labels/egomotion").iterdir():
        table = pq.read_table(path).to_pandas()
        table["vx"], table["vy"] = make.SPEED, 0.0
        pq.write_table(pa.Table.from_pandas(table), path)
    assert "vx, vy: velocity points elsewhere" in problem("physical_ai", root)


def test_physical_ai_zip_members_are_checked(tmp_path: Path) -> None:
    root = make.make_physical_ai(tmp_path / "z")
    chunk = root / "labels/egomotion/egomotion.chunk_0000.zip"
    with zipfile.ZipFile(chunk, "w") as archive:
        archive.writestr("../../clip.egomotion.parquet", b"x")
    assert "unsafe member name" in problem("physical_ai", root)
    with zipfile.ZipFile(chunk, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("clip.egomotion.parquet", bytes(65 << 20))
    assert "clip.egomotion.parquet: larger than 67108864 bytes" in problem("physical_ai", root)


# ---- Argoverse 2


def test_av2_sensor_without_boxes_is_a_log_still(tmp_path: Path) -> None:
    path = make.make_av2_sensor(tmp_path / "log")
    (path / "annotations.feather").unlink()
    found = scenes("av2_sensor", path)
    assert "agents" in found[0].missing
    np.testing.assert_allclose(found[0].waypoints, make.expected_waypoints(), atol=2e-4)


def test_av2_sensor_in_kilometres_is_a_jump(tmp_path: Path) -> None:
    path = make.make_av2_sensor(tmp_path / "log")
    table = feather.read_table(path / "city_SE3_egovehicle.feather").to_pandas()
    table["tx_m"] *= 1000.0
    feather.write_feather(pa.Table.from_pandas(table), path / "city_SE3_egovehicle.feather")
    assert rejected(import_file("av2_sensor", path, RULES))["jump"] == 19


def test_av2_forecasting_lies_are_named(tmp_path: Path) -> None:
    path = make.make_av2_forecasting(tmp_path / "scenario_made.parquet")
    table = pq.read_table(path).to_pandas()
    pq.write_table(pa.Table.from_pandas(table[table.track_id != "AV"]), path)
    assert "has no track 'AV'" in problem("av2_forecasting", path)
    pq.write_table(pa.Table.from_pandas(table.drop(columns="heading")), path)
    assert "lacks column 'heading'" in problem("av2_forecasting", path)
    table["timestep"] = 10**9
    pq.write_table(pa.Table.from_pandas(table), path)
    assert "timestep: out of range" in problem("av2_forecasting", path)


# ---- bare trajectories


def test_parquet_and_npz_give_the_same_scenes(tmp_path: Path) -> None:
    one = scenes("plain", make.make_plain_npz(tmp_path / "a.npz"))
    two = scenes("plain", make.make_plain_parquet(tmp_path / "a.parquet"))
    for a, b in zip(one, two, strict=True):
        assert (a.record_key, a.scene_key, a.source) == (b.record_key, b.scene_key, "womd")
        np.testing.assert_array_equal(a.future, b.future)
    assert "history" in one[0].missing
    np.testing.assert_allclose(one[0].history[:, 0], [-12.0, -8.0, -4.0, 0.0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"traj": np.zeros((5, 8, 2))}, "traj: shape (5, 8, 2), expected (5, 10, 2)"),
        ({"traj": np.full((5, 10, 2), np.nan)}, "row 0: traj or v0: not finite"),
        ({"v0": np.zeros((4, 2))}, "length differs"),
        ({"traj": np.array(["x"] * 5)}, "malformed"),
        ({"traj": np.array([None] * 5)}, "allow_pickle=False"),  # objects would need a pickle
        ({"source_id": np.full(5, 9)}, "malformed"),
    ],
)
def test_bad_tables_are_named(change: dict[str, Any], text: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **(make.plain_arrays() | change))
    assert text in problem("plain", tmp_path / "a.npz")


def test_kilometres_in_a_table_are_a_jump(tmp_path: Path) -> None:
    arrays = make.plain_arrays()
    arrays["traj"][2] *= 1000.0
    np.savez(tmp_path / "a.npz", **arrays)
    report = import_logs("plain", [tmp_path / "a.npz"], tmp_path / "out", RULES)
    assert (report.kept, dict(report.rejected)) == (4, {"jump": 1})


def test_a_table_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for key in ("traj", "v0", "record_key", "scene_key"):
            archive.writestr(f"{key}.npy", b"x")
    data = (tmp_path / "a.npz").read_bytes()
    # the size of the first member in the central directory, 24 bytes behind its signature
    place = data.index(b"PK\x01\x02") + 24
    (tmp_path / "a.npz").write_bytes(data[:place] + b"\xfe\xff\xff\xff" + data[place + 4 :])
    with pytest.raises(BadInput):
        import_logs("plain", [tmp_path / "a.npz"], tmp_path / "out", RULES)


def test_an_array_that_claims_terabytes_is_refused(tmp_path: Path) -> None:
    path = make.make_plain_npz(tmp_path / "a.npz")
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    whole = members["traj.npy"]
    members["traj.npy"] = whole.replace(b"(5, 10, 2), }          ", b"(5, 10, 10000000000), }")
    assert members["traj.npy"] != whole
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    assert str(path) in problem("plain", path)


# ---- tracks in which every car is an ego


@pytest.mark.parametrize("version", ["2018b", "2020a"])
def test_both_commonroad_versions(version: str, tmp_path: Path) -> None:
    found = scenes("commonroad", make.make_commonroad(tmp_path / "a.xml", version))
    assert {scene.scene_key for scene in found} == {"commonroad/MADE-1"}
    assert {scene.record_key.split("/")[-1].split("@")[0] for scene in found} == {"42", "43"}
    np.testing.assert_allclose(found[0].agents.dimensions[:, :2], [[4.2, 1.8]])


def test_simulated_commonroad_scenarios_are_refused(tmp_path: Path) -> None:
    path = make.make_commonroad(tmp_path / "a.xml", source="SUMO")
    assert "source: names no recorder" in problem("commonroad", path)


def test_hostile_xml_is_refused(tmp_path: Path) -> None:
    path = make.make_commonroad(tmp_path / "a.xml")
    laughs = '<!DOCTYPE a [<!ENTITY l "ha"><!ENTITY m "&l;&l;&l;&l;">]>'
    path.write_text(path.read_text().replace("<commonRoad", laughs + "<commonRoad"))
    assert "not harmless XML: EntitiesForbidden" in problem("commonroad", path)


def test_interaction_walkers_are_no_egos(tmp_path: Path) -> None:
    found = scenes("interaction", make.make_interaction(tmp_path / "vehicle_tracks_000.csv"))
    assert {scene.record_key.split("/")[-1].split("@")[0] for scene in found} == {"1", "2"}
    assert AgentKind.PEDESTRIAN in found[0].agents.kinds


def test_kitti_lines_that_are_no_pose_are_named(tmp_path: Path) -> None:
    path = make.make_kitti(tmp_path / "03.txt")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], lines[4].rsplit(" ", 1)[0], *lines[5:]]))
    assert "line 5: 11 numbers, expected 12" in problem("kitti", path)
    path.write_text("\n".join([*lines[:4], "2 " * 12, *lines[5:]]))
    assert "line 5: no rotation" in problem("kitti", path)


def test_comma2k19_velocity_in_mph_is_noticed(tmp_path: Path) -> None:
    path = make.make_comma2k19(tmp_path / "drive_40")
    file = path / "global_pose/frame_velocities"
    with file.open("rb") as stream:
        array = np.load(stream)
    with file.open("wb") as stream:
        np.save(stream, array * 2.237)
    assert "frame_velocities: speed is 2.24 times" in problem("comma2k19", path)


# ---- generated code


def test_the_generated_messages_are_those_of_the_proto(root: Path, tmp_path: Path) -> None:
    from grpc_tools import protoc

    source = "driveproof/datasets/waymo.proto"
    assert protoc.main(["protoc", f"-I{root}", f"--python_out={tmp_path}", str(root / source)]) == 0
    made = (tmp_path / "driveproof/datasets/waymo_pb2.py").read_text()
    assert made == (root / "driveproof/datasets/waymo_pb2.py").read_text()
