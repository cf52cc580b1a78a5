"""Words about signs, lanes, markings, light and weather."""

from __future__ import annotations

from driveproof.questions import terms as t
from driveproof.questions.wording.vocabulary import Vocabulary

SIGN_STATE = Vocabulary.of(
    [
        (
            t.SignState.NONE,
            "no stop sign applies",
            r"no (?:\w+ )?stop signs?",
            r"(?:is|are)(?: not|n't| no) (?:a |any )?stop signs?",
            r"(?:not|n't) (?:affected|governed|bound) by (?:a |any )?stop sign",
        ),
        (
            t.SignState.CLEARED,
            "a stop sign applies and has been obeyed",
            r"(?:has |was |is )?already (?:been )?(?:cleared|obeyed|passed|stopped)[^.;]{0,20}",
            r"(?:has|have) been (?:cleared|obeyed)",
            r"has (?:already )?stopped (?:at|for) (?:it|the stop sign)",
        ),
        (
            t.SignState.PENDING,
            "a stop sign applies and is still to be obeyed",
            r"(?:not (?:yet )?(?:been )?(?:yet )?|still (?:to be |needs to be |has to be )?)(?:cleared|obeyed)(?: yet)?",
            r"has(?: not|n't) (?:yet )?(?:stopped|cleared|obeyed|been (?:cleared|obeyed))",
            r"(?:is|are|there's|by|obey) (?:a|the) stop sign",
            r"(?:the|a) stop sign (?:still )?applies",
            r"(?:must|has to|needs to) (?:obey|stop)",
        ),
    ]
)

LIGHT = Vocabulary.of(
    [
        (t.LightColour.GREEN, "green"),
        (t.LightColour.YELLOW, "yellow", r"amber", r"orange"),
        (t.LightColour.RED, "red"),
        (
            t.LightColour.NONE,
            "no traffic light applies",
            r"no (?:\w+ )?(?:traffic )?lights?",
            r"(?:is|are)(?: not|n't| no) (?:a |any )?(?:traffic )?lights?",
            r"(?:not|n't) (?:affected|governed|controlled) by (?:a |any )?(?:traffic )?light",
        ),
    ]
)

SIDE = Vocabulary.of(
    [
        (t.Side.LEFT, "left", r"both sides?", r"either side", r"both directions"),
        (t.Side.RIGHT, "right"),
    ]
)

MARKING = Vocabulary.of(
    [
        (
            t.MarkingKind.SOLID_SOLID,
            "double solid line",
            r"double solid",
            r"solid solid",
            r"two solid lines",
            r"double (?:white |yellow )?(?:center |centre )?lines?",
        ),
        (t.MarkingKind.SOLID_BROKEN, "solid-broken line", r"solid (?:and )?(?:broken|dashed)"),
        (t.MarkingKind.BROKEN_SOLID, "broken-solid line", r"(?:broken|dashed) (?:and )?solid"),
        (
            t.MarkingKind.BROKEN_BROKEN,
            "double broken line",
            r"double (?:broken|dashed)",
            r"(?:broken|dashed) (?:broken|dashed)",
        ),
        (t.MarkingKind.BROKEN, "broken line", r"broken", r"dashed", r"dotted", r"dashes"),
        (t.MarkingKind.SOLID, "solid line", r"solid", r"continuous", r"unbroken"),
        (t.MarkingKind.CURB, "curb", r"kerb", r"kerbstone", r"curbstone"),
        (t.MarkingKind.GRASS, "grass"),
        (t.MarkingKind.BOTTS_DOTS, "row of Botts' dots", r"botts?'? dots", r"raised dots"),
        (
            t.MarkingKind.NONE,
            "no lane marking",
            r"no (?:lane |road )?(?:marking|line)s?",
            r"(?:is|are)(?: not|n't| no) (?:a |any )?(?:lane |road )?(?:marking|line)s?",
            r"unmarked",
        ),
    ]
)

MARKING_COLOUR = Vocabulary.of(
    [
        (t.MarkingColour.WHITE, "white"),
        (t.MarkingColour.YELLOW, "yellow"),
        (t.MarkingColour.BLUE, "blue"),
        (t.MarkingColour.GREEN, "green"),
        (t.MarkingColour.RED, "red"),
        (t.MarkingColour.NONE, "unpainted", r"no colou?r"),
    ]
)

JUNCTION = Vocabulary.of(
    [
        (
            t.JunctionRelation.INSIDE,
            "inside a junction",
            r"(?:in|inside|within|at|crossing|passing|entering) (?:an?|the) (?:junction|intersection|crossroads?)",
            r"already in (?:an?|the) (?:junction|intersection)",
        ),
        (
            t.JunctionRelation.BEFORE,
            "right before a junction",
            r"(?:right |just |shortly |immediately )?(?:before|in front of|ahead of|approaching|near|close to|about to enter) (?:an?|the) (?:junction|intersection|crossroads?)",
            r"(?:junction|intersection) (?:is )?(?:right |just )?ahead",
        ),
        (
            t.JunctionRelation.HIGHWAY_ENTRY,
            "at a highway entry",
            r"highway (?:entry|entrance|on ramp)",
            r"entering (?:a|the) highway",
            r"on ramp",
        ),
        (
            t.JunctionRelation.HIGHWAY_EXIT,
            "at a highway exit",
            r"highway (?:exit|off ramp)",
            r"(?:leaving|exiting) (?:a|the) highway",
            r"off ramp",
        ),
        (
            t.JunctionRelation.NONE,
            "not at a junction",
            r"(?:not|n't)(?: \w+){0,3} (?:in|at|near|inside|before|approaching|close to) (?:a|an|any|the) (?:junction|intersection|crossroads?)(?: or (?:right )?before one)?",
            r"no (?:junction|intersection)(?: nearby| ahead)?",
            r"(?:neither|not) (?:in|inside)(?! it)[^.;]{0,40}",
            r"far from (?:a|any) (?:junction|intersection)",
        ),
    ]
)

WATCH = Vocabulary.of(
    [
        (
            t.Watch.OWN_LANE,
            "its own lane ahead",
            r"(?:its |the ego(?: vehicle)?'s )(?:own )?lane(?: ahead)?",
            r"own lane",
            r"current lane",
            r"ego lane",
        ),
        (
            t.Watch.LEFT_LANE,
            "the lane to its left",
            r"(?:the )?left lane",
            r"lane (?:to|on) (?:the|its) left",
        ),
        (
            t.Watch.RIGHT_LANE,
            "the lane to its right",
            r"(?:the )?right lane",
            r"lane (?:to|on) (?:the|its) right",
        ),
        (
            t.Watch.ONCOMING_LANE,
            "the oncoming traffic",
            r"oncoming (?:lanes?|traffic|vehicles?)",
            r"opposite (?:lanes?|direction|traffic)",
            r"opposing (?:lanes?|traffic)",
        ),
        (
            t.Watch.FROM_LEFT,
            "traffic from the left of the junction",
            r"(?:traffic |vehicles? )?(?:coming )?from the left(?: of the junction| side of the (?:junction|intersection))?",
            r"left(?: side| arm)? of the (?:junction|intersection)",
        ),
        (
            t.Watch.FROM_RIGHT,
            "traffic from the right of the junction",
            r"(?:traffic |vehicles? )?(?:coming )?from the right(?: of the junction| side of the (?:junction|intersection))?",
            r"right(?: side| arm)? of the (?:junction|intersection)",
        ),
        (
            t.Watch.FROM_AHEAD,
            "traffic from the far side of the junction",
            r"(?:far|other|opposite) side of the (?:junction|intersection)",
            r"from (?:straight )?ahead",
            r"from the front",
        ),
        (
            t.Watch.BIKE_LANE,
            "the bike lane",
            r"(?:bike|bicycle|cycle|cycling) (?:lane|path)s?",
            r"cyclists",
        ),
        (t.Watch.RAMP, "the ramp", r"(?:entry|exit|on|off)? ?ramps?", r"merg(?:e|ing) lane"),
    ]
)

DAYTIME = Vocabulary.of(
    [
        (
            t.Daytime.NOON,
            "noon",
            r"midday",
            r"middle of the day",
            r"sun is high",
            r"bright daylight",
        ),
        (t.Daytime.DAY, "day", r"daytime", r"daylight", r"morning", r"afternoon"),
        (
            t.Daytime.TWILIGHT,
            "twilight",
            r"dusk",
            r"dawn",
            r"sunset",
            r"sunrise",
            r"near (?:dusk|dawn)",
            r"evening",
            r"low sun",
            r"sun is low",
        ),
        (t.Daytime.NIGHT, "night", r"nighttime", r"dark outside", r"midnight"),
        (
            t.Daytime.UNKNOWN,
            "a time of day hidden by the tunnel",
            r"tunnel",
            r"(?:cannot|can't|impossible to) (?:tell|infer|determine|know) (?:the )?(?:current )?time[^.;]{0,20}",
        ),
    ]
)

SKY = Vocabulary.of(
    [
        (
            t.Sky.CLEAR,
            "clear weather",
            r"clear(?: sky| skies)?",
            r"sunny",
            r"cloudless",
            r"fine weather",
            r"dry weather",
        ),
        (t.Sky.CLOUDY, "cloudy weather", r"cloudy", r"clouds", r"overcast"),
        (
            t.Sky.LIGHT_RAIN,
            "light rain",
            r"(?:light|slight|soft|gentle) rain(?:fall)?",
            r"drizzl(?:e|ing|y)",
            r"raining (?:lightly|slightly)",
        ),
        (t.Sky.RAIN, "moderate rain", r"rain(?:y|ing|fall)?", r"moderate rain(?:fall)?"),
        (
            t.Sky.HEAVY_RAIN,
            "heavy rain",
            r"(?:heavy|strong|hard|pouring) rain(?:fall)?",
            r"raining (?:heavily|hard)",
            r"downpour",
            r"rainstorm",
            r"storm",
        ),
        (t.Sky.FOG, "fog", r"foggy", r"mist(?:y)?", r"haz[ey]+"),
        (
            t.Sky.UNKNOWN,
            "weather hidden by the tunnel",
            r"tunnel",
            r"(?:cannot|can't|impossible to) (?:tell|infer|determine|know)[^.;]{0,20} weather",
        ),
    ]
)

DANGER = Vocabulary.of(
    [
        (
            t.Danger.LOW_VISIBILITY,
            "poor visibility",
            r"(?:low|reduced|limited|bad|poor(?:er)?|restricted) (?:visibility|sight|view)",
            r"visibility is (?:\w+ )?(?:low|reduced|limited|bad|poor)",
            r"hard(?:er)? to see",
            r"reduc\w+ visibility",
        ),
        (
            t.Danger.SKIDDING,
            "a risk of skidding",
            r"skid(?:ding|s)?",
            r"slip(?:pery|ping|s)?",
            r"aquaplaning",
            r"hydroplaning",
            r"(?:low|poor|reduced|less) (?:grip|friction|traction)",
        ),
    ]
)

HAZARD = Vocabulary.of(
    [
        (t.Hazard.PUDDLES, "puddles on the road", r"puddles?", r"standing water"),
        (
            t.Hazard.FLOOD,
            "water covering the road",
            r"flood(?:s|ed|ing)?",
            r"road is (?:flooded|under water)",
            r"water covers",
        ),
        (
            t.Hazard.PARKED_LEFT,
            "parked vehicles on the left",
            r"parked (?:vehicles?|cars?)[^.;,]{0,25} left(?: side)?",
            r"(?:vehicles?|cars?) (?:are )?parked[^.;,]{0,25} left(?: side)?",
            r"parked (?:vehicles?|cars?)[^.;,]{0,15} both sides",
        ),
        (
            t.Hazard.PARKED_RIGHT,
            "parked vehicles on the right",
            r"parked (?:vehicles?|cars?)[^.;,]{0,25} right(?: side)?",
            r"(?:vehicles?|cars?) (?:are )?parked[^.;,]{0,25} right(?: side)?",
        ),
        (
            t.Hazard.BLIND_SPOT,
            "a blind spot from which somebody may come",
            r"blind (?:spot|area|corner)s?",
            r"occlu\w+",
            r"hidden (?:pedestrians?|cyclists?)",
            r"(?:view|sight) is (?:blocked|obstructed)",
            r"(?:behind|between) (?:the )?(?:parked )?(?:vehicles?|cars?)",
        ),
        (
            t.Hazard.DEBRIS,
            "debris on the road",
            r"debris",
            r"rubble",
            r"dirt on the road",
            r"objects? (?:lying )?on the road",
        ),
    ]
)

STRATEGY = Vocabulary.of(
    [
        (
            t.Strategy.SLOW_DOWN,
            "slow down",
            r"slow(?:ing)? down",
            r"reduc\w+ (?:its |the )?speed",
            r"(?:drive|driving|go) (?:more )?slow(?:ly|er)",
            r"decelerat\w*",
            r"lower (?:the |its )?speed",
        ),
        (
            t.Strategy.LIGHTS_ON,
            "turn on its lights",
            r"(?:turn|switch|use)\w*(?: on)?[^.;,]{0,15} (?:head ?|fog )?lights?(?: on)?",
            r"headlights",
            r"fog lights",
        ),
        (
            t.Strategy.KEEP_DISTANCE,
            "keep more distance",
            r"(?:keep|maintain|increas)\w*[^.;,]{0,25} (?:distance|gap)",
            r"(?:more|larger|greater|longer|safe) (?:following )?distance",
        ),
        (
            t.Strategy.BRAKE_GENTLY,
            "brake and steer gently",
            r"(?:brak|steer)\w*[^.;,]{0,15} (?:gently|softly|smoothly)",
            r"(?:avoid|no) (?:hard|sudden|sharp|abrupt) (?:braking|steering|maneuvers?|manoeuvres?)",
            r"gentl[ey] (?:braking|steering)",
        ),
        (
            t.Strategy.WATCH_ROADSIDE,
            "watch the roadside for doors and people",
            r"(?:watch|look|pay attention|attention|careful|beware)\w*[^.;]{0,40} (?:roadside|doors?|people|pedestrians?|parked)",
            r"doors? (?:may|might|could) open",
        ),
        (
            t.Strategy.READY_TO_BRAKE,
            "be ready to brake",
            r"(?:ready|prepared?) (?:to|for) (?:stop\w*|brak\w*)",
            r"foot (?:on|over) the brake",
        ),
        (
            t.Strategy.AVOID_DEBRIS,
            "steer clear of the debris",
            r"(?:avoid|steer clear of|go around|evade)\w*[^.;,]{0,20} (?:debris|rubble|objects?)",
        ),
    ]
)

BEND = Vocabulary.of(
    [
        (
            t.Bend.STRAIGHT,
            "leads straight on",
            r"straight(?: ahead| on| forward)?",
            r"no (?:bend|curve)",
            r"(?:does not|doesn't) (?:bend|curve)",
        ),
        (
            t.Bend.LEFT,
            "bends to the left",
            r"(?:bend|curv|turn|lead|go|veer)\w*[^.;,]{0,10} left",
            r"left (?:bend|curve|hand bend)",
            r"left(?! lane| side)",
        ),
        (
            t.Bend.RIGHT,
            "bends to the right",
            r"(?:bend|curv|turn|lead|go|veer)\w*[^.;,]{0,10} right",
            r"right (?:bend|curve|hand bend)",
            r"right(?! lane| side)",
        ),
        (
            t.Bend.JUNCTION,
            "is part of a junction",
            r"(?:in|inside|within) (?:an?|the) (?:junction|intersection)",
            r"(?:junction|intersection)",
        ),
        (
            t.Bend.NO_LANE,
            "is no driving lane",
            r"not (?:a|on a|in a) (?:driving )?lane",
            r"no (?:driving )?lane",
            r"not in any lane",
        ),
    ]
)
