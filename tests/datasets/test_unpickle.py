"""Pickles from outside: arrays and containers come out, nothing is ever called."""

from __future__ import annotations

import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import dataset_makers as make
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.datasets.unpickle import load_pickle, loads
from driveproof.errors import BadInput

CONTENT = {
    "floats": np.arange(6.0).reshape(2, 3),
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "big endian": np.arange(4, dtype=">i4"),
    "names": np.array(["car", "walker"]),
    "objects": np.array(["a", None, 3], dtype=object),
    "flags": np.array([True, False]),
    "empty": np.zeros((0, 7)),
    "scalar": np.float32(1.5),
    "bool scalar": np.bool_(True),
    "plain": [1, 2.5, None, "text", b"bytes", (1, 2), {3}, frozenset({4}), OrderedDict(a=1)],
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("key", CONTENT)
def test_what_the_formats_hold_comes_back(key: str, protocol: int) -> None:
    back = loads(pickle.dumps({key: CONTENT[key]}, protocol), "x.pkl")[key]
    np.testing.assert_array_equal(np.asarray(back, dtype=object), np.asarray(CONTENT[key], object))
    if isinstance(CONTENT[key], np.ndarray):
        assert back.dtype.newbyteorder("=") == CONTENT[key].dtype.newbyteorder("=")


def test_numpy_1_names_are_understood() -> None:
    old = pickle.dumps(np.arange(3), 2).replace(b"numpy._core", b"numpy.core")
    np.testing.assert_array_equal(loads(old, "x.pkl"), [0, 1, 2])


class _Runs:
    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = (function, arguments)

    def __reduce__(self) -> Any:
        return self.call


def test_nothing_is_called(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    for evil in (
        _Runs(os.mkdir, str(marker)),
        _Runs(eval, f"open({str(marker)!r}, 'w')"),
        _Runs(getattr, "text", "upper"),
        _Runs(np.load, "x.npy"),
        _Runs(np.ndarray, (10**12,)),
        _Runs(bytearray, 10**12),
    ):
        (tmp_path / "evil.pkl").write_bytes(pickle.dumps([1, evil]))
        with pytest.raises(BadInput, match="not a harmless pickle"):
            load_pickle(tmp_path / "evil.pkl")
    assert not marker.exists()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x80\x04",
        b"cnumpy\ndtype\n(S'V1000000000000'\nI0\nI1\ntR.",  # a void of a terabyte
        b"cnumpy\ndtype\n(S'f8'\nI0\nI1\ntR}b.",  # a dtype with junk for a state
        b"cnumpy\ndtype\nS'_function'\nNs.",  # setting an item of what is no container
        b"cnumpy\ndtype\n(N}S'_function'\nNstb.",  # altering the stand-in
        b"cnumpy.core.multiarray\n_reconstruct\n(NNNtR(I1\n(I1000000000000\ntNI0\nS'x'\ntb.",
        b"(" * 100_000,
        b"]" + b"]a" * 50_000,  # deep nesting is fine for the stack machine, but it lacks an end
    ],
)
def test_hostile_opcodes(data: bytes) -> None:
    with pytest.raises(BadInput) as caught:
        loads(data, "x.pkl")
    assert "\n" not in str(caught.value)


def test_a_memo_index_claims_no_memory() -> None:
    assert loads(b"Nr\xff\xff\xff\x7f.", "x.pkl") is None


def test_array_types_of_numpy_cannot_be_altered() -> None:
    evil = b"cnumpy\ndtype\n(S'f8'\nI0\nI0\ntR(I3\nS'>'\nNNNI-1\nI-1\nI0\ntb."
    loads(evil, "x.pkl")
    assert np.dtype("f8").isnative


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=120))
def test_random_bytes_raise_nothing_but_bad_input(data: bytes) -> None:
    assert "\n" not in make.problem_of(lambda: loads(data, "x.pkl"))


WHOLE = pickle.dumps(CONTENT)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), max_size=6))
def test_damaged_pickles_raise_nothing_but_bad_input(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for place, value in changes:
        data[place] = value
    assert "\n" not in make.problem_of(lambda: loads(bytes(data), "x.pkl"))
