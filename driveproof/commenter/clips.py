"""Clips in Bench2Drive's layout, one frame after the other: every file is opened once."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from driveproof.commenter.annotation import RATE_HZ, frame_of
from driveproof.commenter.frame import Frame
from driveproof.datasets.archives import Archive, gunzip, open_archive
from driveproof.datasets.checks import malformed, parse_json
from driveproof.errors import BadInput
from driveproof.sim.routes import canonical

PAST_S, FUTURE_S = 2.0, 4.0
"""Seconds before and after a frame that its answers may look at."""
_PAST, _FUTURE = round(PAST_S * RATE_HZ), round(FUTURE_S * RATE_HZ)
_ANNO = re.compile(r"(?P<clip>(?:[^/]+/)*)anno/(?P<frame>\d{5,6})\.json\.gz")
_NAME = re.compile(r"(?P<scenario>[A-Za-z_]+?)_(?P<town>Town\d+(?:HD)?)_Route\d+_Weather\d+")
_MAX_BYTES = 64 << 20


@dataclass(frozen=True)
class Window:
    """A frame among its neighbours, oldest first; the future is empty in a live session."""

    past: tuple[Frame, ...]
    now: Frame
    future: tuple[Frame, ...] = ()

    def ago(self, seconds: float) -> Frame | None:
        """The frame nearest to ``seconds`` before now; None if the window does not reach so far back."""
        wanted = self.now.time - seconds
        frames = [*self.past, self.now]
        if frames[0].time > wanted + 0.051:
            return None
        return min(frames, key=lambda frame: abs(frame.time - wanted))

    def after(self, seconds: float) -> Frame | None:
        """The frame nearest to ``seconds`` after now; None if the log ends before."""
        wanted = self.now.time + seconds
        near = [frame for frame in self.future if abs(frame.time - wanted) < 0.051]
        return min(near, key=lambda frame: abs(frame.time - wanted), default=None)


@dataclass(frozen=True)
class Clip:
    """One drive: its name and town as its folder says, its scenario as route files spell it, and its frames."""

    name: str
    town: str
    scenario: str
    frames: Iterator[Frame]


def open_clips(path: str | Path, every: int = 1) -> Iterator[Clip]:
    """The clips of a folder, tar or zip, in the order of their names; consume one before the next.

    Of each clip the frames whose number is a multiple of ``every``; the others are not read.

    Raises
    ------
    BadInput
        Naming the archive, the member and the field.
    """
    with open_archive(Path(path)) as archive:
        clips: dict[str, list[tuple[int, str]]] = {}
        for member in archive.sizes:
            if match := _ANNO.fullmatch(member):
                clips.setdefault(match["clip"], []).append((int(match["frame"]), member))
        if not clips:
            raise BadInput("no frames (anno/00000.json.gz) here", path=path)
        for folder, members in sorted(clips.items()):
            name = folder.rstrip("/").rsplit("/", 1)[-1] or _stem(Path(path))
            match = _NAME.fullmatch(name)
            if match is None:
                hint = "Scenario_Town01_Route001_Weather2"
                raise BadInput(
                    f"{name}: the name does not tell scenario and town", path=path, hint=hint
                )
            scenario = canonical(match["scenario"]) or match["scenario"]
            wanted = [member for member in sorted(members) if member[0] % every == 0]
            frames = _frames(archive, wanted, scenario)
            yield Clip(name, match["town"], scenario, frames)


def _stem(path: Path) -> str:
    return (
        path.name.removesuffix(".gz").removesuffix(".tgz").removesuffix(".tar").removesuffix(".zip")
    )


def _frames(archive: Archive, members: list[tuple[int, str]], scenario: str) -> Iterator[Frame]:
    for number, member in members:
        data = gunzip(archive.read(member), _MAX_BYTES, archive.path, member)
        anno = parse_json(data, archive.path, member)
        with malformed(archive.path, member):
            frame = frame_of(anno, number, scenario)
        yield frame


def windows(frames: Iterable[Frame]) -> Iterator[Window]:
    """Each frame with up to :data:`PAST_S` seconds before and :data:`FUTURE_S` after it, reading each once."""
    held: deque[Frame] = deque()
    here = 0
    for frame in frames:
        held.append(frame)
        if len(held) - here > _FUTURE:
            yield _window(held, here)
            here = _advance(held, here)
    while here < len(held):
        yield _window(held, here)
        here = _advance(held, here)


def _window(held: deque[Frame], here: int) -> Window:
    frames = tuple(held)
    return Window(frames[:here], frames[here], frames[here + 1 :])


def _advance(held: deque[Frame], here: int) -> int:
    if here < _PAST:
        return here + 1
    held.popleft()
    return here
