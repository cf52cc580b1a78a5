"""Scenes (privileged truth), observations (what a policy may see), logs and tables of them."""

from driveproof.scene.decision import Decision, Direction, SpeedChange, decision_of
from driveproof.scene.images import ImageStore
from driveproof.scene.log import Log
from driveproof.scene.table import SCHEMA_VERSION, read_columns, read_scenes, write_scenes
from driveproof.scene.types import (
    FRONT_CAMERAS,
    FUTURE_TIMES,
    HISTORY_TIMES,
    AgentKind,
    AgentTracks,
    Command,
    ImageRef,
    LightState,
    Observation,
    Scene,
    TrafficSignal,
)
from driveproof.scene.windows import WindowReport, WindowRules, scenes_of

__all__ = [
    "FRONT_CAMERAS",
    "FUTURE_TIMES",
    "HISTORY_TIMES",
    "SCHEMA_VERSION",
    "AgentKind",
    "AgentTracks",
    "Command",
    "Decision",
    "Direction",
    "ImageRef",
    "ImageStore",
    "LightState",
    "Log",
    "Observation",
    "Scene",
    "SpeedChange",
    "TrafficSignal",
    "WindowReport",
    "WindowRules",
    "decision_of",
    "read_columns",
    "read_scenes",
    "scenes_of",
    "write_scenes",
]
