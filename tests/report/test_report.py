"""The report: complete, offline, the same bytes again, honest about what is not there."""

from __future__ import annotations

import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import cv2
import numpy as np
import pytest

from driveproof.codebook.build import build_codebook
from driveproof.codebook.sweep import run_sweep, write_sweep
from driveproof.codebook.trajectories import load_trajectories
from driveproof.config.codebook import ClusteringParams, CodebookParams
from driveproof.config.evaluate import EvaluateParams
from driveproof.config.mcq import Band, GridParams, McqParams
from driveproof.config.report import ReportParams
from driveproof.config.sweep import SweepParams
from driveproof.config.validate import ValidateParams
from driveproof.errors import BadInput
from driveproof.evaluation import evaluate, write_evaluation
from driveproof.files import write_json
from driveproof.mcq import write_items
from driveproof.mcq.answers import write_answers
from driveproof.mcq.build import build_splits
from driveproof.mcq.candidates import Vocabulary
from driveproof.mcq.grid import difficulty_grid
from driveproof.mcq.interaction import Answer
from driveproof.mcq.stats import stats_of
from driveproof.report import build_report
from driveproof.report.figures import _spread, interval_chart
from driveproof.report.tables import estimate, grid, number, percent
from driveproof.scene import Decision, Direction, ImageRef, SpeedChange, write_scenes
from driveproof.testing import make_scene
from driveproof.validation import validate_data, write_results

pytestmark = pytest.mark.slow

EVIL = "<script>alert(1)</script>"


def _scenes(folder: Path):
    """Braking, turning and cruising drives; each test drive has a picture."""
    (folder / "picture.png").write_bytes(
        cv2.imencode(".png", np.full((9, 16, 3), 128, np.uint8))[1].tobytes()
    )
    refs = (None, None, None, ImageRef("picture.png"))
    scenes = []
    for number_ in range(60):
        kind = number_ % 3
        scene = make_scene(
            log_id=f"{EVIL if number_ == 2 else 'drive'}{number_:02d}",
            speed=6.0 + 0.15 * number_,
            acceleration=-2.0 if kind == 0 else 0.0,
            yaw_rate=0.25 if kind == 1 else 0.0,
        )
        images = dict.fromkeys(("front_left", "front", "front_right"), refs)
        scenes.append(type(scene)(**{**vars(scene), "images": images, "situation": EVIL}))
    return scenes


def _vqa_results(folder: Path) -> None:
    """What the stage vqa leaves, of two questions."""
    half = {"mean": 62.5, "low": 50.0, "high": 75.0, "n": 8, "lost": 0}
    report = {"overall": half, "by_category": {"planning": half}, "by_question": {"8": half, "50": half}}  # fmt: skip
    write_json(folder / "baselines.json", {"expert": report, "constant": report})
    keys = {"directions": {"FOLLOW_LANE": 4}, "speeds": {"KEEP": 4}}
    counted = {"questions": 8, "frames": 4, "clips": 1, "questions_per_frame": 2.0}
    quiet = {"trivial_frames": 1, "waiting_frames": 0, "none_share": {"8": 0.75, "50": 0.0}}
    write_json(
        folder / "statistics.json", {**counted, **keys, **quiet, "by_question": {"8": 4, "50": 4}}
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("built")
    scenes = _scenes(root)
    data = root / "data"
    write_scenes(scenes, data / "scenes")
    splits = {s.scene_key: ("test", "dev", "train")[i % 5 % 3] for i, s in enumerate(scenes)}
    write_json(data / "scenes/splits.json", splits)
    logs = [{"scene_key": s.scene_key, "path": "a.tar", "kept": 1, "rejected": {}} for s in scenes]
    counted = {"kept": 60, "rejected": {"gap": 4, "jump": 1}, "logs": logs}
    bad = [{"path": "b.tar", "problem": EVIL}]
    write_json(data / "scenes/import.json", {"format": "made", **counted, "bad": bad})
    book = build_codebook(
        data / "scenes", CodebookParams(n_codes=12), 0, data / "scenes/splits.json"
    )
    book.codebook.save(data / "codebook/codebook.npz")
    write_json(data / "codebook/metrics.json", book.metrics)
    sweep = run_sweep(
        load_trajectories(data / "scenes"),
        SweepParams(
            sizes=(4, 8), n_splits=2, scale_sizes=(4,), scale_fractions=(0.5, 1.0), workers=1
        ),
        ClusteringParams(),
    )
    write_sweep(sweep, root / "reports/sweep")
    wide = McqParams(
        train_band=Band(low=0.0, high=0.99), eval_band=Band(low=0.0, high=0.99), scale_matched=0
    )
    results = build_splits(scenes, splits, Vocabulary(book.codebook), wide, 0)
    for split, result in results.items():
        write_items(result.items, data / f"mcq/{split}.parquet")
    cells = GridParams(options=(2, 4), highs=(0.9, 0.99))
    variants = difficulty_grid(results["test"].items, Vocabulary(book.codebook), cells, 0)
    assert variants.items
    write_json(data / "mcq/stats.json", stats_of(results, variants))
    limits = ValidateParams(min_questions=1000)
    _vqa_results(root / "reports/vqa")
    write_results(
        validate_data(root, limits, ("scenes", "codebook", "mcq")), root / "reports/validate"
    )
    params = EvaluateParams(policies=(), baselines=("random", "oracle"), repeats=2)
    items = results["test"].items
    write_evaluation(evaluate(params, items), root / "reports/evaluate")
    said = Decision(Direction.LEFT, SpeedChange.STOP)
    answer = Answer(items[0].record_key, 0, "deft", f"I see {EVIL}", "FINAL_CHOICE: B", said, 1)
    write_answers({"tiny deft": [answer]}, root / "reports/evaluate/answers.parquet")
    curve = [{"step": s, "loss": 2.0 - 0.1 * s} for s in range(5)]
    write_json(root / "reports/sft/sft.json", {"parameters": 1234567, "curve": curve})
    return root


class _Reader(HTMLParser):
    """Collects what a browser would load, the text it would show, and the tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loads += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href", "data")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_nothing_built_is_said_and_is_no_error(tmp_path: Path) -> None:
    page = _Reader(build_report(ReportParams(), 0, tmp_path).read_text())
    assert page.text.count("Not built yet") == page.tags.count("h2"), "every chapter says so"
    assert "svg" not in page.tags


def test_the_report_shows_every_chapter_offline(built: Path) -> None:
    text = build_report(ReportParams(), 0, built).read_text()
    page = _Reader(text)
    missing = set(re.findall(r"Not built yet: stage (\w+)", page.text))
    assert {"humans", "scenarios", "drive"} <= missing
    assert not missing & {"scenes", "validate", "codebook", "mcq", "sft", "evaluate", "vqa"}
    assert page.tags.count("svg") >= 5
    # all that is loaded is inside the file; identifiers of XML are no addresses to load
    assert all(load.startswith(("data:", "#")) for load in page.loads)
    assert not re.search(r"url\((?!#)|@import", text)
    # what comes from data is text, never markup
    assert "script" not in page.tags
    assert EVIL in page.text
    for expected in (
        "60 drives in made format gave 60 moments of decision; 5 moments were rejected",
        "The gate is closed",
        "at least 1000 questions",
        "FINAL_CHOICE: B",
        "The policy decided: left, stop",
        "1,234,567",
        "similarity at most",
        "The expert answered 8 questions about 4 frames of 1 clips",
        "62.5 [50.0, 75.0] (n 8)",
    ):
        assert expected in page.text


def test_paper_and_ours_stand_side_by_side(built: Path) -> None:
    text = _Reader(build_report(ReportParams(), 0, built).read_text()).text
    # DEFT-RLVR's text gives the trend as about K to the power of -1/4; its table 5 says so
    law = re.search(r"paper, in\s*(0\.\d+)", text)
    assert law is not None
    assert 0.2 < float(law.group(1)) < 0.3
    sweep = json.loads((built / "reports/sweep/sweep.json").read_text())
    assert f"{sweep['resolution'][0]['in_ade']:.3f}" in text
    assert "0.680" in text
    oracle = json.loads((built / "reports/evaluate/summary.json").read_text())["runs"]["oracle"]
    assert f"(n {oracle['accuracy']['n']})" in text


def test_the_same_results_give_the_same_bytes(built: Path, tmp_path: Path) -> None:
    first = build_report(ReportParams(), 0, built).read_bytes()
    other = tmp_path / "elsewhere"
    shutil.copytree(built, other)
    assert build_report(ReportParams(), 0, other).read_bytes() == first
    assert str(built).encode() not in first


def test_broken_results_and_unknown_examples_are_told(built: Path, tmp_path: Path) -> None:
    root = tmp_path / "copy"
    shutil.copytree(built, root)
    unknown = ReportParams(example="no/such/key")
    with pytest.raises(BadInput, match=r"report\.example: no such test question"):
        build_report(unknown, 0, root)
    (root / "reports/evaluate/summary.json").write_text('{"runs": ')
    before = (root / "reports/index.html").read_bytes()
    with pytest.raises(BadInput, match=r"summary\.json: not JSON"):
        build_report(ReportParams(), 0, root)
    assert (root / "reports/index.html").read_bytes() == before


def test_numbers_never_hide_what_is_lost() -> None:
    unscored = {"mean": None, "low": None, "high": None, "n": 0, "lost": 3}
    assert estimate(unscored) == "unscored (n 0, lost 3)"
    scored = {"mean": 0.5, "low": 0.25, "high": 0.75, "n": 1200, "lost": 0}
    assert estimate(scored, 2) == "0.50 [0.25, 0.75] (n 1,200)"
    bare = {"mean": 0.5, "low": None, "high": None, "n": 5, "lost": 0}
    assert estimate(bare, 2) == "0.50 [no interval] (n 5)"
    assert "<svg" in interval_chart([("one drive", bare), ("many", scored)], 0.2)
    assert estimate(None) == number(None) == percent(None) == "–"


def test_the_grid_has_a_row_a_bound_and_a_column_a_number_of_options() -> None:
    table = grid("g", {"m10_high0.50": "a", "m02_high0.95": "b", "m02_high0.50": "c", "odd": "x"})
    assert table.head == ("similarity at most", "2 options", "10 options")
    assert table.rows == (("0.50", "c", "a"), ("0.95", "b", "–"))


def test_labels_keep_their_distance() -> None:
    ends = np.array([[10.0, 0.0], [10.1, 0.2], [10.0, -1.0], [40.0, 0.0]])
    places = _spread(ends, 2.0)
    apart = np.linalg.norm(places[:, None] - places[None], axis=-1)[np.triu_indices(4, 1)]
    assert apart.min() >= 2.0
    np.testing.assert_array_equal(places[[0, 3]], ends[[0, 3]])
