"""Questions in words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from driveproof.questions.objects import ObjectRef
from driveproof.questions.question import Question
from driveproof.questions.wording.mention import enumerate_mentions


def ask(
    question: Question,
    *,
    seed: int = 0,
    key: str = "",
    subject: str | ObjectRef | Sequence[ObjectRef] = "",
    references: bool = True,
) -> str:
    """One of the question's phrasings, chosen by ``(seed, number, key)``.

    Parameters
    ----------
    key
        What else the choice depends on, such as the frame.
    subject
        What the question is about: a side or sense, a kind of sign, one thing, or several things.
    references
        Whether things are named with their tags and cameras.
    """
    text = f"{seed}/{question.number}/{key}"
    digest = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
    phrasing = question.phrasings[digest % len(question.phrasings)]
    if isinstance(subject, ObjectRef):
        subject = [subject]
    if not isinstance(subject, str):
        named = enumerate_mentions(subject, references=references)
        # The phrasing brings its own article where it asks about one thing.
        subject = named.removeprefix("the ") if "the {subject}" in phrasing else named
    return phrasing.replace("{subject}", subject)
