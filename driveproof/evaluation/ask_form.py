"""Asking a model for yes and no: a JSON schema of booleans, replies read and retried in one place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from driveproof.policy import ChatPolicy, ChatRequest
from driveproof.scene import ImageRef

RETRY_TEMPERATURE = 0.5
"""The least temperature at which an unreadable reply is asked for again."""


class FormAsker:
    """Fills in forms of booleans with any model that talks.

    Parameters
    ----------
    policy
        Retries what a connection loses.
    attempts
        How often an unreadable reply is asked for, each time with another seed, and from the second time with a
        temperature above zero.
    max_tokens, temperature, seed
        Sampling.
    """

    def __init__(
        self,
        policy: ChatPolicy,
        *,
        attempts: int = 3,
        max_tokens: int = 256,
        temperature: float = 0.0,
        seed: int = 0,
    ) -> None:
        self._policy, self._attempts, self._max_tokens = policy, attempts, max_tokens
        self._temperature, self._seed = temperature, seed

    @property
    def name(self) -> str:
        """The model's name."""
        return self._policy.name

    def ask(
        self, system: str, user: str, fields: Sequence[str], images: Sequence[ImageRef] = ()
    ) -> dict[str, bool] | str:
        """The value of each field, or why there are none. Never raises for what a model does."""
        problem = "not asked"
        for attempt in range(self._attempts):
            request = _request(system, user, fields, images)
            reply = self._policy.reply(
                [
                    ChatRequest(
                        request,
                        images,
                        max_tokens=self._max_tokens,
                        temperature=temperature_of(attempt, self._temperature),
                        seed=self._seed + attempt,
                        schema=boolean_schema(fields),
                    )
                ]
            )[0]
            if reply.text is None:
                return reply.error  # the policy has retried what can be retried
            form = read_form(reply.text, fields)
            if isinstance(form, dict):
                return form
            problem = form
        return problem


def temperature_of(attempt: int, temperature: float) -> float:
    """For an attempt, counted from 0: a greedy reply that cannot be read would be the same again, whatever the seed."""
    return max(temperature, RETRY_TEMPERATURE) if attempt else temperature


def _request(
    system: str, user: str, fields: Sequence[str], images: Sequence[ImageRef]
) -> list[dict[str, Any]]:
    names = ", ".join(fields)
    text = f"{user}\n\nReply with a JSON object of the fields {names}, each true or false."
    pictures: list[dict[str, Any]] = [{"type": "image"} for _ in images]
    return [
        {"role": "system", "content": [{"type": "text", "text": system}]},
        {"role": "user", "content": [*pictures, {"type": "text", "text": text}]},
    ]


def boolean_schema(fields: Sequence[str]) -> dict[str, Any]:
    """A JSON schema of required booleans."""
    return {
        "type": "object",
        "properties": {name: {"type": "boolean"} for name in fields},
        "required": list(fields),
        "additionalProperties": False,
    }


def read_object(text: str) -> dict[str, Any] | None:
    """The last JSON object of a reply that is only a JSON object or wraps one in words and fences; None if there is none."""
    start, end = text.find("{"), text.rfind("}")
    try:
        found = json.loads(text[start : end + 1])
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def read_form(text: str, fields: Sequence[str]) -> dict[str, bool] | str:
    """The booleans of a reply, or what is wrong with it; a missing field makes the whole reply unusable."""
    found = read_object(text)
    if found is None:
        return "the reply is no JSON object"
    for name in fields:
        if not isinstance(found.get(name), bool):
            return f"the reply has no true or false for {name}"
    return {name: found[name] for name in fields}
