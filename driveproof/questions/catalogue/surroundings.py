"""Questions about light, weather and hazards."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.question import Category, Question, Slot

_WEATHER = (Slot("daytime", t.Daytime), Slot("sky", t.Sky))
_DANGERS = Slot("dangers", t.Danger, many=True)
_STRATEGIES = Slot("strategies", t.Strategy, many=True)
_HAZARDS = Slot("hazards", t.Hazard, many=True)

SURROUNDINGS: tuple[Question, ...] = (
    Question(
        37,
        Category.PERCEPTION,
        3,
        1,
        ("What time of day and what weather is it?", "Describe the light and the weather."),
        _WEATHER,
    ),
    Question(
        38,
        Category.PREDICTION,
        3,
        1,
        (
            "What time of day and what weather is it, and which dangers follow?",
            "Describe light and weather and what risk they bring.",
        ),
        (*_WEATHER, _DANGERS),
        after=(37,),
    ),
    Question(
        39,
        Category.PLANNING,
        3,
        1,
        (
            "What time of day and what weather is it, and how should the ego vehicle adapt?",
            "Describe light and weather and the right way of driving in them.",
        ),
        (*_WEATHER, _STRATEGIES),
        after=(38,),
    ),
    Question(
        40,
        Category.PREDICTION,
        3,
        1,
        ("Which other hazards are there around?", "Does anything else here call for care?"),
        (_HAZARDS,),
    ),
    Question(
        41,
        Category.PLANNING,
        3,
        1,
        (
            "Which other hazards are there around, and what should the ego vehicle do about them?",
            "Name further hazards and the right strategy.",
        ),
        (_HAZARDS, _STRATEGIES),
        after=(40,),
    ),
)
