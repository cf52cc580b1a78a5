"""TFRecord framing: known sums, every kind of damage, and random bytes."""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import dataset_makers as make
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driveproof.datasets import waymo_e2e, womd
from driveproof.datasets.tfrecord import crc32c, frame_records, masked_crc32c, read_records
from driveproof.errors import BadInput


def _bitwise(data: bytes) -> int:
    register = 0xFFFFFFFF
    for byte in data:
        register ^= byte
        for _ in range(8):
            register = register >> 1 ^ (0x82F63B78 if register & 1 else 0)
    return register ^ 0xFFFFFFFF


def test_the_check_values_of_rfc_3720() -> None:
    assert crc32c(b"123456789") == 0xE3069283
    assert crc32c(bytes(32)) == 0x8A9136AA
    assert crc32c(b"\xff" * 32) == 0x62A8AB43
    assert crc32c(bytes(range(32))) == 0x46DD794E


@settings(max_examples=30, deadline=None)
@given(st.binary(max_size=64), st.integers(0, 5000))
def test_rows_side_by_side_give_the_same_sum_as_bit_by_bit(seed: bytes, length: int) -> None:
    data = (seed * (length // max(len(seed), 1) + 1))[:length] if seed else bytes(length)
    assert crc32c(data) == _bitwise(data)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.binary(max_size=3000), min_size=1, max_size=5))
def test_records_come_back_with_their_places(payloads: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.tfrecord"
        path.write_bytes(frame_records(payloads))
        data = path.read_bytes()
        found = list(read_records(path))
    assert [payload for _, payload in found] == payloads
    assert all(data[at : at + len(payload)] == payload for at, payload in found)


def _length(value: int) -> bytes:
    header = struct.pack("<Q", value)
    return header + struct.pack("<I", masked_crc32c(header))


GOOD = frame_records([b"first", b"second"])
DAMAGED = {
    "empty": (b"", "holds no record"),
    "bad length sum": (GOOD[:8] + b"\0\0\0\0" + GOOD[12:], "record 0: checksum of the length"),
    "bad payload sum": (GOOD.replace(b"second", b"Second"), "record 1: checksum of the payload"),
    "huge length": (_length(1 << 62), "record 0: claims 4611686018427387904 bytes"),
    "length beyond the file": (_length(1 << 20) + b"short", "record 0: truncated"),
    "cut in the footer": (GOOD[:-2], "record 1: truncated"),
    "cut in the header": (GOOD + b"\1\2\3", "record 2: truncated header"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage_is_named_with_its_record(name: str, tmp_path: Path) -> None:
    data, problem = DAMAGED[name]
    (tmp_path / "x.tfrecord").write_bytes(data)
    with pytest.raises(BadInput, match=problem):
        list(read_records(tmp_path / "x.tfrecord"))


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.booleans())
def test_random_bytes_raise_nothing_but_bad_input(data: bytes, framed: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.tfrecord"
        path.write_bytes(frame_records([data]) if framed else data)
        for adapter in (waymo_e2e, womd):
            assert adapter.claims(path) in (True, False)
            assert "\n" not in make.problem_of(lambda read=adapter.read: list(read(path)))


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_a_damaged_message_in_a_sound_record_raises_nothing_but_bad_input(
    data: st.DataObject,
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        name = data.draw(st.sampled_from(["waymo_e2e", "womd"]))
        path = make.MAKERS[name][1](Path(folder) / "x.tfrecord")
        _, payload = next(read_records(path))
        changed = bytearray(payload)
        for _ in range(data.draw(st.integers(1, 4))):
            changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
        path.write_bytes(frame_records([bytes(changed)]))
        assert "\n" not in make.problem_of(
            lambda: list({"waymo_e2e": waymo_e2e, "womd": womd}[name].read(path))
        )
