"""Publishing into a real sqlite store: once is enough, models are found again by content."""

from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load_file, save_file

from driveproof.config import Params, load_params
from driveproof.config.publish import PublishParams
from driveproof.errors import BadInput, Unreachable, UserError
from driveproof.mcq import write_items
from driveproof.mcq.answers import write_answers
from driveproof.mcq.interaction import Answer
from driveproof.tracking import (
    PublishedVersion,
    fetch_model,
    find_version,
    list_versions,
    open_store,
    publish,
    read_lineage,
    unit_scores,
)
from driveproof.tracking.lineage import content_hash
from driveproof.tracking.store import resolve_uri

WEIGHTS = {"head": np.arange(6, dtype=np.float32).reshape(2, 3)}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A small build: lock, parameters, reports, a model."""
    (tmp_path / "params.yaml").write_text("seed: 7\n")
    (tmp_path / "dvc.lock").write_text("schema: '2.0'\n")
    evaluation = tmp_path / "reports" / "evaluation"
    evaluation.mkdir(parents=True)
    summary = {
        "prompt_hash": "abc123",
        "deft": {"acc": {"mean": 0.25, "n": 40}, "ok": True, "note": "text", "none": None},
        "runs": [1, 2, 3],
        "settings": {"repeats": 8},
    }
    (evaluation / "summary.json").write_text(json.dumps(summary))
    (evaluation / "answers.json").write_text("[]")
    training = tmp_path / "reports" / "training"
    training.mkdir()
    curve = {"curve": [{"step": s, "loss": 2.0 - s} for s in range(2)]}
    (training / "metrics.json").write_text(json.dumps(curve))
    (tmp_path / "reports" / "index.html").write_text("<html></html>")
    model = tmp_path / "models" / "sft"
    model.mkdir(parents=True)
    save_file(WEIGHTS, model / "model.safetensors")
    return tmp_path


def _version(number: str, new: bool) -> PublishedVersion:
    return PublishedVersion("driveproof-policy", number, new, "models/sft")


def _params(build: Path) -> Params:
    return load_params(build / "params.yaml")


def test_lineage_holds_numbers_names_and_all_parameters(build: Path) -> None:
    lineage = read_lineage(build, _params(build))
    numbers = {(p.name, p.step): p.value for p in lineage.metrics}
    assert numbers == {
        ("evaluation/deft/acc/mean", 0): 0.25,
        ("evaluation/deft/acc/n", 0): 40.0,
        ("training/curve/loss", 0): 2.0,
        ("training/curve/loss", 1): 1.0,
    }
    assert lineage.tags["prompt_hash"] == "abc123"
    assert lineage.tags["model_revision"] == "unknown"
    assert lineage.tags["seed"] == lineage.params["seed"] == "7"
    assert lineage.params["publish.alias"] == "challenger"
    assert len(lineage.lock_hash) == 64


@pytest.mark.slow
def test_publishing_twice_changes_nothing(build: Path) -> None:
    first = publish(_params(build), build)
    assert (first.new_run, first.models) == (True, (_version("1", True),))
    store = open_store(PublishParams(), build)
    before = store.client.get_run(first.run_id).to_dictionary()
    assert before["data"]["metrics"]["evaluation/deft/acc/mean"] == 0.25
    assert before["data"]["tags"]["version.models/sft"] == "driveproof-policy/1"
    kept = {artifact.path for artifact in store.client.list_artifacts(first.run_id)}
    assert kept == {"dvc.lock", "params.yaml", "reports", "models"}

    # another commit of the same build is the same build
    subprocess.run(["git", "init", "-q", str(build)], check=True)
    second = publish(_params(build), build)
    assert (second.run_id, second.new_run) == (first.run_id, False)
    assert second.models == (_version("1", False),)
    assert store.client.get_run(first.run_id).to_dictionary() == before
    assert len(store.client.search_runs([store.experiment_id])) == 1
    assert len(store.client.search_model_versions("")) == 1


@pytest.mark.slow
def test_versions_follow_the_content_of_the_model(build: Path, tmp_path: Path) -> None:
    publish(_params(build), build)
    (build / "dvc.lock").write_text("schema: '2.0'\nstages: {}\n")
    same = publish(_params(build), build)
    assert (same.new_run, same.models) == (True, (_version("1", False),))

    changed = {"head": WEIGHTS["head"] + 1}
    save_file(changed, build / "models" / "sft" / "model.safetensors")
    (build / "dvc.lock").write_text("schema: '2.0'\nstages: {other: {}}\n")
    other = publish(_params(build), build)
    assert other.models == (_version("2", True),)

    store = open_store(PublishParams(), build)
    found = fetch_model(
        store, find_version(store, "driveproof-policy@challenger"), tmp_path / "fetched"
    )
    loaded = load_file(found / "model.safetensors")
    np.testing.assert_array_equal(loaded["head"], changed["head"])
    listed = list_versions(store)
    assert [(str(v), v.aliases) for v in listed] == [
        ("driveproof-policy/2", ("challenger",)),
        ("driveproof-policy/1", ()),
    ]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("precious")
    with pytest.raises(UserError, match="holds something else"):
        fetch_model(store, listed[0], tmp_path / "mine")


@pytest.mark.slow
def test_a_publish_that_was_cut_off_is_done_again(
    build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(PublishParams(), build)
    monkeypatch.setattr(type(store.client), "set_terminated", _raise)
    with pytest.raises(KeyboardInterrupt):
        publish(_params(build), build)
    monkeypatch.undo()
    again = publish(_params(build), build)
    assert (again.new_run, again.models) == (True, (_version("1", False),))
    statuses = {r.info.status for r in store.client.search_runs([store.experiment_id])}
    assert statuses == {"FINISHED", "KILLED"}


@pytest.mark.slow
def test_curves_and_rollouts_of_reinforcement_go_along(build: Path) -> None:
    folder = build / "reports" / "grpo" / "deft_exact"
    folder.mkdir(parents=True)
    rows = [{"step": step, "reward": 0.1 * step} for step in range(3)]
    (folder / "curves.json").write_text(json.dumps({"seed 0": rows}))
    samples = pa.table({"step": [0, 1], "turn1": ["signal red", "clear"], "reward": [0.0, 1.0]})
    pq.write_table(samples, folder / "samples.parquet")
    done = publish(_params(build), build)
    client = open_store(PublishParams(), build).client
    history = client.get_metric_history(done.run_id, "grpo/deft_exact/seed 0/reward")
    assert [(point.step, point.value) for point in history] == [(0, 0.0), (1, 0.1), (2, 0.2)]
    kept = [artifact.path for artifact in client.list_artifacts(done.run_id, "rollouts")]
    assert kept == ["rollouts/deft_exact.json"]


@pytest.mark.slow
def test_answers_to_the_test_questions_go_with_the_version(build: Path, make_item) -> None:
    items = [make_item(n, oracle=1) for n in range(3)]
    write_items(items, build / "data" / "mcq" / "test.parquet")
    answers = [Answer(i.record_key, r, "deft", choice=1 - r) for i in items[:2] for r in (0, 1)]
    write_answers({"sft deft": answers}, build / "reports" / "evaluate" / "answers.parquet")
    publish(_params(build), build)
    store = open_store(PublishParams(), build)
    found = unit_scores(store, find_version(store, "driveproof-policy@challenger"))
    accuracy = {score.unit: score.value for score in found if score.metric == "accuracy"}
    assert accuracy == {"drive/0": 0.5, "drive/1": 0.5}  # the third was not asked


def _raise(*_: object) -> None:
    raise KeyboardInterrupt


def test_a_model_with_a_pickle_is_refused_before_anything_is_recorded(build: Path) -> None:
    (build / "models" / "sft" / "optimizer.pt").write_bytes(b"\x80\x04.")
    with pytest.raises(BadInput, match=r"optimizer\.pt"):
        publish(_params(build), build)
    assert not (build / "mlflow.db").exists()


def test_broken_builds_are_told_in_one_line(build: Path) -> None:
    (build / "reports" / "evaluation" / "summary.json").write_text("{")
    with pytest.raises(BadInput, match="not JSON"):
        publish(_params(build), build)
    (build / "dvc.lock").unlink()
    with pytest.raises(BadInput, match="nothing was built"):
        publish(_params(build), build)


def test_only_databases_and_servers_are_stores(tmp_path: Path) -> None:
    assert resolve_uri("sqlite:///a.db", tmp_path) == f"sqlite:///{tmp_path / 'a.db'}"
    assert resolve_uri("sqlite:////a.db", tmp_path) == "sqlite:////a.db"
    assert resolve_uri("http://host:1", tmp_path) == "http://host:1"
    with pytest.raises(BadInput, match="no database or server"):
        resolve_uri("mlruns", tmp_path)


@pytest.mark.slow
def test_a_server_that_is_away_is_told_quickly(tmp_path: Path) -> None:
    with pytest.raises(Unreachable, match="does not answer"):
        open_store(PublishParams(tracking_uri="http://127.0.0.1:9"), tmp_path)


def test_the_content_hash_knows_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("x")
    one = content_hash(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    two = content_hash(tmp_path)
    (tmp_path / "b").write_text("y")
    assert len({one, two, content_hash(tmp_path)}) == 3


@pytest.mark.parametrize("state", ["noise", "folder", "locked"])
def test_a_database_that_cannot_be_written_is_one_line(
    build: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("driveproof.tracking.store._LOCK_TIMEOUT_S", 0.1)
    path = build / "mlflow.db"
    if state == "noise":
        path.write_bytes(bytes(range(256)) * 40)
    elif state == "folder":
        path.mkdir()
    other = sqlite3.connect(path if state == "locked" else ":memory:")
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unreachable, match=r"mlflow\.db: the tracking store does not answer"):
        publish(_params(build), build)
    other.close()


@pytest.mark.slow
def test_every_variant_of_grpo_is_registered_and_the_judge_can_be_opened(build: Path) -> None:
    (build / "params.yaml").write_text(
        "grpo: {variants: {mine: {rollout: two_turn, reward: exact}}}\n"
    )
    for number, folder in enumerate(
        ("grpo/mine", "grpo/left_over", "judge_rl/sft", "judge_rl/zero_shot")
    ):
        model = build / "models" / folder
        model.mkdir(parents=True)
        (model / "config.json").write_text("{}")
        save_file({"w": np.full(2, number, np.float32)}, model / "model.safetensors")
    done = publish(_params(build), build)
    assert {(m.folder, m.name) for m in done.models} == {
        ("models/sft", "driveproof-policy"),
        ("models/grpo/mine", "driveproof-policy"),
        ("models/judge_rl/sft", "driveproof-judge"),
    }
    store = open_store(PublishParams(), build)
    judge = find_version(store, "driveproof-judge@challenger")
    assert (fetch_model(store, judge, build / "fetched") / "config.json").is_file()
