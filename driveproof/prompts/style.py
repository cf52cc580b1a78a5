"""How prompts are worded, and which pictures go with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from driveproof.scene import FRONT_CAMERAS, HISTORY_TIMES, ImageRef, Observation


@dataclass(frozen=True)
class PromptStyle:
    """The wording of a conversation; part of every prompt hash.

    Attributes
    ----------
    verbosity
        "full" gives complete instructions, for real VLMs; "compact" a few short words, for the tiny VLM.
    decimals
        Digits after the point of every number; 0 writes whole metres.
    cameras
        Cameras shown, in this order.
    frames
        How many of the latest history pictures of each camera are shown, 0 .. 4; 0 shows none.
    waypoint_every
        Candidates are written by every so-many-th of their ten waypoints, a divisor of 10, so that the last is
        always there: 1 writes all ten, 5 those at 2.5 and 5 s.
    """

    verbosity: Literal["full", "compact"] = "full"
    decimals: int = 2
    cameras: tuple[str, ...] = FRONT_CAMERAS
    frames: int = len(HISTORY_TIMES)
    waypoint_every: int = 1

    def __post_init__(self) -> None:
        if self.verbosity not in ("full", "compact"):
            raise ValueError(f"PromptStyle.verbosity: {self.verbosity!r} is not full or compact")
        if not 0 <= self.decimals <= 6:
            raise ValueError(f"PromptStyle.decimals: {self.decimals} is not within 0 .. 6")
        if not 0 <= self.frames <= len(HISTORY_TIMES):
            raise ValueError(
                f"PromptStyle.frames: {self.frames} is not within 0 .. {len(HISTORY_TIMES)}"
            )
        if self.waypoint_every not in (1, 2, 5, 10):
            raise ValueError(
                f"PromptStyle.waypoint_every: {self.waypoint_every} does not divide 10"
            )


FULL = PromptStyle()
"""Three front cameras, four frames each, centimetres: the setting of DEFT-RLVR, section 5.1."""
COMPACT = PromptStyle(verbosity="compact", decimals=0, frames=1, waypoint_every=5)
"""Three front cameras, the latest frame, whole metres, candidates at 2.5 and 5 s: short enough for the tiny VLM."""
STYLES = {"full": FULL, "compact": COMPACT}


@dataclass(frozen=True)
class ShownImage:
    """One picture of a prompt: whose, when (seconds, 0 is now), where it lies."""

    camera: str
    time: float
    ref: ImageRef


def shown_images(observation: Observation, style: PromptStyle) -> list[ShownImage]:
    """The pictures that a prompt shows, in the order of its image placeholders.

    Camera by camera in the order of ``style.cameras``, oldest frame first. Pictures that the log lacks
    are left out, of the prompt's text too.
    """
    first = len(HISTORY_TIMES) - style.frames
    return [
        ShownImage(camera, float(HISTORY_TIMES[index]), ref)
        for camera in style.cameras
        if camera in observation.images
        for index, ref in enumerate(observation.images[camera])
        if index >= first and ref is not None
    ]
