"""A graph run over recorded clips: the same questions as on the road, without a simulator."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path

from driveproof.commenter.clips import Window, open_clips, windows
from driveproof.commenter.commentary import Commentary, Commenter
from driveproof.commenter.dataset import known_objects
from driveproof.commenter.inputs import marked_camera, marked_from_above, marks_of
from driveproof.datasets.archives import Archive, open_archive
from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.policy.chat import ChatPolicy
from driveproof.policy.driving import DriveObservation
from driveproof.policy.pictures import Pictures
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.questions import QuestionKey
from driveproof.questions.wording import Sentences
from driveproof.reasoning.graph import ReasoningGraph
from driveproof.reasoning.privileged import needs_privilege
from driveproof.reasoning.run import Moment, Reasoner
from driveproof.reasoning.showing import moment_of
from driveproof.reasoning.trace import Sampling, Trace
from driveproof.render.marks import Mark
from driveproof.scene.images import Pixels

FOLDERS = {
    "CAM_FRONT": "rgb_front",
    "CAM_FRONT_LEFT": "rgb_front_left",
    "CAM_FRONT_RIGHT": "rgb_front_right",
    "CAM_BACK": "rgb_back",
    "CAM_BACK_LEFT": "rgb_back_left",
    "CAM_BACK_RIGHT": "rgb_back_right",
}
"""Where a clip keeps the pictures of a camera."""
ABOVE = "rgb_top_down"


class RecordedSight:
    """The truth about recorded moments: a :class:`~driveproof.reasoning.privileged.Privileged`.

    Parameters
    ----------
    commenter
        Answers questions; None where nobody asks.
    history
        How many moments are remembered.
    """

    name = "the expert on the recorded clip"

    def __init__(self, commenter: Commenter | None, history: int) -> None:
        self._commenter = commenter
        self._windows: deque[Window] = deque(maxlen=history)
        self._words = Sentences(references=True)
        self._said: Commentary | None = None
        self._above: Pixels | None = None

    def see(self, window: Window, above: Pixels | None) -> None:
        """The next moment that is asked about, with its picture from above."""
        self._windows.append(window)
        self._above = above
        self._said = self._commenter.comment(window) if self._commenter else None

    def marks(self) -> Sequence[Mark]:
        """Everybody around the ego."""
        return marks_of(self._windows[-1])

    def bev(self, *, references: bool) -> Pixels:
        """The recorded picture from above, with everybody drawn in."""
        assert self._above is not None  # read with the moment where the mode shows it
        return marked_from_above(self._windows[-1], self._above, references=references)

    def marked(self, view: str, pictures: Sequence[Pixels]) -> Sequence[Pixels]:
        """A camera's pictures, the oldest first, with the names of things written in."""
        held = list(self._windows)
        held = [held[0]] * (len(pictures) - len(held)) + held
        return [marked_camera(w, p, view) for w, p in zip(held, pictures, strict=True)]

    def answer(self, key: QuestionKey) -> str | None:
        """The expert's answer in words."""
        said = self._said
        if said is None or key not in said.answers:
            return None
        return self._words.write(
            key.number, said.answers[key], known_objects(said).get(key.subject)
        )


def run_clips(
    paths: Sequence[Path],
    chat: ChatPolicy,
    graph: ReasoningGraph,
    mode: InputMode,
    *,
    every: int = 5,
    limit: int | None = None,
    sampling: Sampling | None = None,
    seed: int = 0,
) -> Iterator[tuple[Trace, tuple[Pixels, ...]]]:
    """Run a graph at every ``every``-th frame of clips; each trace with the pictures that were shown.

    An earlier frame, for INHERIT and for a history of pictures, is the one that was asked about before.

    Parameters
    ----------
    limit
        Most frames of each clip.

    Raises
    ------
    BadInput
        Naming the archive and what it lacks.
    """
    for path in paths:
        with open_archive(path) as archive:
            for clip, moments in _clips(path, archive, graph, mode, every):
                reasoner = Reasoner(
                    chat, graph, mode, truth=moments.sight.answer, sampling=sampling
                )
                reasoner.begin(clip, seed)
                for number, moment in enumerate(moments):
                    if number == limit:
                        break
                    yield reasoner.think(moment), moment.pictures


class _Moments:
    """The moments of a clip as a mode shows them."""

    def __init__(
        self,
        folder: str,
        archive: Archive,
        seen: Iterator[Window],
        sight: RecordedSight,
        mode: InputMode,
        every: int,
        commenter: Commenter | None,
    ) -> None:
        self.sight = sight
        self._folder, self._archive, self._seen = folder, archive, seen
        self._mode, self._every, self._commenter = mode, every, commenter
        self._pictures = Pictures(keep=1)

    def __iter__(self) -> Iterator[Moment]:
        held: deque[dict[str, Pixels]] = deque(maxlen=self._mode.history)
        for window in self._seen:
            frame = window.now
            if frame.index % self._every:
                if self._commenter:
                    self._commenter.watch(window)  # signs are remembered
                continue
            held.append({v: self._picture(FOLDERS[v], frame.index) for v in self._mode.views})
            above = None
            if self._mode.shown is Shown.BEV:
                above = self._picture(ABOVE, frame.index)
            self.sight.see(window, above)
            observation = DriveObservation(
                frame=frame.index,
                time_s=frame.time,
                pictures={view: [past[view] for past in held] for view in self._mode.views},
                speed=frame.ego.speed,
                command=frame.command_near.name.lower(),
            )
            yield moment_of(observation, self._mode, self.sight)

    def _picture(self, camera: str, frame: int) -> Pixels:
        names = [f"{self._folder}camera/{camera}/{frame:05d}.{end}" for end in ("jpg", "png")]
        name = next((name for name in names if name in self._archive.sizes), None)
        if name is None:
            raise BadInput(
                f"has no picture {camera} of frame {frame}",
                path=self._archive.path,
                hint="ask about every so many frames as pictures were recorded (--every)",
            )
        return self._pictures.pixels(self._archive.ref(name))


def _clips(
    path: Path, archive: Archive, graph: ReasoningGraph, mode: InputMode, every: int
) -> Iterator[tuple[str, _Moments]]:
    # without anything privileged no frame between those asked about has to be read
    told = bool(needs_privilege(mode, graph))
    for clip in open_clips(path, 1 if told else every):
        commenter = Commenter(load_town(clip.town)) if graph.use_truth else None
        seen = windows(clip.frames) if told else (Window((), frame) for frame in clip.frames)
        folder = _folder(archive, clip.name)
        sight = RecordedSight(commenter, mode.history)
        yield clip.name, _Moments(folder, archive, seen, sight, mode, every, commenter)


def _folder(archive: Archive, clip: str) -> str:
    """Where the archive keeps a clip: its name and a slash, or nothing where the archive is the clip."""
    found = {name.partition("anno/")[0] for name in archive.sizes if "anno/" in name}
    named = (folder for folder in sorted(found) if folder.rstrip("/").rsplit("/", 1)[-1] == clip)
    return next(named, "")
