"""Which words belong to which slot."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from driveproof.questions import terms as t
from driveproof.questions.wording import words_decision as decision
from driveproof.questions.wording import words_maneuver as maneuver
from driveproof.questions.wording import words_road as road
from driveproof.questions.wording import words_traffic as traffic
from driveproof.questions.wording.vocabulary import Vocabulary

WORDS: Mapping[type[Enum], Vocabulary] = {
    t.Motion: traffic.MOTION,
    t.Course: traffic.COURSE,
    t.Intent: traffic.INTENT,
    t.Place: traffic.PLACE,
    t.Along: traffic.ALONG,
    t.ConflictReason: traffic.CONFLICT,
    t.EgoMove: traffic.EGO_MOVE,
    t.Braking: decision.BRAKING,
    t.Reason: decision.REASON,
    t.Maneuver: maneuver.MANEUVER,
    t.ManeuverCause: maneuver.CAUSE,
    t.Postponement: maneuver.POSTPONEMENT,
    t.Advice: decision.ADVICE,
    t.SignState: road.SIGN_STATE,
    t.LightColour: road.LIGHT,
    t.Side: road.SIDE,
    t.MarkingKind: road.MARKING,
    t.MarkingColour: road.MARKING_COLOUR,
    t.JunctionRelation: road.JUNCTION,
    t.Watch: road.WATCH,
    t.Daytime: road.DAYTIME,
    t.Sky: road.SKY,
    t.Danger: road.DANGER,
    t.Hazard: road.HAZARD,
    t.Strategy: road.STRATEGY,
    t.Bend: road.BEND,
}
"""Enumeration of a slot → its vocabulary."""


def says(value: Enum) -> str:
    """Our wording of a term."""
    return WORDS[type(value)].says(value)
