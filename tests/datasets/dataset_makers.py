"""Tiny valid files of every format, from closed-form motion; usable without any reference material."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from maker_files import (
    bench2drive_annos,
    make_av2_forecasting,
    make_bench2drive,
    make_commonroad,
    make_interaction,
    make_kitti,
    make_plain_npz,
    make_plain_parquet,
    make_scenarionet,
    make_waymo_e2e,
    make_womd,
    make_womd_json,
    plain_arrays,
)
from maker_folders import (
    blosc_chunk,
    make_av2_sensor,
    make_comma2k19,
    make_l5kit,
    make_navsim,
    make_nuscenes,
    make_physical_ai,
)
from maker_motion import (
    JPEG,
    ORIGIN,
    SPEED,
    YAW_RATE,
    expected_waypoints,
    problem_of,
)

from driveproof.testing import motion

__all__ = [
    "JPEG",
    "MAKERS",
    "ORIGIN",
    "SPEED",
    "YAW_RATE",
    "bench2drive_annos",
    "blosc_chunk",
    "expected_waypoints",
    "make_av2_forecasting",
    "make_av2_sensor",
    "make_bench2drive",
    "make_comma2k19",
    "make_commonroad",
    "make_interaction",
    "make_kitti",
    "make_l5kit",
    "make_navsim",
    "make_nuscenes",
    "make_physical_ai",
    "make_plain_npz",
    "make_plain_parquet",
    "make_scenarionet",
    "make_waymo_e2e",
    "make_womd",
    "make_womd_json",
    "motion",
    "plain_arrays",
    "problem_of",
]

MAKERS: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "bench2drive": ("Accident_Town03_Route1_W2.tar", make_bench2drive),
    "waymo_e2e": ("frames.tfrecord", make_waymo_e2e),
    "womd": ("scenarios.tfrecord", make_womd),
    "womd_json": ("scenario.json", make_womd_json),
    "scenarionet": ("sd_made.pkl", make_scenarionet),
    "nuscenes": ("nuscenes", make_nuscenes),
    "navsim": ("openscene", make_navsim),
    "physical_ai": ("physical", make_physical_ai),
    "av2_sensor": ("av2-log", make_av2_sensor),
    "av2_forecasting": ("scenario_made.parquet", make_av2_forecasting),
    "kitti": ("03.txt", make_kitti),
    "comma2k19": ("drive_40", make_comma2k19),
    "l5kit": ("scenes.zarr", make_l5kit),
    "interaction": ("vehicle_tracks_000.csv", make_interaction),
    "commonroad": ("MADE-1.xml", make_commonroad),
    "plain": ("windows.npz", make_plain_npz),
}
"""Format -> a file or folder name that fits it, and the maker."""
