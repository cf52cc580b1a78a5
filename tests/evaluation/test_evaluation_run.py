"""A whole evaluation with a tiny model, from questions and pictures on disk to files."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest
from typer.testing import CliRunner

from driveproof.cli.evaluate import app
from driveproof.cli.policy import app as policy_app
from driveproof.config.evaluate import EvaluateParams
from driveproof.errors import BadInput, Unreachable
from driveproof.evaluation import evaluate, write_evaluation
from driveproof.evaluation.run import draw, draw_records
from driveproof.mcq import read_items, write_items
from driveproof.mcq.answers import read_answers
from driveproof.policy.tiny import build_tiny_vlm
from driveproof.prompts import COMPACT, render_joint_turn

PARAMS = EvaluateParams(
    policies=(),
    repeats=2,
    picture_repeats=2,
    grid_repeats=1,
    max_tokens=6,
    batch_size=8,
    threads=1,
)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, make_item) -> Path:
    """Six questions of three drives with pictures, a grid of two cells, and an untrained model."""
    folder = tmp_path_factory.mktemp("world")
    items = [make_item(n, scene=f"d{n % 3}", oracle=n % 6, speed=4.0 + n) for n in range(6)]
    grid = [
        make_item(n, scene=f"d{n % 3}", options=m, variant=f"m{m:02d}", oracle=n % m)
        for n in range(3)
        for m in (2, 4)
    ]
    for item in items:
        for ref in item.observation.images["front"]:
            assert ref is not None
            pixels = np.random.default_rng(len(ref.path)).integers(0, 255, (32, 64, 3))
            cv2.imwrite(str(folder / ref.path), pixels.astype(np.uint8))
    write_items(items, folder / "items.parquet")
    write_items(grid, folder / "grid.parquet")
    text = render_joint_turn(items[0].observation, items[0].options, COMPACT)
    build_tiny_vlm(folder / "tiny", [text], hidden=32, layers=2, heads=2, vision_hidden=32)
    return folder


@pytest.mark.slow
def test_every_row_of_the_result(world: Path, tmp_path: Path) -> None:
    params = PARAMS.model_copy(update={"policies": (f"transformers:{world / 'tiny'}",)})
    items, grid = read_items(world / "items.parquet"), read_items(world / "grid.parquet")
    heard: dict[str, list[tuple[str, int, int]]] = {}
    for folder, workers in (("a", 1), ("b", 2)):
        entries = heard.setdefault(folder, [])
        result = evaluate(
            params.model_copy(update={"workers": workers}),
            items,
            grid,
            seed=5,
            image_root=str(world),
            watch=lambda *entry, entries=entries: entries.append(entry),
        )
        write_evaluation(result, tmp_path / folder)
    assert list(result.runs) == [
        "tiny deft",
        "tiny jeft",
        "tiny deft other pictures",
        "tiny deft grid",
        "constant_velocity",
        "random",
        "oracle",
    ]
    names = ["answers.parquet", "details.json", "items.json", "summary.json"]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    assert sorted(heard["a"]) == sorted(heard["b"])
    summary = json.loads((tmp_path / "a" / "summary.json").read_text())
    oracle = summary["runs"]["oracle"]
    assert oracle["accuracy"] == {"mean": 1.0, "low": 1.0, "high": 1.0, "n": 6, "lost": 0}
    assert oracle["hld"]["mean"] == 1.0
    reasons = {name: run["cfs"] for name, run in summary["runs"].items()}
    assert reasons["oracle"] is None, "who gives no reasons has no score for them"
    assert reasons["tiny deft grid"] is None
    judged = reasons["tiny deft"]
    assert judged["judged"] + judged["lost"] == 12
    assert set(judged["reasons"]) <= {"no facts of this scene"}, (
        "without facts a text is lost, not zero"
    )
    tiny = summary["runs"]["tiny deft"]
    assert (tiny["items"], tiny["scenes"], tiny["repeats"], tiny["answers"]) == (6, 3, 2, 12)
    assert tiny["lost"] == 0
    assert tiny["invalid"] > 0  # an untrained model says nothing readable
    assert summary["model_revision"] == tiny["policy"]["revision"]
    assert set(summary["picture_dependence"]) == {"tiny deft other pictures"}
    assert set(result.runs["tiny deft grid"].report.by_variant) == {"m02", "m04"}
    per_item = json.loads((tmp_path / "a" / "items.json").read_text())
    assert len(per_item) == 12
    assert per_item[0]["runs"]["oracle"] == {"right": 2, "invalid": 0, "lost": 0, "repeats": 2}
    assert set(read_answers(tmp_path / "a" / "answers.parquet")) == set(result.runs)


def test_missing_pictures_are_lost_answers_not_wrong_ones(world: Path, tmp_path: Path) -> None:
    params = PARAMS.model_copy(
        update={
            "policies": (f"transformers:{world / 'tiny'}",),
            "baselines": (),
            "modes": ("deft",),
            "pictures": ("none",),
        }
    )
    result = evaluate(params, read_items(world / "items.parquet"), image_root=str(tmp_path))
    report = result.runs["tiny deft"].report
    assert (report.lost, report.invalid, report.accuracy.mean) == (12, 0, None)
    assert result.runs["tiny deft none pictures"].report.lost == 0
    write_evaluation(result, tmp_path / "out")
    assert '"mean": null' in (tmp_path / "out" / "summary.json").read_text()


def test_what_cannot_be_evaluated_is_said(world: Path) -> None:
    items = read_items(world / "items.parquet")
    with pytest.raises(BadInput, match="no questions"):
        evaluate(PARAMS, [])
    twice = PARAMS.model_copy(update={"baselines": ("random", "random")})
    with pytest.raises(BadInput, match="two policies"):
        evaluate(twice, items)
    for workers in (1, 2):
        absent = {"policies": ("transformers:nowhere",), "workers": workers}
        with pytest.raises(BadInput, match="no such model folder"):
            evaluate(PARAMS.model_copy(update=absent), items)
    with pytest.raises(BadInput, match="oracle of reasons"):
        evaluate(PARAMS.model_copy(update={"cfs": "oracle of reasons"}), items)


def test_drawing_keeps_the_order(make_item) -> None:
    items = [make_item(n) for n in range(10)]
    drawn = draw(items, 4, 0)
    keys = [item.record_key for item in drawn]
    assert len(keys) == 4
    assert keys == sorted(keys)
    assert keys == [item.record_key for item in draw(items, 4, 0)]
    assert draw(items, 20, 0) == items


def test_a_drawn_record_keeps_all_its_cells(make_item) -> None:
    grid = [make_item(n, variant=cell) for cell in ("m02", "m04") for n in range(10)]
    drawn = draw_records(grid, 3, 0)
    cells = {cell: [i.record_key for i in drawn if i.variant == cell] for cell in ("m02", "m04")}
    assert cells["m02"] == cells["m04"]
    assert len(cells["m02"]) == 3


def test_the_command_line(world: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    base = ["run", "--items", str(world / "items.parquet"), "--images", str(world)]
    done = runner.invoke(app, [*base, "--policy", "oracle", "--repeats", "1", "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["runs"]["oracle"]["accuracy"]["mean"] == 1.0
    tiny = ["--policy", f"transformers:{world / 'tiny'}", "--mode", "jeft", "--mode", "deft"]
    short = ["--style", "compact", "--repeats", "1", "--max-tokens", "4", "--other-pictures"]
    table = runner.invoke(app, [*base, *tiny, *short, "--out", str(tmp_path / "out")])
    assert table.exit_code == 0, table.output
    assert "tiny jeft" in table.stdout
    assert "decisions changed" in table.stdout
    replay = f"recorded:{tmp_path / 'out' / 'answers.parquet'}#tiny jeft"
    again = runner.invoke(app, [*base, "--policy", replay, "--repeats", "8", "--json"])
    replayed = json.loads(again.stdout)["runs"]["recorded tiny jeft"]
    assert (replayed["lost"], replayed["repeats"]) == (0, 1)  # more was never asked


def test_a_run_that_lost_every_answer_is_no_success(world: Path) -> None:
    dead = ["--policy", "openai:http://127.0.0.1:9/v1#m", "--repeats", "1", "--max-items", "1"]
    done = CliRunner().invoke(app, ["run", "--items", str(world / "items.parquet"), *dead])
    assert isinstance(done.exception, Unreachable)
    assert "every answer was lost" in str(done.exception)


def test_policies_can_be_listed_and_checked(world: Path) -> None:
    runner = CliRunner()
    listed = json.loads(runner.invoke(policy_app, ["list", "--json"]).stdout)
    assert "transformers:FOLDER" in listed["answer questions"]
    checked = runner.invoke(policy_app, ["check", f"transformers:{world / 'tiny'}", "--json"])
    assert json.loads(checked.stdout)["kind"] == "transformers"
    dead = runner.invoke(policy_app, ["check", "openai:http://127.0.0.1:9/v1#m"])
    assert "gives no answer" in str(dead.exception)
