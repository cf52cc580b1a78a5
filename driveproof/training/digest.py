"""What a run learns from, as one hash: a checkpoint of other data must not be gone on from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import PurePath
from typing import Any

import numpy as np
from pydantic import BaseModel

from driveproof.policy.pictures import Pictures
from driveproof.scene import ImageRef
from driveproof.scene.images import Pixels


def digest(*values: Any) -> str:
    """sha256 of values: dataclasses, parameters, mappings, sequences, sets, arrays, enums, numbers, texts, bytes.

    Equal values give equal digests in every process; the order of a mapping or a set is nothing.

    Raises
    ------
    TypeError
        If something else is among them, whose content cannot be known.
    """
    found = hashlib.sha256()
    for value in values:
        _feed(value, found.update)
    return found.hexdigest()


def digest_pictures(images: Iterable[ImageRef | Pixels], pictures: Pictures) -> str:
    """sha256 of the distinct pictures as they are stored.

    Raises
    ------
    BadInput
        If one cannot be read.
    """
    refs, pixels = set(), hashlib.sha256()
    for image in images:
        if isinstance(image, ImageRef):
            refs.add(image)
        else:
            _feed(image, pixels.update)
    stored = [(str(ref), pictures.digest(ref)) for ref in sorted(refs, key=str)]
    return digest(stored, pixels.hexdigest())


def _feed(value: Any, update: Any) -> None:
    """Feed a value with its kind and length, so that no two different ones look alike."""
    if value is None or isinstance(value, (bool, int, float, str, np.generic)):
        if isinstance(value, Enum):
            value = value.value
        elif isinstance(value, np.generic):
            value = value.item()
        _mark(repr(value), update)
    elif isinstance(value, bytes):
        _mark(f"bytes {len(value)}", update)
        update(value)
    elif isinstance(value, np.ndarray):
        _mark(f"array {value.dtype.str} {value.shape}", update)
        update(np.ascontiguousarray(value).tobytes() if value.dtype != object else _own(value.tolist()))  # fmt: skip
    elif isinstance(value, Enum):
        _feed(value.value, update)
    elif isinstance(value, PurePath):
        _feed(str(value), update)
    elif isinstance(value, BaseModel):
        _mark(value.model_dump_json(), update)
    elif is_dataclass(value) and not isinstance(value, type):
        _mark(type(value).__name__, update)
        for field in fields(value):
            _feed(field.name, update)
            _feed(getattr(value, field.name), update)
    elif isinstance(value, (Mapping, Set)):
        pairs = value.items() if isinstance(value, Mapping) else value
        _mark(f"unordered {len(value)}", update)
        for part in sorted(_own(pair) for pair in pairs):
            update(part)
    elif isinstance(value, (list, tuple)):
        _mark(f"sequence {len(value)}", update)
        for part in value:
            _feed(part, update)
    else:
        raise TypeError(f"digest: the content of a {type(value).__name__} cannot be known")


def _own(value: Any) -> bytes:
    return bytes.fromhex(digest(value))


def _mark(text: str, update: Any) -> None:
    encoded = text.encode("utf-8", "surrogatepass")
    update(b"%d:" % len(encoded) + encoded)
