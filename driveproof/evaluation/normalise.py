"""What a grader may read of a rollout: the reasoning of turn 1, and nothing that gives an answer away.

DEFT-RLVR, appendix D.3: the text is cut at the revealed options; what is left of options or of turn 2, wrapper tags, the line
of the high-level decision and structural headers go; evidence and reasons stay. Text is brought into one form first
(Unicode compatibility form, no invisible characters), so that an answer cannot hide behind look-alikes.
"""

from __future__ import annotations

import re
import unicodedata

MAX_CHARS = 8000
"""A grader reads no more of a trace than that."""

_OPTION_BLOCK = re.compile(
    r"^[^\S\n]*(?:={2,}\s*)?(?:PART\s*(?:2|II|TWO)\b|CANDIDATE\s+TRAJECTOR\w*|OPTIONS?\s*:|MATCH\s*$)|<\|im_start\|>",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER_TAG = re.compile(
    r"<\s*(answer|final|choice|output|response)\b[^<>]*>.*?(?:<\s*/\s*\1\s*>|$)",
    re.IGNORECASE | re.DOTALL,
)
_NESTED = re.compile(r"<([^<>\n]{0,80})<[^<>\n]{0,80}>")
_TAG = re.compile(r"<[^<>\n]{0,80}>|\[/?(?:INST|THINK|ANSWER|REASONING)\]", re.IGNORECASE)
_GAP = r"[\s_*\-]*"
_DECISION = re.compile(rf"^.*HIGH{_GAP}LEVEL{_GAP}DECISION.*$", re.IGNORECASE | re.MULTILINE)
_DECISION_FIELD = re.compile(
    r"\b(?:direction|speed)\s*[=:]\s*[\"'*]*(?:straight|(?:shift_)?(?:left|right)|stop|decelerate|keep|accelerate)\b"
    r"[\"'*]*\s*[;,]?",
    re.IGNORECASE,
)
_CHOICE = re.compile(rf"^.*FINAL{_GAP}CHOICE.*$", re.IGNORECASE | re.MULTILINE)
_COORDINATE = r"-?(?<![\d.])\d{1,6}(?:\.\d{1,6})?"
_PAIR = rf"\(?\s?{_COORDINATE}\s?,\s?{_COORDINATE}\s?\)?"
_OPTION_LINE = re.compile(
    r"^[^\S\n]*[(\[*\-]*[^\S\n]*[A-J][^\S\n]*[)\]*]*[^\S\n]*[:.)\]].*$", re.MULTILINE
)
_PAIRS = re.compile(
    rf"(?<![A-Za-z])[A-J]\s?[:)]\s?{_PAIR}(?:[\s;]?{_PAIR})*|{_PAIR}(?:[\s;]?{_PAIR})+"
)
_LETTER = re.compile(
    r"\b(?i:option|candidate|choice|choose|chose|chosen|answer|select|selected|pick|trajectory)s?\b.{0,60}?"
    r"(?<![A-Za-z0-9'])(?:[A-HJ](?![A-Za-z0-9'])|I(?=\s*(?:[.)\],:;!?]|$)))"
)
_ALONE = re.compile(r"\s*[(\[*\"']*[A-J][)\]*\"'.:!?]*\s*")
_SENTENCE = re.compile(r"(?<=[.!?])(?=\s)|(?<=\n)|(?=\n)")
_RULE = re.compile(r"[=_\-*#~]{3,}|^[^\S\n]*#+[^\S\n]*", re.MULTILINE)
_HEADER = re.compile(
    r"^[^\S\n]*[*#]*[^\S\n]*(?:PART[^\S\n]*(?:\d+|[IVX]+|ONE)|REASONING|DECISION|DECIDE|ANSWER|ANALYSIS)\b[^\S\n]*[*]*"
    r"[^\S\n]*(?:[:.\-][^\S\n]*(?:DECIDE|REASONING|PLAN)?[^\S\n]*)?[*]*(?=[^\S\n]|$)[:]?",
    re.IGNORECASE | re.MULTILINE,
)
_LOOK_ALIKE = str.maketrans(
    "АВСЕНІЈКМОРТХаеосрхіјΑΒΕΗΙΚΜΝΟΡΤΧ", "ABCEHIJKMOPTXaeocpxijABEHIKMNOPTX"
)
"""Cyrillic and Greek letters that look like Latin ones."""


def normalise(turn1: str, turn2: str | None = None, *, keep_decision: bool = False) -> str:
    """The reasoning of ``turn1`` alone.

    Parameters
    ----------
    turn1, turn2
        The generated texts; where turn 2 stands inside turn 1 it is cut out.
    keep_decision
        Leave the decision in, for a judge of coherence that has to see what the reasons lead to.

    Notes
    -----
    Repeated until nothing changes, because what is removed may bring together what was kept apart
    (``<ans<x>wer>``). So normalising twice is normalising once. Never raises for any text.
    """
    text = _plain(turn1)
    second = _plain(turn2 or "").strip()
    if second and second in text:
        text = text[: text.index(second)]
    while True:
        shorter = _once(text, keep_decision)
        if shorter == text:
            return text
        text = shorter


def _once(text: str, keep_decision: bool) -> str:
    if block := _OPTION_BLOCK.search(text):
        text = text[: block.start()]
    text = _NESTED.sub(r"<\1", text)
    text = _ANSWER_TAG.sub("\n", text)
    text = _TAG.sub(" ", text)
    if not keep_decision:
        text = _DECISION.sub("", text)
        text = _DECISION_FIELD.sub("", text)
    for pattern in (_CHOICE, _OPTION_LINE):
        text = pattern.sub("", text)
    text = "".join(
        s for s in _SENTENCE.split(text) if not _LETTER.search(s) and not _ALONE.fullmatch(s)
    )
    text = _PAIRS.sub(" ", text)
    text = _RULE.sub(" ", text)
    text = _HEADER.sub(" ", text)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line)[:MAX_CHARS].strip()


def _plain(text: str) -> str:
    """Compatibility form in Latin letters without characters that show nothing."""
    folded = unicodedata.normalize("NFKC", text[: 4 * MAX_CHARS]).translate(_LOOK_ALIKE)
    shown = "".join(
        char
        for char in folded.replace("\r", "\n")
        if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cf", "Co", "Cs", "Cn")
    )
    lines = (" ".join(line.split()) for line in shown.splitlines())
    return "\n".join(line for line in lines if line)
