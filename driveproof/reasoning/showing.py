"""From an observation to what the requests of a mode show: the one place where privileged input enters."""

from __future__ import annotations

from collections.abc import Sequence

from driveproof.policy.driving import DriveObservation
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.reasoning.privileged import Privileged
from driveproof.reasoning.run import Moment
from driveproof.scene.images import Pixels


def moment_of(
    seen: DriveObservation, mode: InputMode, privileged: Privileged | None = None
) -> Moment:
    """What a mode shows of an observation.

    ``privileged`` is asked for nothing in a camera mode without references, and must be given for any other
    (:func:`~driveproof.reasoning.privileged.require_privilege`).

    Raises
    ------
    ValueError
        If a camera of the mode has no picture.
    """
    pictures: tuple[Pixels, ...] = ()
    if mode.shown is Shown.CAMERA:
        pictures = _cameras(seen, mode, privileged)
    elif mode.shown is Shown.BEV:
        assert privileged is not None
        pictures = (privileged.bev(references=mode.references),)
    marks = tuple(privileged.marks()) if privileged and mode.shown is Shown.TEXT else ()
    return Moment(seen.frame, seen.time_s, seen.speed, seen.command, pictures, marks)


def _cameras(
    seen: DriveObservation, mode: InputMode, privileged: Privileged | None
) -> tuple[Pixels, ...]:
    """The oldest moment first, and of each moment all views."""
    by_view: list[Sequence[Pixels]] = []
    for view in mode.views:
        pictures = list(seen.pictures.get(view, ()))[-mode.history :]
        if not pictures:
            raise ValueError(f"no picture of {view}")
        # an episode begins with one moment: it stands for those before it
        pictures = [pictures[0]] * (mode.history - len(pictures)) + pictures
        if mode.references:
            assert privileged is not None
            pictures = list(privileged.marked(view, pictures))
        by_view.append(pictures)
    return tuple(moment[at] for at in range(mode.history) for moment in by_view)
