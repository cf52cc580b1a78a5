"""Seeds that depend on what they are for, not on the order of the work."""

from __future__ import annotations

import hashlib


def derive_seed(seed: int, *keys: object) -> int:
    """A seed of 31 bits (what every server accepts) from ``seed`` and the text of ``keys``."""
    text = "\x1f".join([str(seed), *map(str, keys)])
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") >> 1
