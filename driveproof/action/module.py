"""From answers to control: keys bend the way and set a speed, controllers follow.

Source: Bench2Drive-VL, action module; ``docs/papers.md`` lists where we differ from its program.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from driveproof.action.control import (
    QUARTER_TURN,
    LateralMemory,
    aim_error,
    look_ahead_points,
    pedals_for,
    steer_for,
)
from driveproof.action.edits import edit, restored, swing
from driveproof.action.speed import target_speed
from driveproof.action.way import STEP_M, Way
from driveproof.maps import Route, TownMap
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey
from driveproof.questions.keys import JUNCTION_KEYS
from driveproof.scene import Command
from driveproof.sim.drivers.control import Plant

JUNCTION_NEAR_M = 8.0
"""So far before a junction its keys already count."""
TURN_AHEAD_M = 12.0
"""The way turns as it does over the next so many metres, seen from the ego."""
TURN_RAD, STRAIGHT_RAD = math.radians(5.0), math.radians(35.0)
"""From which angle on a way may be called a turn, and up to which one straight."""
WHOLE_RAD = math.radians(15.0)
"""From which angle on a way may be called a turn as it leaves the junction."""
ASTRAY_RAD, ASTRAY_M = math.radians(40.0), 2.5
"""From which angle and distance to the way on the ego is astray."""
FIRST_DECISIONS = 3
"""Decisions inside a junction for which a right turn is driven slowly."""
_LANE_CHANGES = frozenset({DirectionKey.CHANGE_LANE_LEFT, DirectionKey.CHANGE_LANE_RIGHT})
_COMMAND_OF = {
    DirectionKey.TURN_LEFT: Command.LEFT,
    DirectionKey.TURN_RIGHT: Command.RIGHT,
    DirectionKey.GO_STRAIGHT: Command.STRAIGHT,
}
_RAW_STEER = {
    DirectionKey.TURN_LEFT: -1.0,
    DirectionKey.TURN_RIGHT: 1.0,
    DirectionKey.GO_STRAIGHT: 0.0,
}


@dataclass(frozen=True)
class Ego:
    """Where the ego is: box centre, world frame, metres, radians, m/s."""

    x: float
    y: float
    heading: float
    speed: float


@dataclass(frozen=True)
class Control:
    """What the ego does until the next tick: pedals 0 to 1, steer -1 to 1 (right positive, as CARLA's)."""

    throttle: float
    brake: float
    steer: float


@dataclass(frozen=True)
class Executed:
    """What the module made of an answer: the keys in force and the target speed, m/s."""

    direction: DirectionKey | None
    speed: SpeedKey
    target: float


@dataclass
class ActionModule:
    """Drives an ego by keys along a route.

    ``way`` is the route as it is now, ``route`` as it was given; ``flowing`` says that the scenario is about a highway or a lane change: swings are wider and crawling is faster.
    """

    town: TownMap
    way: Way
    plant: Plant = field(default_factory=Plant)
    flowing: bool = False
    index: int | None = None
    executed: Executed = Executed(None, SpeedKey.KEEP, 0.0)
    _memory: LateralMemory = field(default_factory=LateralMemory)
    route: Way = field(init=False)
    _raw_steer: tuple[Command | None, float] | None = None
    _in_junction: int = 0

    def __post_init__(self) -> None:
        self.route = self.way

    @classmethod
    def on_route(cls, town: TownMap, route: Route, *, flowing: bool = False) -> ActionModule:
        """A module at the start of a route."""
        return cls(town, Way.of(route, town.lanes.junction), flowing=flowing)

    def decide(self, keys: ActionKeys, ego: Ego) -> Executed:
        """Take over the keys of an answer.

        Without a direction the way stays as it is; without a speed key KEEP holds (paper, action module).
        """
        index = self._locate(ego)
        junction = self._at_junction(index)
        self._in_junction = self._in_junction + 1 if self.way.in_junction[index] else 0
        direction = keys.direction
        if direction is DirectionKey.GO_STRAIGHT and not junction:
            direction = DirectionKey.FOLLOW_LANE
        self._raw_steer = self._disagreement(direction, index, ego)
        if direction is not None and direction not in JUNCTION_KEYS:
            pose = (ego.x, ego.y, ego.heading)
            over = swing(ego.speed, wide=self.flowing)
            self.way = edit(self.way, self.route, direction, self.town, pose, index, over)
        elif self._raw_steer is not None and self._raw_steer[0] is None:
            self.way = restored(self.way, self.route, index, swing(ego.speed, wide=self.flowing))
        speed = keys.speed or SpeedKey.KEEP
        target = target_speed(
            speed,
            ego.speed,
            flowing=self.flowing,
            changing=direction in _LANE_CHANGES,
            turning=0 < self._in_junction <= FIRST_DECISIONS
            and self.way.command(index) is Command.RIGHT,
        )
        self.executed = Executed(direction, speed, target)
        return self.executed

    def control(self, ego: Ego) -> Control:
        """Pedals and steer for this tick; between decisions the last keys hold."""
        index = self._locate(ego)
        error = self._aim(index, ego)
        steer, self._memory = steer_for(error, self._memory)
        if self._raw_steer is not None:
            command, raw = self._raw_steer
            astray = command is None and abs(error) * QUARTER_TURN > ASTRAY_RAD
            steer = raw if astray or self.way.command(index) is command else steer
        throttle, brake = pedals_for(self.executed.target, ego.speed, self.plant)
        return Control(throttle, brake, steer)

    @property
    def finished(self) -> bool:
        """Whether the ego is within a metre of the way's end."""
        return self.index is not None and self.index >= len(self.way) - round(1.0 / STEP_M)

    def _locate(self, ego: Ego) -> int:
        self.index = self.way.nearest(ego.x, ego.y, self.index)
        return self.index

    def _at_junction(self, index: int) -> bool:
        return self.way.before_junction(index) - index <= round(JUNCTION_NEAR_M / STEP_M)

    def _aim(self, index: int, ego: Ego) -> float:
        """Heading error to the aim, in quarter turns; from beside the way the aim lies farther ahead."""
        beside = abs(self.way.lateral(ego.x, ego.y, index))
        ahead = max(look_ahead_points(ego.speed), round(min(beside, 12.0) / STEP_M))
        dx, dy = self.way.points[min(index + ahead, len(self.way) - 1)] - (ego.x, ego.y)
        return aim_error(dx, dy, ego.heading)

    def _disagreement(
        self, key: DirectionKey | None, index: int, ego: Ego
    ) -> tuple[Command | None, float] | None:
        """The steer of a key that says something else than the way, and the command while which it holds.

        In a junction a turn that the route does not take is steered blindly while its command holds. Elsewhere
        TURN_LEFT and TURN_RIGHT mean something only to an ego that is astray: it turns to that side until the way lies ahead.
        """
        if key not in JUNCTION_KEYS:
            return None
        assert key is not None
        if self.way.in_junction[index]:
            command = self.way.command(index)
            agrees = _COMMAND_OF[key] is command or self._goes(key, index, ego)
            return None if agrees else (command, _RAW_STEER[key])
        astray = (
            abs(self.way.heading_error(ego.heading, index)) > ASTRAY_RAD
            or abs(self.way.lateral(ego.x, ego.y, index)) > ASTRAY_M
        )
        turns = key is not DirectionKey.GO_STRAIGHT and not self._at_junction(index)
        return (None, _RAW_STEER[key]) if turns and astray else None

    def _goes(self, key: DirectionKey, index: int, ego: Ego) -> bool:
        """Whether the way ahead, seen from the ego, may be called what the key says; the classes overlap."""
        there = min(index + round(TURN_AHEAD_M / STEP_M), len(self.way) - 1)
        turn = -self.way.heading_error(ego.heading, there)
        if key is DirectionKey.GO_STRAIGHT:
            return abs(turn) < STRAIGHT_RAD
        outside = np.flatnonzero(self.way.in_junction[index:] == 0)
        exit_ = index + int(outside[0]) if len(outside) else len(self.way) - 1
        whole = -self.way.heading_error(ego.heading, exit_)
        sign = 1.0 if key is DirectionKey.TURN_LEFT else -1.0
        return sign * turn > TURN_RAD or sign * whole > WHOLE_RAD
