"""Where the OpenDRIVE files of the towns come from: own files, the towns package, a running simulator."""

from __future__ import annotations

import gzip
import importlib.util
import re
import zlib
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput, MissingMap

#: A town larger than this is not a town (Town13, the largest, has 90 MB).
MAX_BYTES = 512 * 2**20

_SUFFIXES = (".xodr", ".xodr.gz")


def town_name(name: str) -> str:
    """The plain name of a town: ``Carla/Maps/Town10HD_Opt`` is ``Town10HD``; BadInput if it is no name."""
    plain = name.rsplit("/", 1)[-1].removesuffix("_Opt")
    if not re.fullmatch(r"\w[\w.-]*", plain):
        raise BadInput("not the name of a town", field=repr(name)[:80])
    return "Town10HD" if plain == "Town10" else plain


def package_directory() -> Path | None:
    """The folder of CARLA towns in the installed py123d wheel, found without running its code."""
    spec = importlib.util.find_spec("py123d")
    for root in (spec.submodule_search_locations or []) if spec else []:
        folder = Path(root) / "parser" / "opendrive" / "carla_maps"
        if folder.is_dir():
            return folder
    return None


def list_towns(directory: str | Path = "data/maps") -> dict[str, Path]:
    """Town names and their OpenDRIVE files (``.xodr`` or ``.xodr.gz``); own files win over the package's."""
    found: dict[str, Path] = {}
    for folder in (package_directory(), Path(directory)):
        for path in sorted(folder.glob("*.xodr*")) if folder and folder.is_dir() else []:
            for suffix in _SUFFIXES:
                if path.name.endswith(suffix):
                    found[path.name.removesuffix(suffix)] = path
    return dict(sorted(found.items()))


def find_town(name: str, directory: str | Path = "data/maps", client: Any = None) -> str:
    """The OpenDRIVE text of a town: a file in ``directory``, the towns package, then ``client``'s current map.

    Parameters
    ----------
    client
        A connected ``carla.Client``, asked only if no file has the town.

    Raises
    ------
    MissingMap
        Names where it looked.
    BadInput
        The file is truncated, too large or no text.
    """
    name = town_name(name)
    towns = list_towns(directory)
    if name in towns:
        return read_opendrive(towns[name])
    looked = [f"{directory}/{name}.xodr[.gz]", "the towns of the py123d package"]
    if client is not None:
        town = client.get_world().get_map()
        if town_name(town.name) == name:
            return str(town.to_opendrive())
        looked.append(f"the simulator, which runs {town.name}")
    raise MissingMap(
        f"no map of {name}: looked in {'; '.join(looked)}",
        hint=f"put {name}.xodr into {directory}",
    )


def read_opendrive(path: Path) -> str:
    """The text of an OpenDRIVE file, gzipped or not; BadInput if it cannot be one."""
    try:
        with gzip.open(path) if path.name.endswith(".gz") else open(path, "rb") as stream:
            data = stream.read(MAX_BYTES + 1)
        text = data.decode("utf-8")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"broken gzip file: {error}", path=path) from error
    except UnicodeDecodeError as error:
        raise BadInput("not UTF-8 text", path=path) from error
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from error
    if len(data) > MAX_BYTES:
        raise BadInput(f"larger than {MAX_BYTES // 2**20} MiB", path=path)
    return text
