"""Clips from logs: 2 s windows whose driver scores low on a rule, unlabelled, for people to look at (DriveJudge, 4.2).

A window is the past 1.5 s and the moment, four frames at 2 Hz; what is judged is the driver's next 4 s. The front view is
the log's own picture where it has one; without a calibration of its camera no trajectory is drawn on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from driveproof.errors import UserError
from driveproof.geometry.arrays import Float
from driveproof.judge.bev import draw_bev
from driveproof.judge.clips import Clip
from driveproof.judge.criteria import UNASKED, criteria_of
from driveproof.judge.frames import AHEAD_S, Course, FrameStyle, beside, frame_times
from driveproof.maps import TownMap
from driveproof.rules import VehicleShape, World, score_plans
from driveproof.rules.reference import reference_plan
from driveproof.rules.scenes import plans_in, world_of
from driveproof.rules.variants import Variant
from driveproof.scene import HISTORY_TIMES, ImageStore, Scene
from driveproof.scene.images import Pixels
from driveproof.scene.log_map import LogMap
from driveproof.scene.types import STEP_S

EVERY_S = 2.0
"""Seconds between windows of one drive."""
Load = Callable[[Scene], "Surroundings"]


@dataclass(frozen=True)
class Surroundings:
    """Map and vehicle that belong to a scene."""

    town: TownMap | None = None
    log_map: LogMap | None = None
    shape: VehicleShape = field(default_factory=VehicleShape)
    rear_axle: bool = True


def low_rules(
    rules: Mapping[str, float | None], thresholds: Mapping[str, float]
) -> tuple[str, ...]:
    """Criteria below their threshold, and unasked rules that are broken."""
    values = criteria_of(rules)
    low = [c for c, value in values.items() if value is not None and value < thresholds[c]]
    low += [c for c in UNASKED if (value := rules.get(c)) is not None and value < 1.0]
    return tuple(low)


def every(scenes: Iterable[Scene], seconds: float = EVERY_S) -> Iterator[Scene]:
    """Scenes that are at least ``seconds`` apart within their drive; drives come one after the other."""
    drive, last = "", -np.inf
    for scene in scenes:
        if scene.scene_key != drive or scene.timestamp_s - last >= seconds - 1e-6:
            drive, last = scene.scene_key, scene.timestamp_s
            yield scene


def judged(
    scene: Scene,
    around: Surroundings,
    plans: Float | None = None,
    *,
    variant: Variant = "navsim",
    later: Sequence[Scene] = (),
) -> tuple[list[Clip], World]:
    """Trajectories of a scene as clips without label and frames, and the world that they were judged in.

    Parameters
    ----------
    plans
        Poses ``[N, 10, 3]`` of the rear axle at ``FUTURE_TIMES``, scene's frame; None is the logged driver alone.
    later
        Scenes of the same drive at later moments, from which the further states of lights are taken.

    Raises
    ------
    ValueError
        If there are plans, and the scene's poses do not follow the rear axle.
    """
    if plans is not None and not around.rear_axle:
        raise ValueError("plans are of the rear axle, and the scene is not")
    made = world_of(
        scene,
        around.town,
        shape=around.shape,
        rear_axle=around.rear_axle,
        later=later,
        log_map=around.log_map,
    )
    world = made.world
    driven = made.human[None] if plans is None else plans_in(world, plans, STEP_S)
    reference = reference_plan(world) if len(world.roads.route) else None
    scores = score_plans(world, driven, reference=reference, variant=variant)
    clips = []
    for n in range(len(driven)):
        row = scores.row(n)
        clip = Clip(
            key=scene.record_key if plans is None else f"{scene.record_key}/{n}",
            setting=scene.record_key,
            place=scene.scene_key,
            split="",
            plan=scene.future if plans is None else plans[n],
            size=(world.shape.length, world.shape.width),
            rules={code: row[code] for code in scores.rules},
            epdms=row["EPDMS_raw"],
            topic=scene.situation,
        )
        clips.append(clip)
    return clips, world


def window(
    scene: Scene,
    around: Surroundings,
    style: FrameStyle,
    store: ImageStore,
    variant: Variant = "navsim",
) -> tuple[Clip, list[Pixels]]:
    """The logged driver of a scene as a clip without label, and its frames."""
    (clip,), world = judged(scene, around, variant=variant)
    return clip, logged_frames(scene, around, world, style, store)


def logged_frames(
    scene: Scene, around: Surroundings, world: World, style: FrameStyle, store: ImageStore
) -> list[Pixels]:
    """The frames of the logged driver, with the log's own front pictures."""
    course = Course.of(scene, scene.future)
    # the picture is drawn around the point that the poses follow
    drawn = world.shape if around.rear_axle else replace(world.shape, rear_axle_to_center=0.0)
    frames = []
    for n, time in enumerate(frame_times(len(HISTORY_TIMES)).tolist()):
        ego = course.at(np.array([time]))[0]
        following = course.at(time + np.arange(0.25, AHEAD_S + 1e-6, 0.25))[:, :2]
        above = draw_bev(world.roads, scene.agents, time, ego, following, drawn, style.bev)
        front = _picture(scene, n, store, style)
        frames.append(beside(front, above))
    return frames


def _picture(scene: Scene, index: int, store: ImageStore, style: FrameStyle) -> Pixels:
    """The log's front picture of a moment, black where it has none."""
    refs = scene.images.get("front")
    blank: Pixels = np.zeros((style.height, style.front_width, 3), np.uint8)
    if refs is None or refs[index] is None:
        return blank
    try:
        return store.load(refs[index])  # type: ignore[arg-type]
    except UserError:
        return blank
