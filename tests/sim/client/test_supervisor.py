"""Simulators die and hang; the supervisor notices, ends all of them, and goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from driveproof.sim.client import (
    ServerHandle,
    ServerLost,
    Session,
    SimulatorUnreachable,
    Supervisor,
    start_server,
)

CAMERA = {"image_size_x": 64, "image_size_y": 36}


def family() -> list[psutil.Process]:
    return psutil.Process().children(recursive=True)


def worker_of(server: ServerHandle) -> int:
    """Pid of the simulator below its guard."""
    (child,) = psutil.Process(server.process.pid).children()
    return child.pid


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    before = {process.pid for process in family()}
    yield
    left = [p for p in family() if p.pid not in before]
    names = [(p.pid, p.status(), p.cmdline()) for p in left]
    helpers = ("multiprocessing.resource_tracker", "multiprocessing.forkserver")
    lost = [name for name in names if not any(word in " ".join(name[2]) for word in helpers)]
    assert not lost, names


def signal_soon(pid: int, number: signal.Signals) -> None:
    threading.Timer(0.3, os.kill, (pid, number)).start()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["dead", "hanging"])
def test_a_server_that_ends_in_a_tick_is_noticed_and_replaced(number: signal.Signals) -> None:
    lost: list[float] = []

    def job(session: Session) -> int:
        if lost:
            return session.tick().frame
        session.attach_sensor("sensor.camera.rgb", CAMERA, (0.0, 0.0, 30.0))
        signal_soon(worker_of(supervisor.server), number)
        started = time.monotonic()
        try:
            while True:
                session.tick()
        except ServerLost:
            lost.append(time.monotonic() - started)
            raise

    with Supervisor("Town02", hang_s=4.0) as supervisor:
        assert supervisor.run(job) > 0
        assert supervisor.starts == 2
    assert lost[0] < 10.0


def endless(session: Session, pid: int, flag: str) -> str:
    """Ticks until the server is killed; the second time it finds the flag and is done."""
    if Path(flag).exists():
        return session.carla_map.name
    Path(flag).touch()
    signal_soon(pid, signal.SIGKILL)
    while True:
        session.tick()


def failing(session: Session) -> None:
    raise LookupError("the job's own error")


@pytest.mark.slow
def test_a_watched_child_notices_a_dead_server_at_once(tmp_path) -> None:
    with Supervisor("Town02") as supervisor:
        pid = worker_of(supervisor.server)
        started = time.monotonic()
        found = supervisor.run_isolated(endless, pid, str(tmp_path / "flag"))
        assert found.endswith("Town02")
        assert supervisor.starts == 2
        assert time.monotonic() - started < 60.0, "a client waits out its minutes"
        with pytest.raises(LookupError, match="own error"):
            supervisor.run_isolated(failing)


@pytest.mark.slow
def test_a_server_is_started_afresh_after_so_many_sessions() -> None:
    with Supervisor("Town02", recycle_after=1) as supervisor:
        pids = []
        for number in range(2):
            with supervisor.session() as session:
                assert supervisor.starts == number + 1
                pids.append(worker_of(supervisor.server))
                session.tick()
        assert pids[0] != pids[1]
        assert not psutil.pid_exists(pids[0])


OWNER = """
import sys, time
from driveproof.sim.client import start_server
server = start_server(command=[sys.executable, "-c", LISTEN.replace("PORT", "{port}")])
print(server.process.pid, flush=True)
time.sleep(60)
"""
LISTEN = (
    "import socket, time; s = socket.create_server(('127.0.0.1', PORT)); "
    "print('hello', flush=True); time.sleep(60)"
)


@pytest.mark.slow
def test_a_server_does_not_outlive_an_owner_that_is_killed(root) -> None:
    code = OWNER.replace("LISTEN", repr(LISTEN), 1)
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=root)
    assert owner.stdout is not None
    guard = psutil.Process(int(owner.stdout.readline()))
    group = [guard, *guard.children()]
    assert len(group) == 2
    owner.kill()
    owner.wait()
    owner.stdout.close()
    _, alive = psutil.wait_procs(group, timeout=8.0)
    assert not alive


def command_of(code: str) -> list[str]:
    return [sys.executable, "-c", code.replace("PORT", "{port}")]


def test_any_command_can_be_the_simulator_and_all_its_children_end() -> None:
    code = (
        "import subprocess, sys; "
        f"subprocess.Popen([sys.executable, '-c', {LISTEN!r}]); import time; time.sleep(60)"
    )
    server = start_server(command=command_of(code))
    guard = psutil.Process(server.process.pid)
    group = [guard, *guard.children(recursive=True)]
    assert len(group) == 3
    server.stop()
    assert not [p for p in group if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_a_simulator_that_does_not_start_says_why() -> None:
    with pytest.raises(SimulatorUnreachable, match="no licence"):
        start_server(command=command_of("raise SystemExit('no licence')"))
    with pytest.raises(SimulatorUnreachable, match=r"does not listen after 0\.5 s.*waking"):
        start_server(
            command=command_of("import time; print('waking', flush=True); time.sleep(60)"),
            timeout_s=0.5,
        )
    with pytest.raises(SimulatorUnreachable, match="Atlantis"):
        start_server("Atlantis")
