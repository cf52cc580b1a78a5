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

    Only a version that this run published may be promoted.

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
    variants = variants or ["deft_rlvr"]
    published = rebuild(
        commit=commit,
        repository=repository,
        targets=[f"grpo@{variant}" for variant in variants],
        overlays=overlays,
        overrides=overrides,
        retries=retries,
        retry_delay_s=retry_delay_s,
        grace_s=grace_s,
    )
    versions = [version_of(published, variant) for variant in variants]
    model = versions[-1].rpartition("/")[0]
    return promote_challenger(repository.resolve(), model, not promote, grace_s, versions)


def version_of(published: dict[str, str], variant: str) -> str:
    """Of a variant that was just trained.

    Raises
    ------
    ValueError
        If it was not published: whatever challenges then is another model.
    """
    folder = f"models/grpo/{variant}"
    if folder not in published:
        raise ValueError(f"{folder} was trained and not published: publish.models does not name it")
    return published[folder]


if __name__ == "__main__":
    grpo()
