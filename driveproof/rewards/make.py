"""The reward that parameters name."""

from __future__ import annotations

from collections.abc import Mapping

from driveproof.config.rewards import RewardParams
from driveproof.errors import BadInput
from driveproof.evaluation.cfs import open_judge
from driveproof.evaluation.facts import SceneFacts
from driveproof.policy import ChatPolicy, PolicySettings, open_policy
from driveproof.rewards.graders import Grader, ModelGrader, OfflineGrader
from driveproof.rewards.reward import Reward, exact_reward
from driveproof.rewards.rubric_reward import RubricReward, SharedRubricReward
from driveproof.rewards.rubrics import Rubric
from driveproof.scene import Observation


def make_reward(
    params: RewardParams,
    *,
    rubrics: Mapping[str, Rubric] | None = None,
    scenes: Mapping[str, tuple[Observation, SceneFacts | None]] | None = None,
    image_root: str = ".",
    cache_dir: str | None = None,
) -> Reward:
    """Open the reward of ``params``.

    Parameters
    ----------
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
    if params.kind == "exact":
        return exact_reward
    settings = PolicySettings(
        image_root=image_root,
        timeout_s=params.timeout_s,
        attempts=params.attempts,
        concurrency=params.concurrency,
        cache_dir=cache_dir,
    )
    if params.kind == "rubric":
        if not rubrics:
            raise BadInput("no rubrics to grade with", hint="driveproof rubrics make")
        return RubricReward(
            rubrics,
            open_grader(params.grader, settings),
            exact_share=params.exact_share,
            concurrency=params.concurrency,
        )
    if not scenes:
        raise BadInput("no scenes to judge against")
    return SharedRubricReward(
        open_judge(params.grader, settings),
        scenes,
        params.weights,
        exact_share=params.exact_share,
        concurrency=params.concurrency,
    )


def open_grader(spec: str, settings: PolicySettings | None = None) -> Grader:
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
    return ModelGrader(policy, attempts=settings.attempts)
