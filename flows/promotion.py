"""Champion and challenger: compare them, and promote where the gate of params.yaml holds."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from prefect import flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE

from flows._commands import run

REPOSITORY = Path(__file__).resolve().parents[1]
GATE_FAILED = 1


@task(cache_policy=NO_CACHE, task_run_name="driveproof promote")
def promote_challenger(
    repository: Path,
    model: str = "",
    dry_run: bool = False,
    grace_s: float = 10.0,
    only: Sequence[str] = (),
) -> bool:
    """Whether the challenger is the champion now (with ``dry_run``: whether the gate holds).

    A challenger that is none of the versions ``only`` (``name/number``; empty: any) is refused.
    """
    command = [sys.executable, "-m", "driveproof", "promote"]
    command += ["--model", model] if model else []
    command += ["--dry-run"] if dry_run else []
    command += [word for version in only for word in ("--only", version)]
    code = run(command, repository, get_run_logger().info, grace_s, answers=(0, GATE_FAILED))
    return code == 0


@flow(name="promotion", log_prints=True)
def promotion(
    repository: Path = REPOSITORY, model: str = "", dry_run: bool = False, grace_s: float = 10.0
) -> bool:
    """Move the champion's alias in the registry of ``repository`` if the gate holds.

    A gate that does not hold is a result and no failure: the flow completes and returns False.

    Parameters
    ----------
    repository
        The checkout whose params.yaml has the gate and names the store.
    model
        Name in the registry; "" for that of params.yaml.
    dry_run
        Judge, but move nothing.
    """
    return promote_challenger(repository.resolve(), model, dry_run, grace_s)


if __name__ == "__main__":
    promotion()
