"""Stage report: everything that stages wrote -> reports/index.html, one offline file."""

from __future__ import annotations

from driveproof.config import load_params
from driveproof.errors import run
from driveproof.report import build_report


def main() -> None:
    """Build the report."""
    params = load_params()
    print(build_report(params.report, params.seed))


if __name__ == "__main__":
    run(main)
