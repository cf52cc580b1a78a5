"""Stage ``sweep``: codebook size and data scale against reconstruction error."""

from __future__ import annotations

from driveproof.codebook.sweep import run_sweep, write_sweep
from driveproof.codebook.trajectories import load_trajectories
from driveproof.config import load_params
from driveproof.errors import run


def main() -> None:
    """Write ``sweep.json``, ``resolution.csv`` and ``scale.csv``."""
    params = load_params()
    data = load_trajectories(params.sweep.source)
    report = run_sweep(data, params.sweep, params.codebook.clustering, params.seed)
    write_sweep(report, "reports/sweep")


if __name__ == "__main__":
    run(main)
