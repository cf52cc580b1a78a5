"""DriveCommenter: the expert that answers every question about a moment, and decides."""

from driveproof.commenter.annotation import frame_of
from driveproof.commenter.clips import Clip, Window, open_clips, windows
from driveproof.commenter.commentary import Commentary, Commenter, comment_all
from driveproof.commenter.decision import ExpertDecision
from driveproof.commenter.frame import Agent, CameraPose, Frame, Roles, Signal

__all__ = [
    "Agent",
    "CameraPose",
    "Clip",
    "Commentary",
    "Commenter",
    "ExpertDecision",
    "Frame",
    "Roles",
    "Signal",
    "Window",
    "comment_all",
    "frame_of",
    "open_clips",
    "windows",
]
