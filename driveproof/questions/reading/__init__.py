"""Reading answers: typed facts and named things from words, by rules alone."""

from driveproof.questions.reading.answer import Reading, read_answer
from driveproof.questions.reading.mentions import Mention, find_mentions, match_mentions
from driveproof.questions.reading.numbers import Number, find_numbers
from driveproof.questions.reading.slots import read_slots

__all__ = [
    "Mention",
    "Number",
    "Reading",
    "find_mentions",
    "find_numbers",
    "match_mentions",
    "read_answer",
    "read_slots",
]
