"""Whose failure a refusal is: a supervisor waits for a server that failed, and scores a policy that has no answer."""

from __future__ import annotations

_OF_WHAT_WAS_ASKED = frozenset({400, 413, 422})


def is_outage(status: int) -> bool:
    """Whether a refusal by this HTTP status is the server's failure: its quota, its keys, its models, its troubles.

    400, 413 and 422 speak of what was asked (too long, no such picture, filtered); everything else would have refused
    anybody.
    """
    return status not in _OF_WHAT_WAS_ASKED
