"""What differs between versions of the CARLA client: one entry a version."""

from __future__ import annotations

from dataclasses import dataclass

from driveproof.errors import BadInput


@dataclass(frozen=True)
class Version:
    """Facts of one version of the client.

    Parameters
    ----------
    number
        What ``get_server_version`` answers; CARLA's own tests compare it with the client's.
    world_index
        The position of the world observer in the client's table of sensors (wire byte 0 of a stream message).
    sensor_index
        The same position of each sensor blueprint.
    """

    number: str
    world_index: int
    sensor_index: dict[str, int]


# Read from the debug information inside the published wheel; the numbers move between versions, and a wrong one is
# undefined behaviour in the client, not an error.
_0_9_16 = Version(
    number="0.9.16",
    world_index=17,
    sensor_index={
        "sensor.other.collision": 0,
        "sensor.camera.depth": 1,
        "sensor.camera.normals": 2,
        "sensor.camera.dvs": 3,
        "sensor.other.gnss": 4,
        "sensor.other.imu": 5,
        "sensor.other.lane_invasion": 6,
        "sensor.other.obstacle": 7,
        "sensor.camera.optical_flow": 8,
        "sensor.other.radar": 9,
        "sensor.lidar.ray_cast_semantic": 10,
        "sensor.lidar.ray_cast": 11,
        "sensor.other.rss": 12,
        "sensor.camera.rgb": 13,
        "sensor.camera.semantic_segmentation": 14,
        "sensor.camera.instance_segmentation": 15,
        "sensor.camera.cosmos_visualization": 16,
        "sensor.other.v2x": 20,
        "sensor.other.v2x_custom": 21,
    },
)

VERSIONS: dict[str, Version] = {_0_9_16.number: _0_9_16}
DEFAULT_VERSION = _0_9_16.number


def version_facts(number: str) -> Version:
    """The facts of this version; BadInput names the known ones."""
    if number not in VERSIONS:
        raise BadInput(
            f"unknown client version {number[:40]!r}", hint=f"known: {', '.join(VERSIONS)}"
        )
    return VERSIONS[number]
