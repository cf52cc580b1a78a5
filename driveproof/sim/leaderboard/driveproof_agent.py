"""The agent that an unmodified CARLA leaderboard (or Bench2Drive) loads: ``--agent .../driveproof_agent.py``.

It runs in the leaderboard's own Python (3.7 and later) and needs nothing but the standard library, numpy and what
the leaderboard itself imports. Map, action module and policy run in another process, started with ``driveproof
leaderboard``; this file sends it what the sensors measure, and does what it answers. The configuration file
(``--agent-config``) is JSON: ``{"bridge": "http://127.0.0.1:7050", "timeout_s": 300}``.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from contextlib import suppress
from typing import Any

import carla
import numpy as np
from leaderboard.autoagents.autonomous_agent import (  # type: ignore[import-not-found]
    AutonomousAgent,
    Track,
)

VERSION = 1
GNSS, IMU, SPEED, MAP = "GNSS", "IMU", "SPEED", "MAP"
CONTENT = "application/octet-stream"


def get_entry_point() -> str:
    """Name of the agent's class, for the leaderboard."""
    return "DriveproofAgent"


class BridgeError(RuntimeError):
    """The driving side refused or is gone; the leaderboard notes that the agent crashed."""


class DriveproofAgent(AutonomousAgent):  # type: ignore[misc]  # of a package that is not here
    """Drives with the policy behind the bridge."""

    def setup(self, path_to_conf_file: str) -> None:
        """Read the configuration and ask which sensors the policy wants.

        Bench2Drive appends the name of the drive to the path, after a plus sign.
        """
        self.track = Track.MAP
        path, _, self._episode = path_to_conf_file.partition("+")
        with open(path, encoding="utf-8") as stream:
            config = json.load(stream)
        self._url = config["bridge"].rstrip("/")
        self._timeout_s = float(config.get("timeout_s", 300.0))
        health = self._call("/health")
        if health["version"] != VERSION:
            raise BridgeError(
                f"the bridge speaks version {health['version']}, this agent {VERSION}"
            )
        self._cameras = health["cameras"]
        self._begun, self._wanted = False, 0.0

    def set_global_plan(self, global_plan_gps: Any, global_plan_world_coord: Any) -> None:
        """Keep the whole plan; the base class thins it out."""
        places = [place.location for place, _ in global_plan_world_coord]
        self._plan = [[float(p.x), float(p.y), float(p.z)] for p in places]
        self._gps = [[float(g["lat"]), float(g["lon"])] for g, _ in global_plan_gps]
        super().set_global_plan(global_plan_gps, global_plan_world_coord)

    def sensors(self) -> list[dict[str, Any]]:
        """The policy's cameras, and what tells where the car is; all of them allowed on the MAP track."""
        middle = {"x": 0.0, "y": 0.0, "z": 0.0, "roll": 0.0, "pitch": 0.0, "yaw": 0.0}
        return [
            *(dict(camera) for camera in self._cameras),
            dict(middle, type="sensor.other.gnss", id=GNSS),
            dict(middle, type="sensor.other.imu", id=IMU),
            {"type": "sensor.speedometer", "reading_frequency": 20, "id": SPEED},
            {"type": "sensor.opendrive_map", "reading_frequency": 1e-6, "id": MAP},
        ]

    def run_step(self, input_data: dict[str, Any], timestamp: float) -> Any:
        """One tick: measurements out, pedals back."""
        if not self._begun:
            self._begin(input_data, timestamp)
        pictures: list[list[Any]] = []
        values = {
            "time": float(timestamp),
            "gnss": [float(v) for v in input_data[GNSS][1][:3]],
            "imu": [None if np.isnan(v) else float(v) for v in input_data[IMU][1][:7]],
            "speed": float(input_data[SPEED][1]["speed"]),
            "pictures": pictures,
        }
        parts = []
        if timestamp >= self._wanted - 1e-6:
            for camera in self._cameras:
                pixels = np.ascontiguousarray(input_data[camera["id"]][1][:, :, :4], dtype=np.uint8)
                height, width = pixels.shape[:2]
                pictures.append([camera["id"], height, width])
                parts.append(pixels.tobytes())
        head = json.dumps(values).encode("utf-8") + b"\n"
        told = self._call("/step", b"".join([head, *parts]))
        self._wanted = told["wanted"]
        return carla.VehicleControl(
            throttle=told["throttle"], steer=told["steer"], brake=told["brake"]
        )

    def destroy(self) -> None:
        """The drive is over; let the traces be written."""
        with suppress(
            BridgeError, AttributeError
        ):  # the bridge is gone already, or was never found
            self._call("/end", b"")

    def _begin(self, input_data: dict[str, Any], timestamp: float) -> None:
        """Tell the plan and the map."""
        roads = input_data[MAP][1]["opendrive"] if MAP in input_data else ""
        content = {
            "episode": self._episode,
            "plan": self._plan,
            "gps": self._gps,
            "opendrive": roads,
            "time": float(timestamp),
        }
        self._call("/begin", json.dumps(content).encode("utf-8"))
        self._begun, self._wanted = True, float(timestamp)

    def _call(self, path: str, body: bytes | None = None) -> Any:
        """The JSON answer of the bridge; ``body`` None asks, anything else is posted."""
        request = urllib.request.Request(
            self._url + path, data=body, headers={"Content-Type": CONTENT}
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=self._timeout_s) as answer:
                return json.loads(answer.read().decode("utf-8"))
        except urllib.error.HTTPError as error:
            raise BridgeError(error.read().decode("utf-8", "replace")[:500]) from None
        except OSError as error:
            raise BridgeError(f"{self._url}: {error}") from None
