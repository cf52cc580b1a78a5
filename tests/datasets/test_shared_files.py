"""The real and assembled files of ../shared: how many moments each must give, reasoned from its own length.

A log of T seconds on a grid of 0.5 s has moments at 0.0, 0.5 .. T. The first three (0.0, 0.5, 1.0) lack
history, the last ten lack future; what is left is kept unless the motion itself is broken.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from driveproof.datasets import sniff
from driveproof.datasets.importing import FileImport, import_file
from driveproof.errors import BadInput
from driveproof.scene import ImageStore, WindowRules

pytestmark = pytest.mark.shared
RULES = WindowRules()


def fixture(shared_dir: Path, name: str) -> Path:
    path = shared_dir / "data/fixtures" / name
    assert path.exists()
    return path


def counts(result: FileImport) -> tuple[int, dict[str, int]]:
    assert result.error is None, result.error
    rejected: dict[str, int] = {}
    for report in result.reports.values():
        for reason, count in report.rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
    return len(result.scenes), rejected


ENDS = {"short_history": 3, "short_future": 10}
COUNTS: dict[str, tuple[str, int, dict[str, int]]] = {
    # 91 steps = 9.0 s: 19 moments
    "waymo/womd/motion_data_one_scenario.tfrecord": ("womd", 6, ENDS),
    "womd_json/100_tfrecord-00018-of-00150_254.json": ("womd_json", 6, ENDS),
    "womd_json/102_tfrecord-00037-of-00150_86.json": ("womd_json", 6, ENDS),
    "womd_json/127_tfrecord-00039-of-00150_142.json": ("womd_json", 6, ENDS),
    "womd_json/53_tfrecord-00021-of-00150_34.json": ("womd_json", 6, ENDS),
    "womd_json/68_tfrecord-00033-of-00150_45.json": ("womd_json", 6, ENDS),
    # nine records, one moment each
    "waymo/e2e_assembled/assembled_e2ed.tfrecord": ("waymo_e2e", 9, {}),
    # 201 steps at 10 Hz = 20.0 s: 41 moments
    "nuscenes_scenarionet/sd_nuscenes_v1.0-mini_scene-0553.pkl": ("scenarionet", 28, ENDS),
    "nuscenes_scenarionet/sd_nuscenes_v1.0-mini_scene-0757.pkl": ("scenarionet", 28, ENDS),
    "nuscenes_scenarionet/sd_nuscenes_v1.0-mini_scene-0916.pkl": ("scenarionet", 28, ENDS),
    # one sample: no history
    "nuscenes_schema_lyft/v1.01-train/v1.01-train": ("nuscenes", 0, {"short_history": 1}),
    # 157 sweeps in 15.60 s: 32 moments
    "av2/sensor/3b3570b4-7b0b-3268-a571-b0889dbf40b6": ("av2_sensor", 19, ENDS),
    # 156 sweeps in 15.4998 s: the grid reaches 15.5 within its tolerance of 1 ms, so 32 moments; the sweep
    # nearest to 1.5 s comes at 1.49895 s and lacks a millisecond of history
    "av2/sensor/7fab2350-7eaf-3b7e-a39d-6937a4c1bede": (
        "av2_sensor",
        18,
        {"short_history": 4, "short_future": 10},
    ),
    # 110 steps = 10.9 s: 22 moments
    "av2/motion_forecasting/0a1e6f0a-1817-4a98-b02e-db8c9327d151": ("av2_forecasting", 9, ENDS),
    # 801, 271, 1101 poses at 10 Hz = 80, 27, 110 s
    "kitti_odometry/poses/03.txt": ("kitti", 161 - 13, ENDS),
    "kitti_odometry/poses/04.txt": ("kitti", 55 - 13, ENDS),
    "kitti_odometry/poses/07.txt": ("kitti", 221 - 13, ENDS),
    # 248 frames at 10 Hz = 24.7 s
    "lyft_l5/single_scene.zarr": ("l5kit", 50 - 13, ENDS),
    # 1,200 frames at 20 Hz = 59.95 s
    "comma2k19/Example_1/b0c9d2329ad1606b_2018-08-02--08-34-47/40": ("comma2k19", 120 - 13, ENDS),
}


@pytest.mark.parametrize("name", COUNTS)
def test_each_file_gives_the_moments_that_its_length_allows(name: str, shared_dir: Path) -> None:
    format, kept, rejected = COUNTS[name]
    path = fixture(shared_dir, name)
    assert sniff(path).name == format
    result = import_file(format, path, RULES)
    assert counts(result) == (kept, rejected)
    for scene in result.scenes:
        # half a second on, the ego is where its velocity says, give or take 6 m/s² of braking
        miss = np.hypot(*(scene.waypoints[0] - 0.5 * scene.velocity))
        assert miss < 0.5 * 0.25 * 6.0, scene.record_key
        assert abs(scene.velocity[1]) < 1.5  # cars do not drive sideways


def _tracks(path: Path) -> list[int]:
    """Numbers of states of the moving obstacles, counted in the text."""
    text = path.read_text()
    tag = "dynamicObstacle" if "<dynamicObstacle" in text else "obstacle"
    parts = [part.split(f"</{tag}>")[0] for part in text.split(f"<{tag} ")[1:]]
    moving = [p for p in parts if tag != "obstacle" or "<role>dynamic</role>" in p]
    return [part.count("<state>") + 1 for part in moving]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "jumps"),
    [
        ("2020a_USA_US101-4_1_T-1.xml", 0),
        ("USA_Lanker-1_16_T-1.xml", 0),  # no track of 5 s
        ("USA_Lanker-2_19_T-1.xml", 3),
        ("USA_Peach-4_2_T-1.xml", 0),
    ],
)
def test_commonroad_moments_follow_from_the_track_lengths(
    name: str, jumps: int, shared_dir: Path
) -> None:
    path = fixture(shared_dir, f"commonroad/{name}")
    kept, rejected = counts(import_file("commonroad", path, RULES))
    lengths = [
        (states - 1) // 5 + 1 for states in _tracks(path)
    ]  # moments: every fifth step of 0.1 s
    usable = sum(max(moments - 13, 0) for moments in lengths)
    assert kept + rejected.pop("jump", 0) == usable
    assert kept == usable - jumps
    assert kept + jumps + sum(rejected.values()) == sum(lengths)


REFUSED = {
    # a made-up sample: its second car drives towards -x at a velocity of +10 m/s along x
    "interaction/vehicle_tracks_000.csv": (
        "interaction",
        "velocity of track 2: velocity points elsewhere than the positions go",
    ),
    "waymo/womd/motion_data_one_example.tfrecord": ("womd", "record 0: no Scenario"),
    "waymo/perception/pvps_data_one_frame.tfrecord": ("waymo_e2e", "record 0: no E2EDFrame"),
    "nuscenes_mmdet3d/nus_info.pkl": ("scenarionet", "lacks 'tracks'"),
    "nuscenes_schema_lyft/lyft_infos.pkl": ("navsim", "expected a list of frames"),
    "nuplan/load_from_scene.json": ("womd_json", "lacks 'metadata'"),
    "bench2drive/bench2drive220.xml": ("commonroad", "no CommonRoad scenario"),
    "bench2drive/bench2drive_base_1000.json": ("womd_json", "lacks 'metadata'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_files_of_other_formats_are_refused_with_a_reason(name: str, shared_dir: Path) -> None:
    format, reason = REFUSED[name]
    path = fixture(shared_dir, name)
    result = import_file(format, path, RULES)
    assert isinstance(result.error, BadInput)
    assert reason in str(result.error)


def test_the_waymo_motion_record_and_its_end_to_end_form_agree(shared_dir: Path) -> None:
    """The assembled frames hold the tracks of GPUDrive scenarios at their time of 4.0 s."""
    path = fixture(shared_dir, "waymo/e2e_assembled/assembled_e2ed.tfrecord")
    frames = {s.scene_key.split("-")[1]: s for s in import_file("waymo_e2e", path, RULES).scenes}
    for name in ("53_tfrecord-00021-of-00150_34", "68_tfrecord-00033-of-00150_45"):
        motion = import_file(
            "womd_json", fixture(shared_dir, f"womd_json/{name}.json"), RULES
        ).scenes
        key = motion[0].scene_key.split("/")[1]
        at_4_s = next(s for s in motion if abs(s.timestamp_s - 4.0) < 1e-6)
        np.testing.assert_allclose(frames[key].waypoints, at_4_s.waypoints, atol=1e-3)
        np.testing.assert_allclose(frames[key].velocity, at_4_s.velocity, atol=1e-3)


def test_the_pictures_of_a_waymo_record_decode(shared_dir: Path) -> None:
    path = fixture(shared_dir, "waymo/e2e_assembled/assembled_e2ed.tfrecord")
    scene = import_file("waymo_e2e", path, RULES).scenes[0]
    for camera in ("front", "front_left", "front_right"):
        ref = scene.images[camera][-1]
        assert ref is not None
        assert ImageStore().load(ref).shape == (1280, 1920, 3)


@pytest.mark.slow
def test_real_trajectories_all_come_in(shared_dir: Path) -> None:
    result = import_file("plain", shared_dir / "data/real_trajectories.npz", RULES)
    assert counts(result) == (24093, {})
    assert {scene.source for scene in result.scenes} <= set(_sources(shared_dir))


def _sources(shared_dir: Path) -> list[str]:
    with np.load(shared_dir / "data/real_trajectories.npz", allow_pickle=False) as arrays:
        return [str(name) for name in arrays["source_names"]]
