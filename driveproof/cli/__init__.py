"""The command line: ``driveproof ROOM VERB``. One module a room; heavy imports happen inside commands."""

from driveproof.cli.app import main

__all__ = ["main"]
