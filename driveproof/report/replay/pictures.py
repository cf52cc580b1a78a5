"""The pictures of an episode: what the front camera recorded, and the view from above of every moment."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.evaluation.driving.clips import CLIP_BEGINS_S
from driveproof.geometry import points_to_local
from driveproof.geometry.arrays import Float
from driveproof.render import Box, View, lights_of, render_bev
from driveproof.report.replay.episode import EVERY_S, Episode, Moment
from driveproof.scene import AgentKind, ImageStore
from driveproof.scene.images import Pixels

AHEAD_S = 4.0
"""Seconds of the way driven that the view from above shows ahead of the ego."""
RANGE_M = 32.0
"""Metres from the ego to the border of the view from above."""
COLOURS = {
    AgentKind.VEHICLE: (150, 155, 165),
    AgentKind.CYCLIST: (235, 170, 60),
    AgentKind.PEDESTRIAN: (240, 90, 90),
    AgentKind.OBSTACLE: (240, 220, 90),
}


@dataclass(frozen=True)
class Shot:
    """A moment in pictures, RGB; None where there is nothing to show."""

    front: Pixels | None
    above: Pixels | None


def shots(episode: Episode, width: int, above_px: int) -> Iterator[Shot]:
    """The pictures of every moment in order, the front view at most ``width`` pixels wide.

    Raises
    ------
    BadInput
        If a recorded picture is broken.
    """
    store = ImageStore()
    for moment in episode.moments:
        front = _front(episode, moment, store)
        above = _above(episode, moment, above_px)
        yield Shot(None if front is None else narrowed(front, width), above)


def narrowed(image: Pixels, width: int) -> Pixels:
    """The picture scaled down to a width, or itself if it is no wider."""
    if image.shape[1] <= width:
        return image
    height = max(1, round(image.shape[0] * width / image.shape[1]))
    return np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), np.uint8)


def to_jpeg(image: Pixels, quality: int) -> bytes:
    """A JPEG of an RGB picture."""
    done, data = cv2.imencode(
        ".jpg", cv2.cvtColor(image, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, quality]
    )
    assert done  # an 8-bit picture always encodes
    return bytes(data.tobytes())


def _front(episode: Episode, moment: Moment, store: ImageStore) -> Pixels | None:
    clip = episode.clip
    if clip is None or "front" not in clip.images:
        return None
    times, refs = clip.images["front"]
    if not len(times):
        return None
    off = np.abs(times + CLIP_BEGINS_S - moment.time)
    nearest = int(off.argmin())
    return store.load(refs[nearest]) if off[nearest] < EVERY_S else None


def _above(episode: Episode, moment: Moment, px: int) -> Pixels | None:
    pose = episode.pose(moment.time)
    if pose is None:
        return None
    boxes: tuple[Box, ...] = ()
    states = {}
    if episode.clip is not None:
        boxes = _boxes(episode, moment.time - CLIP_BEGINS_S)
        frame = int(np.abs(episode.clip.times + CLIP_BEGINS_S - moment.time).argmin())
        states = {one.signal_id: one.state for one in episode.clip.signals.get(frame, ())}
    town = episode.town
    lights = () if town is None or not states else lights_of(town, states, pose[:2])
    view = View(town=town, ego=pose, boxes=boxes, lights=lights)
    return render_bev(view, RANGE_M, px, _ahead(episode, moment.time, pose))


def _boxes(episode: Episode, time: float) -> tuple[Box, ...]:
    agents = episode.clip.agents if episode.clip is not None else None
    if agents is None or not len(agents):
        return ()
    return tuple(
        Box(x, y, heading, length, width, height, kind.value, COLOURS[kind])
        for kind, (length, width, height), (x, y, heading, *_) in zip(
            agents.kinds, agents.dimensions.tolist(), agents.at(time).tolist(), strict=True
        )
        if np.isfinite([x, y, heading]).all()
    )


def _ahead(episode: Episode, time: float, pose: Float) -> list[Float]:
    """The way driven in the seconds that follow, ego frame; none at the end."""
    motion = episode.motion
    if motion is None:
        return []
    times = np.arange(time + EVERY_S, min(time + AHEAD_S, float(motion.time[-1])) + 1e-6, EVERY_S)
    if not len(times):
        return []
    points = np.column_stack([np.interp(times, motion.time, c) for c in (motion.x, motion.y)])
    return [points_to_local(points, pose)]
