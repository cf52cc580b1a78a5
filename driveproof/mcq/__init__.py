"""AD-MCQ: planning as a choice among explicit trajectories (DEFT-RLVR, section 3 and appendix D.1)."""

from driveproof.mcq.items import McqItem, OptionKind
from driveproof.mcq.table import read_items, write_items

__all__ = ["McqItem", "OptionKind", "read_items", "write_items"]
