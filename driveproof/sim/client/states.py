"""What a client knows of the world after a tick, as plain right-handed values.

Frame: x forward, y left, z up; metres, seconds, radians. Nothing here refers to the simulator any more, so
states may be kept, compared and sent to other processes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from driveproof.scene import LightState

Kind = Literal["vehicle", "walker", "prop"]


class ActorState(NamedTuple):
    """One road user or thing at one time.

    Attributes
    ----------
    id
        CARLA's actor id.
    type_id
        Blueprint, such as "vehicle.lincoln.mkz_2020".
    kind
        "vehicle", "walker" or "prop". Sensors, signs and the spectator are no road users and do not appear.
    role_name
        As it was spawned with; "" if none.
    x, y, z
        Centre of the bounding box seen from above, and height of its underside, m.
    heading
        Radians, counter-clockwise from x.
    vx, vy
        Velocity in the world frame, m/s.
    speed
        Velocity along the heading, m/s; negative backwards.
    accel
        Acceleration along the heading, m/s².
    yaw_rate
        Radians a second, positive to the left.
    length, width, height
        Full size of the bounding box, m.
    base_type
        "car", "truck", "van", "bus", "motorcycle", "bicycle"; "" for walkers and props.
    """

    id: int
    type_id: str
    kind: Kind
    role_name: str
    x: float
    y: float
    z: float
    heading: float
    vx: float = 0.0
    vy: float = 0.0
    speed: float = 0.0
    accel: float = 0.0
    yaw_rate: float = 0.0
    length: float = 0.0
    width: float = 0.0
    height: float = 0.0
    base_type: str = ""


class Collision(NamedTuple):
    """A contact that a collision sensor reported.

    Attributes
    ----------
    frame
        When.
    actor_id
        The vehicle that carries the sensor.
    other_id, other_type
        What it touched; type "static.*" or "traffic.*" for parts of the town.
    impulse
        Size of the normal impulse, N s.
    """

    frame: int
    actor_id: int
    other_id: int
    other_type: str
    impulse: float


@dataclass(frozen=True)
class WorldState:
    """The world after a tick.

    Attributes
    ----------
    frame
        CARLA's number of the tick.
    time
        Simulated seconds since the session began or its clock was restarted.
    actors
        By id, in ascending order.
    lights
        Traffic lights by OpenDRIVE signal id.
    collisions
        Since the tick before, of vehicles watched with ``Session.watch_collisions``.
    """

    frame: int
    time: float
    actors: dict[int, ActorState] = field(default_factory=dict)
    lights: dict[str, LightState] = field(default_factory=dict)
    collisions: tuple[Collision, ...] = ()

    def of_kind(self, kind: Kind) -> list[ActorState]:
        """The actors of a kind, by id."""
        return [actor for actor in self.actors.values() if actor.kind == kind]
