"""The TFRecord container without TensorFlow: length, masked crc32c, payload, masked crc32c.

Layout of a record (little-endian): u64 length, u32 crc of the length bytes, payload, u32 crc of the payload.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from driveproof.errors import BadInput

MAX_RECORD_BYTES = 1 << 30
_HEADER = struct.Struct("<QI")
_FOOTER = struct.Struct("<I")
_MASK_DELTA = 0xA282EAD8
_POLYNOMIAL = 0x82F63B78  # Castagnoli, reflected
_ROW_BYTES = 1024


def _byte_table() -> NDArray[np.uint32]:
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = (table >> 1) ^ np.where(table & 1, np.uint32(_POLYNOMIAL), np.uint32(0))
    return table


_TABLE = _byte_table()
_TABLE_LIST = [int(value) for value in _TABLE]


def _skip_tables() -> list[list[int]]:
    """For each byte of a register, what it becomes after ``_ROW_BYTES`` zero bytes (the CRC is linear)."""
    register = np.arange(256, dtype=np.uint32)[None] << (8 * np.arange(4, dtype=np.uint32))[:, None]
    for _ in range(_ROW_BYTES):
        register = _TABLE[register & 0xFF] ^ (register >> 8)
    return [[int(value) for value in row] for row in register]


_SKIP = _skip_tables()


def crc32c(data: bytes) -> int:
    """CRC-32C (Castagnoli) of ``data``.

    Rows of 1 KiB are taken side by side, one numpy step a column, and joined by linearity: about a
    hundred times faster than byte by byte in Python.
    """
    rows = len(data) // _ROW_BYTES
    register = 0xFFFFFFFF
    if rows:
        block = np.frombuffer(data, dtype=np.uint8, count=rows * _ROW_BYTES)
        columns = np.ascontiguousarray(block.reshape(rows, _ROW_BYTES).T).astype(np.uint32)
        partial = np.zeros(rows, dtype=np.uint32)
        for column in columns:
            partial = _TABLE[(partial ^ column) & 0xFF] ^ (partial >> 8)
        a, b, c, d = _SKIP
        for part in partial.tolist():
            register = (
                a[register & 255]
                ^ b[register >> 8 & 255]
                ^ c[register >> 16 & 255]
                ^ d[register >> 24]
                ^ part
            )
    for byte in data[rows * _ROW_BYTES :]:
        register = _TABLE_LIST[(register ^ byte) & 255] ^ (register >> 8)
    return register ^ 0xFFFFFFFF


def masked_crc32c(data: bytes) -> int:
    """The CRC as TFRecord stores it: rotated by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & 0xFFFFFFFF


def read_records(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Yield the offset of each payload in the file, and the payload, after checking both sums.

    Raises
    ------
    BadInput
        Naming the record: bad sum, truncated, or a length beyond the file or 1 GiB.
    """
    path = Path(path)
    try:
        total = path.stat().st_size
        with path.open("rb") as stream:
            index = 0
            while header := stream.read(_HEADER.size):
                offset = stream.tell()
                yield offset, _payload(header, stream.read, total - offset, path, index)
                index += 1
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}", path=path) from None
    if not index:
        raise BadInput("holds no record", path=path)


def _payload(
    header: bytes, read: Callable[[int], bytes], left: int, path: Path, index: int
) -> bytes:
    field = f"record {index}"
    if len(header) < _HEADER.size:
        raise BadInput("truncated header", path=path, field=field)
    length, length_crc = _HEADER.unpack(header)
    if masked_crc32c(header[:8]) != length_crc:
        raise BadInput(
            "checksum of the length is wrong: not TFRecord, or damaged", path=path, field=field
        )
    if length > MAX_RECORD_BYTES:
        raise BadInput(f"claims {length} bytes, more than 1 GiB", path=path, field=field)
    if length + _FOOTER.size > left:
        raise BadInput("truncated", path=path, field=field)
    payload = read(length)
    if masked_crc32c(payload) != _FOOTER.unpack(read(_FOOTER.size))[0]:
        raise BadInput("checksum of the payload is wrong", path=path, field=field)
    return payload


def frame_records(payloads: Iterable[bytes]) -> bytes:
    """The content of a TFRecord file with these payloads."""
    parts = []
    for payload in payloads:
        length = struct.pack("<Q", len(payload))
        parts += [length, _FOOTER.pack(masked_crc32c(length))]
        parts += [payload, _FOOTER.pack(masked_crc32c(payload))]
    return b"".join(parts)


def looks_like_tfrecord(path: Path) -> bool:
    """Whether the first twelve bytes are a valid record header."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        header = stream.read(_HEADER.size)
    return len(header) == _HEADER.size and (masked_crc32c(header[:8]) == _HEADER.unpack(header)[1])
