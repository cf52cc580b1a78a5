"""The expert beside the policy: what is privileged, for modes and questions that ask for it, and for scores."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from driveproof.commenter.clips import Window
from driveproof.commenter.commentary import Commentary
from driveproof.commenter.dataset import known_objects
from driveproof.commenter.inputs import marked_camera, marked_from_above, marks_of
from driveproof.commenter.live import LiveExpert
from driveproof.drive.eyes import MOUNTS, Eyes, mounts_of
from driveproof.drive.plan import DriveSettings
from driveproof.maps import Route
from driveproof.policy.driving import DriveDecision
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.questions import QuestionKey
from driveproof.questions.serial import answer_to_json, object_to_json
from driveproof.questions.wording import Sentences
from driveproof.render.marks import Mark
from driveproof.scene.images import Pixels
from driveproof.sim.client import WorldState
from driveproof.sim.recorder import top_down
from driveproof.sim.scenarios import Stage

ACTION = 50
"""The question about keys, to which every policy answers by driving."""
FROM_ABOVE_PX = 256


class Witness:
    """Sees the simulator's state beside a policy: a :class:`driveproof.reasoning.Privileged`, and who notes the truth.

    Not used at all by a policy that sees cameras without references and asks nothing of the expert, in a run that
    does not note the truth. Its :meth:`see` begins at the second tick, on which the first decision falls.

    Parameters
    ----------
    weather
        CARLA's parameters on the route.
    """

    name = "the expert of the driving side"

    def __init__(
        self, settings: DriveSettings, mode: InputMode, weather: Mapping[str, float] | None = None
    ) -> None:
        self._settings, self._mode, self._weather = settings, mode, weather or {}
        self._words = Sentences(references=True)
        self._said: Commentary | None = None
        self._skipped = False
        self._windows: deque[Window] = deque(maxlen=mode.history)

    def attach(self, stage: Stage, ego: Any, route: Route) -> None:
        """Follow the ego of a stage along its route."""
        self._session, self._ego = stage.session, ego
        self._expert = LiveExpert(
            stage.session,
            ego,
            stage.roads.route_path(route),
            stage.story,
            lambda: {} if stage.show is None else stage.show.actors,
            mounts=mounts_of(tuple(MOUNTS), self._settings.pictures),
            weather=self._weather,
        )

    def see(self, state: WorldState) -> None:
        """Take in a state; the first is left out, so that frames fall on the moments of decision."""
        if not self._skipped:
            self._skipped = True
            above = top_down(FROM_ABOVE_PX, 1) if self._mode.shown is Shown.BEV else None
            mounts = [] if above is None else [above]
            period = 1.0 / self._settings.rate_hz
            self._eyes = Eyes(self._session, self._ego, mounts, period)
            return
        self._expert.see(state)
        self._frame = state.frame

    def at_decision(self) -> None:
        """Note that the policy is asked now."""
        self._said = None
        self._windows.append(self._expert.windows.window)

    # --- driveproof.reasoning.Privileged ----------------------------------------------------------

    def marks(self) -> Sequence[Mark]:
        """Everybody around the ego."""
        return marks_of(self._windows[-1])

    def bev(self, *, references: bool) -> Pixels:
        """The scene from above, with everybody drawn in."""
        (picture,) = self._eyes.look(self._frame)[""]
        return marked_from_above(self._windows[-1], picture, references=references)

    def marked(self, view: str, pictures: Sequence[Pixels]) -> Sequence[Pixels]:
        """A camera's pictures, the oldest first, with the names of things written in."""
        windows = list(self._windows)[-len(pictures) :]
        windows = [windows[0]] * (len(pictures) - len(windows)) + windows
        return [
            marked_camera(window, picture, view)
            for window, picture in zip(windows, pictures, strict=True)
        ]

    def answer(self, key: QuestionKey) -> str | None:
        """The expert's answer in words; None if the question cannot be answered now."""
        said = self._commentary()
        found = said.answers.get(key)
        if found is None:
            return None
        return self._words.write(key.number, found, known_objects(said).get(key.subject))

    # --- the truth beside the policy's answers ----------------------------------------------------

    def truth(self, decision: DriveDecision) -> Mapping[str, Any]:
        """What the expert says to the questions of a decision; to question 50 always."""
        said = self._commentary()
        keys = dict.fromkeys([*_questions(decision), QuestionKey(ACTION)])
        answers = [
            {
                "number": key.number,
                "subject": key.subject,
                "text": self.answer(key),
                "facts": answer_to_json(said.answers[key]),
            }
            for key in keys
            if key in said.answers
        ]
        return {
            "keys": said.decision.keys.text(),
            "brake": said.decision.brake.reason.value,
            "move": said.decision.move.cause.value,
            "objects": [object_to_json(ref) for ref in known_objects(said).values()],
            "answers": answers,
        }

    def _commentary(self) -> Commentary:
        if self._said is None:
            self._said = self._expert.commenter.comment(self._windows[-1])
        return self._said


def _questions(decision: DriveDecision) -> list[QuestionKey]:
    """The questions in a decision's trace, in order."""
    steps = (decision.trace or {}).get("steps")
    found = []
    for step in steps if isinstance(steps, list) else []:
        if isinstance(step, Mapping) and isinstance(step.get("number"), int):
            found.append(QuestionKey(step["number"], str(step.get("subject", ""))))
    return found
