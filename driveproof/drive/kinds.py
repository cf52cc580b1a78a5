"""Which words ``--policy`` takes, and which was meant by one that is none."""

from __future__ import annotations

from difflib import get_close_matches
from importlib.util import find_spec

from driveproof.errors import BadInput
from driveproof.policy.driving import DRIVERS
from driveproof.policy.plugin import PLUGIN_FORM
from driveproof.policy.registry import KINDS

EXPERT = "expert"
TALK = ("transformers", "baseline", "openai")
"""Kinds that answer a graph of questions."""
SERVED = ("openai:", "wire:")
"""Kinds whose model is behind a server that others run."""


def forms() -> dict[str, str]:
    """How each kind that drives is written, by its first word."""
    talk = {name: KINDS[name].form for name in TALK}
    return {EXPERT: EXPERT, **talk, **{name: kind.form for name, kind in DRIVERS.items()}}


def check_kind(spec: str) -> None:
    """Refuse a word that is no kind of policy, and say which there are; a plug-in is left to who opens it.

    Raises
    ------
    BadInput
        Naming all kinds, and the one that is spelt nearly so.
    """
    known = forms()
    name, colon, _ = spec.partition(":")
    if name in known or name in KINDS:
        return
    near = get_close_matches(name, known, n=1)
    if colon and not (near and _absent(name)):
        return
    meant = f"did you mean {known[near[0]]}? " if near else ""
    listed = ", ".join([*known.values(), PLUGIN_FORM])
    raise BadInput(f"no such kind of policy: {name}", hint=f"{meant}one of {listed}")


def is_plugin(spec: str) -> bool:
    """Whether a specification that :func:`check_kind` lets pass names a class of the user's."""
    name, colon, _ = spec.partition(":")
    return bool(colon) and name not in KINDS and name not in DRIVERS


def _absent(name: str) -> bool:
    """Whether Python finds no module of that name."""
    try:
        return find_spec(name) is None
    except (ImportError, ValueError):
        return True
