"""Words about moves out of the lane's middle: which, why, and why not yet."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.wording.vocabulary import Vocabulary

MANEUVER = Vocabulary.of(
    [
        (
            t.Maneuver.NONE,
            "need not leave its lane",
            r"(?:does not|doesn't|do not|don't|need not|needn't|no) (?:need|have|reason|necessity)?(?: for (?:the )?ego(?: vehicle)?)? ?(?:to )?(?:(?:chang\w*|leav\w*|deviat\w*|shift\w*|mov\w*)[^.;,]{0,30}|(?:lane change|deviation)s?)",
            r"no need",
            r"no (?:lane change|deviation)(?: is)?(?: needed| required| necessary)?",
            r"(?:stay|remain|keep|continue)\w* (?:in|on)? ?(?:its|the)(?: current)? lane",
            r"(?:lane change|deviation) is (?:not|n't) (?:needed|required|necessary)",
        ),
        (
            t.Maneuver.CHANGE_LEFT,
            "change to the left lane",
            r"(?:chang|mov|switch|merg|go)(?:e|es|ing)?[^.;,]{0,20} left(?: lane)?",
            r"left lane change",
            r"lane change to the left",
        ),
        (
            t.Maneuver.CHANGE_RIGHT,
            "change to the right lane",
            r"(?:chang|mov|switch|merg|go)(?:e|es|ing)?[^.;,]{0,20} right(?: lane)?",
            r"right lane change",
            r"lane change to the right",
        ),
        (
            t.Maneuver.CHANGE_EITHER,
            "change to the left or the right lane",
            r"(?:chang|mov|switch)(?:e|es|ing)?[^.;,]{0,20} left or (?:to )?(?:the )?right(?: lane)?",
            r"either (?:lane|side)",
            r"left or right(?: lane)?",
            r"any neighbou?ring lane",
        ),
        (
            t.Maneuver.USE_ONCOMING_LANE,
            "use the lane of the oncoming traffic",
            r"(?:use|borrow|enter|take|overtake (?:on|over|via|through))[^.;,]{0,15} (?:oncoming|opposite|opposing)(?: traffic| lane)?(?: lane)?",
            r"(?:chang|mov)(?:e|ing) (?:to|into) the (?:oncoming|opposite|opposing)(?: traffic)? lane",
        ),
        (
            t.Maneuver.SHIFT_LEFT,
            "shift slightly to the left",
            r"(?:deviat|shift|drift|swerv|nudg|mov|steer|keep)(?:e|es|ing)? (?:slightly|a little|a bit)[^.;,]{0,8} left",
            r"(?:deviat|shift|nudg|swerv)(?:e|es|ing)?[^.;,]{0,12} left",
            r"slight(?:ly)?(?: to the)? left",
        ),
        (
            t.Maneuver.SHIFT_RIGHT,
            "shift slightly to the right",
            r"(?:deviat|shift|drift|swerv|nudg|mov|steer|keep)(?:e|es|ing)? (?:slightly|a little|a bit)[^.;,]{0,8} right",
            r"(?:deviat|shift|nudg|swerv)(?:e|es|ing)?[^.;,]{0,12} right",
            r"slight(?:ly)?(?: to the)? right",
        ),
        (
            t.Maneuver.FINISH_CHANGE,
            "finish the lane change that it has begun",
            r"(?:finish|complete|continue)(?:s|ing)? (?:the|its) (?:current |ongoing )?lane change",
            r"still changing lanes?",
            r"(?:already|currently) changing lanes?",
        ),
        (
            t.Maneuver.CANNOT_PASS,
            "stop, because it cannot pass",
            r"cannot (?:pass|overtake|go around)",
            r"can't (?:pass|overtake)",
            r"no way (?:around|past)",
            r"impassable",
        ),
        (
            t.Maneuver.STEER_LEFT,
            "steer left back to its lane",
            r"steer(?:s|ing)? (?:to the )?left",
            r"(?:return|come|get) back[^.;,]{0,15} (?:on|to) the left",
        ),
        (
            t.Maneuver.STEER_RIGHT,
            "steer right back to its lane",
            r"steer(?:s|ing)? (?:to the )?right",
            r"(?:return|come|get) back[^.;,]{0,15} (?:on|to) the right",
        ),
        (
            t.Maneuver.TURN_AROUND,
            "turn around",
            r"u turn",
            r"make a u turn",
            r"turn(?:ing)? round",
            r"revers(?:e|ing) (?:its )?direction",
        ),
        (
            t.Maneuver.WAIT_FOR_HELP,
            "stop and wait for help",
            r"wait(?:s|ing)? for (?:help|assistance|rescue)",
            r"call for help",
        ),
    ]
)

CAUSE = Vocabulary.of(
    [
        (
            t.ManeuverCause.NONE,
            "nothing asks for it",
            r"nothing (?:asks|calls) for",
            r"no (?:reason|cause|obstruction|obstacle)",
        ),
        (
            t.ManeuverCause.ACCIDENT,
            "an accident blocks the lane",
            r"accidents?",
            r"crash(?:ed)?",
            r"collision ahead",
        ),
        (
            t.ManeuverCause.CONSTRUCTION,
            "a construction site blocks the lane",
            r"construction(?: site| zone| area)?",
            r"road ?works?",
            r"work zone",
            r"cones?",
        ),
        (
            t.ManeuverCause.PARKED_VEHICLE,
            "a parked vehicle blocks the lane",
            r"parked (?:vehicle|car|truck|van)s?",
            r"parking (?:vehicle|car) (?:in|blocks)",
            r"broken ?down (?:vehicle|car)",
        ),
        (
            t.ManeuverCause.HAZARD,
            "a slow road user or hazard is in the lane",
            r"hazards?",
            r"(?:slow )?(?:bicycles?|cyclists?)",
            r"debris",
        ),
        (
            t.ManeuverCause.OPEN_DOOR,
            "a vehicle has opened its door",
            r"(?:open\w*)[^.;,]{0,15} door",
            r"door[^.;,]{0,15} open\w*",
        ),
        (
            t.ManeuverCause.INVADING_VEHICLE,
            "an oncoming vehicle invades the lane",
            r"invad\w*",
            r"oncoming (?:vehicle|car|truck|traffic)[^.;,]{0,25} lane",
            r"(?:partly|partially) in (?:our|its|the ego vehicle's) lane",
        ),
        (
            t.ManeuverCause.COMMAND,
            "the navigation command asks for it",
            r"(?:navigation|current|route|given)? ?commands?",
            r"navigation",
            r"the route (?:requires|demands|asks)",
        ),
        (
            t.ManeuverCause.HIGHWAY_COMMAND,
            "it must enter or leave the highway",
            r"(?:enter|leave|exit|merge (?:on|into)|merge onto)\w*(?: or leave)? the (?:highway|motorway|freeway)",
            r"highway (?:entry|exit)",
        ),
        (
            t.ManeuverCause.EMERGENCY_VEHICLE,
            "an emergency vehicle must pass",
            r"emergency vehicle",
            r"ambulance",
            r"fire ?truck",
            r"siren",
        ),
        (
            t.ManeuverCause.PARKING_EXIT,
            "it is leaving a parking space",
            r"(?:leav|exit|pull)\w*(?: out of| from)?[^.;,]{0,6} (?:parking )(?:space|spot|lane|bay)",
        ),
        (
            t.ManeuverCause.ON_ONCOMING_LANE,
            "it must return from the lane of the oncoming traffic",
            r"(?:return|back) from the (?:oncoming|opposite)[^.;,]{0,15} ?(?:lane)?",
            r"(?:is|drives) (?:in|on) the (?:oncoming|opposite)[^.;,]{0,15} lane",
        ),
        (
            t.ManeuverCause.WRONG_LANE,
            "it is not in the lane of its route",
            r"wrong lane",
            r"not (?:in|on) (?:the|its) (?:target|correct|right|intended|planned) lane",
            r"off its target lane",
        ),
        (t.ManeuverCause.OFF_ROAD, "it has left the road", r"(?:left|off) the road", r"off road"),
        (
            t.ManeuverCause.WRONG_WAY,
            "it faces the wrong way",
            r"wrong (?:way|direction)",
            r"against (?:the )?traffic",
            r"wrong side",
        ),
        (
            t.ManeuverCause.MISALIGNED,
            "it is not aligned with its lane",
            r"not aligned",
            r"misaligned",
            r"heading is off",
        ),
    ]
)

POSTPONEMENT = Vocabulary.of(
    [
        (
            t.Postponement.LANE_OCCUPIED,
            "the other lane is occupied",
            r"lane[^.;,]{0,30} (?:is )?(?:occupied|taken|not (?:free|clear)|blocked)",
            r"(?:vehicle|car|traffic)s? (?:in|on) (?:the )?(?:other|target|neighbou?ring|left|right) lane",
            r"no gap",
        ),
        (
            t.Postponement.ONCOMING_TRAFFIC,
            "there is oncoming traffic",
            r"oncoming (?:traffic|vehicles?|cars?)",
        ),
        (
            t.Postponement.OBSTACLE_NOT_PASSED,
            "the obstacle is not passed yet",
            r"(?:obstacle|obstruction)[^.;,]{0,15} not[^.;,]{0,8} passed",
            r"has not (?:yet )?passed the (?:obstacle|obstruction)",
            r"still passing",
        ),
        (
            t.Postponement.YIELDING,
            "it is giving way to an emergency vehicle",
            r"(?:yield|giv)\w*(?: way)? to (?:an |the )?emergency vehicle",
        ),
        (t.Postponement.TOO_EARLY, "it is too early", r"too early", r"too far away", r"still far"),
    ]
)
