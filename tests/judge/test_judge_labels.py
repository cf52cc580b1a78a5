"""Labels of people: both forms, what is refused, majority, agreement against hand-computed values."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from judge_examples import clip

from driveproof.errors import BadInput
from driveproof.judge import (
    Clip,
    agreement,
    apply_labels,
    read_clips,
    read_labels,
    read_pairs,
    read_preferences,
    write_clips,
    write_pairs,
)
from driveproof.judge.labels import Label

HEADER = "clip,annotator,reasonable,justification\n"


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_jsonl_say_the_same(tmp_path: Path) -> None:
    table = write(tmp_path / "l.csv", HEADER + 'a,ann,yes,"keeps room, slowly"\nb,ann,0,\n')
    rows = [
        {
            "clip": "a",
            "annotator": "ann",
            "reasonable": True,
            "justification": "keeps room, slowly",
        },
        {"clip": "b", "annotator": "ann", "reasonable": "unreasonable"},
    ]
    lines = write(tmp_path / "l.jsonl", "\n".join(map(json.dumps, rows)) + "\n\n")
    assert read_labels(table) == read_labels(lines)
    assert read_labels(table)[0] == Label("a", "ann", True, "keeps room, slowly")


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("l.csv", "", "no column 'clip'"),
        ("l.csv", HEADER, "no label"),
        ("l.csv", HEADER + "a,ann,perhaps,\n", "line 2"),
        ("l.csv", HEADER + "a,,yes,\n", "no annotator"),
        ("l.csv", HEADER + "a,ann,yes,\na,ann,no,\n", "line 2 already"),
        ("l.csv", HEADER + 'a,ann,yes,"open\n', "not CSV"),
        ("l.jsonl", "[1]\n", "expected an object"),
        ("l.jsonl", '{"clip": ["a"], "annotator": "x", "reasonable": 1}\n', "must be texts"),
        ("l.jsonl", "[" * 5000 + "\n", "not JSON"),
        ("l.jsonl", '"' + "x" * 20_000 + '"\n', "too long"),
    ],
)
def test_a_broken_label_is_named(tmp_path: Path, name: str, text: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_labels(write(tmp_path / name, text))


def test_binary_rubbish_is_no_label(tmp_path: Path) -> None:
    for name in ("l.csv", "l.jsonl"):
        (tmp_path / name).write_bytes(b"\xff\xfe\x00clip")
        with pytest.raises(BadInput):
            read_labels(tmp_path / name)
    with pytest.raises(BadInput, match="cannot be read"):
        read_labels(tmp_path / "absent.csv")


def votes(**said: str) -> list[Label]:
    """``votes(ann="10-1")``: one digit a clip, a dash where she said nothing."""
    return [
        Label(f"c{n}", name, digit == "1")
        for name, digits in said.items()
        for n, digit in enumerate(digits)
        if digit != "-"
    ]


def test_kappa_of_two() -> None:
    # both yes 2, both no 3, apart 1 + 2: p_o 5/8, p_e 3/8 * 4/8 + 5/8 * 4/8 = 1/2
    found = agreement(votes(ann="11100000", bob="11011000"))
    assert found.kappa == {"ann / bob": (pytest.approx((5 / 8 - 1 / 2) / (1 / 2)), 8)}
    assert found.observed == pytest.approx(5 / 8)


def test_alpha_with_missing_labels() -> None:
    # Krippendorff: coincidences of pairs (1,1) (1,0) (0,0) from three units of 2, 2 and 3 labels
    found = agreement(votes(ann="11-0", bob="10-1", cat="---0"))
    # units: [1,1], [1,0], [0,1,0]: D_o = (0 + 2*1*1/1 + 2*1*2/2) / 7, D_e = 2*4*3 / (7*6)
    assert found.alpha == pytest.approx(1.0 - (4 / 7) / (24 / 42))
    assert (found.clips, found.shared, found.annotators) == (3, 3, 3)


def test_agreement_is_undefined_where_there_is_nothing_to_compare() -> None:
    alone = agreement(votes(ann="101"))
    assert (alone.observed, alone.alpha, alone.kappa) == (None, None, {})
    same = agreement(votes(ann="11", bob="11"))
    assert same.observed == 1.0
    assert same.alpha is None
    assert same.kappa["ann / bob"] == (None, 2)


def test_the_majority_decides_and_an_even_vote_does_not() -> None:
    clips = [clip(f"c{n}") for n in range(3)]
    result = apply_labels(
        clips, [*votes(ann="110", bob="10-", cat="1--"), Label("zz", "ann", True)]
    )
    assert [c.label for c in result.clips] == [True, None, False]
    assert [c.label_source for c in result.clips] == ["human", "", "human"]
    assert result.undecided == ("c1",)
    assert result.unknown == ("zz",)
    assert result.labelled == 2


def known() -> dict[str, Clip]:
    clips = [clip("s/0/a"), clip("s/0/b"), clip("t/0/c")]
    return {each.key: each for each in clips}


def test_preferences_of_drivecritic_leave_ambiguous_ones_out(tmp_path: Path) -> None:
    rows = [
        {"token": "1", "trajectory_a": "s/0/a", "trajectory_b": "s/0/b", "preferred": "b"},
        {"token": "2", "trajectory_a": "s/0/a", "trajectory_b": "s/0/b", "preferred": "ambiguous"},
    ]
    path = write(tmp_path / "p.jsonl", "\n".join(map(json.dumps, rows)))
    pairs, left_out = read_preferences(path, known())
    assert [(p.first, p.second, p.preferred) for p in pairs] == [("s/0/a", "s/0/b", "B")]
    assert left_out == {"ambiguous": 1}
    write_pairs(pairs, tmp_path / "pairs.parquet")
    assert read_pairs(tmp_path / "pairs.parquet") == pairs


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"trajectory_a": "s/0/a"}, "no token"),
        ({"token": "1", "preferred": "C"}, "none of A, B"),
        ({"token": "1", "preferred": "A", "trajectory_a": "nope"}, "no such clip"),
        (
            {"token": "1", "preferred": "A", "trajectory_a": "s/0/a", "trajectory_b": "t/0/c"},
            "different scenes",
        ),
    ],
)
def test_a_broken_preference_is_named(tmp_path: Path, row: dict[str, str], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        read_preferences(write(tmp_path / "p.jsonl", json.dumps(row)), known())


def test_clips_survive_their_table(tmp_path: Path) -> None:
    one = replace(clip(label=True, EP=0.25, LK=None), ade=1.5)
    write_clips([one, clip("other/0/x")], tmp_path / "clips.parquet")
    back = read_clips(tmp_path / "clips.parquet")
    assert back[0].rules == one.rules
    assert (back[0].label, back[0].ade, back[0].plan.shape) == (True, 1.5, (10, 3))
    assert back[1].label is None
    assert read_clips(tmp_path / "clips.parquet", ["train"]) == []


def test_other_tables_are_no_clips(tmp_path: Path) -> None:
    write_pairs([], tmp_path / "pairs.parquet")
    (tmp_path / "rubbish.parquet").write_bytes(b"PAR1")
    for name in ("pairs.parquet", "rubbish.parquet", "absent.parquet"):
        with pytest.raises(BadInput):
            read_clips(tmp_path / name)
