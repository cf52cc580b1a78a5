"""Words for questions, answers and things."""

from driveproof.questions.wording.ask import ask
from driveproof.questions.wording.mention import enumerate_mentions, mention
from driveproof.questions.wording.sentences import EGO, Sentences
from driveproof.questions.wording.vocabulary import Found, Term, Vocabulary, negated
from driveproof.questions.wording.words import WORDS, says

__all__ = [
    "EGO",
    "WORDS",
    "Found",
    "Sentences",
    "Term",
    "Vocabulary",
    "ask",
    "enumerate_mentions",
    "mention",
    "negated",
    "says",
]
