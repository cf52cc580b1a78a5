"""Whose failure an error is: a supervisor restarts a server that died, and scores a policy that has no answer."""

from __future__ import annotations

SERVER_FAILED = "model server: "
"""Begins the error of a reply or decision that was lost because the server is gone, late, busy or broken."""
_OF_OPENAI = ("APIConnectionError: ", "APITimeoutError: ", "InternalServerError: ")


def server_failed(error: str) -> bool:
    """Whether the server is to blame for an error of a ``ChatReply`` or ``DriveDecision``, not the policy.

    The text may stand inside another, as it does when a graph of questions reports what one of them met.
    """
    return SERVER_FAILED in error or any(name in error for name in _OF_OPENAI)
