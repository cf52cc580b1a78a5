"""The embedded server: CARLA's wire protocol in front of the engine and the sensors.

An unmodified ``carla`` client of the served version connects to it. This room is the only one that knows the
protocol, and the door between CARLA's left-handed degrees and the world's right-handed radians.
"""

from driveproof.sim.server.debug_shapes import DebugShapes
from driveproof.sim.server.serve import Address, PortTaken, ServerOptions, serve

__all__ = ["Address", "DebugShapes", "PortTaken", "ServerOptions", "serve"]
