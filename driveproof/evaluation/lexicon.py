"""The words by which claims are recognised, in English and in the compact style."""

from __future__ import annotations

import re

from driveproof.evaluation.claims import Action, Entity

NUMBER = r"-?\d{1,4}(?:\.\d{1,3})?"
COMPACT_SIGNAL = re.compile(
    r"\bsignal (none|red|yellow|green|off|unknown|stop|yield)(?: (\d{1,4}))?(?![\w.])"
)
COMPACT_AHEAD = re.compile(
    r"\bahead (?:(clear)|(vehicle|pedestrian|cyclist|obstacle) (\d{1,4}) (standing|same|slower|faster))\b"
)
PLAN = re.compile(rf"\bmiddle ({NUMBER}),({NUMBER}) end ({NUMBER}),({NUMBER})")

EGO = (
    r"(?:the |our |my )?ego(?:[- ](?:vehicle|car))?|(?:our|my|own)(?: own)? (?:vehicle|car)|\bwe\b|\bi\b|"
    r"\b(?:the )?(?:vehicle|car)(?= (?:must|should|needs? to|has to|can|may|will|ought to)\b)"
)
# words that would be taken for something else
MASKED = re.compile(
    r"brake lights?|brake lamps?|tail ?lights?|headlights?|head lamps?|turn(?:ing)? signals?|indicator lights?|"
    r"street ?lights?|street lamps?|daylight|stop[- ]?lines?|bus stops?|"
    r"keep(?:s|ing)? (?:in |to |within )?(?:its |the |our |my )?(?:lane|left|right|distance|clear)|"
    r"in light of|light traffic|light rain|slight"
)
ENTITIES: tuple[tuple[Entity, str], ...] = (
    (Entity.EGO, EGO),
    (Entity.STOP, r"stop[- ]?signs?"),
    (Entity.YIELD, r"(?:yield|give[- ]way)[- ]?signs?"),
    (Entity.LIGHT, r"(?:traffic[- ]?)?(?:lights?|signals?)|traffic lamps?"),
    (Entity.CONTROL, r"(?:traffic )?(?:signs?|controls?)"),
    (
        Entity.PEDESTRIAN,
        r"pedestrians?|persons?|people|walkers?|child(?:ren)?|(?:wo)?m[ae]n(?= cross)",
    ),
    (Entity.CYCLIST, r"cyclists?|bicycl(?:es?|ists?)|bikes?|bikers?"),
    (
        Entity.OBSTACLE,
        r"obstacles?|cones?|barriers?|debris|construction(?: sites?)?|warning triangles?",
    ),
    (
        Entity.VEHICLE,
        r"vehicles?|cars?|sedans?|hatchbacks?|coupes?|pick-?ups?|trucks?|trailers?|(?:mini)?vans?|bus(?:es)?|suvs?|lorr(?:y|ies)|taxis?|jeeps?|motorcycles?|"
        r"motorbikes?|scooters?|ambulances?|police cars?|fire ?trucks?",
    ),
    (
        Entity.USER,
        r"road users?|hazards?|obstructions?|traffic|anyone|anybody|anything|nobody|nothing|no one",
    ),
)
MENTION = re.compile("|".join(rf"(?P<{e.name}>\b(?:{p})\b)" for e, p in ENTITIES))
COLOUR = re.compile(r"\b(red|yellow|amber|orange|green)\b")
COLOURS = {"amber": "yellow", "orange": "yellow"}
DISTANCE = re.compile(rf"({NUMBER}) ?(?:m|metres?|meters?)\b(?!/| per)")
SPEED = re.compile(rf"({NUMBER}) ?(m/s|km/h|kph|kmh|mph|met(?:er|re)s? per second|miles per hour)")
PER_SECOND = {"km/h": 1 / 3.6, "kph": 1 / 3.6, "kmh": 1 / 3.6, "mph": 0.44704}
PER_SECOND["miles per hour"] = 0.44704
MOTIONS: tuple[tuple[str, str], ...] = (
    (
        "standing",
        r"standing(?: still)?|stopped|stationary|parked|at a standstill|halted|not moving|motionless",
    ),
    ("slower", r"slower|slow-moving|moving slowly|(?:is |are )?(?:slowing(?: down)?|braking)"),
    ("faster", r"faster|pulling away|drawing away|moving away|accelerating"),
    ("same", r"(?:at |with )?(?:about |nearly )?the same speed|equally fast|at our speed"),
)
MOTION = re.compile("|".join(rf"(?P<{n}>\b(?:{p})\b)" for n, p in MOTIONS))
SIDE = re.compile(
    r"\b(?:(?:on|to|from) (?:the|its|our) )?(left|right)\b(?! turn)|\b(ahead|front)\b"
)
FREE = r"(?:clear|free|empty|unobstructed|open)\b(?! (?:weather|day|night|sk|visib|condition|view))"
CLEAR = re.compile(
    rf"(?:road|way|lane|path|street)\b[^.,;]{{0,24}}?\b{FREE}|"
    rf"\b{FREE} (?:road|way|lane|path|street)\b|"
    r"\bahead (?:is|are|lies) (?:clear|free|empty)\b|\bclear ahead\b"
)
COUNTERFACTUAL = re.compile(r" (?:\w+ ){0,2}?(?:would|could|might)\b")
ACTIONS: tuple[tuple[Action, str], ...] = (
    (
        Action.STOP,
        r"stop(?:s|ping)?|halt(?:s|ing)?|com(?:e|es|ing) to (?:a |rest|standstill)\w*|standstill|wait(?:s|ing)?|"
        r"(?:remain|stay)(?:s|ing)? (?:stationary|stopped|standing|still|put)",
    ),
    (
        Action.SLOW,
        r"slow(?:s|ing)?(?! (?:cars?|vehicles?|trucks?|traffic|moving|lane))(?: down)?|brak(?:e|es|ing)|decelerat\w*|yield(?:s|ing)?|eas(?:e|es|ing) off|"
        r"(?:reduc|lower)\w* (?:its |the |our |my )?speed",
    ),
    (
        Action.KEEP,
        r"(?:keep|maintain|hold)\w* (?:its |the |our |my |a )?(?:current |present |steady |constant )?(?:speed|pace)|"
        r"constant speed|cruis\w+|continu\w+|carry on|go(?:es)? on|proceed\w*",
    ),
    (
        Action.ACCELERATE,
        r"accelerat\w*|speed\w* up|gain\w* speed|pick\w* up speed|pull\w* away|driv\w+ off|set\w* off",
    ),
)
ACTION = re.compile("|".join(rf"(?P<{a.name}>\b(?:{p})\b)" for a, p in ACTIONS))
TURN = re.compile(
    r"\b(?:turn|bear|veer|steer|curve|bend|change|shift|swing)\w*(?: lanes?)?(?: to)?(?: the| its)? (left|right)\b|"
    r"\b(left|right)[- ](?:turn|hand|lane change|bend|curve)|"
    r"\b(?:command|instruction|navigation|route)\b[^.;]{0,24}?\b(left|right|straight|follow)\b|"
    r"\b(straight)(?: on| ahead| across)?\b|\b(follow)\w* (?:the|its|our) (?:lane|road|route)"
)
NEGATED_THING = re.compile(
    r"(?:\b(?:no|without|neither|nor|never|free of|clear of|absence of|lack of|nothing like)\b|"
    r"(?:\bnot\b|n't\b)(?: \w+){0,2}? (?:see|any|a|an|have|show|detect|observe|find)\b)[^,;:]{0,60}$"
)
ABSENT_AFTER = re.compile(
    r"^[^,;:.]{0,16}\b(?:is|are) (?:not (?:visible|present|there|seen)|absent|missing)|^ (?:is |are )?none\b"
)
NEGATED_ACTION = re.compile(
    r"(?:\b(?:no|not|never|without|cannot|nothing|nobody|neither|nor)\b|n't\b)[^,;:]{0,48}$"
)
BREAK = re.compile(r"\b(?:but|however|only|although|yet|instead|whereas|so|therefore|because)\b")
PRONOUN = re.compile(r"^(?:it|they|which|this one|that one)\b")
HYPOTHESIS = re.compile(r"\b(?:if|unless|in case|assuming|provided)\b.*")
SENTENCE = re.compile(r"\.(?=\s|$)|[!?;\n]")
STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        "the a an of to in on at is are be been and or that this it its with for by as from must should would will can "
        "may ego vehicle car names states says notes mentions takes account so therefore because which what there has "
        "have not no nor than then into about current",
    )
)
IN_LIST = r"(?:(?!(?:the|a|an) )[\w-]+ ){0,3}(?:or |and |nor )?(?:(?!(?:the|a|an) )[\w-]+ )?"
IN_LIST_OF_VERBS = r"(?:or |nor )(?:\w+ )?"
