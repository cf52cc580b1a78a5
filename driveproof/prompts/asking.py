"""One question of the catalogue as a request: the only builder, for recorded frames in training as for live ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cache

from driveproof.prompts.inputs import COMMAND_WORDS, InputMode, Picture, compose
from driveproof.prompts.messages import Message
from driveproof.questions import QUESTIONS, Question
from driveproof.render.marks import Mark


def compose_question(
    mode: InputMode,
    question: Question,
    text: str,
    pictures: Sequence[Picture] = (),
    marks: Iterable[Mark] = (),
    *,
    ego_speed: float,
    command: str,
) -> tuple[list[Message], list[Picture]]:
    """The request for ``question`` in the words ``text`` (:func:`driveproof.questions.wording.ask`).

    Speed (m/s) and command stand before the questions that need them, and before no others.

    Raises
    ------
    ValueError
        If the number of pictures is not the mode's.
    """
    return compose(
        mode,
        text,
        pictures,
        marks,
        ego_speed if question.ego_speed else None,
        command if question.command else "",
    )


@cache
def wording_hash(mode: InputMode) -> str:
    """Sixteen hex digits that change with any word that a model of this mode is asked with."""
    wanted = {"camera": mode.history * len(mode.views), "bev": 1}.get(mode.shown, 0)
    mark = Mark("c1", "red car", 12.3, -4.5, speed=6.7, heading=1.0)
    said = [
        compose_question(mode, question, text, [None] * wanted, [mark], ego_speed=1.2, command=word)
        for question in QUESTIONS.values()
        for text in question.phrasings
        for word in COMMAND_WORDS
    ]
    return hashlib.sha256(json.dumps([messages for messages, _ in said]).encode()).hexdigest()[:16]
