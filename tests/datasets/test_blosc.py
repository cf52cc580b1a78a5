"""Blosc chunks: what was packed comes back; random bytes are a ValueError."""

from __future__ import annotations

import contextlib
import struct

import pytest
from dataset_makers import blosc_chunk
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.datasets.blosc import decompress


@settings(max_examples=60, deadline=None)
@given(
    st.binary(min_size=1, max_size=40),
    st.integers(1, 400),
    st.sampled_from([1, 2, 8, 16, 24, 120]),
    st.sampled_from([None, 256, 2048]),
    st.booleans(),
)
def test_what_was_packed_comes_back(
    seed: bytes, repeats: int, item: int, block: int | None, split: bool
) -> None:
    data = seed * repeats
    if block is not None:
        block = block // item * item or item
    assert decompress(blosc_chunk(data, item, block, split)) == data


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    st.binary(max_size=100),
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 255)), max_size=4),
)
def test_damage_is_a_value_error(data: bytes, changes: list[tuple[int, int]]) -> None:
    with contextlib.suppress(ValueError, OSError):
        decompress(data)
    chunk = bytearray(blosc_chunk(b"abcd" * 100, 4))
    for place, value in changes:
        chunk[place % len(chunk)] = value
    with contextlib.suppress(ValueError, OSError):
        decompress(bytes(chunk))


def test_a_chunk_that_claims_too_much_is_refused() -> None:
    with pytest.raises(ValueError, match="does not fit"):
        decompress(struct.pack("<BBBBIII", 2, 1, 0x21, 4, 1 << 31, 64, 16))
