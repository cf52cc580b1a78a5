"""Towns: lanes, their topology, signals, junctions, crosswalks and routes, from OpenDRIVE.

Frame: right-handed, x forward (east), y left (north), metres, seconds, radians. A CARLA location
``(x, y)`` is ``(x, -y)`` here, which is also what the OpenDRIVE file says.
"""

from driveproof.maps.lanes import LaneKind, LaneTable, MarkColour, MarkKind
from driveproof.maps.nearest import LaneMatch
from driveproof.maps.routes import Route
from driveproof.maps.signals import Junction, MapSignal, SignalKind
from driveproof.maps.sources import find_town, list_towns
from driveproof.maps.town import TownMap, load_town, town_from_opendrive

__all__ = [
    "Junction",
    "LaneKind",
    "LaneMatch",
    "LaneTable",
    "MapSignal",
    "MarkColour",
    "MarkKind",
    "Route",
    "SignalKind",
    "TownMap",
    "find_town",
    "list_towns",
    "load_town",
    "town_from_opendrive",
]
