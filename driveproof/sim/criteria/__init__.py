"""What a drive did right and wrong, seen from the states of its world.

Infractions are typed facts in the sense of the CARLA leaderboard; scores are made of them elsewhere.
"""

from driveproof.sim.criteria.criteria import Criteria
from driveproof.sim.criteria.infractions import ENDING, HARMLESS, Infraction, InfractionKind

__all__ = ["ENDING", "HARMLESS", "Criteria", "Infraction", "InfractionKind"]
