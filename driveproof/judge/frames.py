"""The four frames that a judge sees: the front view with the trajectory drawn, the bird's-eye view beside it.

Source: DriveJudge, section 4.1 and appendix A.1: each frame shows the trajectory of the following 4 s, cyan and dotted in
the front view, red in the bird's-eye view.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from driveproof.geometry import points_to_local, poses_to_world
from driveproof.geometry.arrays import Float
from driveproof.judge.bev import BevView, draw_bev
from driveproof.maps import TownMap
from driveproof.render import Box, Camera, View, lights_of, render_camera, signs_of
from driveproof.rules import RoadMap, VehicleShape
from driveproof.scene import FUTURE_TIMES, HISTORY_TIMES, AgentKind, Scene
from driveproof.scene.images import Pixels

AHEAD_S = 4.0
"""Seconds of trajectory that a frame shows."""
CYAN = (0, 255, 255)
_DOT_EVERY_S = 0.25
_PLAIN_COLOUR = (150, 155, 165)


@dataclass(frozen=True)
class FrameStyle:
    """Pixels of a frame: its height, the width of the front view, and what part of the ground the other half shows.

    ``behind`` and ``width`` are metres; the scale follows from the height.
    """

    height: int = 96
    front_width: int = 96
    bev_width: int = 64
    ahead: float = 34.0
    behind: float = 8.0
    fov: float = float(np.radians(70.0))

    @property
    def bev(self) -> BevView:
        """The view from above."""
        scale = self.height / (self.ahead + self.behind)
        return BevView(self.ahead, self.behind, self.bev_width / scale, scale)

    @property
    def camera(self) -> Camera:
        """The front camera, in the frame of the rear axle (which is where trajectories are)."""
        return Camera(x=2.1, width=self.front_width, height=self.height, fov=self.fov)


@dataclass(frozen=True)
class Looks:
    """How the front view draws the agents, in their order: render kind, colour, indicator."""

    kinds: tuple[str, ...]
    colours: tuple[tuple[int, int, int], ...]
    indicators: tuple[str, ...]

    @classmethod
    def plain(cls, kinds: Sequence[AgentKind]) -> Looks:
        """By kind alone, where nothing else is known."""
        count = len(kinds)
        return cls(tuple(kind.value for kind in kinds), (_PLAIN_COLOUR,) * count, ("",) * count)


@dataclass(frozen=True)
class Course:
    """The ego from -1.5 to 5 s, rear axle, in the frame of the scene: the past, then the trajectory that is judged."""

    poses: Float

    @classmethod
    def of(cls, scene: Scene, plan: Float) -> Course:
        """The scene's past and ``plan`` ``[10, 3]`` at ``FUTURE_TIMES``."""
        return cls(np.concatenate([scene.history, plan]))

    def at(self, times: Float) -> Float:
        """Poses ``[T, 3]``, linear between samples."""
        grid = np.concatenate([HISTORY_TIMES, FUTURE_TIMES])
        columns = self.poses.copy()
        columns[:, 2] = np.unwrap(columns[:, 2])
        return np.stack([np.interp(times, grid, columns[:, k]) for k in range(3)], axis=-1)


def frame_times(count: int) -> Float:
    """Times of ``count`` frames: the last ones of ``HISTORY_TIMES`` (four: 2 s at 2 Hz)."""
    return HISTORY_TIMES[len(HISTORY_TIMES) - count :]


def draw_frames(
    scene: Scene,
    plan: Float,
    roads: RoadMap,
    shape: VehicleShape,
    style: FrameStyle,
    town: TownMap | None,
    looks: Looks | None = None,
    count: int = len(HISTORY_TIMES),
) -> list[Pixels]:
    """The frames of a trajectory ``[10, 3]`` in a scene whose front view can be rendered (a town)."""
    course = Course.of(scene, plan)
    looks = looks or Looks.plain(scene.agents.kinds)
    frames = []
    for time in frame_times(count).tolist():
        ego = course.at(np.array([time]))[0]
        following = _following(course, time)
        view = _view(scene, time, ego, shape, town, looks)
        front = render_camera(view, style.camera)
        front = draw_dots(front, style.camera, points_to_local(following, ego))
        above = draw_bev(roads, scene.agents, time, ego, following, shape, style.bev)
        frames.append(beside(front, above))
    return frames


def beside(front: Pixels, above: Pixels) -> Pixels:
    """One frame of the two views; the front view is scaled to the height of the other."""
    if front.shape[0] != above.shape[0]:
        width = max(1, round(front.shape[1] * above.shape[0] / front.shape[0]))
        front = np.asarray(
            cv2.resize(front, (width, above.shape[0]), interpolation=cv2.INTER_AREA), np.uint8
        )
    return np.concatenate([front, above], axis=1)


def draw_dots(image: Pixels, camera: Camera, points: Float) -> Pixels:
    """A copy with cyan dots on the road at ego-frame ``points`` ``[T, 2]``, larger where nearer."""
    drawn = image.copy()
    pixels, depth = camera.project(np.column_stack([points, np.zeros(len(points))]))
    for (u, v), far in zip(pixels, depth, strict=True):
        if far > 0.5 and abs(u) < 4096 and abs(v) < 4096:
            radius = max(0.8, 0.16 * camera.focal / far)
            centre = (round((u - 0.5) * 16), round((v - 0.5) * 16))
            cv2.circle(drawn, centre, round(radius * 16), CYAN, -1, cv2.LINE_AA, 4)
    return drawn


def encode(pixels: Pixels, quality: int = 90) -> bytes:
    """JPEG with full colour resolution: thin red and blue lines are what these pictures are about."""
    flags = [
        cv2.IMWRITE_JPEG_QUALITY, quality,
        cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444,
    ]  # fmt: skip
    done, data = cv2.imencode(".jpg", cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR), flags)
    assert done  # an 8-bit picture always encodes
    return data.tobytes()


def _following(course: Course, time: float) -> Float:
    steps = np.arange(_DOT_EVERY_S, AHEAD_S + 1e-6, _DOT_EVERY_S)
    return course.at(np.asarray(time + steps, np.float64))[:, :2]


def _view(
    scene: Scene,
    time: float,
    ego: Float,
    shape: VehicleShape,
    town: TownMap | None,
    looks: Looks,
) -> View:
    pose = poses_to_world(ego, scene.world_pose)
    states = scene.agents.at(time)
    places = poses_to_world(states[:, :3], scene.world_pose)
    boxes = []
    for n, (x, y, heading) in enumerate(places.tolist()):
        if np.isfinite([x, y, heading]).all():
            length, width, height = scene.agents.dimensions[n].tolist()
            kind, colour, lamp = looks.kinds[n], looks.colours[n], looks.indicators[n]
            boxes.append(Box(x, y, heading, length, width, height, kind, colour, indicator=lamp))
    lights = {
        signal.signal_id: signal.state for signal in scene.signals if signal.kind == "traffic_light"
    }
    mapped = town if isinstance(town, TownMap) else None
    return View(
        town=town,
        ego=pose,
        boxes=tuple(boxes),
        lights=() if mapped is None else lights_of(mapped, lights, pose[:2]),
        signs=() if mapped is None else signs_of(mapped, pose[:2]),
    )
