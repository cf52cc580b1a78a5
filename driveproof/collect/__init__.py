"""Collecting drives: situations are set up on real towns, an expert drives them, a recorder writes clips."""

from driveproof.collect.campaign import collect

__all__ = ["collect"]
