"""Policies from the user's own modules: ``package.module:Class``, imported because the user names it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from driveproof.errors import BadInput, UserError

PLUGIN_FORM = "package.module:Class[#ARGUMENT]"
"""How a plug-in is written; the class is called with ARGUMENT, a text, or with nothing."""


def open_plugin(spec: str, wanted: Mapping[Any, str]) -> Any:
    """Import a class and make a policy of it.

    Modules are found as Python finds them, and in the current folder last.

    Parameters
    ----------
    spec
        See ``PLUGIN_FORM``.
    wanted
        Protocols, of which the policy must fulfil one, and what to call them.

    Raises
    ------
    BadInput
        If there is no such module or class, the constructor fails, or what it makes is no such policy.
    """
    place, sharp, argument = spec.partition("#")
    module_name, _, class_name = place.partition(":")
    if not all(part.isidentifier() for part in (*module_name.split("."), *class_name.split("."))):
        raise BadInput(f"no such kind of policy: {spec}", hint=f"or {PLUGIN_FORM}")
    made = _class_of(module_name, class_name)
    try:
        policy = made(argument) if sharp else made()
    except UserError:
        raise
    except Exception as error:  # the user's own code
        raise BadInput(f"the constructor failed: {_line(error)}", field=place) from error
    if not any(isinstance(policy, protocol) for protocol in wanted):
        raise BadInput(_shortfall(policy, wanted), field=place)
    return policy


def _class_of(module_name: str, class_name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # the user's own code
        parents = {module_name[:end] for end, char in enumerate(module_name + ".") if char == "."}
        if isinstance(error, ModuleNotFoundError) and error.name in parents:
            hint = (
                f"or a kind that `driveproof policy list` shows; modules are sought in {here} too"
            )
            raise BadInput(f"no such module: {error.name}", hint=hint) from None
        raise BadInput(
            f"the module cannot be imported: {_line(error)}", field=module_name
        ) from error
    for part in class_name.split("."):
        if not hasattr(found, part):
            raise BadInput(f"no such class: {class_name}", field=module_name)
        found = getattr(found, part)
    if not callable(found):
        raise BadInput(f"not a class: {class_name}", field=module_name)
    return found


def _shortfall(policy: Any, wanted: Mapping[Any, str]) -> str:
    """Which names the made object lacks for each of the protocols."""
    parts = []
    for protocol, title in wanted.items():
        names = [n for n in vars(protocol) if n[0] != "_" and not hasattr(policy, n)]
        parts.append(f"no {title}: it has no {', '.join(names)}")
    return "; ".join(parts)


def _line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]
