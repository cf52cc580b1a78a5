"""Records drives into Bench2Drive's clip layout, through the sensors of a client and nothing else."""

from driveproof.sim.recorder.annotation import Annotator, Moment, Pedals
from driveproof.sim.recorder.commands import commands
from driveproof.sim.recorder.recorder import FRAME_S, Recorder
from driveproof.sim.recorder.rig import CAMERAS, Mount, top_down

__all__ = [
    "CAMERAS",
    "FRAME_S",
    "Annotator",
    "Moment",
    "Mount",
    "Pedals",
    "Recorder",
    "commands",
    "top_down",
]
