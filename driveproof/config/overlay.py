"""Applying an overlay to params.yaml in place, comments kept.

DVC watches params.yaml alone, so an overlay becomes part of it: what ran is what the file says.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from driveproof.config.params import load_params
from driveproof.errors import BadInput
from driveproof.files import atomic_path


def apply_overlay(base: str | Path, overlay: str | Path) -> None:
    """Merge the keys of ``overlay`` into ``base``; nothing is written unless the result is valid.

    Raises
    ------
    BadInput
        As :func:`driveproof.config.load_params`.
    """
    merged = load_params(base, [overlay])
    yaml = YAML()
    yaml.width = 120
    yaml.preserve_quotes = True
    yaml.representer.add_representer(type(None), _null)
    content = yaml.load(Path(base)) or {}
    _update(content, yaml.load(Path(overlay)) or {})
    with atomic_path(base) as temporary:
        with open(temporary, "w", encoding="utf-8") as stream:
            yaml.dump(content, stream)
        # the writer is another library than the readers: what it wrote must mean the same to them
        if load_params(temporary) != merged:
            raise BadInput("cannot be merged without changing its meaning", path=base)


def _null(representer: Any, _: None) -> Any:
    return representer.represent_scalar("tag:yaml.org,2002:null", "null")


def _update(base: MutableMapping[str, Any], top: MutableMapping[str, Any]) -> None:
    for key, value in top.items():
        if isinstance(value, MutableMapping) and isinstance(base.get(key), MutableMapping):
            _update(base[key], value)
        else:
            base[key] = value
