"""Fixtures of the wire's tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from wire_helpers import Server, pixels, serving  # type: ignore[import-not-found]


@pytest.fixture
def serve() -> Iterator[Server]:
    """See :func:`serving`."""
    with serving() as start:
        yield start


@pytest.fixture
def picture() -> Any:
    """Random pixels by number."""
    return pixels
