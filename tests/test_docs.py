"""The how-tos are executed: a fenced block marked ``exec`` runs, in order, in one scratch directory a document.

```python exec        run as a script
```bash exec          run with `set -e`, `driveproof` on the path
```yaml file=NAME     written to NAME first
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+) ([^\n]*)\n(.*?)^```$", re.M | re.S)
DOCUMENTS = sorted(
    path
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    if BLOCK.search(path.read_text(encoding="utf-8"))
)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_examples_of_a_document_run(document: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
    }
    for language, info, body in BLOCK.findall(document.read_text(encoding="utf-8")):
        if info.startswith("file="):
            target = tmp_path / info.removeprefix("file=")
            assert tmp_path in target.resolve().parents
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(body)
        elif info == "exec":
            command = (
                [sys.executable, "-c"]
                if language == "python"
                else ["bash", "-euo", "pipefail", "-c"]
            )
            done = subprocess.run(
                [*command, body],
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{body}\n{done.stdout}\n{done.stderr}"


def test_links_between_documents_lead_somewhere() -> None:
    for document in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", document.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document.name}: {target}"
