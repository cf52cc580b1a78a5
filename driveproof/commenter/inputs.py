"""Frames as what a policy is shown: the marks of a moment, and the request of a mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from driveproof.commenter.clips import Window
from driveproof.commenter.frame import Agent, CameraPose, Frame
from driveproof.commenter.naming import name_agent, project
from driveproof.geometry.arrays import Float
from driveproof.prompts.inputs import InputMode, Shown, compose
from driveproof.prompts.messages import Message
from driveproof.render.marks import (
    HISTORY_STEP_S,
    HISTORY_STEPS,
    Mark,
    Project,
    draw_marks,
    draw_marks_from_above,
)
from driveproof.render.picture import Image

PLAIN = (128, 128, 128)


def marks_of(window: Window) -> tuple[Mark, ...]:
    """Everybody around the ego in plain values, with the places of the last 2.5 s as seen from the ego now."""
    frame = window.now
    earlier = [
        window.ago(HISTORY_STEP_S * step) if window.past else None
        for step in range(1, HISTORY_STEPS + 1)
    ]
    before = [{agent.id: agent for agent in past.agents} for past in earlier if past is not None]
    return tuple(
        _mark(frame, agent, [past[agent.id] for past in before if agent.id in past])
        for agent in frame.agents
        if agent.kind != "prop"
    )


def _mark(frame: Frame, agent: Agent, earlier: Sequence[Agent]) -> Mark:
    ref = name_agent(frame, agent)
    x, y = frame.local(agent.x, agent.y)
    ground = frame.ego.z - 0.5 * frame.ego.height
    return Mark(
        tag=ref.tag,
        description=ref.name,
        x=x,
        y=y,
        z=agent.z - 0.5 * agent.height - ground,
        heading=frame.local_heading(agent.heading),
        length=agent.length,
        width=agent.width,
        speed=agent.speed,
        colour=agent.colour or PLAIN,
        walker=agent.kind == "walker",
        parked=agent.parked,
        points=agent.points,
        history=tuple(frame.local(past.x, past.y) for past in earlier),
    )


def lens_of(frame: Frame, camera: CameraPose) -> Project:
    """How points of the ego frame (road level at z = 0) fall into the picture of a camera."""
    ego = frame.ego
    cos, sin = np.cos(ego.heading), np.sin(ego.heading)
    ground = ego.z - 0.5 * ego.height

    def to_pixels(points: Float) -> tuple[Float, Float]:
        x, y, z = np.asarray(points, dtype=np.float64).T
        world = np.stack([ego.x + x * cos - y * sin, ego.y + x * sin + y * cos, z + ground], axis=1)
        return project(camera, world)

    return to_pixels


def policy_input(
    mode: InputMode,
    windows: Sequence[Window],
    question: str,
    pictures: Sequence[Mapping[str, Image]] = (),
    ego_speed: float | None = None,
    command: str = "",
) -> tuple[list[Message], list[Image]]:
    """The request of a mode about the last of ``windows``.

    Parameters
    ----------
    windows
        The moments of the mode's history, the oldest first.
    pictures
        For each moment its pictures by camera; of the bird's-eye mode the last moment's ``BEV``.

    Raises
    ------
    ValueError
        If moments or pictures are not those of the mode.
    """
    if mode.shown is Shown.TEXT:
        return compose(mode, question, (), marks_of(windows[-1]), ego_speed, command)
    try:
        if mode.shown is Shown.BEV:
            base = pictures[-1]["BEV"]
            seen = [marked_from_above(windows[-1], base, references=mode.references)]
        else:
            seen = [
                _from_camera(window, moment[name], name, mode)
                for window, moment in zip(windows, pictures, strict=True)
                for name in mode.views
            ]
    except (KeyError, IndexError) as error:
        raise ValueError(f"no picture {error} for {mode.shown} mode") from None
    return compose(mode, question, seen, (), ego_speed, command)


def _from_camera(window: Window, image: Image, name: str, mode: InputMode) -> Image:
    return marked_camera(window, image, name) if mode.references else image


def marked_camera(window: Window, image: Image, name: str) -> Image:
    """A camera's picture of the last moment of ``window`` with the names and ways of things; KeyError without such a camera."""
    camera = next((c for c in window.now.cameras if c.name == name), None)
    if camera is None:
        raise KeyError(name)
    return draw_marks(image, lens_of(window.now, camera), marks_of(window))


def marked_from_above(window: Window, base: Image, *, references: bool) -> Image:
    """A picture from above of the last moment of ``window`` with everybody drawn in, named with ``references``."""
    frame = window.now
    signs = [frame.local(s.x, s.y) for s in frame.signals if s.affects_ego]
    return draw_marks_from_above(base, marks_of(window), signs, references=references)
