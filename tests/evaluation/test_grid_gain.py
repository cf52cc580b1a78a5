"""The difficulty grid of two models, and asking a model as it was trained without saying so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from driveproof.cli.evaluate import app
from driveproof.errors import BadInput
from driveproof.evaluation.grid import compare_grids
from driveproof.evaluation.manner import asking, trained_manner
from driveproof.evaluation.mcq import tabulate
from driveproof.mcq import write_items
from driveproof.mcq.interaction import Answer

CELLS = ("m02_high0.50", "m06_high0.95")


def _trained(folder: Path, **manner: object) -> str:
    folder.mkdir()
    (folder / "driveproof.json").write_text(json.dumps(manner))
    return f"transformers:{folder}"


def test_a_model_is_asked_as_its_folder_says(tmp_path: Path) -> None:
    style = {"style": "compact", "decimals": 1, "frames": 1, "waypoint_every": 5}
    first = _trained(tmp_path / "sft", **style, prompt_hash="x")
    second = _trained(tmp_path / "deft_rlvr", **style, variant="deft_rlvr")
    assert trained_manner([first, "random", second]) == style
    assert asking([first]) == {**style, "max_tokens": 96}
    assert asking([first], decimals=0)["decimals"] == 0, "what is said counts"
    assert asking([first], style="full")["frames"] == 4
    assert asking(["openai:http://h/v1#m"])["max_tokens"] == 2048
    other = _trained(tmp_path / "big", **{**style, "style": "full"})
    with pytest.raises(BadInput, match="other prompts"):
        asking([first, other])
    for broken in ({**style, "style": "loud"}, {**style, "frames": 99}):
        spec = _trained(tmp_path / f"broken{len(list(tmp_path.iterdir()))}", **broken)
        with pytest.raises(BadInput, match=r"driveproof\.json"):
            asking([spec])


def test_gains_are_paired_in_every_cell(make_item) -> None:
    items = [
        make_item(n, scene=f"d{n}", options=6, variant=cell) for cell in CELLS for n in range(8)
    ]

    def answered(right: dict[str, int]):
        """The first so many questions of each cell are right (option A), the others wrong."""
        seen = dict.fromkeys(CELLS, 0)
        answers = []
        for item in items:
            choice = 0 if seen[item.variant] < right[item.variant] else 1
            seen[item.variant] += 1
            answers.append(Answer(item.record_key, 0, "deft", choice=choice, variant=item.variant))
        return tabulate(items, answers)

    base = answered(dict.fromkeys(CELLS, 4))
    better = answered({CELLS[0]: 6, CELLS[1]: 4})
    cells, overall = compare_grids(base, better, 0)
    assert {cell: gain.mean for cell, gain in cells.items()} == {CELLS[0]: 0.25, CELLS[1]: 0.0}
    assert (cells[CELLS[1]].low, cells[CELLS[1]].high) == (0.0, 0.0), "equal question by question"
    assert overall.mean == 0.125
    # the same answers in another order of questions
    turned = tabulate(items[::-1], [a for row in better.answers for a in row if a])
    assert compare_grids(base, turned, 0)[0][CELLS[0]].mean == 0.25


def test_the_command_asks_the_grid_of_every_model(make_item, tmp_path: Path) -> None:
    items = [make_item(n, scene=f"d{n}", oracle=n % 2) for n in range(4)]
    grid = [
        make_item(n, scene=f"d{n}", options=2, oracle=n % 2, variant=CELLS[0]) for n in range(4)
    ]
    write_items(items, tmp_path / "items.parquet")
    write_items(grid, tmp_path / "grid.parquet")
    (tmp_path / "letters.py").write_text(
        "from driveproof.policy import ChatReply\n"
        "class A:\n"
        "    def __init__(self, letter='A'): self.name = self.letter = letter\n"
        "    def identity(self): return {'kind': 'letter'}\n"
        "    def reply(self, requests): return [ChatReply(f'FINAL_CHOICE: {self.letter}')] * len(requests)\n"
    )
    command = ["run", "--items", str(tmp_path / "items.parquet"), "--repeats", "1"]
    command += [
        "--policy",
        "letters:A#A",
        "--policy",
        "letters:A#B",
        "--out",
        str(tmp_path / "out"),
    ]
    command += ["--grid", str(tmp_path / "grid.parquet")]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(app, [*command, "--json"])
        shown = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["runs"]["A deft grid"]["accuracy"]["mean"] == 0.5
    (gain,) = summary["grid_gains"]
    assert (gain["base"], gain["run"], gain["overall"]["mean"]) == ("A deft grid", "B deft grid", 0)
    assert json.loads((tmp_path / "out/grid.json").read_text()) == summary["grid_gains"]
    assert "B deft grid gains 0.000" in shown.stdout
    assert "not in every cell" in shown.stdout
