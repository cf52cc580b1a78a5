"""Whoever drives is opened as the run was begun, and its server is asked by the way that its calls take."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from driveproof.cli.drive import app
from driveproof.drive import begin
from driveproof.drive.begin import begin_run, check_policy
from driveproof.drive.models import ModelServer
from driveproof.drive.notes import DecisionLog
from driveproof.drive.openers import answers, graph_of, make_seat
from driveproof.drive.plan import DriveSettings
from driveproof.drive.rundir import RUN_FILE, OtherRun, RunDirectory
from driveproof.drive.seat import ModelLost, Seat
from driveproof.errors import BadInput, Unreachable
from driveproof.reasoning import PRESETS, GraphPolicy
from tests.policy.wire.wire_helpers import Counter, Echo, serving

TALKER = "tests.reasoning.talkers:Talker"
GRAPH = {"NODE": [19, 43, 50], "EDGE": {"19": [43], "43": [50]}, "INHERIT": {"19": [43]}}
OTHER = {"NODE": [43, 50], "EDGE": {"43": [50]}}


@pytest.fixture
def begun(plain_suite: Path, tmp_path: Path) -> tuple[RunDirectory, Path]:
    """A run of a model that talks by the graph of a file."""
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(GRAPH))
    settings = DriveSettings(graph=str(path))
    return begin_run(tmp_path / "run", plain_suite, TALKER, settings), path


@pytest.mark.parametrize("now", [json.dumps(OTHER), "no graph", None])
def test_a_run_keeps_its_graph_whatever_becomes_of_the_file(
    begun: tuple[RunDirectory, Path], now: str | None
) -> None:
    run, path = begun
    had = graph_of(run.plan.policy)
    assert had is not None
    path.unlink()
    if now is not None:
        path.write_text(now)
    run = RunDirectory(run.path)  # another worker, elsewhere
    check_policy(run, None)
    seat = make_seat(run.plan, run.plan.episodes[0], DecisionLog(None))
    assert isinstance(seat, Seat)
    assert isinstance(seat.policy, GraphPolicy)
    identity = seat.policy.identity()
    assert identity["graph"]["NODE"] == GRAPH["NODE"]
    assert identity["graph_digest"] == had.digest


def test_a_run_is_not_begun_again_by_an_edited_graph(
    begun: tuple[RunDirectory, Path], plain_suite: Path
) -> None:
    run, path = begun
    path.write_text(json.dumps(OTHER))
    with pytest.raises(OtherRun, match="graph"):
        begin_run(run.path, plain_suite, TALKER, DriveSettings(graph=str(path)))


def test_a_plan_whose_graph_was_changed_is_refused(begun: tuple[RunDirectory, Path]) -> None:
    run, _ = begun
    file = run.path / RUN_FILE
    plan = json.loads(file.read_text())
    plan["policy"]["identity"]["graph"] = {**OTHER, "INHERIT": {}, "USE_GT": [], "WINDOW": 1}
    file.write_text(json.dumps(plan))
    with pytest.raises(BadInput, match="not the graph that the run was begun with"):
        check_policy(RunDirectory(run.path), None)
    plan["policy"]["identity"]["graph"] = {"NODE": ["x"]}
    file.write_text(json.dumps(plan))
    with pytest.raises(BadInput, match=r"policy\.identity\.graph\.NODE"):
        check_policy(RunDirectory(run.path), None)


@pytest.mark.parametrize("name", list(PRESETS))
def test_a_graph_survives_its_plan(name: str, plain_suite: Path, tmp_path: Path) -> None:
    settings = DriveSettings(graph=name)
    run = begin_run(tmp_path / "run", plain_suite, TALKER, settings)
    assert graph_of(RunDirectory(run.path).plan.policy) == PRESETS[name].graph


def test_who_does_not_talk_has_no_graph(plain_suite: Path, tmp_path: Path) -> None:
    run = begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())
    assert graph_of(run.plan.policy) is None


@pytest.mark.parametrize("policy", [Echo, Counter])
def test_another_model_behind_the_address_of_a_run_is_not_scored(
    policy: Any, plain_suite: Path, tmp_path: Path
) -> None:
    with serving() as serve:
        run = begin_run(tmp_path / "run", plain_suite, f"wire:{serve(policy())}", DriveSettings())
        seat = make_seat(run.plan, run.plan.episodes[0], DecisionLog(None))
        assert isinstance(seat, Seat)
        seat.policy.close() if policy is Counter else seat.policy._reasoner.chat.close()  # type: ignore[attr-defined]
        identity = json.loads(json.dumps(run.plan.policy.identity))
        identity.get("chat", identity)["digest"] = "0" * 64
        facts = run.plan.policy.model_copy(update={"identity": identity})
        other = run.plan.model_copy(update={"policy": facts})
        with pytest.raises(ModelLost, match="another model"):
            make_seat(other, other.episodes[0], DecisionLog(None))


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        status = {"/health": 200, "/v1/models": 401, "/down/models": 502}.get(self.path, 404)
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture
def url() -> Iterator[str]:
    """A server that is healthy, wants a key for its models, and is down below ``/down``."""
    with HTTPServer(("127.0.0.1", 0), _Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def nobody() -> str:
    """An address where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{probe.getsockname()[1]}"


def test_who_refuses_is_alive_and_who_is_down_is_not(url: str) -> None:
    assert answers("random")
    assert answers(f"wire:{url}")
    assert answers(f"openai:{url}/v1#m")
    assert not answers(f"openai:{url}/down#m")
    assert not answers(f"wire:{nobody()}")
    assert not answers("wire:http://[::1")


def test_a_local_server_is_healthy_whatever_proxy_the_environment_names(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, nobody())
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert answers(f"wire:{url}")
    assert not answers(
        f"openai:{url}/v1#m"
    )  # its client goes by the proxy, and so does the question


@pytest.mark.slow
def test_a_server_that_dies_while_it_loads_is_not_waited_for() -> None:
    server = ModelServer("transformers:nowhere", lambda url: False, ready_s=300.0)
    with server, pytest.raises(Unreachable):
        server.address()


def test_the_time_to_load_a_model_is_an_option(
    plain_suite: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[float] = []

    class Server:
        def __init__(self, spec: str, healthy: Any, seed: int, ready_s: float) -> None:
            told.append(ready_s)

        def __enter__(self) -> Server:
            raise Unreachable("enough")

        def __exit__(self, *_: object) -> None:
            """Nothing."""

    monkeypatch.setattr(begin, "ModelServer", Server)
    words = ["--serve", "random", "--suite", str(plain_suite), "--out", str(tmp_path / "run")]
    runner = CliRunner()
    for more in ([], ["--server-start", "900"]):
        assert runner.invoke(app, [*words, *more]).exit_code
        assert runner.invoke(app, ["plan", *words, *more]).exit_code
    assert told == [180.0, 180.0, 900.0, 900.0]
    assert runner.invoke(app, [*words, "--server-start", "0"]).exit_code == 2
