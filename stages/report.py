"""Stage report: everything that stages wrote -> reports/index.html, one offline file."""

from __future__ import annotations

from driveproof.config import load_params
from driveproof.report import build_report


def main() -> None:
    """Build the report."""
    print(build_report(load_params()))


if __name__ == "__main__":
    main()
