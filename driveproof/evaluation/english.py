"""Reading English sentences: which things are named, with which attributes, and what is to happen to the speed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from driveproof.evaluation.claims import Action, Entity, Mention
from driveproof.evaluation.lexicon import (
    ABSENT_AFTER,
    ACTION,
    BREAK,
    CLEAR,
    COLOUR,
    COLOURS,
    COUNTERFACTUAL,
    DISTANCE,
    HYPOTHESIS,
    IN_LIST,
    IN_LIST_OF_VERBS,
    MASKED,
    MENTION,
    MOTION,
    NEGATED_ACTION,
    NEGATED_THING,
    PER_SECOND,
    PRONOUN,
    SIDE,
    SPEED,
    TURN,
)


@dataclass
class _Found:
    """A mention in a sentence with its place."""

    mention: Mention
    start: int
    end: int


class English:
    """Collects what sentences say."""

    def __init__(self) -> None:
        self.mentions: list[Mention] = []
        self.actions: set[Action] = set()
        self.denied: set[Action] = set()
        self.speed: float | None = None
        self.route: set[str] = set()

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        # what might be ("if somebody steps out, stop") is not stated
        sentence = HYPOTHESIS.sub("", sentence).strip()
        sentence = MASKED.sub(lambda m: "_" * len(m[0]), sentence)
        if not sentence:
            return
        found = list(_mentions(sentence))
        carried = not any(f.mention.entity is not Entity.EGO for f in found)
        if carried and PRONOUN.match(sentence) and self.mentions:
            found.append(_Found(self.mentions.pop(), 0, 0))
        taken = self._attributes(sentence, found)
        self._act(sentence, taken)
        for match in TURN.finditer(sentence):
            if not NEGATED_ACTION.search(_clause(sentence, match.start(), joins=IN_LIST_OF_VERBS)):
                self.route |= {group for group in match.groups() if group}
        self.mentions += [f.mention for f in found if f.mention.entity is not Entity.EGO]

    def _attributes(self, sentence: str, found: list[_Found]) -> list[tuple[int, int]]:
        """Give every attribute to the nearest thing that can have it; returns places that are no actions."""
        taken = [(f.start, f.end) for f in found]
        for match in COLOUR.finditer(sentence):
            if re.search(r"(?:\bnot|n't|\bno longer) $", sentence[: match.start()]):
                continue
            lights = [f for f in found if f.mention.entity is Entity.LIGHT]
            owner = _nearest(lights, match, reach=64)
            vehicle = re.match(
                r" (?:\w+ )?(?:car|truck|van|bus|suv|vehicle)", sentence[match.end() :]
            )
            if owner and not vehicle:
                state = COLOURS.get(match[1], match[1])
                owner.mention = replace(owner.mention, state=owner.mention.state or state)
        for match in DISTANCE.finditer(sentence):
            things = [f for f in found if f.mention.entity is not Entity.EGO]
            owner = _nearest(things, match)
            if owner and owner.mention.distance is None:
                owner.mention = replace(owner.mention, distance=float(match[1]))
        for match in SPEED.finditer(sentence):
            value = float(match[1]) * PER_SECOND.get(match[2], 1.0)
            movers = [f for f in found if not f.mention.entity.is_control]
            owner = _nearest(movers, match)
            if owner is None or owner.mention.entity is Entity.EGO:
                self.speed = value
            else:
                owner.mention = replace(owner.mention, speed=value)
        users = [f for f in found if not f.mention.entity.is_control]
        for match in MOTION.finditer(sentence):
            owner = _mover(users, match)
            if owner is None:
                continue
            if owner.mention.entity is not Entity.EGO:
                owner.mention = replace(owner.mention, motion=str(match.lastgroup))
                taken.append(match.span())
            elif match.lastgroup == "standing":
                self.speed = 0.0
        for match in SIDE.finditer(sentence):
            owner = _nearest(users, match, reach=24)
            if owner and owner.mention.entity is not Entity.EGO and not owner.mention.side:
                side = match[1] or "ahead"
                owner.mention = replace(owner.mention, side=side)
        return taken

    def _act(self, sentence: str, taken: list[tuple[int, int]]) -> None:
        for match in ACTION.finditer(sentence):
            if any(begin < match.end() and match.start() < end for begin, end in taken):
                continue
            if COUNTERFACTUAL.match(sentence[match.end() :]):
                continue
            action = Action[str(match.lastgroup)]
            negated = NEGATED_ACTION.search(
                _clause(sentence, match.start(), joins=IN_LIST_OF_VERBS)
            )
            (self.denied if negated else self.actions).add(action)


def _mentions(sentence: str) -> Iterator[_Found]:
    for match in MENTION.finditer(sentence):
        entity = Entity[str(match.lastgroup)]
        clause = _clause(sentence, match.start())
        absent = (
            NEGATED_THING.search(clause)
            or ABSENT_AFTER.match(sentence[match.end() :])
            or match[0] in ("nobody", "nothing", "no one")
        )
        # "nothing demands a stop" says something of the speed, "nothing ahead" of the way
        placed = re.match(r" (?:\w+ )?(?:ahead|in (?:the|its|our))", sentence[match.end() :])
        if match[0] in ("nothing", "nobody", "no one") and not placed:
            continue
        yield _Found(Mention(entity, present=not absent), match.start(), match.end())
    for match in CLEAR.finditer(sentence):
        if not re.search(r"\bnot\b|n't\b", match[0] + _clause(sentence, match.start())[-12:]):
            free = Mention(Entity.USER, present=False, side="ahead")
            yield _Found(free, match.start(), match.end())


def _clause(sentence: str, place: int, joins: str = IN_LIST) -> str:
    """What stands before ``place`` in its clause; a list ("no car, bus or truck") shares its negation."""
    before = re.split(r"[,:;]", sentence[:place])
    while len(before) > 1 and re.fullmatch(rf" ?{joins}", before[-1]):
        before[-2:] = [f"{before[-2]}{before[-1]}"]
    return BREAK.split(before[-1])[-1]


def _mover(users: list[_Found], match: re.Match[str]) -> _Found | None:
    """Whose motion it is: of the thing that follows at once ("a slower car"), else of the last before it."""
    for thing in users:
        if 0 <= thing.start - match.end() <= 1 and thing.mention.entity is not Entity.EGO:
            return thing
    before = [f for f in users if f.end <= match.start()]
    return _nearest(before or users, match, reach=48)


def _nearest(found: list[_Found], match: re.Match[str], reach: int = 80) -> _Found | None:
    """The present thing nearest to an attribute; what is said before it wins a tie."""

    def gap(thing: _Found) -> int:
        if thing.end <= match.start():
            return 2 * (match.start() - thing.end)
        return 2 * max(thing.start - match.end(), 0) + 1

    near = [f for f in found if f.mention.present and gap(f) <= 2 * reach]
    return min(near, key=gap, default=None)
