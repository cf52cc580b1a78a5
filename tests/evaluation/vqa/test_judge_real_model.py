"""The judge behind ``transformers serve`` with an untrained model: nonsense on the wire costs no zero."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from driveproof.evaluation.vqa.judge import FormJudge
from driveproof.evaluation.vqa.run import score_file
from driveproof.policy.remote import OpenAIPolicy
from driveproof.policy.tiny import build_tiny_vlm


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[tuple[str, str]]:
    """(URL, model) of the real server."""
    folder = tmp_path_factory.mktemp("judge")
    model = folder / "tiny"
    build_tiny_vlm(model, ["You fill in forms."], hidden=16, layers=1, heads=2, vision_hidden=16)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    launcher = root / "tests" / "policy" / "serve_model.py"
    command = [sys.executable, str(launcher), "serve", str(model), "--host", "127.0.0.1"]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [*command, "--port", str(port), "--device", "cpu"], stdout=log, stderr=log
        )
    try:
        for _ in range(240):
            try:
                if httpx.get(f"http://127.0.0.1:{port}/health", timeout=2).is_success:
                    break
            except httpx.HTTPError:
                time.sleep(0.5)
        else:
            pytest.fail(f"transformers serve is not up: {(folder / 'log.txt').read_text()[-2000:]}")
        yield f"http://127.0.0.1:{port}/v1", str(model)
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_nonsense_of_a_real_model_is_unscored_and_counted(served, dataset, rows, give) -> None:
    asked = [row for row in rows if row.key.number == 8][:2]
    said = give(asked, ["Throw the anchors!"] * len(asked))
    judge = FormJudge(OpenAIPolicy(*served, attempts=1, timeout_s=60))
    scored, report = score_file(dataset, said, judge=judge)
    assert judge.asked == len(asked)
    assert judge.failed == len(asked), "an untrained model writes no JSON"
    assert [row.value for row in scored] == [None] * len(asked)
    assert report.overall.lost == len(asked)
    assert all(row.why.startswith("judge: ") for row in scored)
