"""Pictures inside other files."""

from __future__ import annotations

from pathlib import Path

import pytest

from driveproof.errors import BadInput
from driveproof.scene import ImageRef, ImageStore


def test_a_byte_range_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "records").write_bytes(b"0123PICTURE789")
    ref = ImageRef.byte_range("records", 4, 7)
    assert ImageRef.parse(str(ref)) == ref
    assert ImageStore(tmp_path).read_bytes(ref) == b"PICTURE"
    with pytest.raises(BadInput, match="beyond the end"):
        ImageStore(tmp_path).read_bytes(ImageRef.byte_range("records", 10, 7))
