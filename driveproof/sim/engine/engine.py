"""The world: actors are born, told what to do, moved step by step, and die."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap
from driveproof.sim.blueprints import BlueprintLibrary, VehicleSpec
from driveproof.sim.engine.ackermann import AckermannState
from driveproof.sim.engine.actor import Actor, Collision
from driveproof.sim.engine.attachments import Attachments
from driveproof.sim.engine.births import Body, body_of
from driveproof.sim.engine.commands import AckermannControl, ActorKind, LightState, Weather
from driveproof.sim.engine.contacts import StaticBox, Statics, is_overlapping, resolve
from driveproof.sim.engine.errors import NoSuchActor, SpawnBlocked, UnknownBlueprint
from driveproof.sim.engine.ground import Ground, LaneGround
from driveproof.sim.engine.habits import Habits
from driveproof.sim.engine.lights import LightCycles, LightTable, TrafficLight
from driveproof.sim.engine.motion import move
from driveproof.sim.engine.pose import Pose3
from driveproof.sim.engine.powertrain import drive
from driveproof.sim.engine.roadside import place_signals
from driveproof.sim.engine.signals import UNKNOWN_LIMIT, Governance, TrafficSign
from driveproof.sim.engine.table import ActorTable
from driveproof.sim.engine.touching import separations
from driveproof.sim.engine.vehicle import Vehicle
from driveproof.sim.engine.vehicle_physics import physics_columns, standard_physics
from driveproof.sim.engine.vehicle_table import VehicleTable
from driveproof.sim.engine.walker import Walker, WalkerTable, walk
from driveproof.sim.engine.walker_controller import WalkerController
from driveproof.sim.engine.walkways import Walkways

#: Steps longer than this are cut, so that nothing leaps (seconds).
_LONGEST_STEP = 0.1


class Engine:
    """The physical world of one town.

    Parameters
    ----------
    town
        Its roads, signals and crosswalks.
    library
        What can be spawned.
    seed
        Of everything random (walkers' goals).
    ground
        Heights; by default those of the town's lanes.
    statics
        Buildings, poles: boxes that never move.

    Attributes
    ----------
    frame, time
        Steps made, and seconds simulated.
    actors
        All living actors by id, in the order of their birth; ids are never used again.
    table, vehicles, walkers, light_table
        The same as columns.
    spectator, lights, signs
        Actors that are there from the start.
    weather
        Plain state.
    collisions
        Of the last step, both sides of each.
    cycles
        The clockwork of the traffic lights.
    """

    def __init__(
        self,
        town: TownMap,
        library: BlueprintLibrary,
        seed: int = 0,
        ground: Ground | None = None,
        statics: list[StaticBox] | None = None,
    ) -> None:
        self.town = town
        self.library = library
        self.seed = seed
        self.rng = np.random.default_rng(seed)
        self.ground: Ground = ground or LaneGround(town)
        self.statics = Statics(statics)
        self.frame = 0
        self.time = 0.0
        self.weather = Weather()
        self.table = ActorTable()
        self.vehicles = VehicleTable()
        self.walkers = WalkerTable()
        self.light_table = LightTable()
        self.actors: dict[int, Actor] = {}
        self.collisions: list[Collision] = []
        self.ackermann: set[int] = set()
        self._habits = Habits()
        self._controllers: list[WalkerController] = []
        self._vehicles: list[Vehicle] = []
        self._walkers: list[Walker] = []
        self._attachments = Attachments()
        self._next_id = 1
        self.spectator = self._birth(Actor, "spectator", Body(ActorKind.SPECTATOR), Pose3())
        self.cycles = LightCycles(self.light_table)
        self.lights, self.signs = place_signals(town, self.cycles, self._birth)
        self._governance = Governance(
            town,
            [(light.slot, light.signal) for light in self.lights],
            [sign.signal for sign in self.signs],
        )
        self._compile()

    @cached_property
    def walkways(self) -> Walkways:
        """Where walker controllers walk, and where random places for walkers lie."""
        return Walkways(self.town)

    def random_walk_point(self) -> Float | None:
        """A random place ``[3]`` on a sidewalk or crosswalk, None where the town has none."""
        return self.walkways.random_point(self.rng)

    # --- life -----------------------------------------------------------------------------------

    def spawn(
        self,
        blueprint_id: str,
        attributes: Mapping[str, str] | None = None,
        pose: Pose3 | None = None,
        parent: int | None = None,
        attachment: int = 0,
    ) -> Actor:
        """Bring an actor to life.

        Parameters
        ----------
        pose
            Where; in the parent's frame if there is a ``parent``.
        attachment
            :class:`~driveproof.sim.engine.commands.Attachment`.

        Raises
        ------
        UnknownBlueprint
            No blueprint has this id.
        SpawnBlocked
            A vehicle, walker or prop overlaps another body there.
        NoSuchActor
            The parent does not live.
        BadInput
            An attribute does not read as its type, or the pose is not finite.
        """
        blueprint = self.library.get(blueprint_id)
        if blueprint is None:
            raise UnknownBlueprint(f"no blueprint {blueprint_id!r:.80}")
        pose = pose or Pose3()
        if not pose.is_finite():
            raise SpawnBlocked("the pose is not finite", field=blueprint_id)
        values = blueprint.values(attributes or {})
        pose = pose.bounded()
        place = pose if parent is None else self.actor(parent).pose.compose(pose).bounded()
        body = body_of(blueprint)
        makers = {
            ActorKind.VEHICLE: Vehicle,
            ActorKind.WALKER: Walker,
            ActorKind.CONTROLLER: WalkerController,
        }
        tags = (body.label,) if body.label else ()
        actor = makers.get(body.kind, Actor)(*self._identity(blueprint_id, values, body.kind, tags))
        actor.relative, actor.parent, actor.attachment = pose, parent, attachment
        self._enrol(actor, body, place, solid=body.half_extent[0] > 0.0)
        row = actor.row
        if self.table.solid[row] and is_overlapping(self.table, row, self.statics):
            self._forget(actor)
            raise SpawnBlocked("another body is there", field=blueprint_id)
        if parent is not None:
            self.table.physics[actor.row] = False
            self.table.velocity[actor.row] = self.table.velocity[self.actor(parent).row]
        self._equip(actor, place, blueprint.spec)
        if parent is not None:
            self._attachments.arrange(self.actors)
        return actor

    def destroy(self, actor_id: int) -> bool:
        """End an actor's life; False if there is none, or it is a light, a sign or the spectator.

        Its children stay where they are, without a parent: a client still owns them and must destroy them
        itself. Sensors without their parent measure on from where they are.
        """
        actor = self.actors.get(actor_id)
        fixed = isinstance(actor, TrafficLight | TrafficSign) or actor is self.spectator
        if actor is None or fixed:
            return False
        for child in self.actors.values():
            if child.parent == actor_id:
                child.parent = None
                child.relative = child.pose
                self.table.velocity[child.row] = 0.0
                self.table.angular_velocity[child.row] = 0.0
        self._forget(actor)
        return True

    def actor(self, actor_id: int) -> Actor:
        """The living actor of this id.

        Raises
        ------
        NoSuchActor
            If there is none.
        """
        actor = self.actors.get(actor_id)
        if actor is None:
            raise NoSuchActor(f"no actor {actor_id}")
        return actor

    # --- time -----------------------------------------------------------------------------------

    def step(self, dt: float) -> None:
        """Let ``dt`` seconds pass; long ones are cut into steps of at most 0.1 s.

        Raises
        ------
        ValueError
            If ``dt`` is not a positive finite number.
        """
        if not (math.isfinite(dt) and dt > 0.0):
            raise ValueError(f"a step of {dt} s")
        parts = max(1, math.ceil(dt / _LONGEST_STEP - 1e-9))
        start = self.table.velocity.copy()
        self.collisions = []
        self._habits.before_step(self._vehicles)
        for _ in range(parts):
            self._advance(dt / parts)
        self._habits.after_step()
        self.table.acceleration[:] = (self.table.velocity - start) / dt
        self._governance.update(self.table, self.vehicles, self.light_table, self.frame)
        self.frame += 1
        self.time += dt

    def _advance(self, dt: float) -> None:
        table = self.table
        self.cycles.advance(dt)
        for controller in self._controllers:
            controller.think(dt)
        for key in sorted(self.ackermann):
            vehicle = self.actors[key]
            if isinstance(vehicle, Vehicle) and vehicle.ackermann_state is not None:
                settings = vehicle.ackermann_settings
                vehicle.set_pedals(vehicle.ackermann_state.control(vehicle, settings, dt))
        before, yaw = table.position.copy(), table.rotation[:, 2].copy()
        walk(table, self.walkers, dt)
        move(table, self.vehicles, self.ground, dt)
        self.collisions += resolve(table, before, yaw, self.statics)
        self._attachments.follow(table, dt)

    # --- places and motions ---------------------------------------------------------------------

    def ground_height(self, x: float, y: float, near_z: float = 0.0) -> float:
        """Height in metres of the surface at (x, y) that is nearest to ``near_z``."""
        z, _, _ = self.ground.surface(np.array([x]), np.array([y]), np.array([near_z]))
        return float(z[0])

    def teleport(self, actor_id: int, pose: Pose3) -> None:
        """Put an actor at ``pose`` (world frame); motion is kept, an attached actor keeps its new place on its parent."""
        actor = self.actor(actor_id)
        if not pose.is_finite():
            return
        pose = pose.bounded()
        self.table.position[actor.row] = pose.position
        self.table.rotation[actor.row] = pose.rotation
        self.table.grounded[actor.row] = False
        if actor.parent is None:
            actor.relative = pose
        else:
            frame = self.actor(actor.parent).pose.matrix()
            actor.relative = Pose3.from_matrix(np.linalg.inv(frame) @ pose.matrix())
        self._attachments.arrange(self.actors)
        self._attachments.follow(self.table, 0.0)
        self._settle(actor)

    def set_relative_pose(self, actor_id: int, pose: Pose3) -> None:
        """Move an attached actor on its parent (or an unattached one in the world)."""
        actor = self.actor(actor_id)
        place = pose if actor.parent is None else self.actor(actor.parent).pose.compose(pose)
        self.teleport(actor_id, place)

    def set_physics(self, actor_id: int, on: bool) -> None:
        """Let forces move an actor or not; without physics it stands still where it is put."""
        actor = self.actor(actor_id)
        can = actor.kind in (ActorKind.VEHICLE, ActorKind.WALKER, ActorKind.PROP)
        self.table.physics[actor.row] = on and can and actor.parent is None
        if not on:
            self.table.velocity[actor.row] = 0.0
            self.table.angular_velocity[actor.row] = 0.0

    def add_impulse(self, actor_id: int, impulse: Float, at: Float | None) -> None:
        """See :meth:`Actor.add_impulse`."""
        row = self.actor(actor_id).row
        if not self.table.physics[row]:
            return
        self.table.velocity[row] += impulse / self.table.mass[row]
        if self.table.velocity[row, 2] > 0.3:
            self.table.grounded[row] = False
        if at is not None:
            arm = at - self.table.position[row]
            self.add_angular_impulse(actor_id, np.cross(arm, impulse))

    def add_angular_impulse(self, actor_id: int, impulse: Float) -> None:
        """See :meth:`Actor.add_angular_impulse`; bodies turn about the vertical only."""
        row = self.actor(actor_id).row
        if self.table.physics[row]:
            half = self.table.half_extent[row]
            inertia = self.table.mass[row] * (half[0] ** 2 + half[1] ** 2) / 3.0
            self.table.angular_velocity[row, 2] += impulse[2] / inertia

    def add_force(self, vehicle: Vehicle, force: Float, at: Float | None) -> None:
        """See :meth:`Vehicle.add_force`."""
        self.vehicles.push[vehicle.slot] += force
        if at is not None:
            arm = at - self.table.position[vehicle.row]
            self.vehicles.twist[vehicle.slot] += np.cross(arm, force)

    def start_ackermann(self, vehicle: Vehicle, command: AckermannControl) -> None:
        """Drive by speed and wheel angle; the loops keep their memory while commands follow each other."""
        if vehicle.ackermann_state is None:
            vehicle.ackermann_state = AckermannState(command)
        vehicle.ackermann_state.command = command
        self.ackermann.add(vehicle.id)

    # --- lights ---------------------------------------------------------------------------------

    def set_light_state(self, actor_id: int, state: LightState) -> None:
        """Show ``state`` until the group's next change (freeze the light to keep it)."""
        self.cycles.set_state(self._light(actor_id).slot, LightState(state))

    def set_light_time(self, actor_id: int, state: LightState, seconds: float) -> None:
        """Set green, yellow or red seconds of the light's controller."""
        self.cycles.set_time(self._light(actor_id).slot, LightState(state), seconds)

    def freeze_light(self, actor_id: int, on: bool) -> None:
        """Stop or release the clock of the light's group."""
        self.cycles.freeze(self._light(actor_id).light.group, on)

    def freeze_all_lights(self, on: bool) -> None:
        """Stop or release all clocks."""
        for number in range(len(self.cycles)):
            self.cycles.freeze(number, on)

    def reset_group(self, actor_id: int) -> None:
        """Start the cycle of the light's group anew."""
        self.cycles.reset(self._light(actor_id).light.group)

    def reset_all_lights(self) -> None:
        """Start all cycles anew."""
        for number in range(len(self.cycles)):
            self.cycles.reset(number)

    def group_lights(self, actor_id: int) -> list[int]:
        """Ids of all lights of the light's group, in pole order."""
        slots = self.cycles.slots(self._light(actor_id).light.group)
        return [int(self.light_table.id[slot]) for slot in slots]

    def _light(self, actor_id: int) -> TrafficLight:
        actor = self.actor(actor_id)
        if not isinstance(actor, TrafficLight):
            raise NoSuchActor(f"actor {actor_id} is no traffic light")
        return actor

    # --- inside ---------------------------------------------------------------------------------

    def _identity(
        self,
        type_id: str,
        attributes: Mapping[str, str],
        kind: ActorKind,
        tags: tuple[int, ...] = (),
    ) -> tuple[Engine, int, str, Mapping[str, str], ActorKind, tuple[int, ...]]:
        self._next_id += 1
        return self, self._next_id - 1, type_id, attributes, kind, tags

    def _enrol(self, actor: Actor, body: Body, pose: Pose3, solid: bool = False) -> None:
        actor.row = self.table.add(
            id=actor.id,
            position=pose.position,
            rotation=pose.rotation,
            half_extent=body.half_extent,
            box_offset=body.box_offset,
            kind=body.kind,
            label=body.label,
            mass=body.mass,
            physics=body.physics,
            gravity=True,
            solid=solid,
            foot=body.foot,
            reach=math.hypot(*body.half_extent[:2]) + math.hypot(*body.box_offset[:2]),
        )
        self.actors[actor.id] = actor

    def _equip(self, actor: Actor, pose: Pose3, spec: object) -> None:
        if isinstance(actor, Vehicle) and isinstance(spec, VehicleSpec):
            actor.spec = spec
            limit = float(self._governance.lane_limit(np.array([[pose.x, pose.y, pose.yaw]]))[0])
            actor.slot = self.vehicles.add(
                row=actor.row,
                speed_limit=limit if math.isfinite(limit) else UNKNOWN_LIMIT,
                light_state=LightState.GREEN,
                **physics_columns(spec, standard_physics(spec)),
            )
            self._vehicles.append(actor)
        elif isinstance(actor, Walker):
            actor.slot = self.walkers.add(row=actor.row)
            self._walkers.append(actor)
        elif isinstance(actor, WalkerController):
            self._controllers.append(actor)
        self._habits.add(actor)
        self._settle(actor)

    def _settle(self, actor: Actor) -> None:
        """A body that is put on the ground stands there at once; one that is put above it falls."""
        row = actor.row
        x, y, z = self.table.position[row].tolist()
        foot = float(self.table.foot[row])
        gap = z - foot - self.ground_height(x, y, z - foot)
        self.table.grounded[row] = bool(self.table.physics[row]) and abs(gap) < 0.05

    def _forget(self, actor: Actor) -> None:
        row = actor.row
        self.table.remove(row)
        del self.actors[actor.id]
        actor.alive = False
        self._habits.remove(actor)
        for other in self.actors.values():
            other.row -= other.row > row
        if isinstance(actor, Vehicle) and actor in self._vehicles:
            self.vehicles.remove(actor.slot)
            self._vehicles.remove(actor)
            self.ackermann.discard(actor.id)
        if isinstance(actor, Walker) and actor in self._walkers:
            self.walkers.remove(actor.slot)
            self._walkers.remove(actor)
        if isinstance(actor, WalkerController) and actor in self._controllers:
            self._controllers.remove(actor)
        self._arrange()

    def _arrange(self) -> None:
        """Bring the other tables up to date after rows moved."""
        for slot, vehicle in enumerate(self._vehicles):
            vehicle.slot = slot
            self.vehicles.row[slot] = vehicle.row
        for slot, walker in enumerate(self._walkers):
            walker.slot = slot
            self.walkers.row[slot] = walker.row
        self._attachments.arrange(self.actors)

    def _birth(self, maker: type[Actor], type_id: str, body: Body, pose: Pose3) -> Actor:
        """An actor that is there from the start."""
        tags = (body.label,) if body.label else ()
        actor = maker(*self._identity(type_id, {}, body.kind, tags))
        self._enrol(actor, body, pose)
        return actor

    def _compile(self) -> None:
        """Compile the loops now: clients would take a first step of seconds for a dead server."""
        drive(self.table, self.vehicles, _LONGEST_STEP)
        move(self.table, self.vehicles, self.ground, _LONGEST_STEP)
        resolve(self.table, self.table.position, self.table.rotation[:, 2], self.statics)
        separations(*np.zeros((4, 0, 3)))
