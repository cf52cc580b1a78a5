"""The clip of an episode, in Bench2Drive's layout: annotations ten times a second, pictures twice."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np

from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.drive.eyes import mounts_of
from driveproof.drive.plan import Episode, Pictures
from driveproof.evaluation.driving.clips import CLIP_FILE
from driveproof.maps import Route
from driveproof.sim.client import WorldState
from driveproof.sim.drivers import Vehicle
from driveproof.sim.recorder import FRAME_S, Annotator, Recorder, top_down
from driveproof.sim.routes import RouteSpec
from driveproof.sim.scenarios import Stage

PICTURE_EVERY = 5
"""Frames of a tenth of a second from one picture to the next."""
ABOVE_PX = 160
ROUNDING_S = 1e-6


class Film:
    """Records the ego of a stage; a context manager, whose clip appears when it ends well.

    The cameras come at the first state, so that frame 0 is that of the first decision, 0.05 s into the episode.

    Parameters
    ----------
    views
        Cameras beside the front one, which is always there with a view from above.
    """

    def __init__(
        self,
        folder: Path,
        episode: Episode,
        spec: RouteSpec,
        views: Sequence[str],
        sizes: Pictures,
    ) -> None:
        story = spec.scenarios[0].type if spec.scenarios else "Route"
        name = "".join(char for char in story if char.isalnum() or char == "_")
        self._folder, self._spec = folder, spec
        self._target = folder / f"{name}_{spec.town}_Route{episode.route}_Weather0.tar"
        self._writer = ClipWriter(self._target)
        names = tuple(dict.fromkeys(("CAM_FRONT", *views)))
        mounts = [m.resized(m.width, m.height, PICTURE_EVERY) for m in mounts_of(names, sizes)]
        self._mounts = [*mounts, top_down(ABOVE_PX, PICTURE_EVERY)]
        self._recorder: Recorder | None = None
        self._due = 0.0
        self._last = 0.0

    def __enter__(self) -> Self:
        self._writer.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.__exit__(kind, error, trace)
        if error is None:
            os.replace(self._target, self._folder / CLIP_FILE)

    def see(self, stage: Stage, ego: Any, route: Route, state: WorldState) -> None:
        """Take in a state; call it with every one, in order."""
        if self._recorder is None:
            self._begin(stage, ego, route, state)
            return
        self._vehicle.see(state.actors[int(ego.id)], state.time - self._last)
        self._last = state.time
        if state.time >= self._due - ROUNDING_S:
            self._due += FRAME_S
            roles = {} if stage.show is None else stage.show.actors
            self._recorder.record(state, self._vehicle, roles=roles)

    def _begin(self, stage: Stage, ego: Any, route: Route, state: WorldState) -> None:
        path = stage.roads.route_path(route)
        self._vehicle = Vehicle.on(path, int(ego.id))
        noise = np.random.default_rng(0)
        weather = self._spec.weather(0.0)
        annotator = Annotator(stage.roads.town, path, weather, self._mounts, noise)
        self._recorder = Recorder(stage.session, ego, annotator, self._writer.add_frame)
        self._due, self._last = state.time + stage.session.delta_s, state.time
