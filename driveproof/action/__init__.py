"""Answers become control: keys bend the way and set a target speed, controllers follow both."""

from driveproof.action.module import ActionModule, Control, Ego, Executed
from driveproof.action.way import Way

__all__ = ["ActionModule", "Control", "Ego", "Executed", "Way"]
