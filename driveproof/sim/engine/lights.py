"""Traffic lights: heads in groups, a group a junction, whose controllers take turns: green, yellow, red for all.

As in CARLA, the lights of one controller show the same, and times are set for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from driveproof.geometry.arrays import Bool, Float, Int
from driveproof.maps import MapSignal
from driveproof.sim.engine.actor import Actor
from driveproof.sim.engine.commands import Box, LightState, LightTiming
from driveproof.sim.engine.table import Column, Columns

#: CARLA's times, seconds.
GREEN_S, YELLOW_S, RED_S = 10.0, 3.0, 2.0


class LightTable(Columns):
    """All traffic lights: ``row`` in the actor table, ``id``, ``state``, seconds of ``green``, ``yellow``, ``red``, ``elapsed``,
    ``frozen``, ``pole`` number within its ``group``."""

    row: Int
    id: Int
    state: Int
    green: Float
    yellow: Float
    red: Float
    elapsed: Float
    frozen: Bool
    pole: Int
    group: Int

    COLUMNS: ClassVar[dict[str, Column]] = {
        "row": (np.int64, ()),
        "id": (np.int64, ()),
        "state": (np.int64, ()),
        "green": (np.float64, ()),
        "yellow": (np.float64, ()),
        "red": (np.float64, ()),
        "elapsed": (np.float64, ()),
        "frozen": (np.bool_, ()),
        "pole": (np.int64, ()),
        "group": (np.int64, ()),
    }


class TrafficLight(Actor):
    """A traffic light's head. Its lamps look along the actor's -y axis (so x runs across the road, as in CARLA).

    Attributes
    ----------
    slot
        Row in ``Engine.light_table``.
    signal
        The map's signal.
    trigger
        The volume before its stop line, in the actor's frame.
    """

    slot: int
    signal: MapSignal
    trigger: Box

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)

    @property
    def signal_id(self) -> str:
        """OpenDRIVE id."""
        return self.signal.key

    @property
    def state(self) -> LightState:
        """What it shows."""
        return LightState(int(self._engine.light_table.state[self.slot]))

    @property
    def light(self) -> LightTiming:
        """State and times now."""
        table, k = self._engine.light_table, self.slot
        return LightTiming(
            state=LightState(int(table.state[k])),
            green=float(table.green[k]),
            yellow=float(table.yellow[k]),
            red=float(table.red[k]),
            elapsed=float(table.elapsed[k]),
            frozen=bool(table.frozen[k]),
            pole_index=int(table.pole[k]),
            group=int(table.group[k]),
            signal_id=self.signal.key,
            trigger=self.trigger,
        )

    @property
    def bounding_box(self) -> Box:
        """The trigger volume, as CARLA has it."""
        return self.trigger


@dataclass
class _Group:
    """One junction's lights: slots by controller in the order of their turns, whose turn it is, and since when."""

    turns: list[list[int]]
    turn: int = 0
    phase: LightState = LightState.GREEN
    slots: list[int] = field(default_factory=list)


class LightCycles:
    """The clockwork of all groups."""

    def __init__(self, table: LightTable) -> None:
        self.table = table
        self._groups: list[_Group] = []
        self._elapsed = np.zeros(0)
        self._frozen = np.zeros(0, dtype=bool)
        self._length = np.zeros(0)

    def add_group(self, turns: list[list[int]]) -> int:
        """A group whose controllers (lists of slots) take turns; its number is the answer."""
        slots = [slot for turn in turns for slot in turn]
        self._groups.append(_Group(turns, slots=slots))
        self._elapsed = np.append(self._elapsed, 0.0)
        self._frozen = np.append(self._frozen, False)
        self._length = np.append(self._length, 0.0)
        number = len(self._groups) - 1
        self._show(number)
        return number

    def __len__(self) -> int:
        return len(self._groups)

    def advance(self, dt: float) -> None:
        """Let ``dt`` seconds pass."""
        if not self._groups:
            return
        self._elapsed += np.where(self._frozen, 0.0, dt)
        # the microsecond absorbs the rounding of many small steps
        due = np.flatnonzero((self._elapsed >= self._length - 1e-6) & ~self._frozen)
        for number in due.tolist():
            self._next(number)
        self.table.elapsed[:] = self._elapsed[self.table.group]

    def set_state(self, slot: int, state: LightState) -> None:
        """Show ``state`` at one light until its group's next change."""
        self.table.state[slot] = state

    def set_time(self, slot: int, state: LightState, seconds: float) -> None:
        """Change how long the controller of this light is green, yellow or red."""
        column = {
            LightState.GREEN: self.table.green,
            LightState.YELLOW: self.table.yellow,
            LightState.RED: self.table.red,
        }[state]
        number = int(self.table.group[slot])
        for turn in self._groups[number].turns:
            if slot in turn:
                column[turn] = max(float(np.nan_to_num(seconds)), 0.0)
        self._measure(number)

    def freeze(self, number: int, on: bool) -> None:
        """Stop or release the clock of a group."""
        self._frozen[number] = on
        self.table.frozen[self._groups[number].slots] = on

    def reset(self, number: int) -> None:
        """Start a group's cycle anew with its first controller's green."""
        group = self._groups[number]
        group.turn, group.phase = 0, LightState.GREEN
        self._elapsed[number] = 0.0
        self._show(number)

    def slots(self, number: int) -> list[int]:
        """The lights of a group."""
        return list(self._groups[number].slots)

    def turns(self, number: int) -> list[list[int]]:
        """The lights of a group by controller, in the order of their turns."""
        return [list(turn) for turn in self._groups[number].turns]

    def _next(self, number: int) -> None:
        group = self._groups[number]
        if group.phase is LightState.GREEN:
            group.phase = LightState.YELLOW
        elif group.phase is LightState.YELLOW:
            group.phase = LightState.RED
        else:
            group.phase = LightState.GREEN
            group.turn = (group.turn + 1) % len(group.turns)
        self._elapsed[number] = 0.0
        self._show(number)

    def _show(self, number: int) -> None:
        group = self._groups[number]
        self.table.state[group.slots] = LightState.RED
        self.table.state[group.turns[group.turn]] = group.phase
        self.table.elapsed[group.slots] = 0.0
        self._measure(number)

    def _measure(self, number: int) -> None:
        group = self._groups[number]
        column = {
            LightState.GREEN: self.table.green,
            LightState.YELLOW: self.table.yellow,
            LightState.RED: self.table.red,
        }[group.phase]
        self._length[number] = column[group.turns[group.turn][0]]
