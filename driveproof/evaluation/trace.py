"""Reading a reasoning trace: which things it names, how, and what follows for the speed.

One reader for two languages: the few words of the compact style ("signal red 20 ahead vehicle 10 slower / middle 10,0
end 14,0") and plain English. It reads criteria of rubrics the same way, so that a criterion and a trace can be compared
claim by claim. Deterministic, without a model; what it does not understand it leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum

MAX_CHARS = 8000
"""A longer text is read to here."""
MAX_SENTENCE = 500
"""A longer sentence is read in pieces, so that reading takes time in proportion to the text."""
SHIFT_M = 1.75
"""Half a lane: a plan that ends so far beside the axis leaves it."""


class Entity(StrEnum):
    """What a trace may name."""

    LIGHT = "light"
    STOP = "stop"
    YIELD = "yield"
    CONTROL = "control"
    """Any light or sign."""
    VEHICLE = "vehicle"
    PEDESTRIAN = "pedestrian"
    CYCLIST = "cyclist"
    OBSTACLE = "obstacle"
    USER = "user"
    """Any road user or thing in the way."""
    EGO = "ego"

    @property
    def is_control(self) -> bool:
        """Whether it is a light or sign."""
        return self in (Entity.LIGHT, Entity.STOP, Entity.YIELD, Entity.CONTROL)


class Action(StrEnum):
    """What is to happen to the speed."""

    STOP = "stop"
    SLOW = "slow"
    KEEP = "keep"
    ACCELERATE = "accelerate"


@dataclass(frozen=True)
class Mention:
    """One thing that is named, or said to be absent.

    ``state`` is the colour of a light; ``distance`` in metres; ``motion`` "standing", "slower", "same" or "faster";
    ``speed`` in m/s; ``side`` "left", "right" or "ahead". Empty or None where nothing is said.
    """

    entity: Entity
    present: bool = True
    state: str = ""
    distance: float | None = None
    motion: str = ""
    speed: float | None = None
    side: str = ""


@dataclass(frozen=True)
class Trace:
    """What a text says.

    Attributes
    ----------
    mentions
        Things named or said to be absent, in order; the ego is not among them.
    actions, denied
        What is to happen to the speed, and what is said not to be needed or not to be done.
    speed
        Ego speed as stated, m/s; None if it is not.
    route
        Directions that the text takes: "left", "right", "straight", "follow".
    plan
        Stated ego positions after 2.5 and 5 s, metres.
    words
        Content words, for criteria about what this reader knows nothing of.
    """

    mentions: tuple[Mention, ...] = ()
    actions: frozenset[Action] = frozenset()
    denied: frozenset[Action] = frozenset()
    speed: float | None = None
    route: frozenset[str] = frozenset()
    plan: tuple[tuple[float, float], tuple[float, float]] | None = None
    words: frozenset[str] = field(default_factory=frozenset)


_NUMBER = r"-?\d{1,4}(?:\.\d{1,3})?"
_COMPACT_SIGNAL = re.compile(
    r"\bsignal (none|red|yellow|green|off|unknown|stop|yield)(?: (\d{1,4}))?(?![\w.])"
)
_COMPACT_AHEAD = re.compile(
    r"\bahead (?:(clear)|(vehicle|pedestrian|cyclist|obstacle) (\d{1,4}) (standing|same|slower|faster))\b"
)
_PLAN = re.compile(rf"\bmiddle ({_NUMBER}),({_NUMBER}) end ({_NUMBER}),({_NUMBER})")

_EGO = (
    r"(?:the |our |my )?ego(?:[- ](?:vehicle|car))?|(?:our|my|own)(?: own)? (?:vehicle|car)|\bwe\b|\bi\b|"
    r"\b(?:the )?(?:vehicle|car)(?= (?:must|should|needs?|has|can|may|will|ought)\b)"
)
# words that would be taken for something else
_MASKED = re.compile(
    r"brake lights?|brake lamps?|tail ?lights?|headlights?|head lamps?|turn(?:ing)? signals?|indicator lights?|"
    r"street ?lights?|street lamps?|daylight|stop[- ]?lines?|"
    r"keep(?:s|ing)? (?:in |to |within )?(?:its |the |our |my )?(?:lane|left|right|distance|clear)|"
    r"in light of|light traffic|light rain|slight"
)
_ENTITIES: tuple[tuple[Entity, str], ...] = (
    (Entity.EGO, _EGO),
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
        r"vehicles?|cars?|trucks?|vans?|bus(?:es)?|suvs?|lorr(?:y|ies)|taxis?|jeeps?|motorcycles?|"
        r"motorbikes?|scooters?|ambulances?|police cars?|fire ?trucks?",
    ),
    (
        Entity.USER,
        r"road users?|hazards?|obstructions?|traffic|anyone|anybody|anything|nobody|nothing|no one",
    ),
)
_MENTION = re.compile("|".join(rf"(?P<{e.name}>\b(?:{p})\b)" for e, p in _ENTITIES))
_COLOUR = re.compile(r"\b(red|yellow|amber|orange|green)\b")
_COLOURS = {"amber": "yellow", "orange": "yellow"}
_DISTANCE = re.compile(rf"({_NUMBER}) ?(?:m|metres?|meters?)\b(?!/| per)")
_SPEED = re.compile(
    rf"({_NUMBER}) ?(m/s|km/h|kph|kmh|mph|met(?:er|re)s? per second|miles per hour)"
)
_PER_SECOND = {"km/h": 1 / 3.6, "kph": 1 / 3.6, "kmh": 1 / 3.6, "mph": 0.44704}
_PER_SECOND["miles per hour"] = 0.44704
_MOTIONS: tuple[tuple[str, str], ...] = (
    (
        "standing",
        r"standing(?: still)?|stopped|stationary|parked|at a standstill|halted|not moving|motionless",
    ),
    ("slower", r"slower|slow-moving|moving slowly|(?:is |are )?(?:slowing(?: down)?|braking)"),
    ("faster", r"faster|pulling away|drawing away|moving away|accelerating"),
    ("same", r"(?:at |with )?(?:about |nearly )?the same speed|equally fast|at our speed"),
)
_MOTION = re.compile("|".join(rf"(?P<{n}>\b(?:{p})\b)" for n, p in _MOTIONS))
_SIDE = re.compile(
    r"\b(?:(?:on|to|from) (?:the|its|our) )?(left|right)\b(?! turn)|\b(ahead|front)\b"
)
_CLEAR = re.compile(
    r"(?:road|way|lane|path|street)\b[^.,;]{0,24}?\b(?:clear|free|empty|unobstructed|open)\b|"
    r"\b(?:clear|free|empty|unobstructed|open) (?:road|way|lane|path|street)\b|"
    r"\bahead (?:is|are|lies) (?:clear|free|empty)\b|\bclear ahead\b"
)
_ACTIONS: tuple[tuple[Action, str], ...] = (
    (
        Action.STOP,
        r"stop(?:s|ping)?|halt(?:s|ing)?|com(?:e|es|ing) to (?:a |rest|standstill)\w*|standstill|wait(?:s|ing)?|"
        r"(?:remain|stay)(?:s|ing)? (?:stationary|stopped|standing|still|put)",
    ),
    (
        Action.SLOW,
        r"slow(?:s|ing)?(?: down)?|brak(?:e|es|ing)|decelerat\w*|yield(?:s|ing)?|eas(?:e|es|ing) off|"
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
_ACTION = re.compile("|".join(rf"(?P<{a.name}>\b(?:{p})\b)" for a, p in _ACTIONS))
_TURN = re.compile(
    r"\b(?:turn|bear|veer|steer|curve|bend|change|shift|swing)\w*(?: lanes?)?(?: to)?(?: the| its)? (left|right)\b|"
    r"\b(left|right)[- ](?:turn|hand|lane change|bend|curve)|"
    r"\b(?:command|instruction|navigation|route)\b[^.;]{0,24}?\b(left|right|straight|follow)\b|"
    r"\b(straight)(?: on| ahead| across)?\b|\b(follow)\w* (?:the|its|our) (?:lane|road|route)"
)
_NEGATED_THING = re.compile(
    r"(?:\b(?:no|without|neither|nor|never|free of|clear of|absence of|lack of|nothing like)\b|"
    r"(?:\bnot\b|n't\b)(?: \w+){0,2}? (?:see|any|a|an|have|show|detect|observe|find)\b)[^,;:]{0,60}$"
)
_ABSENT_AFTER = re.compile(
    r"^[^,;:.]{0,16}\b(?:is|are) (?:not (?:visible|present|there|seen)|absent|missing)|^ (?:is |are )?none\b"
)
_NEGATED_ACTION = re.compile(
    r"(?:\b(?:no|not|never|without|cannot|nothing|nobody|neither|nor)\b|n't\b)[^,;:]{0,48}$"
)
_BREAK = re.compile(r"\b(?:but|however|only|although|yet|instead|whereas|so|therefore|because)\b")
_PRONOUN = re.compile(r"^(?:it|they|which|this one|that one)\b")
_SENTENCE = re.compile(r"(?<!\d)\.(?=\s|$)|(?<=\d)\.(?=\s|$)|[!?;\n]")
_STOPWORDS = frozenset(
    re.findall(
        r"\w+",
        "the a an of to in on at is are be been and or that this it its with for by as from must should would will can "
        "may ego vehicle car names states says notes mentions takes account so therefore because which what there has "
        "have not no nor than then into about current",
    )
)


def read_trace(text: str) -> Trace:
    """What ``text`` says; the first :data:`MAX_CHARS` characters count. Never raises for any text."""
    rest = " ".join(text[:MAX_CHARS].lower().replace("’", "'").split(" "))
    words = frozenset(stem(w) for w in re.findall(r"[a-z]{3,}", rest) if w not in _STOPWORDS)
    mentions: list[Mention] = []
    plan = None
    if found := _last(_PLAN, rest):
        x1, y1, x2, y2 = map(float, found.groups())
        plan = ((x1, y1), (x2, y2))
    for match in _COMPACT_SIGNAL.finditer(rest):
        mentions.append(_compact_signal(match[1], match[2]))
    for match in _COMPACT_AHEAD.finditer(rest):
        mentions.append(_compact_user(match))
    for pattern in (_COMPACT_SIGNAL, _COMPACT_AHEAD, _PLAN):
        rest = pattern.sub(" . ", rest)
    english = _English()
    for sentence in _SENTENCE.split(rest):
        for start in range(0, len(sentence), MAX_SENTENCE):
            english.read(sentence[start : start + MAX_SENTENCE])
    return Trace(
        mentions=(*mentions, *english.mentions),
        actions=frozenset(english.actions),
        denied=frozenset(english.denied),
        speed=english.speed,
        route=frozenset(english.route),
        plan=plan,
        words=words,
    )


def stem(word: str) -> str:
    """A word without its commonest endings: enough to compare content words."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def plan_actions(
    plan: tuple[tuple[float, float], tuple[float, float]], speed: float | None
) -> frozenset[Action]:
    """What stated positions (metres, after 2.5 and 5 s) do to the speed; ``speed`` is the ego's now, m/s.

    The classes of :func:`driveproof.scene.decision_of`, with the mean speed of the second half as the final one. Without a
    known speed the first half stands for it.
    """
    (x1, y1), (x2, y2) = plan
    final = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5 / 2.5
    begin = (x1**2 + y1**2) ** 0.5 / 2.5 if speed is None else speed
    if final < 0.7:
        return frozenset({Action.STOP})
    margin = max(1.0, 0.15 * begin)
    if final > begin + margin:
        return frozenset({Action.ACCELERATE})
    return frozenset({Action.SLOW if final < begin - margin else Action.KEEP})


def plan_route(plan: tuple[tuple[float, float], tuple[float, float]]) -> frozenset[str]:
    """Where stated positions go: "left", "right" or "straight", and "follow"."""
    beside = plan[1][1]
    if abs(beside) < SHIFT_M:
        return frozenset({"straight", "follow"})
    # a lane may bend, so every stated plan can be one that follows it
    return frozenset({"left" if beside > 0 else "right", "follow"})


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for found in pattern.finditer(text):  # noqa: B007  the last one counts
        pass
    return found


def _compact_signal(name: str, metres: str | None) -> Mention:
    if name == "none":
        return Mention(Entity.CONTROL, present=False)
    distance = float(metres) if metres else None
    if name in ("stop", "yield"):
        return Mention(Entity(name), distance=distance)
    return Mention(Entity.LIGHT, state=name, distance=distance)


def _compact_user(match: re.Match[str]) -> Mention:
    if match[1]:
        return Mention(Entity.USER, present=False, side="ahead")
    return Mention(Entity(match[2]), distance=float(match[3]), motion=match[4], side="ahead")


@dataclass
class _Found:
    """A mention in a sentence with its place."""

    mention: Mention
    start: int
    end: int


class _English:
    """Collects what sentences say."""

    def __init__(self) -> None:
        self.mentions: list[Mention] = []
        self.actions: set[Action] = set()
        self.denied: set[Action] = set()
        self.speed: float | None = None
        self.route: set[str] = set()

    def read(self, sentence: str) -> None:
        """Take in one sentence."""
        sentence = _MASKED.sub(lambda m: "_" * len(m[0]), sentence.strip())
        if not sentence:
            return
        found = list(_mentions(sentence))
        carried = not any(f.mention.entity is not Entity.EGO for f in found)
        if carried and _PRONOUN.match(sentence) and self.mentions:
            found.append(_Found(self.mentions.pop(), 0, 0))
        taken = self._attributes(sentence, found)
        self._act(sentence, taken)
        for match in _TURN.finditer(sentence):
            if not _NEGATED_ACTION.search(
                _clause(sentence, match.start(), joins=_IN_LIST_OF_VERBS)
            ):
                self.route |= {group for group in match.groups() if group}
        self.mentions += [f.mention for f in found if f.mention.entity is not Entity.EGO]

    def _attributes(self, sentence: str, found: list[_Found]) -> list[tuple[int, int]]:
        """Give every attribute to the nearest thing that can have it; returns places that are no actions."""
        taken = [(f.start, f.end) for f in found]
        for match in _COLOUR.finditer(sentence):
            if re.search(r"(?:\bnot|n't|\bno longer) $", sentence[: match.start()]):
                continue
            lights = [f for f in found if f.mention.entity is Entity.LIGHT]
            owner = _nearest(lights, match, reach=32)
            vehicle = re.match(
                r" (?:\w+ )?(?:car|truck|van|bus|suv|vehicle)", sentence[match.end() :]
            )
            if owner and not vehicle:
                state = _COLOURS.get(match[1], match[1])
                owner.mention = replace(owner.mention, state=owner.mention.state or state)
        for match in _DISTANCE.finditer(sentence):
            things = [f for f in found if f.mention.entity is not Entity.EGO]
            owner = _nearest(things, match)
            if owner and owner.mention.distance is None:
                owner.mention = replace(owner.mention, distance=float(match[1]))
        for match in _SPEED.finditer(sentence):
            value = float(match[1]) * _PER_SECOND.get(match[2], 1.0)
            movers = [f for f in found if not f.mention.entity.is_control]
            owner = _nearest(movers, match)
            if owner is None or owner.mention.entity is Entity.EGO:
                self.speed = value
            else:
                owner.mention = replace(owner.mention, speed=value)
        users = [f for f in found if not f.mention.entity.is_control]
        for match in _MOTION.finditer(sentence):
            owner = _mover(users, match)
            if owner is None:
                continue
            if owner.mention.entity is not Entity.EGO:
                owner.mention = replace(owner.mention, motion=str(match.lastgroup))
                taken.append(match.span())
            elif match.lastgroup == "standing":
                self.speed = 0.0
        for match in _SIDE.finditer(sentence):
            owner = _nearest(users, match, reach=24)
            if owner and owner.mention.entity is not Entity.EGO and not owner.mention.side:
                side = match[1] or "ahead"
                owner.mention = replace(owner.mention, side=side)
        return taken

    def _act(self, sentence: str, taken: list[tuple[int, int]]) -> None:
        for match in _ACTION.finditer(sentence):
            if any(begin < match.end() and match.start() < end for begin, end in taken):
                continue
            action = Action[str(match.lastgroup)]
            negated = _NEGATED_ACTION.search(
                _clause(sentence, match.start(), joins=_IN_LIST_OF_VERBS)
            )
            (self.denied if negated else self.actions).add(action)


def _mentions(sentence: str) -> Iterator[_Found]:
    for match in _MENTION.finditer(sentence):
        entity = Entity[str(match.lastgroup)]
        clause = _clause(sentence, match.start())
        absent = (
            _NEGATED_THING.search(clause)
            or _ABSENT_AFTER.match(sentence[match.end() :])
            or match[0] in ("nobody", "nothing", "no one")
        )
        # "nothing demands a stop" says something of the speed, "nothing ahead" of the way
        placed = re.match(r" (?:\w+ )?(?:ahead|in (?:the|its|our))", sentence[match.end() :])
        if match[0] in ("nothing", "nobody", "no one") and not placed:
            continue
        yield _Found(Mention(entity, present=not absent), match.start(), match.end())
    for match in _CLEAR.finditer(sentence):
        if not re.search(r"\bnot\b|n't\b", match[0] + _clause(sentence, match.start())[-12:]):
            free = Mention(Entity.USER, present=False, side="ahead")
            yield _Found(free, match.start(), match.end())


_IN_LIST = r"(?:(?!(?:the|a|an) )[\w-]+ ){0,3}(?:or |and |nor )?(?:(?!(?:the|a|an) )[\w-]+ )?"
_IN_LIST_OF_VERBS = r"(?:or |nor )(?:\w+ )?"


def _clause(sentence: str, place: int, joins: str = _IN_LIST) -> str:
    """What stands before ``place`` in its clause; a list ("no car, bus or truck") shares its negation."""
    before = re.split(r"[,:;]", sentence[:place])
    while len(before) > 1 and re.fullmatch(rf" ?{joins}", before[-1]):
        before[-2:] = [f"{before[-2]}{before[-1]}"]
    return _BREAK.split(before[-1])[-1]


def _mover(users: list[_Found], match: re.Match[str]) -> _Found | None:
    """Whose motion it is: of the thing that follows at once ("a slower car"), else of the last before it."""
    for thing in users:
        if 0 <= thing.start - match.end() <= 1 and thing.mention.entity is not Entity.EGO:
            return thing
    before = [f for f in users if f.end <= match.start()]
    return _nearest(before or users, match, reach=48)


def _nearest(found: list[_Found], match: re.Match[str], reach: int = 80) -> _Found | None:
    """The present thing nearest to an attribute; what is said before it wins a tie."""

    def gap(thing: _Found) -> int:
        if thing.end <= match.start():
            return 2 * (match.start() - thing.end)
        return 2 * max(thing.start - match.end(), 0) + 1

    near = [f for f in found if f.mention.present and gap(f) <= 2 * reach]
    return min(near, key=gap, default=None)
