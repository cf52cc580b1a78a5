"""Short plain routes, a policy that can be told how to behave, and one embedded server a worker process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from driveproof.drive.begin import begin_run
from driveproof.drive.plan import DriveSettings, Record
from driveproof.drive.runner import Care, Worker
from driveproof.drive.simulators import Embedded
from driveproof.drive.states import RouteStatus
from driveproof.maps import load_town
from driveproof.sim.drivers import Roads
from driveproof.sim.routes import RouteSpec, write_routes
from driveproof.sim.scenarios import Places

TOWN = "Town02"
sys.path.insert(
    0, str(Path(__file__).parent)
)  # the processes of episodes import the policy by name


def straight(key: str, length: float = 24.0) -> RouteSpec:
    """A straight piece of road without anybody."""
    run = Places(Roads(load_town(TOWN)), np.random.default_rng(int(key))).run(60.0)
    arcs = np.arange(1.0, 1.0 + length, 2.0)
    heights = np.interp(arcs, run.line.arc, run.z)
    return RouteSpec(key, TOWN, np.column_stack([run.line.at(arcs), heights]))


@pytest.fixture(scope="session")
def straight_road() -> Callable[..., RouteSpec]:
    """Makes straight routes: of a key that decides the place, and a length (24 m)."""
    return straight


@pytest.fixture(scope="session")
def plain_suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three straight routes of about five seconds each."""
    path = tmp_path_factory.mktemp("suite") / "plain.xml"
    write_routes([straight(key) for key in ("1", "2", "3")], path)
    return path


@pytest.fixture(scope="session")
def embedded() -> Iterator[Embedded]:
    """A supervised embedded server."""
    with Embedded() as simulator:
        yield simulator


@pytest.fixture(scope="session")
def filmed_run(embedded: Embedded, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the expert over one straight route of eight seconds, with its clip; a second route was not begun."""
    folder = tmp_path_factory.mktemp("filmed")
    write_routes([straight(key, 56.0) for key in ("7", "8")], folder / "suite.xml")
    settings = DriveSettings(seed=3, record=Record.ALL, truth=True)
    run = begin_run(folder / "run", folder / "suite.xml", "expert", settings)
    stop = threading.Event()

    def note(key: str, status: RouteStatus) -> None:
        if status.state.ended:
            stop.set()

    Worker(run, embedded, None, stop, Care(), note).work()
    return run.path
