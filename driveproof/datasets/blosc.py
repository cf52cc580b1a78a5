"""Decompressing Blosc 1 chunks (LZ4 or Zstandard, byte shuffle), as zarr v2 stores them.

Layout (c-blosc, README_CHUNK_FORMAT): 16 bytes of header, the offset of each block, and per block one or
more streams, each behind its compressed length. Codecs come from Arrow.
"""

from __future__ import annotations

import struct

import numpy as np
import pyarrow as pa

_HEADER = struct.Struct("<BBBBIII")
_SHUFFLE, _COPIED, _BIT_SHUFFLE, _UNSPLIT = 0x1, 0x2, 0x4, 0x10
_CODECS = {1: "lz4_raw", 4: "zstd"}
_MAX_SPLITS = 16
_LEAST_SPLIT_BYTES = 128
MAX_CHUNK_BYTES = 1 << 30


def decompress(data: bytes) -> bytes:
    """The content of one chunk.

    Raises
    ------
    ValueError
        If it is truncated or damaged, uses another codec or filter, or claims more than 1 GiB.
    """
    if len(data) < _HEADER.size:
        raise ValueError("blosc: truncated header")
    _, _, flags, item, total, block, packed = _HEADER.unpack_from(data)
    if total > MAX_CHUNK_BYTES or packed != len(data) or not block or not item:
        raise ValueError("blosc: header does not fit the chunk")
    if flags & _COPIED:
        return _exactly(data[_HEADER.size :], total)
    if flags & _BIT_SHUFFLE or flags >> 5 not in _CODECS:
        raise ValueError(f"blosc: codec {flags >> 5} or filter is not supported")
    codec = pa.Codec(_CODECS[flags >> 5])
    blocks = -(-total // block)
    if len(data) < _HEADER.size + 4 * blocks:
        raise ValueError("blosc: truncated block table")
    parts = []
    for index, start in enumerate(struct.unpack_from(f"<{blocks}I", data, _HEADER.size)):
        want = min(block, total - index * block)
        split = not flags & _UNSPLIT and want == block
        split &= item <= _MAX_SPLITS and block // item >= _LEAST_SPLIT_BYTES
        plain = _block(data, start, want, item if split else 1, codec)
        parts.append(_unshuffled(plain, item) if flags & _SHUFFLE and item > 1 else plain)
    return b"".join(parts)


def _block(data: bytes, start: int, want: int, streams: int, codec: pa.Codec) -> bytes:
    parts, each = [], want // streams
    for _ in range(streams):
        if start + 4 > len(data):
            raise ValueError("blosc: truncated stream")
        (length,) = struct.unpack_from("<I", data, start)
        piece = _exactly(data[start + 4 : start + 4 + length], length)
        # a stream that would not shrink is stored as it is
        plain = piece if length == each else codec.decompress(piece, each).to_pybytes()
        parts.append(_exactly(plain, each))
        start += 4 + length
    return b"".join(parts)


def _unshuffled(data: bytes, item: int) -> bytes:
    """Undo the transposition of bytes; what does not fill an item stays at the end."""
    whole = len(data) // item * item
    body = np.frombuffer(data, dtype=np.uint8, count=whole).reshape(item, -1).T
    return body.tobytes() + data[whole:]


def _exactly(data: bytes, count: int) -> bytes:
    if len(data) != count:
        raise ValueError("blosc: truncated stream")
    return data
