"""Words for the two keys of action: question 43 asks for them in words."""

from __future__ import annotations

from driveproof.questions.keys import DirectionKey, SpeedKey
from driveproof.questions.wording.vocabulary import Vocabulary

_D, _S = DirectionKey, SpeedKey
_CHANGE = r"(?:chang|mov|switch|merg|go)(?:e|es|ing)?"
_SHIFT = r"(?:deviat|shift|drift|swerv|nudg|edg)(?:e|es|ing)?"

DIRECTION_WORDS = Vocabulary.of(
    [
        (
            _D.FOLLOW_LANE,
            "follow its lane",
            r"(?:follow|keep|stay|remain|continu|maintain)\w*[^.;,]{0,25} lane",
            r"lane keeping",
            r"follow the road",
            r"(?:drive|driving|continue|keep going) (?:forward|ahead|on)",
        ),
        (
            _D.CHANGE_LANE_LEFT,
            "change to the left lane",
            rf"{_CHANGE}[^.;,]{{0,20}} left[^.;,]{{0,4}} ?lane",
            r"change lanes? (?:to the )?left",
            r"left lane change",
            r"lane change to the left",
            r"overtake on the left",
        ),
        (
            _D.CHANGE_LANE_RIGHT,
            "change to the right lane",
            rf"{_CHANGE}[^.;,]{{0,20}} right[^.;,]{{0,4}} ?lane",
            r"change lanes? (?:to the )?right",
            r"right lane change",
            r"lane change to the right",
            r"overtake on the right",
        ),
        (
            _D.GO_STRAIGHT,
            "go straight through the junction",
            r"(?:go|drive|continue|proceed|cross|head)\w* straight[^.;,]{0,30}",
            r"straight (?:on|ahead|through)[^.;,]{0,25}",
        ),
        (
            _D.TURN_LEFT,
            "turn left",
            r"turn(?:s|ing)? (?:to the )?left[^.;,]{0,25}",
            r"left turn",
            r"make a left",
        ),
        (
            _D.TURN_RIGHT,
            "turn right",
            r"turn(?:s|ing)? (?:to the )?right[^.;,]{0,25}",
            r"right turn",
            r"make a right",
        ),
        (
            _D.DEVIATE_LEFT,
            "shift slightly to the left within its lane",
            rf"{_SHIFT}[^.;,]{{0,20}} left(?: within its lane)?",
            r"(?:keep|move|steer) slightly (?:to the )?left(?: within (?:its|the) lane)?",
        ),
        (
            _D.DEVIATE_RIGHT,
            "shift slightly to the right within its lane",
            rf"{_SHIFT}[^.;,]{{0,20}} right(?: within its lane)?",
            r"(?:keep|move|steer) slightly (?:to the )?right(?: within (?:its|the) lane)?",
        ),
    ]
)

SPEED_WORDS = Vocabulary.of(
    [
        (
            _S.KEEP,
            "keep its speed",
            r"(?:keep|maintain|hold)\w*[^.;,]{0,20} (?:speed|pace|velocity)",
            r"(?:constant|same|steady|current) speed",
            r"(?:cruise|coast)\w*",
        ),
        (
            _S.ACCELERATE,
            "accelerate",
            r"accelerat\w*",
            r"speed(?:s|ing)? up",
            r"increas\w*[^.;,]{0,12} speed",
            r"go(?:ing)? faster",
            r"start (?:moving|driving)",
        ),
        (
            _S.DECELERATE,
            "slow down",
            r"slow(?:s|ing)? down",
            r"decelerat\w*",
            r"reduc\w*[^.;,]{0,12} speed",
            r"brak(?:e|es|ing)(?: gently| slightly| lightly)?",
            r"drive slow(?:ly|er)",
        ),
        (
            _S.STOP,
            "stop",
            r"stop(?:s|ping)?",
            r"(?:come|coming|brake) to a (?:full |complete )?(?:stop|halt|standstill)",
            r"halt",
            r"wait(?:s|ing)?",
            r"emergency brak\w*",
            r"stand(?:ing)? still",
            r"remain (?:stopped|stationary)",
        ),
    ]
)
