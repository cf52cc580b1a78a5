"""Reinforce a variant on a schedule: rebuild its stage, publish the model, and let it challenge the champion."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.promotion import REPOSITORY, promote_challenger
from flows.rebuild import rebuild


@flow(name="grpo", log_prints=True)
def grpo(
    variants: list[str] | None = None,
    commit: str = "HEAD",
    repository: Path = REPOSITORY,
    overlays: list[str] | None = None,
    overrides: list[str] | None = None,
    promote: bool = True,
    retries: int = 1,
    retry_delay_s: float = 30.0,
    grace_s: float = 30.0,
) -> bool:
    """Train variants by GRPO at a commit; returns whether the challenger became the champion.

    A run that was cancelled or killed leaves nothing behind but its worktree with the checkpoints, and the next run of
    the same commit and changes goes on from them.

    Parameters
    ----------
    variants
        Rows of the stage's matrix; default: ``deft_rlvr``.
    commit, repository, overlays, overrides, retries, retry_delay_s, grace_s
        As of the flow ``rebuild``.
    promote
        Whether the new version may take the champion's place, if the gate holds.
    """
    rebuild(
        commit=commit,
        repository=repository,
        targets=[f"grpo@{variant}" for variant in variants or ["deft_rlvr"]],
        overlays=overlays,
        overrides=overrides,
        retries=retries,
        retry_delay_s=retry_delay_s,
        grace_s=grace_s,
    )
    return promote_challenger(repository.resolve(), "", not promote, grace_s)


if __name__ == "__main__":
    grpo()
