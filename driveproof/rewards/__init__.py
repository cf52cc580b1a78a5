"""What training pays for: exact choices and rubrics. They call evaluation, so training cannot drift from scoring."""

from driveproof.rewards.graders import Grader, ModelGrader, OfflineGrader
from driveproof.rewards.make import make_reward, open_grader, scenes_of
from driveproof.rewards.reward import (
    ExactReward,
    Known,
    Pending,
    Reward,
    Rollout,
    Running,
    Scored,
    exact_reward,
)
from driveproof.rewards.rubric_offline import offline_rubric
from driveproof.rewards.rubric_reward import RubricReward, SharedRubricReward
from driveproof.rewards.rubrics import (
    Criterion,
    Rubric,
    problems_of,
    read_rubrics,
    write_rubrics,
)

__all__ = [
    "Criterion",
    "ExactReward",
    "Grader",
    "Known",
    "ModelGrader",
    "OfflineGrader",
    "Pending",
    "Reward",
    "Rollout",
    "Rubric",
    "RubricReward",
    "Running",
    "Scored",
    "SharedRubricReward",
    "exact_reward",
    "make_reward",
    "offline_rubric",
    "open_grader",
    "problems_of",
    "read_rubrics",
    "scenes_of",
    "write_rubrics",
]
