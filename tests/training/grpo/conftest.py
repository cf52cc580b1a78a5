"""A start for reinforcement: questions of the toy world and a model that was taught a little."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))  # where toy_world lies

from grpo_arena import Arena, build_arena


@pytest.fixture(scope="session")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """Eight questions with pictures, and a start."""
    return build_arena(tmp_path_factory.mktemp("arena"))
