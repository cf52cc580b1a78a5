"""All drivers of a world: each step they see a state and answer with controls."""

from __future__ import annotations

from typing import Any

from driveproof.maps import Route
from driveproof.sim.client.states import WorldState
from driveproof.sim.drivers.agents import EGO, STANDING, TRAFFIC, DriverDecision, Vehicle
from driveproof.sim.drivers.cast import Cast
from driveproof.sim.drivers.control import HOLD_BRAKE, pedals, steer_command, trimmed
from driveproof.sim.drivers.driver import Situation, decide
from driveproof.sim.drivers.fleet import plant_of
from driveproof.sim.drivers.idm import Style
from driveproof.sim.drivers.lamps import lamps_of
from driveproof.sim.drivers.path import Path
from driveproof.sim.drivers.perception import Surroundings, find_blockers
from driveproof.sim.drivers.roads import Roads
from driveproof.sim.drivers.scripts import SpeedScript
from driveproof.sim.drivers.world import WorldLike
from driveproof.sim.drivers.yielding import RightOfWay, meetings_of

PLAN_EVERY = 0.3
"""Seconds between attempts of a traffic driver to plan a swerve."""
HARDEST, STEADIEST = -8.0, 3.0
"""Accelerations that are asked for at most, m/s²."""
JERK_UP, JERK_DOWN = 6.0, 14.0
"""Changes of the wanted acceleration in a second, m/s³."""

BACK_SPEED = 1.5
"""m/s backwards."""


class Drivers:
    """Drivers of some of a world's vehicles; the others are watched.

    Give it every state of the world in order: ``world.apply(drivers.decide(world.tick()))``.

    Attributes
    ----------
    roads
        Paths of the world's town.
    cast
        Everybody, as last seen.
    """

    def __init__(self, world: WorldLike, roads: Roads | None = None) -> None:
        self.roads = roads or Roads(world.town)
        self.cast = Cast(self.roads)
        self._driven: dict[int, Vehicle] = {}
        self._right_of_way = RightOfWay()
        self._lamps: dict[int, int] = {}
        self._steps = 0

    def add(
        self,
        actor: Any,
        path: Path | Route,
        style: Style | None = None,
        role: str = TRAFFIC,
        script: SpeedScript | None = None,
    ) -> Vehicle:
        """Take over a vehicle: an actor id or something with an ``id``, such as a ``carla.Vehicle``.

        Parameters
        ----------
        path
            The way it takes; its place on it is found when it is first seen.
        role
            "ego" for the one that is driven with all care (:class:`ExpertDriver`), "traffic", or
            "oblivious" (:class:`ObliviousDriver`).
        """
        if isinstance(path, Route):
            path = self.roads.route_path(path)
        number = actor if isinstance(actor, int) else int(actor.id)
        vehicle = Vehicle.on(path, number, style=style or Style(), role=role, script=script)
        self._driven[number] = vehicle
        self.cast.vehicles[number] = vehicle
        return vehicle

    def release(self, actor_id: int) -> None:
        """Drive this vehicle no longer; it is watched as any other."""
        vehicle = self._driven.pop(actor_id, None)
        if vehicle is not None:
            vehicle.driven = False

    @property
    def driven(self) -> dict[int, Vehicle]:
        """The vehicles driven, by actor id."""
        return self._driven

    def decision(self, actor_id: int) -> DriverDecision:
        """What a driver decided in the last step; KeyError if it is not one of ours."""
        return self._driven[actor_id].decision

    def decide(self, state: WorldState) -> dict[int, Any]:
        """A ``carla.VehicleControl`` for every vehicle driven, by actor id."""
        agents = self.cast.see(state, self._driven)
        dt = self.cast.dt
        drivers = [v for v in self._driven.values() if v.seen and not v.parked]
        blockers = find_blockers(drivers, Surroundings.of(agents))
        meetings = meetings_of([v for v in self.cast.vehicles.values() if v.seen and not v.parked])
        every = max(round(PLAN_EVERY / dt), 1) if dt > 0.0 else 1
        wanted = []
        for driver, ahead in zip(drivers, blockers, strict=True):
            plans = driver.role == EGO or (self._steps + driver.agent_id) % every == 0
            now = Situation(
                state.time, dt, ahead, meetings, agents, state.lights, self._right_of_way, plans
            )
            wanted.append(decide(driver, now))
        self._steps += 1
        controls = {
            driver.agent_id: actuate(driver, accel, angle, dt)
            for driver, (accel, angle) in zip(drivers, wanted, strict=True)
        }
        for vehicle in self._driven.values():
            if vehicle.parked:
                controls[vehicle.agent_id] = halt()
        return controls

    def lamps(self) -> dict[int, int]:
        """``carla.VehicleLightState`` bits of the driven vehicles whose lights changed since the last call."""
        now = {number: lamps_of(vehicle) for number, vehicle in self._driven.items()}
        changed = {n: bits for n, bits in now.items() if self._lamps.get(n) != bits}
        self._lamps = now
        return changed


def actuate(driver: Vehicle, accel: float, angle: float, dt: float) -> Any:
    """The ``carla.VehicleControl`` that gives a wanted acceleration (m/s²) and wheel angle (rad)."""
    import carla

    plant, speed = plant_of(driver.body.type_id), driver.speed
    low, high = driver.command - JERK_DOWN * dt, driver.command + JERK_UP * dt
    if driver.command < 0.0 <= accel:
        high = max(high, JERK_UP * dt)  # letting go of the brake is quick
    command = min(max(accel, low, HARDEST), high, STEADIEST)
    if dt > 0.0 and (abs(speed) >= STANDING or driver.command > 0.0):
        reached = (speed - driver.last_speed) / dt
        driver.trim = trimmed(driver.trim, driver.command, reached, dt)
    driver.command, driver.last_speed = command, speed
    steer = steer_command(angle, speed, plant)
    if driver.backing or speed < -STANDING:
        driver.command = driver.trim = 0.0
        pace = min(max(0.3 + 0.3 * (BACK_SPEED + speed), 0.0), 0.6) if driver.backing else 0.0
        brake = 0.0 if driver.backing else HOLD_BRAKE
        return carla.VehicleControl(throttle=pace, brake=brake, reverse=driver.backing)
    if abs(speed) < STANDING and command <= 0.0:
        driver.trim = 0.0
        return carla.VehicleControl(throttle=0.0, steer=steer, brake=HOLD_BRAKE)
    throttle, brake = pedals(command + driver.trim, speed, plant)
    return carla.VehicleControl(throttle=throttle, steer=steer, brake=brake)


def halt() -> Any:
    """The ``carla.VehicleControl`` of a vehicle that shall not move."""
    import carla

    return carla.VehicleControl(brake=1.0, hand_brake=True)
