"""Hand-made answers about one other road user (16, 17, 20 to 23, 48, 49)."""

from __future__ import annotations

from hand_made import (
    INJECTION,
    RED_CAR,
    About,
    cases,
)

from driveproof.questions import terms as t

_M, _C, _I, _P, _R, _E = t.Motion, t.Course, t.Intent, t.Place, t.ConflictReason, t.EgoMove
_RED = About(subject=RED_CAR)
_MOVING = {"motion": _M.SLOW, "course": _C.SAME, "intent": _I.STRAIGHT}
_OWN = {"place": _P.OWN_LANE, "lanes_over": None, "along": t.Along.AHEAD}

ONE = [
    # 16: motion 1, course 1
    *cases(
        16,
        {"motion": _M.STOPPED, "course": _C.SAME},
        ("It is stopped, facing the same direction.", 100, "both"),
        (
            "The red car (c12, CAM_FRONT) is standing still in the same direction as the ego vehicle.",
            100,
            "both",
        ),
        ("It is parked, facing the opposite direction.", 50, "motion"),
        ("It moves slowly in the same direction.", 75, "(0.5 + 1) / 2"),
        ("Stopped.", 50, "motion alone"),
        ("It is not stopped, it moves at normal speed in the same direction.", 50, "course"),
        ("No motion, same direction.", 100, "both"),
        ("It moves at normal speed towards the ego vehicle.", 0, "neither"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "nothing said"),
        about=_RED,
    ),
    *cases(
        16,
        {"motion": _M.NORMAL, "course": _C.OPPOSITE},
        ("It is oncoming at normal speed.", 100, "both"),
        ("It is moving fast in the opposite direction.", 100, "both"),
        ("It is not moving.", 0, "neither"),
        about=_RED,
    ),
    # 17: one intent
    *cases(
        17,
        {"intent": _I.LEFT},
        ("It is turning left.", 100, "right"),
        ("Left.", 100, "right"),
        ("The car to the front is going to the left.", 100, "its own position is no way"),
        ("Slightly left.", 50, "near"),
        ("Straight on.", 0, "wrong"),
        ("It is turning right, not left.", 0, "left is denied"),
        ("It is not going straight but turning left.", 100, "straight is denied"),
        ("links", 0, "no English"),
        ("", 0, "nothing said"),
        about=_RED,
    ),
    *cases(
        17,
        {"intent": _I.STRAIGHT},
        ("It is going straight in the left lane.", 100, "the lane is no way"),
        ("It goes straight, on the left of the ego vehicle.", 100, "the place is no way"),
        ("It follows its lane.", 100, "straight"),
        ("It is cutting into the ego vehicle's lane.", 0, "wrong"),
        ("It bears slightly right.", 50, "near"),
        about=_RED,
    ),
    # 20: place 2, lanes over 1 and along 1 where either says one
    *cases(
        20,
        _OWN,
        ("It is in the ego vehicle's lane, ahead of it.", 100, "both"),
        ("In our lane, in front of us.", 100, "both"),
        ("In the same lane as the ego vehicle.", 66.67, "2/3"),
        (
            "It is in the lane to the left, ahead of the ego vehicle.",
            25,
            "1/4: a lane over that is none",
        ),
        ("On the sidewalk, behind the ego vehicle.", 0, "neither"),
        ("", 0, "nothing said"),
        about=_RED,
    ),
    *cases(
        20,
        {"place": _P.LEFT_LANE, "lanes_over": 2, "along": None},
        ("It is two lanes to the left.", 100, "3/3"),
        ("In the lane to the left and 2 lanes over.", 100, "3/3"),
        ("In the left lane.", 66.67, "2/3: one lane over"),
        ("In the right lane.", 0, "neither"),
        about=_RED,
    ),
    *cases(
        20,
        {"place": _P.PARKING_LANE, "lanes_over": None, "along": t.Along.AHEAD},
        ("It is parked along the roadside, ahead.", 100, "both"),
        ("In the parking lane ahead of the ego vehicle.", 100, "both"),
        ("On the shoulder ahead.", 33.33, "along"),
        about=_RED,
    ),
    # 21: motion, course and intent 1 each
    *cases(
        21,
        _MOVING,
        ("It is moving slowly in the same direction, going straight.", 100, "3/3"),
        ("Slow, same direction, straight.", 100, "3/3"),
        ("Slow, same direction, turning left.", 66.67, "2/3"),
        ("Stopped, same direction, straight.", 83.33, "(0.5 + 1 + 1) / 3"),
        ("It moves slowly.", 33.33, "1/3"),
        ("It is oncoming at normal speed and turns left.", 16.67, "(0.5 + 0 + 0) / 3"),
        about=_RED,
    ),
    # 22: speed 1, intent 1; right within 0.5 m/s or a tenth, nothing at three times that
    *cases(
        22,
        {"speed": 8.0, "intent": _I.STRAIGHT},
        ("8.0 m/s, going straight.", 100, "both"),
        ("It drives 28.8 km/h straight on.", 100, "8 m/s"),
        ("It is going straight at eight m/s.", 100, "number word"),
        ("8.7 m/s, straight.", 100, "within a tenth"),
        ("9.6 m/s, straight.", 75, "1.6 off, 0.8 free: 1 - 0.8/1.6 = 0.5"),
        ("8 km/h, straight.", 50, "2.2 m/s: 0"),
        ("17.9 mph, going straight.", 100, "8.0 m/s"),
        ("8 m/s, turning left", 50, "speed"),
        ("It is standing, going straight.", 50, "0 m/s"),
        ("acht Meter pro Sekunde", 0, "no English"),
        ("The ego vehicle drives 8 m/s.", 0, "the ego's speed, not its"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "100 is far from 8"),
        about=_RED,
    ),
    *cases(
        22,
        {"speed": 0.0, "intent": _I.STRAIGHT},
        ("It is stopped, going straight.", 100, "0 m/s"),
        ("0.4 m/s, straight.", 100, "within 0.5"),
        ("1 m/s, straight.", 75, "1 - 0.5/1 = 0.5"),
        about=_RED,
    ),
    # 23: crosses 2, reason 1
    *cases(
        23,
        {"crosses": True, "reason": _R.CUTTING_IN},
        ("Yes, because it is cutting in.", 100, "both"),
        ("Yes, it is moving into the ego vehicle's lane.", 100, "both"),
        ("Yes, because it is changing lanes into the ego lane.", 100, "both"),
        ("It may cross the ego vehicle's path.", 66.67, "2/3: stated without yes"),
        ("Yes.", 66.67, "2/3"),
        ("Yes, it is crossing the junction.", 66.67, "2/3, another reason"),
        ("No.", 0, "neither"),
        ("It will not cross its path.", 0, "neither"),
        ("", 0, "nothing said"),
        (INJECTION, 0, "nothing said"),
        about=_RED,
    ),
    *cases(
        23,
        {"crosses": False, "reason": _R.NONE},
        ("No.", 100, "both: no way needs no reason"),
        ("No, it stays in its own lane.", 100, "both"),
        ("Their paths do not cross.", 100, "both"),
        ("The red car is unlikely to cross the ego vehicle's path.", 100, "unlikely is no"),
        ("Yes, it is cutting in.", 0, "neither"),
        about=_RED,
    ),
    # 48: crosses 2, reason 1, move 1; 49: crosses 2, move 1
    *cases(
        48,
        {"crosses": True, "reason": _R.AHEAD_IN_LANE, "ego_move": _E.GO_ON},
        (
            "Yes, it is ahead in the ego vehicle's lane; they would collide if the ego vehicle continues.",
            100,
            "4/4",
        ),
        ("Yes, it stands in our lane. Going on in its lane would lead to a collision.", 100, "4/4"),
        ("Yes, it is ahead in our lane; a change to the left lane would be no problem.", 75, "3/4"),
        ("Yes.", 50, "2/4"),
        (
            "Yes, it is cutting in; the ego vehicle would meet it by going on in its lane.",
            75,
            "3/4",
        ),
        ("No.", 0, "nothing"),
        about=_RED,
    ),
    *cases(
        48,
        {"crosses": False, "reason": _R.NONE, "ego_move": _E.NONE},
        ("No.", 100, "all none"),
        ("No, their ways do not meet.", 100, "all none"),
        about=_RED,
    ),
    *cases(
        49,
        {"crosses": True, "ego_move": _E.CHANGE_LEFT},
        ("Yes, by changing to the left lane.", 100, "3/3"),
        ("Yes, with a left lane change.", 100, "3/3"),
        ("Yes, by going straight.", 66.67, "2/3"),
        ("No.", 0, "nothing"),
        ("", 0, "nothing said"),
        about=_RED,
    ),
]
