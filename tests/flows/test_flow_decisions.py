"""What the flow of a suite decides, without a server: which version it is about, and what a lost worker means."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from flows import closed_loop as module
from flows._commands import CommandFailed

STATES = ("queued", "completed", "failed_by_policy", "quarantined")


class Commands:
    """Stands in for ``driveproof``: what was called, and a registry whose alias moves."""

    def __init__(self, **totals: int) -> None:
        self.called: list[list[str]] = []
        self.alias = "driver/2"
        self.totals = {state: totals.get(state, 0) for state in STATES}

    def command(self, words: Sequence[str], *_: Any) -> None:
        self.called.append(list(words))
        self.alias = "driver/3"  # somebody registers a challenger while the flow runs

    def output(self, words: Sequence[str], repository: Path) -> str:
        if "resolve" in words:
            return self.alias
        return json.dumps({"totals": self.totals})

    def promote(
        self, repository: Path, model: str, dry: bool, grace: float, only: list[str]
    ) -> bool:
        self.called.append(["promote", model, *only])
        return True

    def words(self, first: str) -> list[list[str]]:
        return [words for words in self.called if words[0] == first]


class Done:
    def __init__(self, found: Any) -> None:
        self.found = found

    def result(self, raise_on_failure: bool = True) -> Any:
        if raise_on_failure and isinstance(self.found, BaseException):
            raise self.found
        return self.found


class Workers:
    """A worker a simulator; those of addresses fail."""

    def submit(self, directory: Path, simulator: str, *_: Any) -> Done:
        return Done(True if simulator == "embedded" else CommandFailed("exit code 2"))


@pytest.fixture
def flow(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    def go(commands: Commands, **parameters: Any) -> str:
        monkeypatch.setattr(module, "command", commands.command)
        monkeypatch.setattr(module, "output", commands.output)
        monkeypatch.setattr(module, "promote_challenger", commands.promote)
        monkeypatch.setattr(module, "take_routes", Workers())
        monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("flow"))
        common = {"repository": tmp_path, "out": "runs/a", "simulators": ["embedded"]}
        return str(module.closed_loop.fn(**{**common, **parameters}))

    return go


def test_a_version_is_looked_up_once_and_stays_the_same_in_a_retry(flow: Any) -> None:
    commands = Commands(completed=2)
    for _ in range(2):
        flow(commands, version="driver@challenger", promote=True)
    assert {words[2] for words in commands.words("registry")} == {"driver/2"}
    assert {words[-1] for words in commands.words("publish")} == {"driver/2"}
    assert commands.words("promote") == [["promote", "driver", "driver/2"]] * 2


def test_a_worker_that_fails_takes_nothing_from_the_others(flow: Any) -> None:
    commands = Commands(completed=2)
    flow(commands, policy="expert", simulators=["a:2000", "embedded"])
    assert commands.words("evaluate")

    commands = Commands(completed=1, queued=1)
    simulators = {"policy": "expert", "version": "driver@challenger", "simulators": ["a:2000"]}
    with pytest.raises(CommandFailed, match=r"1 routes were lost(.|\n)*a:2000: exit code 2"):
        flow(commands, **simulators)
    assert commands.words("evaluate")
    assert commands.words("publish")


def test_nothing_is_scored_where_nothing_was_driven(flow: Any) -> None:
    commands = Commands(queued=2)
    with pytest.raises(CommandFailed, match="2 routes were lost"):
        flow(commands, policy="expert", version="driver@challenger", simulators=["a:2000"])
    assert [words[0] for words in commands.called] == ["drive"]


def test_a_simulator_that_is_gone_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(words: Sequence[str], cwd: Path, log: Any, grace: float, answers: Sequence[int]) -> int:
        assert 4 in answers
        return 4

    monkeypatch.setattr(module, "run", run)
    monkeypatch.setattr(module, "get_run_logger", lambda: logging.getLogger("flow"))
    assert module.take_routes.fn(Path("run"), "a:2000", Path(), [], 1.0) is False
