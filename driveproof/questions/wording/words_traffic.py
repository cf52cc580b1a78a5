"""Words about other road users: motion, place, conflicts."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.wording.vocabulary import Vocabulary

_ITS = r"(?:the )?(?:ego(?: vehicle| car)?(?:'s)?|our|its?|my|own)"

MOTION = Vocabulary.of(
    [
        (
            t.Motion.STOPPED,
            "standing still",
            r"stand(?:s|ing)? still",
            r"stopped",
            r"stationary",
            r"(?:not|isn't) moving",
            r"halted",
            r"(?:at a )?standstill",
            r"parked",
            r"static",
            r"motionless",
            r"idle",
            r"no motion",
            r"does not move",
            r"doesn't move",
            r"standing",
            r"at rest",
        ),
        (
            t.Motion.SLOW,
            "moving slowly",
            r"slow(?:ly|er|ing)?",
            r"at (?:a )?low speed",
            r"crawl(?:s|ing)?",
            r"creep(?:s|ing)?",
        ),
        (
            t.Motion.NORMAL,
            "moving at normal speed",
            r"(?:at )?(?:a )?normal(?:ly)? ?(?:speed|pace)?",
            r"regular speed",
            r"at speed",
            r"fast",
            r"quickly",
            r"high speed",
            r"steady speed",
            r"moderate speed",
        ),
    ]
)

COURSE = Vocabulary.of(
    [
        (
            t.Course.SAME,
            "in the same direction as the ego vehicle",
            r"(?:in )?(?:the )?same (?:direction|way|heading)(?: as (?:the )?ego(?: vehicle)?)?",
        ),
        (
            t.Course.OPPOSITE,
            "in the opposite direction",
            r"opposite(?: direction| way| heading)?",
            r"oncoming",
            r"towards? (?:the )?(?:ego|us)(?: vehicle)?",
            r"head on",
        ),
        (
            t.Course.CROSSING,
            "across the ego vehicle's direction",
            r"across",
            r"perpendicular(?:ly)?",
            r"cross(?:es|ing)? direction",
            r"cross traffic",
            r"sideways",
            r"at a right angle",
        ),
    ]
)

INTENT = Vocabulary.of(
    [
        (
            t.Intent.STRAIGHT,
            "going straight",
            r"straight(?: on| ahead| forward)?",
            r"follow(?:s|ing)? (?:its|the) lane",
            r"keep(?:s|ing)? (?:its|the) lane",
        ),
        (
            t.Intent.SLIGHTLY_LEFT,
            "bearing slightly left",
            r"slight(?:ly)?(?: to the)? left",
            r"(?:bear|veer|curv|drift)(?:s|ing|e|es)? (?:to the )?left",
            r"a little(?: to the)? left",
            r"slight left turn",
            r"(?:turn\w*|head\w*|mov\w*|steer\w*) slightly (?:to the )?left",
        ),
        (
            t.Intent.LEFT,
            "turning left",
            r"(?:turn|go|head|steer)(?:s|es|ing)? (?:to the )?left",
            r"left turn",
            r"sharp(?:ly)? left",
            r"(?<!on\sthe\s)(?<!to\sthe\s)(?<!front\s)(?<!rear\s)left(?! lane| side| of|\s*\()",
        ),
        (
            t.Intent.SLIGHTLY_RIGHT,
            "bearing slightly right",
            r"slight(?:ly)?(?: to the)? right",
            r"(?:bear|veer|curv|drift)(?:s|ing|e|es)? (?:to the )?right",
            r"a little(?: to the)? right",
            r"slight right turn",
            r"(?:turn\w*|head\w*|mov\w*|steer\w*) slightly (?:to the )?right",
        ),
        (
            t.Intent.RIGHT,
            "turning right",
            r"(?:turn|go|head|steer)(?:s|es|ing)? (?:to the )?right",
            r"right turn",
            r"sharp(?:ly)? right",
            r"(?<!on\sthe\s)(?<!to\sthe\s)(?<!front\s)(?<!rear\s)right(?! lane| side| of|\s*\()",
        ),
        (
            t.Intent.CUTTING_IN,
            "cutting into the ego vehicle's lane",
            r"cut(?:s|ting)? in(?:to)?(?: " + _ITS + r"(?: lane)?)?",
            rf"(?:merg|chang|mov)(?:es?|ing) into {_ITS} lane",
            rf"enter(?:s|ing)? {_ITS} lane",
        ),
    ]
)

PLACE = Vocabulary.of(
    [
        (
            t.Place.OWN_LANE,
            "in the ego vehicle's lane",
            rf"(?:in|on) {_ITS} (?:own )?lane",
            r"(?:in|on) the same lane(?: as (?:the )?ego(?: vehicle)?)?",
            r"ego lane",
        ),
        (
            t.Place.LEFT_LANE,
            "in the lane to the left",
            r"left(?: adjacent| neighbou?ring)? lane",
            r"lane (?:to|on) (?:the|its|our) left",
            r"adjacent left lane",
            r"(?:\d+|one|two|three|four|five) lanes? (?:to|on) the left",
        ),
        (
            t.Place.RIGHT_LANE,
            "in the lane to the right",
            r"right(?: adjacent| neighbou?ring)? lane",
            r"lane (?:to|on) (?:the|its|our) right",
            r"adjacent right lane",
            r"(?:\d+|one|two|three|four|five) lanes? (?:to|on) the right",
        ),
        (
            t.Place.ONCOMING_LANE,
            "in a lane of the oncoming traffic",
            r"oncoming lane",
            r"opposite lane",
            r"lane of (?:the )?(?:oncoming|opposite)(?: traffic| direction)?",
            r"opposing lane",
            r"wrong side of the road",
        ),
        (
            t.Place.IN_JUNCTION,
            "inside the junction",
            r"(?:in|inside|within) the (?:junction|intersection|crossroads?)",
            r"at the centre of the (?:junction|intersection)",
        ),
        (
            t.Place.JUNCTION_LEFT,
            "on the road to the left of the junction",
            r"(?:to|on|from) the left(?: side)? of the (?:junction|intersection)",
            r"left (?:arm|branch|side) of the (?:junction|intersection)",
            r"road on the left",
        ),
        (
            t.Place.JUNCTION_RIGHT,
            "on the road to the right of the junction",
            r"(?:to|on|from) the right(?: side)? of the (?:junction|intersection)",
            r"right (?:arm|branch|side) of the (?:junction|intersection)",
            r"road on the right",
        ),
        (
            t.Place.JUNCTION_AHEAD,
            "on the road beyond the junction",
            r"beyond the (?:junction|intersection)",
            r"(?:across|past|behind|after) the (?:junction|intersection)",
            r"(?:other|far|opposite) side of the (?:junction|intersection)",
        ),
        (
            t.Place.HIGHWAY_ENTRY,
            "on the highway's entry ramp",
            r"entry (?:ramp|lane)",
            r"on ramp",
            r"merg(?:e|ing) lane",
            r"acceleration lane",
        ),
        (
            t.Place.HIGHWAY_EXIT,
            "on the highway's exit ramp",
            r"exit (?:ramp|lane)",
            r"off ramp",
            r"deceleration lane",
        ),
        (
            t.Place.PARKING_LANE,
            "in the parking lane",
            r"parking (?:lane|spot|space|bay|area)s?",
            r"parked (?:at|along|beside) the (?:road|curb|kerb|roadside)",
        ),
        (
            t.Place.SHOULDER,
            "on the shoulder",
            r"shoulder",
            r"roadside",
            r"side of the road",
            r"road edge",
        ),
        (t.Place.BIKE_LANE, "in the bike lane", r"(?:bike|bicycle|cycle|cycling) (?:lane|path)"),
        (t.Place.SIDEWALK, "on the sidewalk", r"sidewalk", r"pavement", r"footpath"),
        (
            t.Place.OFF_ROAD,
            "off the road",
            r"off road",
            r"outside the road",
            r"not on (?:the|a|any) road",
        ),
    ]
)

ALONG = Vocabulary.of(
    [
        (
            t.Along.AHEAD,
            "ahead of the ego vehicle",
            r"ahead",
            r"in front(?: of)?",
            r"before (?:the )?ego(?: vehicle)?",
        ),
        (
            t.Along.BESIDE,
            "beside the ego vehicle",
            r"beside",
            r"alongside",
            r"next to",
            r"level with",
            r"abreast",
        ),
        (
            t.Along.BEHIND,
            "behind the ego vehicle",
            r"behind",
            r"(?:to|at|in) the rear",
            r"following (?:the )?ego(?: vehicle)?",
        ),
    ]
)

CONFLICT = Vocabulary.of(
    [
        (
            t.ConflictReason.AHEAD_IN_LANE,
            "it is ahead in the ego vehicle's lane",
            rf"(?:ahead|in front|directly|leading|stopped|standing)[^.;]{{0,25}} (?:in|on) (?:{_ITS}|the same) (?:own )?lane",
            r"leading vehicle",
            rf"(?:is|drives|stands|stops) (?:in|on) (?:{_ITS}|the same) lane",
            r"blocks? the (?:lane|way|path)",
        ),
        (
            t.ConflictReason.CUTTING_IN,
            "it is cutting into the ego vehicle's lane",
            r"cut(?:s|ting)? in(?:to)?",
            rf"(?:chang|mov|drift)(?:es|ing|s)?(?: lanes?)? into {_ITS} lane",
        ),
        (
            t.ConflictReason.CROSSING_JUNCTION,
            "it is crossing the junction",
            r"cross(?:es|ing)? (?:through )?the (?:junction|intersection)",
            r"cross(?:es|ing)? traffic",
            rf"crosses {_ITS} path (?:at|in) the (?:junction|intersection)",
            r"running (?:the|a) red light",
        ),
        (
            t.ConflictReason.ONCOMING_TURN,
            "it is oncoming and their turns cross",
            r"oncoming[^.;,]{0,40}turn\w*",
            r"turn\w*[^.;,]{0,40}oncoming",
            r"left turn[^.;,]{0,30} cross\w*",
        ),
        (
            t.ConflictReason.MERGING,
            "it is merging with the ego vehicle's lane",
            r"merg(?:es|ing)(?: (?:into|with|onto)(?: " + _ITS + r"(?: lane)?)?)?",
            r"join(?:s|ing) (?:the|our|its) (?:lane|road|highway)",
        ),
        (
            t.ConflictReason.ONCOMING_IN_LANE,
            "it is oncoming in the ego vehicle's lane",
            rf"oncoming (?:in|on) (?:{_ITS}|the same) lane",
            r"head on",
            r"invad(?:es|ing)[^.;]{0,20}lane",
            r"approach(?:es|ing)? from the opposite direction in[^.;]{0,20}lane",
        ),
        (
            t.ConflictReason.ON_TARGET_LANE,
            "it is in the lane that the ego vehicle is to enter",
            r"(?:in|on|occup\w+) the (?:target|destination) lane",
            r"lane (?:that )?(?:the )?ego(?: vehicle)? (?:is to|wants to|will|must|should) (?:enter|change|move)\w*(?: to| into)?",
        ),
        (
            t.ConflictReason.CROSSING_ROAD,
            "it is crossing the road",
            r"cross(?:es|ing)? the (?:road|street|lane)",
            r"walk(?:s|ing)? across",
            rf"step(?:s|ping)? (?:into|onto) (?:{_ITS}|the) (?:lane|road|path)",
        ),
        (
            t.ConflictReason.OPENING_DOOR,
            "its door is open",
            r"(?:open(?:s|ing|ed)?)[^.;]{0,15} door",
            r"door[^.;]{0,15}open\w*",
        ),
        (
            t.ConflictReason.NONE,
            "their ways do not meet",
            r"(?:ways|paths|routes|trajectories)[^.;]{0,20} (?:do not|don't|never) (?:meet|cross|overlap|intersect)",
            r"no (?:conflict|overlap|crossing|intersection of)",
            r"will not cross",
            r"stays? (?:in|on) (?:its|another) (?:own )?lane",
        ),
    ]
)

EGO_MOVE = Vocabulary.of(
    [
        (
            t.EgoMove.GO_ON,
            "going on in its lane",
            r"(?:go(?:es|ing)?|driv(?:es?|ing)|continu(?:es?|ing)|keep(?:s|ing)?)[^.;,]{0,20} (?:on|in|along) (?:its|the|in its|in the|this|current)? ?(?:current )?lane",
            r"follow(?:s|ing)? (?:its|the)(?: current)? lane",
            r"keep(?:s|ing)? (?:its|the current) (?:speed|lane)",
            r"continu(?:es?|ing)(?: forward| ahead)?",
            r"lane keeping",
            r"driv(?:es?|ing) on",
        ),
        (
            t.EgoMove.CHANGE_LEFT,
            "changing to the left lane",
            r"(?:chang|mov|switch|merg)(?:es?|ing)[^.;]{0,20} left(?: lane)?",
            r"left lane change",
            r"lane change (?:to the )?left",
        ),
        (
            t.EgoMove.CHANGE_RIGHT,
            "changing to the right lane",
            r"(?:chang|mov|switch|merg)(?:es?|ing)[^.;]{0,20} right(?: lane)?",
            r"right lane change",
            r"lane change (?:to the )?right",
        ),
        (t.EgoMove.TURN_LEFT, "turning left", r"turn(?:s|ing)? (?:to the )?left", r"left turn"),
        (t.EgoMove.TURN_RIGHT, "turning right", r"turn(?:s|ing)? (?:to the )?right", r"right turn"),
        (
            t.EgoMove.GO_STRAIGHT,
            "going straight through the junction",
            r"(?:go(?:es|ing)?|driv(?:es?|ing)|cross(?:es|ing)?)? ?straight(?: on| ahead| through)?(?: the (?:junction|intersection))?",
        ),
        (
            t.EgoMove.NONE,
            "no move of its own",
            r"no (?:action|move)(?: of (?:the ego(?: vehicle)?|its own))?",
            r"none",
        ),
    ]
)
