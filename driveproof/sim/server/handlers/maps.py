"""Towns: which there are, loading them, and what a client needs of the present one."""

from __future__ import annotations

from typing import Any

from driveproof.maps import TownMap, list_towns
from driveproof.sim.engine import Pose3, Weather
from driveproof.sim.server.background import in_background
from driveproof.sim.server.messages import MAP, OPENDRIVE_PARAMETERS, WEATHER
from driveproof.sim.server.navigation import navigation_bytes, navigation_name
from driveproof.sim.server.registry import Refused, rpc
from driveproof.sim.server.rpc import Client
from driveproof.sim.server.wire import BLOB, FLAG, REAL, TEXT, U16, sequence

#: The folder of the navigation file, as clients ask for it.
_NAVIGATION = "Nav"
#: Towns that lie in a folder of their own, as CARLA's large maps do.
_IN_FOLDERS = ("Town11", "Town12", "Town13", "Town15")


@rpc(returns=sequence(TEXT))
def get_available_maps(client: Client) -> list[str]:
    """All towns in CARLA's spelling."""
    folders = {name: f"{name}/" for name in _IN_FOLDERS}
    return [f"/Game/Carla/Maps/{folders.get(name, '')}{name}" for name in list_towns()]


@rpc(TEXT, FLAG, U16)
async def load_new_episode(client: Client, name: str, reset_settings: bool, layers: int) -> None:
    """Load a town, or the present one again for an empty name. Layers are not modelled: towns have no details."""
    present = client.world.episode.map_name
    await client.world.load(
        f"Carla/Maps/{name.rsplit('/', 1)[-1]}" if name else present, reset_settings
    )


@rpc(TEXT, OPENDRIVE_PARAMETERS)
def copy_opendrive_to_file(client: Client, text: str, parameters: Any) -> None:
    """Take the OpenDRIVE text that the next load of "OpenDriveMap" makes into a world."""
    client.world.opendrive = text


@rpc(returns=MAP)
async def get_map_info(client: Client) -> tuple[str, list[Pose3]]:
    """Name and spawn points."""
    episode = client.world.episode
    return episode.map_name, await episode.spawn_points.get()


@rpc(returns=TEXT)
def get_map_data(client: Client) -> str:
    """The OpenDRIVE text."""
    return client.world.episode.town.opendrive


@rpc(TEXT, returns=sequence(TEXT))
async def get_required_files(client: Client, folder: str) -> list[str]:
    """The file on which walker controllers find their way; the client makes all else from the OpenDRIVE text."""
    if folder != _NAVIGATION:
        return []
    town = client.world.episode.town
    data = await in_background(lambda: navigation_bytes(town))
    return [_navigation_path(town)] if data else []


@rpc(TEXT, returns=BLOB)
async def request_file(client: Client, name: str) -> bytes:
    """The navigation file of the present town; Refused for all others."""
    town = client.world.episode.town
    if name != _navigation_path(town):
        raise Refused(f"file not found: {name[:80]}")
    return await in_background(lambda: navigation_bytes(town))


def _navigation_path(town: TownMap) -> str:
    return f"Carla/Maps/{_NAVIGATION}/{navigation_name(town)}"


@rpc(returns=BLOB)
def get_navigation_mesh(client: Client) -> bytes:
    """Empty: walkers find their way on the server."""
    return b""


@rpc(U16)
def load_map_layer(client: Client, layers: int) -> None:
    """Nothing: towns have no layers here."""


@rpc(U16)
def unload_map_layer(client: Client, layers: int) -> None:
    """Nothing: towns have no layers here."""


@rpc(returns=WEATHER)
def get_weather_parameters(client: Client) -> Weather:
    """The weather."""
    return client.world.episode.engine.weather


@rpc(WEATHER)
def set_weather_parameters(client: Client, weather: Weather) -> None:
    """Change the weather."""
    client.world.episode.engine.weather = weather


@rpc(returns=REAL)
def get_imui_gravity(client: Client) -> float:
    """The gravity that rigid bodies feel, m/s²."""
    return 9.81


@rpc(REAL)
def set_imui_gravity(client: Client, gravity: float) -> None:
    """Nothing: the gravity of this world is that of the earth."""
