"""Champions and challengers in a real store: the gate, the alias, and the commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INTERNAL_ERROR, TEMPORARILY_UNAVAILABLE
from safetensors.numpy import save_file
from typer.testing import CliRunner

from driveproof.cli.app import app
from driveproof.config import Params, load_params
from driveproof.config.promote import GateRule, PromoteParams
from driveproof.errors import BadInput, Unreachable
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status
from driveproof.evaluation.driving.suite import Loss
from driveproof.evaluation.unit_scores import UnitScore, compare_units
from driveproof.policy.local import _digest
from driveproof.tracking import (
    Store,
    Version,
    compare_versions,
    find_version,
    judge_gate,
    open_store,
    promote,
    publish,
    publish_drive,
    unit_scores,
)
from driveproof.tracking.registry import attach_scores, set_alias

pytestmark = pytest.mark.slow

NAME = "driveproof-policy"
RULES = (GateRule(metric="accuracy", floor=0.2, min_units=20),)
PARAMS = PromoteParams(gates={NAME: RULES})


def _scores(values: np.ndarray, metric: str = "accuracy") -> list[UnitScore]:
    return [UnitScore(metric, f"d{n}/0", f"d{n}", float(v)) for n, v in enumerate(values)]


@pytest.fixture
def store(tmp_path: Path, empty_database: Callable[[Path], None]) -> Store:
    """A store with two versions of the policy: the second is the challenger."""
    empty_database(tmp_path)
    (tmp_path / "params.yaml").write_text("seed: 7\n")
    model = tmp_path / "models" / "sft"
    model.mkdir(parents=True)
    for number in (2, 1):
        (tmp_path / "dvc.lock").write_text(f"schema: '2.0'\nstages: {{s{number}: {{}}}}\n")
        save_file({"w": np.full(3, number, np.float32)}, model / "model.safetensors")
        publish(load_params(tmp_path / "params.yaml"), tmp_path)
    opened = open_store(load_params(tmp_path / "params.yaml").publish, tmp_path)
    assert str(find_version(opened, f"{NAME}@challenger")) == f"{NAME}/2"
    return opened


def _measure(store: Store, number: int, values: np.ndarray) -> Version:
    version = find_version(store, f"{NAME}/{number}")
    run_id = store.client.get_model_version(NAME, str(number)).run_id
    attach_scores(store, version, run_id, "mcq", _scores(values))
    return version


def test_the_first_champion_must_only_reach_the_floor(store: Store) -> None:
    _measure(store, 2, np.full(30, 0.1))
    refused = promote(store, PARAMS)
    assert not refused.moved
    assert "below the floor" in refused.verdicts[0].why
    _measure(store, 2, np.full(30, 0.5))
    done = promote(store, PARAMS)
    assert done.moved
    assert done.champion is None
    assert find_version(store, f"{NAME}@champion").number == "2"


def test_the_alias_moves_only_when_the_gate_holds(store: Store) -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.6, 40)
    set_alias(store, _measure(store, 1, base), "champion")
    # better on average, but not surely
    _measure(store, 2, base + rng.normal(0.005, 0.2, 40))
    unsure = promote(store, PARAMS)
    assert not unsure.holds
    assert find_version(store, f"{NAME}@champion").number == "1"
    _measure(store, 2, base + rng.uniform(0.05, 0.1, 40))
    assert promote(store, PARAMS, dry_run=True).holds
    assert find_version(store, f"{NAME}@champion").number == "1"
    assert promote(store, PARAMS).moved
    assert find_version(store, f"{NAME}@champion").number == "2"
    again = promote(store, PARAMS)
    assert not again.moved


def test_a_challenger_that_was_not_meant_is_refused(store: Store) -> None:
    _measure(store, 2, np.full(30, 0.5))
    with pytest.raises(BadInput, match=f"the challenger is {NAME}/2 and none of {NAME}/7"):
        promote(store, PARAMS, only=[f"{NAME}/7"])
    assert promote(store, PARAMS, only=[f"{NAME}/7", f"{NAME}/2"]).moved


def test_a_rule_about_what_was_not_measured_fails(store: Store) -> None:
    _measure(store, 2, np.full(30, 0.9))
    rules = (GateRule(metric="driving_score", floor=50.0, min_units=5),)
    done = promote(store, PromoteParams(gates={NAME: rules}))
    assert not done.moved
    assert "not measured" in done.verdicts[0].why


def test_a_model_without_a_gate_is_never_promoted(store: Store) -> None:
    with pytest.raises(BadInput, match="has no gate"):
        promote(store, PromoteParams(gates={}))


def test_few_units_prove_nothing() -> None:
    rows = compare_units(_scores(np.full(10, 0.9)), _scores(np.full(10, 0.1)))
    (verdict,) = judge_gate((GateRule(metric="accuracy", min_units=20),), rows, rivals=True)
    assert not verdict.holds
    rows = compare_units(_scores(np.full(30, 0.9)), _scores(np.full(10, 0.1)))
    (verdict,) = judge_gate((GateRule(metric="accuracy", min_units=20),), rows, rivals=True)
    assert "both are measured on 10 units" in verdict.why


def test_a_version_that_was_never_measured_is_named(store: Store) -> None:
    version = find_version(store, f"{NAME}/1")
    with pytest.raises(BadInput, match="driveproof-policy/1: was never measured"):
        compare_versions(store, version, version)
    for reference in ("", "policy", "a/b", "x@y@z", f"{NAME}/99", f"{NAME}@nobody"):
        with pytest.raises(BadInput):
            find_version(store, reference)


def test_a_drive_is_attached_once_and_compared(store: Store) -> None:
    record = RouteRecord(
        route_id="0",
        repeat=0,
        index=0,
        scenarios=(),
        town="Town01",
        weather_id="",
        state=RouteState.COMPLETED,
        status=Status.PERFECT,
        completion=1.0,
        infractions=(),
        length_m=50.0,
        game_s=9.0,
        system_s=0.0,
        speed_shares=(),
    )
    whole = [replace(record, route_id=str(n)) for n in range(20)]
    half = [replace(r, completion=0.5, status=Status.BLOCKED) for r in whole]
    params = Params()
    good, bad = find_version(store, f"{NAME}/2"), find_version(store, f"{NAME}/1")
    first = publish_drive(params, good, whole, store)
    assert publish_drive(params, good, whole, store) == first
    publish_drive(params, bad, half, store)
    _measure(store, 2, np.full(30, 0.5))
    assert {score.metric for score in unit_scores(store, good)} == {
        "accuracy",
        "driving_score",
        "success",
    }
    rows = {row.metric: row for row in compare_versions(store, good, bad)}
    assert rows["driving_score"].difference.mean == pytest.approx(50.0)
    assert rows["accuracy"].difference.mean is None
    metrics = store.client.get_run(first).data.metrics
    assert metrics["drive/driving_score"] == 100.0
    assert metrics["drive/driving_score_n"] == 20.0


def test_scores_of_other_weights_are_refused(store: Store, tmp_path: Path) -> None:
    first, second = (find_version(store, f"{NAME}/{number}") for number in (1, 2))
    losses = [Loss("0", 0, RouteState.FAILED_BY_POLICY, "no answer")]
    weights = sorted((tmp_path / "models" / "sft").glob("*.safetensors"))
    said = {"kind": "transformers", "revision": _digest(weights)}  # of the build that is version 2
    identity = {"kind": "graph", "chat": {"kind": "wire", "policy": said}}
    with pytest.raises(BadInput, match=f"{NAME}/1: weights .* drove, this version has"):
        publish_drive(Params(), first, [], store, losses, identity)
    publish_drive(Params(), second, [], store, losses, identity)
    scores = {score.metric: score.value for score in unit_scores(store, second)}
    assert scores == {"driving_score": 0.0, "success": 0.0}
    publish_drive(Params(), first, [], store, losses, {"kind": "expert"})  # names no weights


def test_the_commands_say_it_in_json_and_by_exit_code(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_alias(store, _measure(store, 1, np.linspace(0.3, 0.5, 30)), "champion")
    _measure(store, 2, np.linspace(0.2, 0.4, 30))
    monkeypatch.chdir(tmp_path)
    runner = CliRunner()
    from driveproof.cli.app import _assemble

    _assemble()
    told = runner.invoke(app, ["compare", f"{NAME}@challenger", f"{NAME}@champion", "--json"])
    assert told.exit_code == 0, told.output
    (row,) = json.loads(told.stdout)["comparisons"]
    assert row["difference"]["mean"] == pytest.approx(-0.1)
    refused = runner.invoke(app, ["promote", "--json"])
    assert refused.exit_code == 1
    assert json.loads(refused.stdout)["moved"] is False
    _measure(store, 2, np.linspace(0.5, 0.7, 30))
    (tmp_path / "params.yaml").write_text(
        "promote: {gates: {driveproof-policy: [{metric: accuracy}]}}\n"
    )
    assert runner.invoke(app, ["promote"]).exit_code == 0
    assert "already" in runner.invoke(app, ["promote"]).stdout


def _repeats(values: list[float], route: str = "1") -> list[UnitScore]:
    return [UnitScore("driving_score", f"{route}_rep{n}", route, v) for n, v in enumerate(values)]


def test_one_route_driven_five_times_proves_nothing() -> None:
    gains = [-10.0, 70.0, -80.0, 69.0, -40.0]
    rows = compare_units(_repeats([50.0 + gain for gain in gains]), _repeats([50.0] * 5))
    rule = GateRule(metric="driving_score", min_units=5)
    for rivals in (True, False):
        (verdict,) = judge_gate((rule,), rows, rivals=rivals)
        assert not verdict.holds
        assert "5 units of 1 drive or route, 5 are wanted" in verdict.why
    better = [score for n in range(5) for score in _repeats([60.0], str(n))]
    worse = [score for n in range(5) for score in _repeats([50.0], str(n))]
    (verdict,) = judge_gate((rule,), compare_units(better, worse), rivals=True)
    assert verdict.holds


@pytest.mark.parametrize("code", [INTERNAL_ERROR, TEMPORARILY_UNAVAILABLE])
def test_a_store_that_does_not_answer_is_not_without_a_champion(
    store: Store, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    set_alias(store, _measure(store, 1, np.full(30, 0.9)), "champion")
    _measure(store, 2, np.full(30, 0.3))
    ask = store.client.get_model_version_by_alias

    def fail(name: str, alias: str) -> object:
        if alias == "champion":
            raise MlflowException("database is locked", code)
        return ask(name, alias)

    monkeypatch.setattr(store.client, "get_model_version_by_alias", fail)
    with pytest.raises(Unreachable, match="database is locked"):
        promote(store, PARAMS)
    monkeypatch.undo()
    assert find_version(store, f"{NAME}@champion").number == "1"
