"""What a policy says of itself before it drives: checked once, so that no route is spent on a mistake in it."""

from __future__ import annotations

import json
from typing import Any

from driveproof.drive.eyes import mounts_of
from driveproof.drive.plan import Pictures
from driveproof.errors import BadInput, UserError
from driveproof.policy.driving import DrivingPolicy


def identity_of(policy: Any) -> dict[str, Any]:
    """A policy's identity as plain JSON values.

    Raises
    ------
    BadInput
        If it is no JSON object (NaN and numpy's numbers are none), or cannot be had.
    """
    try:
        text = json.dumps(policy.identity(), allow_nan=False)
    except UserError:
        raise
    except Exception as error:  # the user's own code
        raise BadInput(f"must be JSON, without NaN: {_line(error)}", field="identity") from error
    identity = json.loads(text)
    if not isinstance(identity, dict):
        raise BadInput(f"must be a JSON object, is {text[:40]}", field="identity")
    return identity


def check_cameras(policy: DrivingPolicy, sizes: Pictures) -> None:
    """Make sure that a seat has the cameras that a policy wants.

    Raises
    ------
    BadInput
        If it has not, or views and history are none.
    """
    try:
        views, history = tuple(policy.views), int(policy.history)
    except UserError:
        raise
    except Exception as error:  # the user's own code
        raise BadInput(f"cannot be had: {_line(error)}", field="views, history") from error
    if history < 1:
        raise BadInput(f"is {history}: at least one moment is shown", field="history")
    try:
        mounts_of([str(name) for name in views], sizes)
    except BadInput as error:
        raise BadInput(error.problem, field="views", hint=error.hint) from None


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
