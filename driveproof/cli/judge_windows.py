"""``driveproof judge mine``: 2 s windows of logs whose drivers score low on a rule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from driveproof.judge.windows import Surroundings
    from driveproof.scene import Scene


def mine(
    paths: Annotated[list[Path], typer.Argument(help="Logs, or folders of them.")],
    out: Annotated[Path, typer.Option(help="Folder for clips.parquet and pictures.tar.")],
    format: Annotated[str, typer.Option(help="See `driveproof scenes formats`.")] = "auto",
    all_windows: Annotated[
        bool, typer.Option("--all", help="Keep windows that break nothing.")
    ] = False,
    most: Annotated[int, typer.Option(min=1, help="Stop after so many clips.")] = 1_000_000,
) -> None:
    """Cut logs into 2 s windows and keep those whose driver scores low on a rule, for people to label.

    Example: driveproof judge mine logs/val --format av2_sensor --out mined
    """
    from collections import Counter

    from driveproof.datasets import sniff
    from driveproof.errors import BadInput
    from driveproof.files import atomic_dir, check_folder, write_json
    from driveproof.judge.archive import PICTURES, write_pictures
    from driveproof.judge.clips import write_clips
    from driveproof.judge.criteria import PAPER_THRESHOLDS
    from driveproof.judge.frames import FrameStyle, encode
    from driveproof.judge.windows import low_rules, window
    from driveproof.scene import ImageStore

    check_folder(out, ["clips.parquet"])
    name = sniff(paths[0]).name if format == "auto" else format
    store, style = ImageStore(), FrameStyle()
    kept, low_counts, seen = [], Counter[str](), 0
    for scene, around in _windows(name, paths):
        clip, frames = window(scene, around, style, store)
        seen += 1
        low = low_rules(clip.rules, PAPER_THRESHOLDS)
        low_counts.update(low)
        if low or all_windows:
            kept.append((clip, tuple(encode(frame) for frame in frames)))
        if len(kept) >= most:
            break
    if not seen:
        raise BadInput("no usable window", path=paths[0])
    with atomic_dir(out) as folder:
        write_clips(
            write_pictures(kept, folder / PICTURES, out / PICTURES), folder / "clips.parquet"
        )
        counts = {"windows": seen, "kept": len(kept), "low": dict(sorted(low_counts.items()))}
        write_json(folder / "mining.json", {"format": name, **counts})
    typer.echo(f"{seen} windows, {len(kept)} kept; low on {dict(sorted(low_counts.items()))}")


def _windows(name: str, paths: list[Path]) -> Iterator[tuple[Scene, Surroundings]]:
    """Windows of all logs with their surroundings."""
    from driveproof.datasets import open_logs
    from driveproof.errors import MissingMap
    from driveproof.judge.windows import Surroundings, every
    from driveproof.maps import load_town
    from driveproof.rules import VehicleShape, shape_of
    from driveproof.rules.states import DT
    from driveproof.scene import Scene, WindowReport, WindowRules, scenes_of

    for log in open_logs(name, paths):
        if isinstance(log, Scene):
            yield log, Surroundings()
            continue
        scenes = list(every(scenes_of(log, WindowRules(agent_step_s=DT), WindowReport())))
        if not scenes:
            continue
        log_map = log.load_map() if log.load_map is not None else None
        town = None
        if log_map is None and log.town:
            try:
                town = load_town(log.town)
            except MissingMap:
                town = None  # the map rules then stay unjudged
        shape = shape_of(*log.ego_size) if log.ego_size is not None else VehicleShape()
        around = Surroundings(town, log_map, shape, log.frame_origin != "box_center")
        yield from ((scene, around) for scene in scenes)
