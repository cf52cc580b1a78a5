"""The methods of the protocol, grouped by what they are about; importing this package registers all of them."""

from driveproof.sim.server.handlers import (
    actors,
    batch,
    bodies,
    debug,
    lights,
    maps,
    queries,
    recorder,
    sensors,
    session,
    traffic_managers,
    vehicles,
    walkers,
)

__all__ = [
    "actors",
    "batch",
    "bodies",
    "debug",
    "lights",
    "maps",
    "queries",
    "recorder",
    "sensors",
    "session",
    "traffic_managers",
    "vehicles",
    "walkers",
]
