"""Sheets for annotators and what filled-in ones say; figures are checked by hand."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driveproof.cli.human import app
from driveproof.errors import BadInput, UserError
from driveproof.evaluation.cfs import AXES, OfflineJudge
from driveproof.evaluation.facts import SceneFacts, SignalFact
from driveproof.evaluation.people import SheetPlan, report_people, write_sheets
from driveproof.evaluation.people.agreement import _wins
from driveproof.evaluation.people.marks import Marks
from driveproof.evaluation.people.sheets import ANNOTATORS, swapped
from driveproof.mcq import write_items
from driveproof.mcq.answers import write_answers
from driveproof.mcq.interaction import Answer
from driveproof.prompts import decision_line, parse_decision
from driveproof.scene import Decision, Direction, SpeedChange

LINE = decision_line(Decision(Direction.STRAIGHT, SpeedChange.KEEP))


@pytest.fixture(scope="module")
def questions(make_item):
    items = [make_item(n, scene=f"d{n}") for n in range(6)]
    return [replace(i, observation=replace(i.observation, images={})) for i in items]


def answers_of(run: str, questions) -> list[Answer]:
    """Texts that do not tell whose they are."""
    made = []
    for n, item in enumerate(questions):
        colour = "red" if run == "good" else "green"
        text = f"The light is {colour}, {10 + n} m ahead. <b>Stop.\n{LINE}\nFINAL_CHOICE: B"
        made.append(Answer(item.record_key, 0, "deft", text, decision=parse_decision(LINE)))
    return made


@pytest.fixture
def sheets(questions, tmp_path: Path) -> Path:
    runs = {name: answers_of(name, questions) for name in ("good", "bad")}
    light = SignalFact("red", 12.0, True)
    known = frozenset({"agents", "signals"})
    facts = {
        i.record_key: SceneFacts(i.record_key, 8.0, 0.0, "follow", light, None, (light,), (), known)
        for i in questions
    }
    plan = SheetPlan(texts=12, both=True, pairs=("good", "bad"), seed=3)
    write_sheets(runs, questions, plan, OfflineJudge(), tmp_path / "s", facts=facts)
    return tmp_path / "s"


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def fill(path: Path, mark) -> None:
    """Write what ``mark`` says of each row."""
    filled = [row | mark(row) for row in rows(path)]
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(filled[0]))
        writer.writeheader()
        writer.writerows(filled)


def key_of(folder: Path):
    return json.loads((folder / "key.json").read_text())


def test_sheets_are_blind_shuffled_and_self_contained(sheets: Path) -> None:
    orders = []
    for annotator in ANNOTATORS:
        folder = sheets / annotator
        assert len(rows(folder / "texts.csv")) == 12
        orders.append([row["item"] for row in rows(folder / "texts.csv")])
        for file in folder.iterdir():
            text = file.read_text()
            assert "good" not in text
            assert "bad" not in text
            assert "FINAL_CHOICE" not in text
            assert "http" not in text
            assert "<b>" not in text
        page = (folder / "texts.html").read_text()
        assert "seconds" not in page  # what was driven is on the other page
        assert "The light is red" in page
        assert "m ahead" in (folder / "decisions.html").read_text()
    assert sorted(orders[0]) == sorted(orders[1])
    assert orders[0] != orders[1]
    tokens = [orders[0], sorted(key_of(sheets)["texts"])]
    assert sorted(tokens[0]) == tokens[1]


def test_halves_are_disjoint(questions, tmp_path: Path) -> None:
    runs = {"good": answers_of("good", questions)}
    write_sheets(runs, questions, SheetPlan(texts=5), OfflineJudge(), tmp_path / "s")
    halves = [{r["item"] for r in rows(tmp_path / "s" / a / "texts.csv")} for a in ANNOTATORS]
    assert [len(h) for h in halves] == [3, 2]
    assert not halves[0] & halves[1]


def test_filled_sheets_come_to_hand_computed_figures(sheets: Path) -> None:
    key = key_of(sheets)
    of_good = {t for t, e in key["texts"].items() if e["run"] == "good"}
    # the second annotator is stricter on coherence
    for annotator, coherence in zip(ANNOTATORS, ("2", "1"), strict=True):
        folder = sheets / annotator

        def marks(row, coherence: str = coherence):
            if row["item"] in of_good:
                return {**dict.fromkeys(AXES, "2"), "coherence": coherence}
            return {**dict.fromkeys(AXES, "1"), "no_hallucination": "0", "coherence": coherence}

        fill(folder / "texts.csv", marks)
        fill(
            folder / "decisions.csv",
            lambda row: {"agrees": "yes" if row["item"] in of_good else "no"},
        )

        def better(row, annotator: str = annotator):
            # run "good" is the first of the pair, and stands second where the order was swapped
            return {"better": str(1 + swapped(row["item"], annotator))}

        fill(folder / "pairs.csv", better)
    report = report_people(sheets)
    assert report.runs["good"].severe.mean == 0.0
    assert report.runs["bad"].severe.mean == 1.0
    assert report.runs["good"].cfs.mean == pytest.approx((8 + 7) / 2 / 8)
    assert report.runs["bad"].cfs.mean == pytest.approx((4 + 3) / 2 / 8)
    assert report.wins["good"].mean == 1.0
    assert report.wins["good"].n == 12
    assert report.wins["tie"].mean == 0.0
    assert report.cfs.n == 24
    assert report.cfs.spearman is not None
    assert report.cfs.spearman > 0.7
    automatic = {t: e["cfs"] for t, e in key["texts"].items()}
    gaps = [
        abs(human / 8 - automatic[t])
        for t in automatic
        for human in ((8, 7) if t in of_good else (4, 3))
    ]
    assert report.cfs.mean_absolute_error == pytest.approx(sum(gaps) / len(gaps))
    assert report.cfs.within == pytest.approx(sum(g <= 0.25 for g in gaps) / len(gaps))
    # the rule says the same of every text, because all decide alike: half of the annotators' words agree with it
    assert report.hld.n == 24
    assert report.hld.exact == 0.5
    assert report.hld.kappa == pytest.approx(0.0)
    assert report.between["grounding"].kappa == pytest.approx(1.0)
    assert report.between["coherence"].exact == 0.0
    assert report.between["hld"].exact == 1.0
    assert report.unmarked == 0


def test_verdicts_of_one_drive_are_no_independent_trials() -> None:
    """Four drives of five pairs each, judged twice alike: the interval is that of four drives, not of 40 verdicts."""
    pairs = {
        f"t{drive}{n}": {"runs": ["good", "bad"], "scene": f"d{drive}"}
        for drive in range(4)
        for n in range(5)
    }
    marks = {
        annotator: Marks(
            pairs={
                token: str(1 + (swapped(token, annotator) ^ int(entry["scene"] > "d1")))
                for token, entry in pairs.items()
            }
        )
        for annotator in ANNOTATORS
    }
    found = _wins(pairs, marks, 0)["good"]
    assert (found.mean, found.n) == (0.5, 40)
    assert (found.low, found.high) == (0.0, 1.0)
    one = {token: {**entry, "scene": "d0"} for token, entry in pairs.items()}
    assert _wins(one, marks, 0)["good"].low is None


def test_empty_fields_are_unmarked_not_zero(sheets: Path) -> None:
    report = report_people(sheets)
    assert report.unmarked == 24 * len(AXES)
    assert report.runs["good"].severe.mean is None
    assert report.cfs.n == 0


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda text: text.replace(",,,,,", ",3,,,,", 1),
            "line 2: grounding: '3' is none of 0, 1, 2",
        ),
        (lambda text: text + "nobody,1,1,1,1,\n", "is no item of the key"),
        (lambda text: text + text.splitlines()[1] + "\n", "stands twice"),
        (lambda text: text.replace("grounding", "ground"), "no column grounding"),
        (lambda text: "\x00" + text, "texts.csv"),
    ],
)
def test_bad_marks_are_named(sheets: Path, change, problem: str) -> None:
    path = sheets / ANNOTATORS[0] / "texts.csv"
    path.write_text(change(path.read_text()))
    with pytest.raises(BadInput, match=problem):
        report_people(sheets)


@pytest.mark.parametrize(
    "key", ["", "[]", '{"version": 9}', '{"version": 1, "texts": {"a": 1}, "pairs": {}}']
)
def test_a_broken_key_is_named(sheets: Path, key: str) -> None:
    (sheets / "key.json").write_text(key)
    with pytest.raises(BadInput, match="key"):
        report_people(sheets)


def test_the_commands(questions, tmp_path: Path) -> None:
    write_items(questions, tmp_path / "items.parquet")
    write_answers({"good": answers_of("good", questions)}, tmp_path / "answers.parquet")
    arguments = ["sheets", str(tmp_path / "answers.parquet"), "--items", str(tmp_path / "items.parquet"), "--out", str(tmp_path / "out")]  # fmt: skip
    run = CliRunner()
    assert run.invoke(app, arguments, catch_exceptions=False).exit_code == 0
    again = run.invoke(app, arguments)
    assert isinstance(again.exception, UserError), "filled-in sheets are never overwritten"
    agreed = run.invoke(app, ["agreement", str(tmp_path / "out"), "--json"], catch_exceptions=False)
    assert json.loads(agreed.stdout)["cfs"]["n"] == 0
    assert "good" in run.invoke(app, ["agreement", str(tmp_path / "out")]).stdout
    unknown = run.invoke(app, [*arguments[:-1], str(tmp_path / "other"), "--run", "nobody"])
    assert isinstance(unknown.exception, BadInput)
