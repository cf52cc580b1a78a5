"""The commands about commentaries: bad input is one clear line, exit code 1 or 2, and nothing is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

GRADES = "item,grader,score\na,ours,100\nb,ours,50\nc,ours,0\na,mary,90\nb,mary,55\nc,mary,{last}\n"


def _run(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "driveproof", *arguments]
    return subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.fixture
def folder(tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(root))
    (tmp_path / "empty").mkdir()
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "answers-00000.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "cut" / "frames-00000.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "good.csv").write_text(GRADES.format(last=5))
    (tmp_path / "bad.csv").write_text(GRADES.format(last="nan"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("vqa", "stats", "empty"), "no frames-*.parquet here"),
        (("vqa", "stats", "cut"), "not a readable parquet file"),
        (("vqa", "stats", "absent"), "no frames-*.parquet here"),
        (("vqa", "conversations", "cut", "--out", "out"), "not a readable parquet file"),
        (("vqa", "peers", "absent.tar", "--out", "out"), "absent.tar"),
        (("vqa", "drivelm", "good.csv", "--out", "out"), "good.csv"),
        (("evaluate", "vqa", "--truth", "cut", "--answers", "absent.jsonl"), "no such file"),
        (("evaluate", "agreement", "bad.csv"), "not within 0 and 100"),
    ],
)
def test_bad_input_is_one_line(folder: Path, arguments: tuple[str, ...], says: str) -> None:
    done = _run(folder, *arguments)
    assert done.returncode != 0
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (folder / "out").exists()


@pytest.mark.slow
def test_a_share_is_a_share(folder: Path) -> None:
    done = _run(folder, "vqa", "conversations", "cut", "--out", "out", "--none", "2")
    assert done.returncode == 2
    assert "--none" in done.stderr


@pytest.mark.slow
def test_agreement_prints_a_table(folder: Path) -> None:
    done = _run(folder, "evaluate", "agreement", "good.csv", "--json")
    assert done.returncode == 0
    assert '"spearman": 1.0' in done.stdout.replace("0.9999999999999999", "1.0")
