"""Hand-made answers that name things (18, 19, 24 to 29, 46, 47)."""

from __future__ import annotations

from dataclasses import replace

from hand_made import (
    BICYCLE,
    BLUE_VAN,
    ESSAY,
    INJECTION,
    KNOWN,
    RED_CAR,
    SILVER_CAR,
    WALKER,
    About,
    cases,
)

from driveproof.questions import Colour, ObjectKind
from driveproof.questions import terms as t

_M, _C, _I, _P, _R, _E = t.Motion, t.Course, t.Intent, t.Place, t.ConflictReason, t.EgoMove
_ROLE = replace(RED_CAR, is_role=True)
_WITH_ROLE = (_ROLE, *KNOWN[1:])
_PAIR = About(objects=((RED_CAR, {}), (WALKER, {})))
_MOVING = {"motion": _M.SLOW, "course": _C.SAME, "intent": _I.STRAIGHT}
_COMING = {"motion": _M.NORMAL, "course": _C.OPPOSITE, "intent": _I.LEFT}
_COARSE = About(objects=((RED_CAR, _MOVING), (BLUE_VAN, _COMING)))
_EXACT = About(
    objects=(
        (RED_CAR, {"speed": 4.0, "intent": _I.STRAIGHT}),
        (BLUE_VAN, {"speed": 8.0, "intent": _I.LEFT}),
    )
)
_OWN = {"place": _P.OWN_LANE, "lanes_over": None, "along": t.Along.AHEAD}
_LEFT = {"place": _P.LEFT_LANE, "lanes_over": 1, "along": t.Along.AHEAD}
_PLACES = About(objects=((RED_CAR, _OWN), (BLUE_VAN, _LEFT)))
_CONFLICTS = About(
    objects=((RED_CAR, {"reason": _R.AHEAD_IN_LANE}), (BLUE_VAN, {"reason": _R.CUTTING_IN}))
)
_ONE_ROLE = About(
    objects=((_ROLE, {"reason": _R.AHEAD_IN_LANE}), (BLUE_VAN, {"reason": _R.CUTTING_IN})),
    known=_WITH_ROLE,
)
_MOVES = About(
    objects=((RED_CAR, {"ego_move": _E.GO_ON}), (BLUE_VAN, {"ego_move": _E.CHANGE_LEFT}))
)
_BOTH = About(
    objects=(
        (RED_CAR, {"reason": _R.AHEAD_IN_LANE, "ego_move": _E.GO_ON}),
        (BLUE_VAN, {"reason": _R.ON_TARGET_LANE, "ego_move": _E.CHANGE_LEFT}),
    )
)

LISTS = [
    # 18: plain weights, extra 0.25
    *cases(
        18,
        {},
        ("A red car and a pedestrian.", 100, "both"),
        ("c12 and c20", 100, "tags alone"),
        ("The red car in front and the pedestrian to the front right.", 100, "with positions"),
        ("The maroon car and a person.", 100, "maroon passes for red"),
        (
            "A green car and a pedestrian.",
            61.54,
            "red is not green: P = 1/1.25, R = 1/2, F1 = 0.8/1.3",
        ),
        ("A pedestrian.", 66.67, "R = 1/2"),
        ("A red car, a pedestrian and a blue van.", 94.12, "P = 2/2.25"),
        ("No cars, only a pedestrian.", 66.67, "cars are denied"),
        ("There is nothing important.", 0, "nothing found"),
        ("", 0, "nothing found"),
        ("Ein rotes Auto und ein Fußgänger", 0, "no English"),
        (INJECTION, 0, "nothing found"),
        (
            "The red car on the left side and the pedestrian.",
            61.54,
            "the red car is in front: another one, F1 = 0.8/1.3",
        ),
        (ESSAY + "A red car and a pedestrian.", 100, "the end counts"),
        about=_PAIR,
    ),
    *cases(
        18,
        {},
        ("Two cars.", 100, "a red and a silver one: the plural names both"),
        ("The cars in the scene.", 100, "both"),
        ("A red car and a white car.", 100, "white passes for silver"),
        ("A car.", 66.67, "one of them: R = 1/2"),
        about=About(
            objects=((RED_CAR, {}), (SILVER_CAR, {})), known=(RED_CAR, SILVER_CAR, WALKER, BICYCLE)
        ),
    ),
    *cases(
        18,
        {},
        ("none", 100, "nothing where nothing is"),
        ("There are no important objects in the scene.", 100, "nothing"),
        ("Nothing.", 100, "nothing"),
        ("A red car.", 0, "no hit"),
        ("The ego vehicle is alone on the road.", 100, "the ego is no object"),
    ),
    # 19: N = 2: p = 1.5, 0.5; DCG of the wrong order (0.5 + 1.5/1.585) / (1.5 + 0.5/1.585) = 0.7967
    *cases(
        19,
        {},
        ("1. The red car; 2. the pedestrian.", 100, "both in order"),
        ("c12, c20", 100, "tags"),
        ("1. The pedestrian; 2. the red car.", 79.67, "F1 = 1, NDCG 0.7967"),
        ("The red car.", 85.71, "R = 1.5/2, F1 = 1.5/1.75, NDCG 1"),
        ("The pedestrian.", 13.33, "R = 0.5/2, F1 = 0.4, NDCG 0.5/1.5"),
        ("The red car, the pedestrian and the blue van.", 94.12, "extra 0.5/2: P = 2/2.25"),
        ("none", 0, "nothing found"),
        ("", 0, "nothing found"),
        (
            "The important objects are the red car, which is more important than the pedestrian.",
            100,
            "in order",
        ),
        about=_PAIR,
    ),
    *cases(
        19,
        {},
        ("The red car, then the pedestrian.", 100, "both in order"),
        ("The red car.", 94.74, "w = 4.5, 0.5: R = 0.9, F1 = 1.8/1.9"),
        ("The pedestrian, then the red car.", 69.34, "(0.5 + 4.5/1.585) / (4.5 + 0.5/1.585)"),
        about=About(objects=((_ROLE, {}), (WALKER, {})), known=_WITH_ROLE),
    ),
    *cases(
        19,
        {},
        ("There is none.", 100, "nothing where nothing is"),
        ("There are no important objects.", 100, "nothing"),
        ("A bicycle.", 0, "no hit"),
    ),
    # 24: F1 of plain weights, extra 0.25, times the mean over named things of (motion + course + intent) / 3
    *cases(
        24,
        {},
        (
            "The red car: moving slowly in the same direction, going straight; the blue van: moving at normal speed in the opposite direction, turning left.",
            100,
            "all",
        ),
        (
            "c12 is slow, same direction, straight. c13 is oncoming at normal speed and turning left.",
            100,
            "all",
        ),
        (
            "The red car is stopped in the same direction and goes straight; the blue van is oncoming at normal speed, turning left.",
            91.67,
            "(5/6 + 1) / 2",
        ),
        ("The red car: slow, same direction, straight.", 66.67, "R = 1/2, S = 1"),
        ("The red car and the blue van.", 0, "nothing is said of them"),
        ("none", 0, "nothing named"),
        ("", 0, "nothing named"),
        (
            "The red car: slow, same direction, straight; the blue van: oncoming at normal speed, turning left; the white truck: stopped, same direction, straight.",
            94.12,
            "P = 2/2.25",
        ),
        about=_COARSE,
    ),
    # 25: (speed + intent) / 2
    *cases(
        25,
        {},
        (
            "The red car moves at 4 m/s, going straight; the blue van moves at 8 m/s, turning left.",
            100,
            "all",
        ),
        ("Red car: 14.4 km/h, straight. Blue van: 28.8 km/h, left.", 100, "all"),
        (
            "Red car: 4 m/s, straight. Blue van: 9.6 m/s, left.",
            87.5,
            "(1 + 0.75) / 2: 9.6 is half right",
        ),
        ("Red car: 8 m/s, turning left. Blue van: 4 m/s, straight.", 0, "exchanged"),
        ("Red car: 4 m/s, straight.", 66.67, "R = 1/2"),
        about=_EXACT,
    ),
    # 26, 27: place 2, lanes over 1 and along 1 where either says one
    *(
        case
        for number in (26, 27)
        for case in cases(
            number,
            {},
            (
                "1. The red car: in the ego vehicle's lane, ahead of it; 2. the blue van: in the left lane, ahead.",
                100,
                "all",
            ),
            (
                "The red car is in our lane ahead. The blue van is in the lane to the left, in front of us.",
                100,
                "all",
            ),
            ("The red car is in our lane ahead.", 66.67, "R = 1/2"),
            (
                "The red car is in our lane. The blue van is in the left lane.",
                70.83,
                "(2/3 + 3/4) / 2",
            ),
            (
                "The red car: in the right lane, ahead; the blue van: in the left lane, ahead.",
                62.5,
                "(1/4 + 1) / 2",
            ),
            about=_PLACES,
        )
    ),
    # 28: F1 with extra 1.5 times the mean agreement of the reasons
    *cases(
        28,
        {},
        (
            "The red car: it is ahead in the ego vehicle's lane; the blue van: it is cutting in.",
            100,
            "all",
        ),
        ("The red car, which is stopped in our lane, and the blue van, which cuts in.", 100, "all"),
        ("The red car: it is ahead in our lane; the blue van: it is merging.", 50, "S = 1/2"),
        ("The red car: it is ahead in our lane.", 66.67, "R = 1/2"),
        (
            "The red car: ahead in our lane; the blue van: cutting in; the white truck: merging.",
            72.73,
            "P = 2/3.5, F1 = 4/5.5",
        ),
        ("none", 0, "nothing named"),
        ("", 0, "nothing named"),
        (INJECTION, 0, "nothing named"),
        about=_CONFLICTS,
    ),
    *cases(
        28,
        {},
        ("The red car: it is ahead in our lane; the blue van: it is merging.", 75, "S = 3/4"),
        ("The red car: it is ahead in our lane.", 85.71, "R = 3/4, F1 = 6/7"),
        ("The blue van: it is cutting in.", 40, "R = 1/4, F1 = 2/5"),
        about=_ONE_ROLE,
    ),
    *(
        case
        for number in (28, 29, 46, 47)
        for case in cases(
            number,
            {},
            ("There is none.", 100, "nothing where nothing is"),
            ("None of the vehicles.", 100, "nothing"),
            ("No vehicle overlaps the ego vehicle's path.", 100, "nothing"),
            ("The red car does not overlap the ego vehicle's path.", 100, "denied after its name"),
            ("The red car.", 0, "no hit"),
        )
    ),
    # 29: names alone, extra 1.5
    *cases(
        29,
        {},
        ("The red car and the blue van.", 100, "both"),
        ("c12, c13", 100, "tags"),
        ("The red car, the navy van", 100, "navy passes for blue"),
        ("The red car", 66.67, "R = 1/2"),
        ("The red car, the blue van and the white truck", 72.73, "P = 2/3.5"),
        ("The red car, the green van", 44.44, "P = 1/2.5, R = 1/2: 2 * 0.2 / 0.9"),
        ("The red car overlaps, but the blue van does not.", 66.67, "the van is denied: R = 1/2"),
        about=About(objects=((RED_CAR, {}), (BLUE_VAN, {}))),
    ),
    # 46: the ego's own move; 47: reason and move
    *cases(
        46,
        {},
        (
            "The red car: by going on in its lane; the blue van: by changing to the left lane.",
            100,
            "all",
        ),
        (
            "The red car if the ego vehicle continues; the blue van if it changes to the left lane.",
            100,
            "all",
        ),
        (
            "The red car: by turning left; the blue van: by changing to the left lane.",
            50,
            "S = 1/2",
        ),
        (
            "The red car: by going straight; the blue van: by changing to the left lane.",
            87.5,
            "(0.75 + 1) / 2",
        ),
        ("The red car: by going on in its lane.", 66.67, "R = 1/2"),
        about=_MOVES,
    ),
    *cases(
        47,
        {},
        (
            "The red car: it is ahead in our lane, by going on in the lane; the blue van: it is in the target lane, by changing to the left lane.",
            100,
            "all",
        ),
        (
            "The red car: it is ahead in our lane; the blue van: it is in the target lane.",
            50,
            "no moves: S = 1/2",
        ),
        ("The red car: it is ahead in our lane, by going on in the lane.", 66.67, "R = 1/2"),
        about=_BOTH,
    ),
]

# The tolerances of the published evaluator and what lies beyond them: the colour said, the true one, and whether the
# thing is recognised; there is nothing else to name.
COLOURS = [
    case
    for said, true, hit in (
        ("white", Colour.SILVER, True),
        ("silver", Colour.WHITE, True),
        ("red", Colour.MAROON, True),
        ("maroon", Colour.RED, True),
        ("yellow", Colour.OLIVE, True),
        ("orange", Colour.OLIVE, True),
        ("orange", Colour.YELLOW, True),
        ("blue", Colour.NAVY, True),
        ("dark blue", Colour.BLUE, True),
        ("grey", Colour.GRAY, True),
        ("red", Colour.BLUE, False),
        ("white", Colour.BLACK, False),
        ("green", Colour.RED, False),
        ("yellow", Colour.RED, False),
    )
    for case in cases(
        29,
        {},
        (f"The {said} car.", 100 if hit else 0, f"{said} passes for {true}: {hit}"),
        about=About(
            objects=((replace(RED_CAR, colour=true), {}),), known=(replace(RED_CAR, colour=true),)
        ),
    )
]
_POLICE = replace(RED_CAR, kind=ObjectKind.POLICE, colour=Colour.WHITE)
COLOURS += cases(
    29,
    {},
    ("The black car.", 100, "a police car passes for black"),
    ("The police car.", 100, "its kind"),
    ("A green car.", 0, "neither white nor black"),
    about=About(objects=((_POLICE, {}),), known=(_POLICE,)),
)
