"""Contact sheets: a scenario in eight pictures from above, with their times."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from driveproof.files import atomic_open
from driveproof.maps import TownMap
from driveproof.render import Box, View, lights_of, render_bev
from driveproof.sim.client import ActorState, WorldState
from driveproof.sim.scenarios.base import ROUNDING_S

Image = NDArray[np.uint8]
COUNT, COLUMNS = 8, 4
EVERY_S = 0.25
RANGE_M = 32.0
PIXELS = 240
QUALITY = 80
COLOURS = {"walker": (225, 90, 40), "prop": (250, 150, 40), "bicycle": (60, 200, 220)}
CAR = (170, 175, 185)
EMERGENCY = (220, 40, 40)
GAP = 4


@dataclass
class Moments:
    """Keeps states of a run for a sheet; give it to ``run_scenario`` as ``watch``."""

    states: list[WorldState] = field(default_factory=list)
    ego_id: int = -1

    def __call__(self, state: WorldState, ego_id: int) -> None:
        """Keep this state if the last one is a quarter of a second ago."""
        if ego_id != self.ego_id:  # another attempt
            self.states.clear()
            self.ego_id = ego_id
        if not self.states or state.time - self.states[-1].time > EVERY_S - ROUNDING_S:
            self.states.append(state)

    def chosen(self, count: int = COUNT) -> list[WorldState]:
        """States evenly over the run, the first and the last among them."""
        last = len(self.states) - 1
        picks = dict.fromkeys(np.linspace(0, last, count).round().astype(int).tolist())
        return [self.states[i] for i in picks] if last >= 0 else []


def contact_sheet(moments: Moments, town: TownMap, title: str) -> Image:
    """RGB uint8 pictures from above in rows of four, the ego in the middle of each and heading up."""
    states = moments.chosen()
    tiles = [_tile(state, moments.ego_id, town, states[0].time) for state in states]
    blank = np.full((PIXELS, PIXELS, 3), 255, dtype=np.uint8)
    tiles += [blank] * (-len(tiles) % COLUMNS)
    rows = [_row(tiles[i : i + COLUMNS]) for i in range(0, len(tiles), COLUMNS)]
    sheet = np.concatenate([_head(title, rows[0].shape[1]), *rows])
    return np.ascontiguousarray(sheet)


def write_sheet(path: str | Path, sheet: Image) -> None:
    """Write a sheet as JPEG."""
    done, data = cv2.imencode(".jpg", sheet[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
    assert done
    with atomic_open(path, "wb") as stream:
        stream.write(data.tobytes())


def _row(tiles: list[Image]) -> Image:
    framed = [
        cv2.copyMakeBorder(t, 0, GAP, 0, GAP, cv2.BORDER_CONSTANT, value=(255,) * 3) for t in tiles
    ]
    return np.concatenate(framed, axis=1).astype(np.uint8)


def _head(title: str, width: int) -> Image:
    head = np.full((28, width, 3), 255, dtype=np.uint8)
    font = cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(head, title, (6, 19), font, 0.5, (20, 20, 24), 1, cv2.LINE_AA)
    return head


def _tile(state: WorldState, ego_id: int, town: TownMap, begin: float) -> Image:
    ego = state.actors.get(ego_id)
    if ego is None:
        return np.full((PIXELS, PIXELS, 3), 255, dtype=np.uint8)
    boxes = tuple(_box(actor) for actor in state.actors.values() if actor.id != ego_id)
    pose = np.array([ego.x, ego.y, ego.heading])
    lights = lights_of(town, state.lights, pose[:2])
    image = render_bev(View(town, pose, boxes, lights, ego_z=ego.z), RANGE_M, PIXELS)
    text = f"{round(state.time - begin, 2):4.1f} s  {3.6 * ego.speed:3.0f} km/h"
    font = cv2.FONT_HERSHEY_SIMPLEX
    cv2.rectangle(image, (0, 0), (148, 20), (255, 255, 255), -1)
    cv2.putText(image, text, (5, 15), font, 0.45, (20, 20, 24), 1, cv2.LINE_AA)
    return image


def _box(actor: ActorState) -> Box:
    colour = COLOURS.get(actor.base_type) or COLOURS.get(actor.kind) or CAR
    if "police" in actor.type_id or "ambulance" in actor.type_id:
        colour = EMERGENCY
    length, width = max(actor.length, 0.7), max(actor.width, 0.7)
    return Box(
        actor.x, actor.y, actor.heading, length, width, actor.height, actor.kind, colour, z=actor.z
    )
