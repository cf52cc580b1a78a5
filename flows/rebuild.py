"""Rebuild everything that is stale, then publish it: ``dvc repro`` and ``driveproof publish`` on a schedule.

DVC decides what is stale and owns the bytes; Prefect decides when, how often and who hears about it. So
no task is cached here, and a run that was killed resumes: stages that finished are skipped by DVC.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from prefect import flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE

from flows._checkout import clear_dead_locks, override_params, remove_worktree, worktree_of
from flows._commands import run

REPOSITORY = Path(__file__).resolve().parents[1]


@task(cache_policy=NO_CACHE, task_run_name="dvc repro")
def reproduce(tree: Path, targets: list[str], grace_s: float) -> None:
    """``dvc repro`` of ``targets`` (empty: everything) in ``tree``."""
    log = get_run_logger()
    for pid in clear_dead_locks(tree):
        log.warning("dropped the DVC locks of process %d, which is gone", pid)
    run([sys.executable, "-m", "dvc", "repro", *targets], tree, log.info, grace_s)


@task(cache_policy=NO_CACHE, task_run_name="driveproof publish")
def publish_results(tree: Path, store_root: Path, grace_s: float) -> dict[str, str]:
    """Publish the results of ``tree`` into the tracking store that lies in ``store_root``: folder -> ``name/number``."""
    command = [sys.executable, "-m", "driveproof", "publish", "--store-root", str(store_root)]
    lines: list[str] = []
    log = get_run_logger().info

    def keep(line: str) -> None:
        lines.append(line)
        log(line)

    run([*command, "--json"], tree, keep, grace_s)
    told = json.loads(next(line for line in reversed(lines) if line.startswith("{")))
    return {model["folder"]: f"{model['name']}/{model['version']}" for model in told["models"]}


@flow(name="rebuild", log_prints=True)
def rebuild(
    commit: str = "HEAD",
    repository: Path = REPOSITORY,
    in_place: bool = False,
    targets: list[str] | None = None,
    overlays: list[str] | None = None,
    overrides: list[str] | None = None,
    publish: bool = True,
    retries: int = 0,
    retry_delay_s: float = 30.0,
    grace_s: float = 10.0,
) -> dict[str, str]:
    """Rebuild a commit and publish what came out; returns the version (``name/number``) of each folder of a model.

    Parameters
    ----------
    commit
        What to build, in a git worktree of its own that shares the DVC cache.
    repository
        The git repository; default: the one this file is in.
    in_place
        Build the working tree of ``repository`` itself instead (as it is, edits included).
    targets
        DVC stages; default: all.
    overlays, overrides
        Files (``params/gpu.yaml``) and then ``section.key=value`` on top of params.yaml, in the worktree only.
    publish
        Whether to publish to the tracking store of ``repository`` afterwards.
    retries, retry_delay_s
        How often a failed command is tried again, and after how many seconds.
    grace_s
        Seconds between SIGTERM and SIGKILL of the process tree when the run is cancelled.
    """
    changes = [*(overlays or []), *(overrides or [])]
    if in_place and changes:
        raise ValueError("changes need a worktree: params.yaml of a checkout belongs to its owner")
    repository = repository.resolve()
    tree = repository if in_place else worktree_of(repository, commit, changes)
    for overlay in overlays or []:
        command = [sys.executable, "-m", "driveproof", "params", "apply", overlay]
        run(command, tree, get_run_logger().info, grace_s)
    override_params(tree / "params.yaml", overrides or [])
    reproduce.with_options(retries=retries, retry_delay_seconds=retry_delay_s)(
        tree, targets or [], grace_s
    )
    published: dict[str, str] = {}
    if publish:
        published = publish_results.with_options(
            retries=retries, retry_delay_seconds=retry_delay_s
        )(tree, repository, grace_s)
    if not in_place:
        remove_worktree(repository, tree)
    return published


if __name__ == "__main__":
    rebuild(in_place=True)
