"""Words about what the ego should do, and why."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.wording.vocabulary import Vocabulary

_NEED = r"(?:need|have|has|required?|necessary|must)"

BRAKING = Vocabulary.of(
    [
        (
            t.Braking.NONE,
            "need not brake",
            r"(?:does not|doesn't|do not|don't|need not|needn't|must not|no) (?:need|have|reason|necessity)?(?: for (?:the )?ego(?: vehicle)?)? ?(?:to )?(?:brak\w*|slow\w*(?: down)?|stop\w*|decelerat\w*)(?: or (?:brake|stop|slow down))?",
            r"no (?:need|reason)(?: for)?(?: (?:braking|slowing|stopping))?",
            r"not necessary",
            r"(?:keep|maintain)\w* (?:its|the)? ?(?:current )?speed",
            r"(?:can|may|should) (?:go on|proceed|continue)",
            r"no braking",
            r"(?:brak\w+|slowing down|stopping) is (?:not|n't) (?:needed|required|necessary)",
        ),
        (
            t.Braking.SPEED_UP,
            "may speed up",
            r"accelerat(?:e|es|ing)",
            r"speed(?:s|ing)? up",
            r"go(?:es|ing)? faster",
            r"(?:drive|start|set) off",
        ),
        (
            t.Braking.SLOW_DOWN,
            "must slow down",
            r"slow(?:s|ing)?(?: down)?",
            r"decelerat\w*",
            r"reduc(?:e|es|ing) (?:its |the )?speed",
            r"brak(?:e|es|ing) (?:gently|slightly|lightly|softly|a little)",
            r"ease off",
            r"brak(?:e|es|ing)",
        ),
        (
            t.Braking.STOP,
            "must stop",
            r"stop(?:s|ping)?(?! sign| light| line)",
            r"(?:come|coming|brake) to a (?:full |complete )?(?:stop|halt)",
            r"halt(?:s|ing)?",
            r"emergency brak\w*",
            r"brake hard",
            r"wait(?:s|ing)?",
            r"remain (?:stopped|still|stationary)",
            r"stay (?:stopped|still)",
        ),
    ]
)

REASON = Vocabulary.of(
    [
        (
            t.Reason.NONE,
            "there is no reason to",
            r"no reason",
            r"nothing (?:requires|demands|calls for|is in the way)",
            r"(?:road|way|path|lane)(?: ahead)? is (?:clear|free)",
        ),
        (
            t.Reason.SPEED_LIMIT,
            "it is above the speed limit",
            r"(?:exceed\w*|above|over|beyond)[^.;,]{0,15} (?:speed )?limit",
            r"speeding",
            r"too fast for the limit",
        ),
        (
            t.Reason.JUNCTION_SPEED,
            "it is too fast for the junction",
            r"too fast (?:for|in) (?:the|a) (?:junction|intersection)",
        ),
        (
            t.Reason.CURVE,
            "the curve is tight",
            r"(?:tight|sharp) (?:curve|bend|turn)",
            r"curve ahead",
            r"too fast for the (?:curve|bend)",
        ),
        (
            t.Reason.RED_LIGHT,
            "the traffic light is red",
            r"red (?:traffic )?light",
            r"(?:traffic )?light (?:ahead )?(?:is|turned|shows) red",
            r"(?:the|a) red signal",
        ),
        (
            t.Reason.YELLOW_LIGHT,
            "the traffic light is yellow",
            r"(?:yellow|amber) (?:traffic )?light",
            r"(?:traffic )?light (?:ahead )?(?:is|turned|shows) (?:yellow|amber)",
        ),
        (t.Reason.STOP_SIGN, "there is a stop sign", r"stop sign"),
        (t.Reason.YIELD_SIGN, "there is a yield sign", r"yield sign", r"give way sign"),
        (
            t.Reason.PEDESTRIAN_CROSSING,
            "pedestrians are crossing the road",
            r"(?:pedestrians?|people|person|child(?:ren)?|walkers?|man|woman)[^.;,]{0,20} cross\w*",
            r"cross\w* (?:the road|the street)?[^.;,]{0,15} pedestrians?",
        ),
        (
            t.Reason.PEDESTRIAN,
            "a pedestrian is close to its way",
            r"pedestrians?",
            r"person (?:near|close|ahead)",
            r"walkers?",
            r"people",
        ),
        (
            t.Reason.VEHICLE_TOO_CLOSE,
            "the vehicle in front is too close",
            r"too close",
            r"distance (?:to the (?:vehicle|car) )?(?:ahead |in front )?is (?:too )?(?:short|small)",
            r"tailgating",
        ),
        (
            t.Reason.STOPPED_VEHICLE,
            "the vehicle in front is standing",
            r"(?<!ego.)(?:vehicle|car|truck|bus)[^.;,]{0,30} (?:is |has )?(?:stopped|standing|stationary)",
            r"(?:stopped|stationary|standing) (?:vehicle|car|truck|bus)",
        ),
        (
            t.Reason.BRAKING_VEHICLE,
            "the vehicle in front is braking",
            r"(?<!ego.)(?:vehicle|car|truck|bus)[^.;,]{0,30} (?:is )?braking",
            r"braking (?:vehicle|car|truck)",
            r"brake lights?",
        ),
        (
            t.Reason.SLOW_VEHICLE,
            "the vehicle in front is slow",
            r"(?<!ego.)(?:vehicle|car|truck|bus)[^.;,]{0,30} (?:is |moves |drives )?slow(?:er|ly)?",
            r"slow(?:er)? (?:vehicle|car|truck|leader|traffic)",
            r"leading vehicle",
            r"(?:follow|behind)\w* (?:the|a) (?:vehicle|car|truck)",
        ),
        (t.Reason.BICYCLE, "a bicycle is close to its way", r"bicycles?", r"cyclists?", r"bikes?"),
        (
            t.Reason.ONCOMING_VEHICLE,
            "an oncoming vehicle is in its way",
            r"oncoming (?:vehicle|car|traffic|truck)",
            r"(?<!ego.)(?:vehicle|car) (?:is )?coming (?:towards|from the opposite)",
        ),
        (t.Reason.CUT_IN, "a vehicle is cutting in", r"cut(?:s|ting)? in(?:to)?", r"cut ins?"),
        (
            t.Reason.CROSSING_VEHICLE,
            "a vehicle is crossing its path",
            r"(?<!ego.)(?:vehicle|car|truck|traffic)[^.;,]{0,25} cross\w*",
            r"cross(?:ing)? (?:traffic|vehicle)",
            r"(?:yield|give way) to (?:the )?(?:crossing )?(?:traffic|vehicles?)",
        ),
        (
            t.Reason.BLOCKED_JUNCTION,
            "the junction is blocked",
            r"(?:junction|intersection) is (?:blocked|occupied|not clear)",
            r"blocked (?:junction|intersection)",
        ),
        (
            t.Reason.MERGING_TRAFFIC,
            "it must give way to merging traffic",
            r"merging (?:traffic|vehicles?)",
            r"(?:traffic|vehicles?)[^.;,]{0,20} merg\w*",
            r"(?:while|when|before) merging",
        ),
        (
            t.Reason.OBSTACLE,
            "an obstacle blocks its lane",
            r"obstacles?",
            r"obstruct\w*",
            r"blocks? (?:its|the|our) (?:lane|way|road)",
            r"accident",
            r"construction",
            r"debris",
            r"road ?works?",
        ),
        (
            t.Reason.WAITING_TO_CHANGE_LANE,
            "it must wait for a gap to change lanes",
            r"gap",
            r"wait\w* (?:to|for a chance to|until it can) change lanes?",
            r"lane change is not possible",
        ),
        (
            t.Reason.OPEN_DOOR,
            "a vehicle has opened its door",
            r"(?:open\w*)[^.;,]{0,15} door",
            r"door[^.;,]{0,15} open\w*",
        ),
        (
            t.Reason.EMERGENCY_VEHICLE,
            "an emergency vehicle must pass",
            r"emergency vehicle",
            r"ambulance",
            r"fire ?truck",
            r"police car (?:must|needs to|wants to) pass",
        ),
        (t.Reason.OFF_ROAD, "it has left the road", r"(?:left|off) the road", r"off road"),
        (
            t.Reason.WRONG_WAY,
            "it is on the wrong side of the road",
            r"wrong (?:side|way)",
            r"against (?:the )?traffic",
        ),
        (
            t.Reason.MISALIGNED,
            "it is not aligned with its lane",
            r"not aligned",
            r"misaligned",
            r"heading is off",
        ),
    ]
)

ADVICE = Vocabulary.of(
    [
        (
            t.Advice.STOP_AND_WAIT,
            "it must stop and wait",
            r"stop and wait",
            r"wait(?:s|ing)? (?:for|until)[^.;,]{0,20} (?:green|turns?)",
            r"(?:must|should|needs? to|has to|prepare to)? ?stop(?! (?:sign|light|line))(?: before| at)?[^.;,]{0,20}",
            r"remain stopped",
        ),
        (
            t.Advice.SLOW_DOWN,
            "it should slow down",
            r"slow(?:s|ing)? down",
            r"decelerat\w*",
            r"reduc\w+ (?:its |the )?speed",
            r"prepare to (?:slow|brake)",
        ),
        (
            t.Advice.STOP_THEN_GO,
            "it must stop first and may then go",
            r"stop(?! sign) (?:first|completely|fully)?[^.;]{0,20} (?:then|before|and then) (?:go|proceed\w*|may|continu\w*)[^.;,]{0,10}",
        ),
        (
            t.Advice.GO_ON,
            "it may go on",
            r"(?:may|can|should)? ?(?:go on|proceed|continue|pass|keep going|drive on)",
            r"(?:keep|maintain)\w* (?:its |the )?(?:current )?speed",
            r"(?:no|need not) (?:action|react)\w*",
            r"already (?:stopped|cleared|obeyed)",
            r"(?:need not|needn't|(?:does|do|has)(?: not|n't) (?:need|have) to) (?:stop|brake|slow(?: down)?|wait|react)",
        ),
        (t.Advice.GIVE_WAY, "it must give way", r"give(?:s)? way", r"yield(?:s|ing)? to"),
        (
            t.Advice.OBEY_LIMIT,
            "it must keep to the limit",
            r"(?:keep|stay|remain|drive|obey|adhere|comply|not exceed)\w*[^.;,]{0,20} limit",
            r"(?:not|n't) (?:exceed|drive faster than)[^.;,]{0,20}",
            r"(?:below|under|within|at most) \d+",
        ),
        (
            t.Advice.LEAVE_LANE,
            "it must change lanes to get past",
            r"(?:chang|leav|switch)\w* (?:its |the )?lanes?(?: to get past)?",
            r"go around",
            r"(?:pass|overtake|bypass) (?:it|the)",
        ),
        (
            t.Advice.BE_CAREFUL,
            "it should be careful",
            r"careful(?:ly)?",
            r"caution",
            r"cautious(?:ly)?",
            r"pay attention",
            r"watch out",
            r"be alert",
        ),
    ]
)
