"""The windows of an episode that a judge looks at, cut out of its recorded clip.

A window is a moment of the drive with the 1.5 s before it and the 5 s after it. In it a simulated ego follows the way
that was driven, among the other road users as they really moved, and the rules look at its next 4 s.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from driveproof.errors import UserError
from driveproof.evaluation.driving.clips import CLIP_BEGINS_S, ego_size, read_clip
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.geometry.arrays import Float
from driveproof.judge import Clip
from driveproof.judge.frames import FrameStyle, draw_frames
from driveproof.judge.windows import Surroundings, every, judged, logged_frames
from driveproof.maps import TownMap, load_town
from driveproof.rules import DT, shape_of
from driveproof.rules.variants import Variant
from driveproof.scene import ImageStore, Scene, WindowReport, WindowRules, scenes_of
from driveproof.scene.images import Pixels

JUDGED_S = 4.0
"""Seconds after the moment that the rules look at."""
Front = Literal["rendered", "recorded"]


@dataclass(frozen=True)
class Cutting:
    """How episodes are cut into windows.

    Attributes
    ----------
    every_s
        Seconds between windows; a multiple of 0.5, which is the grid of decisions.
    variant
        Of the rules.
    front
        What the front view of a frame is: "rendered" draws it with the trajectory on the road, as the judge's own
        training data; "recorded" takes the camera's picture, without a trajectory.
    style
        Of the frames.
    """

    every_s: float = 2.0
    variant: Variant = "navsim"
    front: Front = "rendered"
    style: FrameStyle = field(default_factory=FrameStyle)


@dataclass(frozen=True)
class Window:
    """A window of an episode.

    Attributes
    ----------
    record, time
        Of which drive, and seconds since it began of the moment.
    clip
        What was driven: its key is unique in the run, it has the values of the rules and EPDMS.
    scene, around, later
        In which other trajectories can be judged, too.
    infractions
        Kinds of those within the 4 s that are judged.
    """

    record: RouteRecord
    time: float
    clip: Clip
    scene: Scene
    around: Surroundings
    later: tuple[Scene, ...]
    infractions: tuple[str, ...]


def windows_of(
    run: DriveRun, record: RouteRecord, cutting: Cutting
) -> tuple[list[Window], list[list[Pixels]], Counter[str]]:
    """The windows of a drive with their frames, and how many moments of its grid are none, by reason.

    Nothing but ``no_clip`` comes of a drive without a recorded clip. The last 5 s of a drive begin no window
    (``short_future``), nor do the first 1.5 s (``short_history``); what happens in them lies in the windows before
    or after, but for the very last second.

    Raises
    ------
    BadInput
        If the clip is broken.
    """
    folder = run.folder(record)
    log = read_clip(folder)
    if log is None:
        return [], [], Counter({"no_clip": 1})
    shape = shape_of(*ego_size(folder))
    back = 0.0 if log.frame_origin == "rear_axle" else shape.rear_axle_to_center
    report = WindowReport()
    rules = WindowRules(agent_step_s=DT)
    scenes = [rear_axle(scene, back) for scene in scenes_of(log, rules, report)]
    around = Surroundings(_town(record.town), None, shape)
    windows, pictures = [], []
    for scene in every(scenes, cutting.every_s):
        later = tuple(one for one in scenes if one.timestamp_s > scene.timestamp_s)
        made, frames = _window(scene, around, later, cutting)
        time = round(scene.timestamp_s + CLIP_BEGINS_S, 3)
        key = f"{record.route_id}_rep{record.repeat}/{scene.record_key.rpartition('/')[2]}"
        clip = replace(made, key=key, setting=key, place=record.route_id)
        wrong = tuple(
            one.kind.value
            for one in record.failures
            if math.isfinite(one.time) and time <= one.time <= time + JUDGED_S
        )
        windows.append(Window(record, time, clip, scene, around, later, wrong))
        pictures.append(frames)
    return windows, pictures, report.rejected


def rear_axle(scene: Scene, back: float) -> Scene:
    """The scene with poses of the rear axle, ``back`` metres behind the point that they followed, in whose frame all is."""
    agents = scene.agents
    states = agents.states.copy()
    states[..., 0] += back
    signals = tuple(
        replace(one, position=(one.position[0] + back, one.position[1])) for one in scene.signals
    )
    frame = np.array([back, 0.0, 0.0])
    return replace(
        scene,
        history=_behind(scene.history, back) + frame,
        future=_behind(scene.future, back) + frame,
        agents=replace(agents, states=states),
        signals=signals,
        world_pose=_behind(scene.world_pose, back),
    )


def _behind(poses: Float, back: float) -> Float:
    moved = np.array(poses, np.float64)
    moved[..., 0] -= back * np.cos(moved[..., 2])
    moved[..., 1] -= back * np.sin(moved[..., 2])
    return moved


def _window(
    scene: Scene, around: Surroundings, later: tuple[Scene, ...], cutting: Cutting
) -> tuple[Clip, list[Pixels]]:
    (clip,), world = judged(scene, around, variant=cutting.variant, later=later)
    if cutting.front == "recorded":
        return clip, logged_frames(scene, around, world, cutting.style, ImageStore())
    return clip, draw_frames(
        scene, scene.future, world.roads, world.shape, cutting.style, around.town
    )


def _town(name: str) -> TownMap | None:
    try:
        return load_town(name)
    except UserError:  # the map rules then stay unjudged
        return None
