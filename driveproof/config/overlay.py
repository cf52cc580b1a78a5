"""Applying an overlay to params.yaml in place, comments kept.

DVC watches params.yaml alone, so an overlay becomes part of it: what ran is what the file says.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from driveproof.config.params import load_params
from driveproof.files import atomic_open


def apply_overlay(base: str | Path, overlay: str | Path) -> None:
    """Merge the keys of ``overlay`` into ``base``; nothing is written unless the result is valid.

    Raises
    ------
    BadInput
        As :func:`driveproof.config.load_params`.
    """
    load_params(base, [overlay])
    yaml = YAML()
    yaml.width = 120
    content = yaml.load(Path(base)) or {}
    _update(content, yaml.load(Path(overlay)) or {})
    with atomic_open(base) as stream:
        yaml.dump(content, stream)


def _update(base: MutableMapping[str, Any], top: MutableMapping[str, Any]) -> None:
    for key, value in top.items():
        if isinstance(value, MutableMapping) and isinstance(base.get(key), MutableMapping):
            _update(base[key], value)
        else:
            base[key] = value
