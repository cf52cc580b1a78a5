"""What training pays for: exact choices and rubrics. They call evaluation, so training cannot drift from scoring."""

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

__all__ = [
    "ExactReward",
    "Known",
    "Pending",
    "Reward",
    "Rollout",
    "Running",
    "Scored",
    "exact_reward",
]
