"""What a policy is shown when it is asked about a scene: one object decides, and nothing else reaches the request.

Camera and bird's-eye modes show pictures, text mode a list of actors. Nothing of the expert's knowledge is in a camera
request without references: neither the list of actors nor an id in the question.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

from driveproof.errors import BadInput
from driveproof.prompts.messages import Message
from driveproof.render.marks import Mark, shown

Picture = TypeVar("Picture")
"""Pixels, or a reference to where they lie: the request does not look."""
COMMAND_WORDS = {
    "left": "turn left at the junction",
    "right": "turn right at the junction",
    "straight": "go straight through the junction",
    "follow": "follow the road",
    "change_left": "change to the left lane",
    "change_right": "change to the right lane",
}
"""What the navigator says, by the name of the command in small letters; nothing where it is unknown."""
TEXT_M = 50.0
"""The list of actors reaches so far."""
_REFERENCE = re.compile(r"\s*\([ce]\d+(?:,\s*CAM_[A-Z_]+)*\)")
_TAG = re.compile(r"(?<![A-Za-z0-9_])[ce]\d+(?![A-Za-z0-9_])")


class Shown(StrEnum):
    """What stands for the scene."""

    CAMERA = "camera"
    BEV = "bev"
    TEXT = "text"


class Cameras(StrEnum):
    """Which views a camera mode shows."""

    FRONT = "front"
    SIX = "six"


ALL_CAMERAS = (
    "CAM_FRONT_LEFT",
    "CAM_FRONT",
    "CAM_FRONT_RIGHT",
    "CAM_BACK_RIGHT",
    "CAM_BACK",
    "CAM_BACK_LEFT",
)


@dataclass(frozen=True)
class InputMode:
    """What a policy sees.

    Attributes
    ----------
    shown
        Pictures of the cameras, one from above, or a list of actors in words.
    references
        Whether things have ids: written into pictures, the list and the question. The ids are the expert's knowledge of
        what is where; without them the policy has to find things itself.
    history
        How many moments a camera mode shows, the oldest first.
    cameras
        Which views a camera mode shows.

    Raises
    ------
    ValueError
        If the history is not positive.
    """

    shown: Shown = Shown.CAMERA
    references: bool = False
    history: int = 1
    cameras: Cameras = Cameras.FRONT

    def __post_init__(self) -> None:
        if self.history < 1:
            raise ValueError(f"InputMode.history: {self.history} moments are none")

    @property
    def views(self) -> tuple[str, ...]:
        """Cameras that are shown, in the order of the pictures; none but in camera mode."""
        if self.shown is not Shown.CAMERA:
            return ()
        return ALL_CAMERAS if self.cameras is Cameras.SIX else ("CAM_FRONT",)


def mode_to_json(mode: InputMode) -> dict[str, Any]:
    """A mode in plain values, as model folders and run directories keep it."""
    return {
        "shown": mode.shown.value,
        "references": mode.references,
        "history": mode.history,
        "cameras": mode.cameras.value,
    }


def mode_from_json(values: Mapping[str, Any]) -> InputMode:
    """Inverse of :func:`mode_to_json`.

    Raises
    ------
    BadInput
        If the values are no mode.
    """
    try:
        shown, cameras = Shown(values["shown"]), Cameras(values["cameras"])
        return InputMode(shown, bool(values["references"]), int(values["history"]), cameras)
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"no mode of input: {error}", field="mode") from None


def compose(
    mode: InputMode,
    question: str,
    pictures: Sequence[Picture] = (),
    marks: Iterable[Mark] = (),
    ego_speed: float | None = None,
    command: str = "",
) -> tuple[list[Message], list[Picture]]:
    """The request for one question: messages with placeholders, and the pictures that they stand for.

    Parameters
    ----------
    pictures
        Of camera mode ``history`` times ``views``, the oldest moment first, already marked if the mode has references;
        of the bird's-eye mode one.
    marks
        Actors; only the text mode looks at them.
    ego_speed
        m/s, where the question says it; a car knows its own speed.
    command
        A key of :data:`COMMAND_WORDS`, where the question says it; any other word says nothing.

    Raises
    ------
    ValueError
        If the number of pictures is not the mode's.
    """
    wanted = {Shown.TEXT: 0, Shown.BEV: 1}.get(mode.shown, mode.history * len(mode.views))
    if len(pictures) != wanted:
        raise ValueError(f"{mode.shown} mode shows {wanted} pictures, not {len(pictures)}")
    lines = [_legend(mode)]
    if mode.shown is Shown.TEXT:
        lines.append(f"Actors around: {actor_list(marks, references=mode.references)}")
    if ego_speed is not None:
        lines.append(f"The ego vehicle drives {round(ego_speed, 1) + 0.0:.1f} m/s.")
    if command in COMMAND_WORDS:
        lines.append(f"The navigator says: {COMMAND_WORDS[command]}.")
    lines.append(question if mode.references else without_references(question))
    content: list[dict[str, Any]] = [{"type": "image"} for _ in pictures]
    content.append({"type": "text", "text": "\n".join(line for line in lines if line)})
    return [{"role": "user", "content": content}], list(pictures)


def without_references(text: str) -> str:
    """A question without the ids of things: "the red car to the front (c12, CAM_FRONT)" loses its parenthesis."""
    return _TAG.sub("it", _REFERENCE.sub("", text))


def actor_list(marks: Iterable[Mark], *, references: bool = True) -> str:
    """The actors within 50 m as JSON: description, position in words, speed and heading; ids with ``references``."""
    rows = []
    for mark in shown(marks, TEXT_M):
        row = {"id": mark.tag} if references else {}
        row |= {
            "description": mark.description,
            "position": f"{_along(mark.x, 'front', 'rear')}, {_along(mark.y, 'left', 'right')}",
            "speed": f"{mark.speed:.1f} m/s",
            "heading": _heading(mark.heading),
        }
        rows.append(row)
    return json.dumps(rows)


def _along(value: float, positive: str, negative: str) -> str:
    return f"{abs(value):.1f} m to the {positive if value >= 0.0 else negative}"


def _heading(angle: float) -> str:
    degrees = math.degrees(math.atan2(math.sin(angle), math.cos(angle)))
    if abs(degrees) < 5.0:
        return "same direction"
    if abs(degrees) > 175.0:
        return "opposite direction"
    return f"{abs(degrees):.0f} degrees to the {'left' if degrees > 0 else 'right'}"


def _legend(mode: InputMode) -> str:
    if mode.shown is Shown.TEXT:
        return ""
    if mode.shown is Shown.BEV:
        return (
            "The picture shows the scene from above, the ego vehicle in the middle, forward is up."
        )
    views = ", ".join(mode.views)
    moments = f" at {mode.history} moments, the latest last" if mode.history > 1 else ""
    marks = (
        " A line behind a road user is its way, half a second a piece." if mode.references else ""
    )
    return f"The pictures show {views}{moments}.{marks}"
