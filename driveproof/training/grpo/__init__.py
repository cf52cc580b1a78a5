"""Reinforcement with verifiable rewards: GRPO (Shao et al., 2024) as DEFT-RLVR, section 4.2 and appendix D.3, uses it.

The trainer is TRL's with a small subclass; what is practised is a :class:`Task`: an interaction that may take turns,
and a reward. docs/grpo.md tells the whole of it.
"""

from driveproof.training.grpo.questions import Joint, McqTask, TwoTurn
from driveproof.training.grpo.task import Interaction, Opening, Task

__all__ = ["Interaction", "Joint", "McqTask", "Opening", "Task", "TwoTurn"]
