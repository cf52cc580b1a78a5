"""``driveproof rubrics`` from a table of scenes to checked criteria."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from driveproof.cli.rubrics import app
from driveproof.errors import BadInput, GateFailed, Unreachable
from driveproof.mcq import write_items
from driveproof.scene import LightState, TrafficSignal, write_scenes
from driveproof.testing import make_lead, make_scene
from stages.rubrics import main

RUN = CliRunner()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, make_item) -> Path:
    folder = tmp_path_factory.mktemp("rubrics")
    items, scenes = [], []
    for n in range(3):
        item = make_item(n, scene=f"made/d{n}", speed=6.0 + n)
        scene = replace(
            make_scene(speed=6.0 + n),
            record_key=item.record_key,
            agents=make_lead(15.0 + n, 2.0, np.linspace(-1.5, 5.0, 14)),
            signals=(TrafficSignal("s", "stop", (20.0, 2.0), LightState.UNKNOWN, n > 0, 20.0),),
        )
        items.append(item)
        scenes.append(scene)
    write_items(items, folder / "train.parquet")
    write_scenes(scenes, folder / "scenes")
    return folder


def test_made_shown_and_checked(world: Path, tmp_path: Path) -> None:
    items, out = world / "train.parquet", tmp_path / "out"
    made = RUN.invoke(
        app,
        ["make", "--items", str(items), "--scenes", str(world / "scenes"), "--out", str(out), "--clips", str(tmp_path), "--json"],
        catch_exceptions=False,
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    assert json.loads(made.stdout)["rubrics"] == 3
    file = str(out / "train.parquet")
    trace = "stop sign 20 m ahead, a car 13 m ahead is slower than us"
    shown = RUN.invoke(app, ["show", file, "made/d1/1", "--trace", trace, "--json"])
    found = json.loads(shown.stdout)
    met = {c["text"]: m for c, m in zip(found["criteria"], found["met"], strict=True)}
    assert met["Names the stop sign that governs the ego vehicle."]
    assert met["Says that the vehicle ahead is slower than the ego vehicle."]
    assert not met["Concludes from the stop sign that the ego vehicle must slow down or stop."]
    assert "share" in RUN.invoke(app, ["show", file, "made/d1/1", "--trace", trace]).stdout
    assert RUN.invoke(app, ["check", file, "--items", str(items)]).exit_code == 0


def test_missing_rubrics_fail_the_check(world: Path, tmp_path: Path, make_item) -> None:
    out = tmp_path / "out"
    arguments = [
        "make",
        "--items",
        str(world / "train.parquet"),
        "--scenes",
        str(world / "scenes"),
        "--out",
        str(out),
    ]
    assert RUN.invoke(app, arguments).exit_code == 0
    write_items([make_item(9, scene="elsewhere")], tmp_path / "other.parquet")
    file = str(out / "train.parquet")
    failed = RUN.invoke(app, ["check", file, "--items", str(tmp_path / "other.parquet")])
    assert isinstance(failed.exception, GateFailed)
    unknown = RUN.invoke(app, ["show", file, "nobody"])
    assert isinstance(unknown.exception, BadInput)


def test_a_dead_generator_is_no_finished_stage(
    world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No empty table is left behind, and replies are kept for a stage that was cut off."""
    for name in ("mcq", "rubrics"):
        (tmp_path / "data" / name).mkdir(parents=True)
    shutil.copy(world / "train.parquet", tmp_path / "data/mcq")
    shutil.copytree(world / "scenes", tmp_path / "data/scenes")
    (tmp_path / "data/raw").mkdir()
    (tmp_path / "params.yaml").write_text(
        'rubrics: {generator: "openai:http://127.0.0.1:1/v1#m", attempts: 1}\n'
    )
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Unreachable, match="no rubric could be made"):
        main()
    assert not list((tmp_path / "data/rubrics").iterdir())
    assert (tmp_path / ".cache/rubrics").is_dir()
