"""The expert at work: one frame after the other, with a memory of signs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from driveproof.commenter.answers import Facts, all_answers
from driveproof.commenter.clips import Window
from driveproof.commenter.conflicts import find_conflicts
from driveproof.commenter.context import Context
from driveproof.commenter.decision import ExpertDecision, decide
from driveproof.commenter.frame import Frame
from driveproof.commenter.importance import find_important, infer_roles
from driveproof.commenter.signs import SignMemory
from driveproof.commenter.surroundings import surroundings_of
from driveproof.commenter.traffic import moving
from driveproof.commenter.tunnels import in_tunnel
from driveproof.maps import TownMap
from driveproof.questions import Answer, ObjectRef, QuestionKey

ATTENTION_M = 70.0
"""Agents further away are not looked at."""


@dataclass(frozen=True)
class Commentary:
    """What the expert says about a moment.

    Attributes
    ----------
    frame
        The moment.
    decision
        What to do, and why.
    objects
        The objects that matter, the most important first.
    answers
        Every question that can be asked now, with its typed answer.
    """

    frame: Frame
    decision: ExpertDecision
    objects: tuple[ObjectRef, ...]
    answers: dict[QuestionKey, Answer]


@dataclass
class Commenter:
    """DriveCommenter: answers every question about a moment from privileged state.

    One instance a drive; feed it the moments in order. The same moments give the same answers, whether they come from a
    clip or from a live session.
    """

    town: TownMap
    _signs: SignMemory = field(default_factory=SignMemory)

    def decide(self, window: Window) -> ExpertDecision:
        """The decision alone: what a driver needs twice a second."""
        context = Context(window, self.town)
        return decide(context, self._signs.update(context), find_conflicts(context))

    def watch(self, window: Window) -> None:
        """Remember the signs of a moment without a word about it."""
        self._signs.update(Context(window, self.town))

    def comment(self, window: Window) -> Commentary:
        """Everything about a moment."""
        context = Context(window, self.town)
        signs = self._signs.update(context)
        about = {
            row: moving(context, row)
            for row, agent in enumerate(window.now.agents)
            if agent.kind == "vehicle"
            and not agent.parked
            and abs(context.local[row][0]) < ATTENTION_M
        }
        conflicts = find_conflicts(context, about)
        decision = decide(context, signs, conflicts)
        roles = infer_roles(context, about, decision)
        important = find_important(context, about, conflicts, signs, decision, roles)
        around = surroundings_of(context, in_tunnel(self.town, context.road.lane, context.road.arc))
        facts = Facts(context, signs, around, about, conflicts, decision, important)
        return Commentary(window.now, decision, important.refs, all_answers(facts))


def comment_all(town: TownMap, windows: Iterable[Window]) -> Iterator[Commentary]:
    """The commentary on a drive."""
    commenter = Commenter(town)
    for window in windows:
        yield commenter.comment(window)
