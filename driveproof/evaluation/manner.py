"""How models are asked when nobody says otherwise: as their folders say that they were trained."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from driveproof.config.evaluate import EvaluateParams
from driveproof.errors import BadInput
from driveproof.policy.manner import FILE, read_manner
from driveproof.prompts import STYLES

_KEYS = ("style", "decimals", "frames", "waypoint_every")
COMPACT_TOKENS = 96
"""What a turn of the compact style needs; the tiny model has no room for more."""
FULL_TOKENS = 2048


def trained_manner(specs: Iterable[str]) -> dict[str, Any]:
    """Style, decimals, frames and ``waypoint_every`` that the model folders among ``specs`` were trained with.

    Returns
    -------
    Empty if no folder says anything, as those of published models and served ones do not.

    Raises
    ------
    BadInput
        If two folders want to be asked differently: then they cannot be compared in one run.
    """
    found: dict[str, Any] = {}
    first = ""
    for spec in specs:
        kind, _, folder = spec.partition(":")
        manner = read_manner(folder) if kind == "transformers" else {}
        wanted = {key: manner[key] for key in _KEYS if key in manner}
        if "style" not in wanted:
            continue
        if found and wanted != found:
            raise BadInput(
                f"{first} was trained with other prompts",
                path=folder,
                field=FILE,
                hint="evaluate them in two runs, or say --style",
            )
        found, first = wanted, folder
    return found


def asking(
    specs: Iterable[str],
    style: str | None = None,
    decimals: int | None = None,
    frames: int | None = None,
    max_tokens: int | None = None,
) -> dict[str, Any]:
    """Fields of :class:`EvaluateParams`: what is given, else what the folders say (if no style is given), else the style's own.

    Raises
    ------
    BadInput
        As :func:`trained_manner`, or if a folder says something that is no manner of asking.
    """
    trained = {} if style else trained_manner(specs)
    name = style or trained.get("style", "full")
    if name not in STYLES:
        raise BadInput(f"no such style: {name}", path=FILE, field="style")
    named = STYLES[name]
    fields = {
        "style": name,
        "decimals": named.decimals,
        "frames": named.frames,
        "waypoint_every": named.waypoint_every,
        "max_tokens": COMPACT_TOKENS if name == "compact" else FULL_TOKENS,
        **trained,
    }
    given = {"decimals": decimals, "frames": frames, "max_tokens": max_tokens}
    fields.update({key: value for key, value in given.items() if value is not None})
    try:
        EvaluateParams(**fields)
    except ValueError as error:
        raise BadInput(str(error).splitlines()[1], path=FILE) from None
    return fields
