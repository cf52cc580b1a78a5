"""The navigation file of a town: what the client's walker controllers need, made once and kept on disk."""

from __future__ import annotations

import contextlib

from driveproof.errors import UserError
from driveproof.files import atomic_open
from driveproof.maps import TownMap
from driveproof.maps.cache import cache_directory
from driveproof.sim.server.detour import navigation_file
from driveproof.sim.server.walkable import walkable

#: Part of the file name: raise it when the mesh or its format changes.
_VERSION = 1


def navigation_name(town: TownMap) -> str:
    """A name that is another one for another town or another making of it: clients keep files by their names."""
    return f"{town.name}-{town.digest[:16]}-nav{_VERSION}.bin"


def navigation_bytes(town: TownMap) -> bytes:
    """The file, from the cache if it was made before; empty for a town without sidewalks or with too many."""
    path = cache_directory() / navigation_name(town)
    with contextlib.suppress(OSError):
        return path.read_bytes()
    mesh = walkable(town)
    data = b"" if mesh is None else navigation_file(mesh)
    # a full or read-only disk costs time, not the walkers
    with contextlib.suppress(OSError, UserError), atomic_open(path, "wb") as stream:
        stream.write(data)
    return data
