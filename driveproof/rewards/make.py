"""The reward that parameters name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from driveproof.config.rewards import RewardParams
from driveproof.errors import BadInput
from driveproof.evaluation.cfs import open_judge
from driveproof.evaluation.facts import SceneFacts
from driveproof.mcq import McqItem
from driveproof.policy import ChatPolicy, PolicySettings, open_policy
from driveproof.rewards.graders import MAX_TOKENS, Grader, ModelGrader, OfflineGrader
from driveproof.rewards.reward import Reward, exact_reward
from driveproof.rewards.rubric_reward import RubricReward, SharedRubricReward
from driveproof.rewards.rubrics import Rubric
from driveproof.scene import Observation

RewardKind = Literal["exact", "rubric", "shared"]


def make_reward(
    kind: RewardKind,
    params: RewardParams,
    *,
    rubrics: Mapping[str, Rubric] | None = None,
    scenes: Mapping[str, tuple[Observation, SceneFacts | None]] | None = None,
    image_root: str = ".",
    cache_dir: str | None = None,
) -> Reward:
    """Open a reward.

    Parameters
    ----------
    kind
        "exact", "rubric" (criteria of the scene) or "shared" (four axes, the same for every scene).
    params
        Grader, mix, weights.
    rubrics
        Record key -> rubric, for kind "rubric".
    scenes
        Record key -> observation and facts, for kind "shared"; facts may be None if a model judges.
    image_root
        Where relative paths of pictures start.
    cache_dir
        Where to keep a model's decisions; None keeps none beyond the process.

    Raises
    ------
    BadInput
        If the grader cannot be opened, or what the kind needs is missing.
    """
    if kind == "exact":
        return exact_reward
    settings = PolicySettings(
        image_root=image_root,
        timeout_s=params.timeout_s,
        attempts=params.attempts,
        concurrency=params.concurrency,
        cache_dir=cache_dir,
    )
    if kind == "rubric":
        if not rubrics:
            raise BadInput("no rubrics to grade with", hint="driveproof rubrics make")
        return RubricReward(
            rubrics,
            open_grader(params.grader, settings, params.max_tokens),
            exact_share=params.exact_share,
            concurrency=params.concurrency,
        )
    if not scenes:
        raise BadInput("no scenes to judge against")
    return SharedRubricReward(
        open_judge(params.grader, settings, params.max_tokens),
        scenes,
        params.weights,
        exact_share=params.exact_share,
        concurrency=params.concurrency,
    )


def scenes_of(
    items: Iterable[McqItem], facts: Mapping[str, SceneFacts] | None = None
) -> dict[str, tuple[Observation, SceneFacts | None]]:
    """What the shared rubric judges against: record key -> observation, and facts where they are known."""
    known = facts or {}
    return {i.record_key: (i.observation, known.get(i.record_key)) for i in items}


def open_grader(
    spec: str, settings: PolicySettings | None = None, max_tokens: int = MAX_TOKENS
) -> Grader:
    """The grader that ``spec`` names: "offline" or a model that talks.

    Raises
    ------
    BadInput
        If there is no such grader.
    """
    if spec == "offline":
        return OfflineGrader()
    settings = settings or PolicySettings()
    policy = open_policy(spec, settings)
    if not isinstance(policy, ChatPolicy):
        raise BadInput(f"cannot grade: {spec}", hint="offline or openai:URL#MODEL")
    return ModelGrader(policy, attempts=settings.attempts, max_tokens=max_tokens)
