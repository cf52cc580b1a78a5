"""The formats: one line each. ``read`` yields logs, or scenes where a format holds bare windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from driveproof.datasets import (
    av2_forecasting,
    av2_sensor,
    bench2drive,
    comma2k19,
    commonroad,
    gpudrive,
    interaction,
    kitti,
    l5kit,
    navsim,
    nuscenes,
    physical_ai,
    plain,
    scenarionet,
    waymo_e2e,
    womd,
)
from driveproof.errors import BadInput
from driveproof.scene import Log, Scene


@dataclass(frozen=True)
class Format:
    """A log format.

    ``claims`` looks at names and first bytes only; ``frame_origin`` is the point of the vehicle that
    the poses follow; ``rate`` and ``missing`` are for people.
    """

    name: str
    description: str
    frame_origin: str
    rate: str
    missing: str
    claims: Callable[[Path], bool]
    read: Callable[[Path], Iterator[Log | Scene]]


# fmt: off
_ALL = (
    Format("bench2drive", "Bench2Drive clips (tar, tar.gz or folder)", "box centre", "10 Hz", "route", bench2drive.claims, bench2drive.read),
    Format("waymo_e2e", "Waymo Open End-to-End Driving (TFRecord)", "rear axle", "4 Hz", "heading, agents, signals", waymo_e2e.claims, waymo_e2e.read),
    Format("womd", "Waymo Open Motion scenarios (TFRecord)", "box centre", "10 Hz", "pictures, command", womd.claims, womd.read),
    Format("womd_json", "Waymo Open Motion scenarios (GPUDrive JSON)", "box centre", "10 Hz", "pictures, command, signals", gpudrive.claims, gpudrive.read),
    Format("scenarionet", "ScenarioNet scenarios (pickle)", "vehicle pose of the source", "10 Hz", "pictures, command, signals", scenarionet.claims, scenarionet.read),
    Format("nuscenes", "nuScenes tables (folder of JSON)", "rear axle", "2 Hz", "command, signals", nuscenes.claims, nuscenes.read),
    Format("navsim", "NAVSIM / OpenScene logs (pickle)", "rear axle", "2 Hz", "signals", navsim.claims, navsim.read),
    Format("physical_ai", "PhysicalAI-Autonomous-Vehicles (folder of zips or parquet)", "rear axle", "100 Hz, kept at 10 Hz", "pictures, command, signals", physical_ai.claims, physical_ai.read),
    Format("av2_sensor", "Argoverse 2 sensor logs (folder)", "rear axle", "10 Hz", "velocity, command, signals", av2_sensor.claims, av2_sensor.read),
    Format("av2_forecasting", "Argoverse 2 motion forecasting (parquet)", "box centre", "10 Hz", "box dimensions, pictures, command, signals", av2_forecasting.claims, av2_forecasting.read),
    Format("l5kit", "L5Kit prediction data (zarr folder)", "vehicle pose", "10 Hz", "pictures, command, signals", l5kit.claims, l5kit.read),
    Format("kitti", "KITTI odometry poses (text)", "camera", "10 Hz nominal", "clock, velocity, surroundings", kitti.claims, kitti.read),
    Format("comma2k19", "comma2k19 minutes (folder)", "camera", "20 Hz", "surroundings, command", comma2k19.claims, comma2k19.read),
    Format("commonroad", "CommonRoad scenarios of recorded traffic (xml)", "shape centre", "10 Hz", "pictures, command, signals", commonroad.claims, commonroad.read),
    Format("interaction", "INTERACTION tracks (csv)", "box centre", "10 Hz", "pictures, command, signals", interaction.claims, interaction.read),
    Format("plain", "Bare trajectories (npz or parquet)", "unknown", "2 Hz", "history, surroundings", plain.claims, plain.read),
)
# fmt: on

FORMATS: dict[str, Format] = {entry.name: entry for entry in _ALL}


def find_format(name: str) -> Format:
    """The format of that name; :class:`BadInput` listing the known ones."""
    if name not in FORMATS:
        raise BadInput(f"unknown format {name!r}", hint=f"one of {', '.join(sorted(FORMATS))}")
    return FORMATS[name]


def sniff(path: str | Path) -> Format:
    """The one format that claims ``path``, or else the first log in it; :class:`BadInput` if none or several do."""
    path = Path(path)
    if not path.exists():
        raise BadInput("no such file or folder", path=path)
    inside = sorted(path.iterdir()) if path.is_dir() else []
    claims = (
        [entry for entry in FORMATS.values() if entry.claims(place)] for place in (path, *inside)
    )
    claimed = next(filter(None, claims), [])
    if len(claimed) != 1:
        names = ", ".join(entry.name for entry in claimed)
        problem = f"may be any of {names}" if claimed else "no format claims this"
        raise BadInput(problem, path=path, hint="say which with --format")
    return claimed[0]


def expand(entry: Format, paths: Iterable[str | Path]) -> list[Path]:
    """``paths`` with folders that are no log themselves replaced by the logs in them, sorted."""
    found: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise BadInput("no such file or folder", path=path)
        if path.is_dir() and not entry.claims(path):
            inside = sorted(child for child in path.iterdir() if entry.claims(child))
            if not inside:
                raise BadInput(f"holds no {entry.name} log", path=path)
            found.extend(inside)
        else:
            found.append(path)
    return found


def open_logs(format: str, paths: Iterable[str | Path]) -> Iterator[Log | Scene]:
    """Yield the logs of ``paths`` in order.

    Raises
    ------
    BadInput
        Naming the file and the field, at the first log that cannot be read.
    """
    entry = find_format(format)
    for path in expand(entry, paths):
        yield from entry.read(path)
