"""Questions of another source of logs beside the own ones: can a bad codebook be told from a bad model?"""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from driveproof.cli.evaluate import app
from driveproof.codebook import TrajectoryCodebook
from driveproof.config.mcq import Band, McqParams
from driveproof.datasets import import_logs
from driveproof.errors import BadInput
from driveproof.evaluation.transfer import build_side, check_apart, findings, unpaired_difference
from driveproof.files import write_json
from driveproof.mcq.candidates import Vocabulary
from driveproof.policy import ChatReply, ChatRequest
from driveproof.scene import FUTURE_TIMES, Scene, WindowRules, write_scenes
from driveproof.testing import make_scene, motion

WIDE = McqParams(
    train_band=Band(low=0.0, high=0.99), eval_band=Band(low=0.0, high=0.99), scale_matched=0
)


class Steady:
    """Talks, says the same in every scene, and always takes the first option."""

    name = "steady"

    def identity(self) -> dict[str, Any]:
        return {"kind": "steady"}

    def reply(self, requests: Sequence[ChatRequest]) -> list[ChatReply]:
        text = "The road is clear.\nHIGH_LEVEL_DECISION: direction=straight; speed=keep\nFINAL_CHOICE: A"
        return [ChatReply(text) for _ in requests]


def _codebook() -> TrajectoryCodebook:
    """A regular fan of what people do at home: 4 to 12 m/s, brake or keep, straight or a bend."""
    fan = [
        motion(FUTURE_TIMES, speed=speed, acceleration=brake, yaw_rate=yaw)[0][:, :2]
        for speed, brake, yaw in itertools.product(
            np.arange(4.0, 12.1), (-3.0, -1.5, 0.0), (-0.25, 0.0, 0.25)
        )
    ]
    codebook = TrajectoryCodebook(len(fan), n_init=1)
    codebook.codes_ = np.array(fan, np.float32)
    codebook.n_samples_, codebook.data_digest_ = len(fan), "fan"
    return codebook


def _scenes(source: str, fastest: float, count: int = 24) -> list[Scene]:
    """Drives of one moment: braking, turning and cruising at 5 m/s to ``fastest``."""
    speeds = np.linspace(5.0, fastest, count)
    return [
        make_scene(
            log_id=f"log{n:02d}",
            source=source,
            speed=float(speed),
            acceleration=-2.6 if n % 3 == 0 else 0.0,
            yaw_rate=0.25 if n % 3 == 1 else 0.0,
        )
        for n, speed in enumerate(speeds)
    ]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Own scenes (half of the drives tested), another source that drives faster, the codebook, wide bands."""
    root = tmp_path_factory.mktemp("transfer")
    own = _scenes("home", 12.0)
    write_scenes(own, root / "own")
    splits = {scene.scene_key: ("train", "test")[n // 3 % 2] for n, scene in enumerate(own)}
    write_json(root / "own/splits.json", splits)
    write_scenes(_scenes("away", 28.0), root / "away")
    _codebook().save(root / "codebook.npz")
    params = {"mcq": WIDE.model_dump(mode="json")}
    (root / "params.yaml").write_text(json.dumps(params))  # JSON is YAML
    return root


def _command(root: Path, other: str | Path, out: Path, *more: str) -> list[str]:
    return [
        *("transfer", "--policy", "test_transfer:Steady", "--policy", "oracle", "--repeats", "2"),
        *("--scenes", str(root / other), "--own-scenes", str(root / "own"), "--out", str(out)),
        *("--codebook", str(root / "codebook.npz"), "--params", str(root / "params.yaml"), *more),
    ]


@pytest.mark.slow
def test_another_source_is_asked_with_the_same_codebook(home: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    done = runner.invoke(app, _command(home, "away", tmp_path / "a", "--json"))
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    own, other = summary["sides"]["own"], summary["sides"]["other"]
    assert (own["sources"], other["sources"]) == (["home"], ["away"])
    assert own["moments"] == 12, "only the tested half of the own drives"
    assert other["moments"] == 24
    assert other["questions"] + sum(other["rejected"].values()) == 24
    # 28 m/s against a fastest prototype of 12 m/s: the end is off by up to 80 m
    assert other["codebook"]["ade"]["p95"] > 20.0 > 5.0 > own["codebook"]["ade"]["p95"]
    oracle, steady = summary["runs"]["oracle"], summary["runs"]["steady deft"]
    assert oracle["drop"]["accuracy"]["mean"] == 0.0
    assert oracle["other"]["accuracy"]["mean"] == 1.0
    assert 0 < oracle["fitting"]["n"] < other["questions"], "fast drives are no fit"
    assert steady["other"]["cfs"]["judge"] == "offline"
    assert {"constant_velocity", "random"} < set(summary["runs"])
    again = runner.invoke(app, _command(home, "away", tmp_path / "b"))
    assert again.exit_code == 0, again.output
    assert "The codebook misses the other source by" in again.stdout.replace("\n", " ")
    for name in ("summary.json", "own/answers.parquet", "other/questions.parquet"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def test_what_is_no_transfer_is_refused(home: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    same = runner.invoke(app, _command(home, "own", tmp_path / "out"))
    assert isinstance(same.exception, BadInput)
    assert "no transfer" in str(same.exception)
    vocabulary = Vocabulary(_codebook())
    cruising = [scene for scene in _scenes("calm", 12.0) if scene.acceleration[0] == 0][:1]
    slow = [make_scene(source="calm", speed=1.0)]
    for scenes, problem in (([], "no scenes"), (slow, "class_low_speed 1")):
        with pytest.raises(BadInput, match=problem):
            build_side(scenes, vocabulary, WIDE, 0)
    natural = build_side(slow + cruising, vocabulary, WIDE, 0, "natural")
    assert len(natural.items) == 2
    check_apart(natural, build_side(_scenes("else", 12.0), vocabulary, WIDE, 0))
    assert not (tmp_path / "out").exists()


def test_a_difference_of_sources_draws_each_by_itself() -> None:
    clusters = [str(n) for n in range(50)]
    ones, zeros = np.ones(50), np.zeros(50)
    sure = unpaired_difference(ones, clusters, zeros, clusters, 0)
    assert (sure.mean, sure.low, sure.high, sure.n) == (1.0, 1.0, 1.0, 100)
    coin = np.arange(50) % 2.0
    # the standard error of a difference of two means of 50 coins is sqrt(2 / 4 / 50) = 0.1
    unsure = unpaired_difference(coin, clusters, coin, clusters, 0)
    assert unsure.mean == 0.0
    assert unsure.high == pytest.approx(1.96 * 0.1, abs=0.04)
    assert unsure.low == pytest.approx(-1.96 * 0.1, abs=0.04)
    with_lost = np.where(np.arange(50) < 10, np.nan, 1.0)
    assert unpaired_difference(with_lost, clusters, ones, clusters, 0).lost == 10
    gone = unpaired_difference(np.full(3, np.nan), clusters[:3], ones, clusters, 0)
    assert gone.mean is None


def _estimate(mean: float) -> dict[str, Any]:
    return {"mean": mean, "low": mean - 0.05, "high": mean + 0.05, "n": 9, "lost": 0}


@pytest.mark.parametrize(
    ("own", "other", "fitting", "said"),
    [
        (0.6, 0.58, 0.6, "no loss of accuracy"),
        (0.8, 0.5, 0.5, "it is the model"),
        (0.8, 0.5, 0.78, "not surely where the codebook fits"),
        (0.8, 0.15, 0.15, "not surely better than chance"),
    ],
)
def test_findings_tell_a_bad_codebook_from_a_bad_model(
    own: float, other: float, fitting: float, said: str
) -> None:
    side = {"codebook": {"ade": {"mean": 0.5}}, "questions": 9, "with_pictures": 9, "drives": 4}
    run = {
        "own": {"mode": "deft", "chance": 1 / 6, "accuracy": _estimate(own)},
        "other": {"mode": "deft", "chance": 1 / 6, "accuracy": _estimate(other)},
        "drop": {"accuracy": _estimate(own - other)},
        "fitting": _estimate(fitting),
    }
    sides = {"own": {**side, "sources": ["a"]}, "other": {**side, "sources": ["b"]}}
    sentences = findings({"sides": sides, "runs": {"sft deft": run}})
    assert any(said in sentence for sentence in sentences), sentences
    assert any("4 drives only" in sentence for sentence in sentences)


@pytest.mark.slow
@pytest.mark.shared
def test_logs_of_argoverse_2_are_another_source(
    home: Path, tmp_path: Path, shared_dir: Path
) -> None:
    logs = sorted((shared_dir / "data/fixtures/av2/sensor").iterdir())
    import_logs("av2_sensor", logs, tmp_path / "av2", WindowRules())
    natural = _command(home, tmp_path / "av2", tmp_path / "out", "--construction", "natural")
    done = CliRunner().invoke(app, [*natural, "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    other = summary["sides"]["other"]
    assert other["sources"] == ["av2_sensor"]
    assert other["questions"] > 10
    assert other["codebook"]["ade"]["mean"] > summary["sides"]["own"]["codebook"]["ade"]["mean"]
    assert summary["runs"]["oracle"]["other"]["accuracy"]["mean"] == 1.0


def test_a_side_of_one_drive_leaves_no_interval_and_no_claim() -> None:
    found = unpaired_difference(np.ones(4), ["a"] * 4, np.zeros(4), list("pqrs"), 0)
    assert (found.mean, found.low, found.high) == (1.0, None, None)
    bare = {**_estimate(0.5), "low": None, "high": None}
    run = {
        "own": {"mode": "deft", "chance": 1 / 6, "accuracy": _estimate(0.9)},
        "other": {"mode": "deft", "chance": 1 / 6, "accuracy": bare},
        "drop": {"accuracy": bare},
        "fitting": bare,
    }
    side = {"codebook": {"ade": {"mean": 0.5}}, "questions": 9, "with_pictures": 9, "drives": 1}
    sides = {"own": {**side, "sources": ["a"]}, "other": {**side, "sources": ["b"]}}
    said = findings({"sides": sides, "runs": {"sft": run}})
    assert any("not surely better than chance" in one for one in said)
    assert any("nothing tells a loss from chance" in one for one in said)
