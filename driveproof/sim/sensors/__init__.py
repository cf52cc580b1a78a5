"""What sensors of the embedded simulator measure, as the bodies of CARLA's sensor messages.

``make_sensor(engine, actor).measure(engine)`` gives the bytes of one body, or a list: empty where there is
nothing to say, :class:`CollisionEvent` and :class:`ObstacleEvent` where the body names actors, which the server
encodes. Reads the engine, never changes it. Inside the frame is right-handed; what leaves is left-handed.
"""

from driveproof.sim.sensors.base import Body, Sensor, UnmodelledSensor
from driveproof.sim.sensors.events import CollisionEvent, ObstacleEvent
from driveproof.sim.sensors.registry import is_modelled, make_sensor, prepare

__all__ = [
    "Body",
    "CollisionEvent",
    "ObstacleEvent",
    "Sensor",
    "UnmodelledSensor",
    "is_modelled",
    "make_sensor",
    "prepare",
]
