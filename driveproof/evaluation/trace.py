"""Reading a reasoning trace: which things it names, how, and what follows for the speed.

One reader for two languages: the few words of the compact style ("signal red 20 ahead vehicle 10 slower / middle 10,0
end 14,0") and plain English. It reads criteria of rubrics the same way, so that a criterion and a trace can be compared
claim by claim. Deterministic, without a model; what it does not understand it leaves out.
"""

from __future__ import annotations

import re

from driveproof.evaluation.claims import Entity, Mention, Trace
from driveproof.evaluation.english import English
from driveproof.evaluation.lexicon import (
    COMPACT_AHEAD,
    COMPACT_SIGNAL,
    PLAN,
    SENTENCE,
    STOPWORDS,
)

MAX_CHARS = 8000
"""A longer text is read to here."""
MAX_SENTENCE = 500
"""A longer sentence is read in pieces, so that reading takes time in proportion to the text."""


def read_trace(text: str) -> Trace:
    """What ``text`` says; the first :data:`MAX_CHARS` characters count. Never raises for any text."""
    rest = " ".join(text[:MAX_CHARS].lower().replace("’", "'").split(" "))
    words = frozenset(stem(w) for w in re.findall(r"[a-z]{3,}", rest) if w not in STOPWORDS)
    mentions: list[Mention] = []
    plan = None
    if found := _last(PLAN, rest):
        x1, y1, x2, y2 = map(float, found.groups())
        plan = ((x1, y1), (x2, y2))
    for match in COMPACT_SIGNAL.finditer(rest):
        mentions.append(_compact_signal(match[1], match[2]))
    for match in COMPACT_AHEAD.finditer(rest):
        mentions.append(_compact_user(match))
    for pattern in (COMPACT_SIGNAL, COMPACT_AHEAD, PLAN):
        rest = pattern.sub(" . ", rest)
    english = English()
    for sentence in SENTENCE.split(rest):
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
