"""``driveproof sim serve`` as a process: where it listens, how it ends, what it refuses."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from driveproof.errors import BadInput, UserError
from driveproof.sim.server import Address, ServerOptions, serve
from driveproof.sim.server.serve import PortTaken, bind_pair, check_host
from driveproof.sim.server.versions import version_facts

SERVE = (sys.executable, "-m", "driveproof", "sim", "serve")


@contextmanager
def started(root: Path, ready: Path, *options: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [*SERVE, "--port", "0", "--ready-file", str(ready), *options],
        cwd=root,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def await_file(path: Path, process: subprocess.Popen[str]) -> dict[str, Any]:
    deadline = time.monotonic() + 60.0
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_is_and_ends_cleanly(
    root: Path, tmp_path: Path, number: signal.Signals
) -> None:
    ready = tmp_path / "ready.json"
    with started(root, ready, "--town", "Town01", "--json") as process:
        address = await_file(ready, process)
        assert address["version"] == "0.9.16"
        assert address["stream_port"] == address["port"] + 1
        assert (address["pid"], address["town"]) == (process.pid, "Town01")
        assert address["build"].startswith("driveproof ")
        with socket.create_connection((address["host"], address["port"]), timeout=5.0):
            process.send_signal(number)
            out, err = process.communicate(timeout=10.0)
        assert process.returncode == 0, err
        assert "Traceback" not in err
        assert json.loads(out) == address


@pytest.mark.slow
def test_it_can_be_stopped_while_it_loads(root: Path, tmp_path: Path) -> None:
    with started(root, tmp_path / "ready.json", "--town", "Town13") as process:
        time.sleep(1.0)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=10.0)
        assert process.returncode in (0, -signal.SIGTERM)
        assert "Traceback" not in err


@pytest.mark.slow
def test_a_refusal_is_one_line_and_a_code(root: Path) -> None:
    done = subprocess.run(
        [*SERVE, "--town", "Town99", "--port", "0"],
        cwd=root,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("error:") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_refusals_have_their_codes() -> None:
    def never(address: Address) -> None:
        pytest.fail(f"serves at {address}")

    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        cases = [
            (ServerOptions(town="../../etc", port=0), 3),
            (ServerOptions(town="no town", port=0), 2),
            (ServerOptions(port=busy.getsockname()[1]), 4),
            (ServerOptions(host="0.0.0.0", port=0), 2),
            (ServerOptions(version="0.8.1", port=0), 2),
        ]
        for options, code in cases:
            with pytest.raises(UserError) as refusal:
                asyncio.run(serve(options, never))
            assert refusal.value.exit_code == code, options


def test_only_the_own_machine_unless_it_is_wanted() -> None:
    for host in ("127.0.0.1", "127.0.0.2", "::1", "localhost"):
        check_host(host, insecure_open=False)
    for host in ("0.0.0.0", "::", "10.1.2.3", "example.org"):
        with pytest.raises(BadInput, match="passwords"):
            check_host(host, insecure_open=False)
        check_host(host, insecure_open=True)


def test_a_pair_of_ports_is_adjacent_and_free() -> None:
    first, second = bind_pair("127.0.0.1", 0)
    with first, second:
        port = first.getsockname()[1]
        assert second.getsockname()[1] == port + 1
        first.listen()
        with pytest.raises(PortTaken):
            bind_pair("127.0.0.1", port)
    with pytest.raises(BadInput):
        bind_pair("127.0.0.1", 65535)
    with pytest.raises(BadInput):
        bind_pair("127.0.0.1", -5)


def test_versions_are_known_by_number() -> None:
    facts = version_facts("0.9.16")
    assert (facts.world_index, facts.sensor_index["sensor.camera.rgb"]) == (17, 13)
    assert len(set(facts.sensor_index.values())) == len(facts.sensor_index)
    with pytest.raises(BadInput, match=r"0\.9\.16"):
        version_facts("0.9.15")
