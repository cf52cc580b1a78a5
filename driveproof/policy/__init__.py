"""Policies: models that answer conversations, and baselines that choose without words."""

from driveproof.policy.chat import ChatPolicy, ChatReply, ChatRequest
from driveproof.policy.choice import (
    Choice,
    ChoicePolicy,
    ConstantVelocity,
    Oracle,
    Question,
    RandomChoice,
)
from driveproof.policy.driving import (
    COMMANDS,
    DRIVERS,
    DriveDecision,
    DriveObservation,
    DrivingPolicy,
    Pedals,
    open_driver,
)
from driveproof.policy.registry import KINDS, Policy, PolicySettings, open_policy
from driveproof.policy.seeds import derive_seed

__all__ = [
    "COMMANDS",
    "DRIVERS",
    "KINDS",
    "ChatPolicy",
    "ChatReply",
    "ChatRequest",
    "Choice",
    "ChoicePolicy",
    "ConstantVelocity",
    "DriveDecision",
    "DriveObservation",
    "DrivingPolicy",
    "Oracle",
    "Pedals",
    "Policy",
    "PolicySettings",
    "Question",
    "RandomChoice",
    "derive_seed",
    "open_driver",
    "open_policy",
]
