"""Stage validate: data/{scenes,codebook,mcq,vqa} -> reports/validate (results.json, summary.json, index.html).

The results are written first; then a gate that is closed fails the stage, so that DVC builds nothing on data
that broke an expectation, and the page that says why is there to be read.
"""

from __future__ import annotations

from pathlib import Path

from driveproof.config import load_params
from driveproof.errors import run
from driveproof.validation import gate, validate_data, write_results

OUT = Path("reports/validate")


def main() -> None:
    """Check the data; fail if an expectation does not hold."""
    params = load_params()
    results = validate_data(".", params.validate_)
    write_results(results, OUT)
    gate(results)


if __name__ == "__main__":
    run(main)
