"""What one drive is worth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from driveproof.evaluation.driving.comfort import corrected_comfort, peer_comfort
from driveproof.evaluation.driving.motion import Motion, read_motion
from driveproof.evaluation.driving.records import ASIDE, RouteRecord, RouteState
from driveproof.evaluation.driving.suite import ExpectedRoute, Loss
from driveproof.sim.criteria import InfractionKind
from driveproof.sim.routes import Ability


class Variant(StrEnum):
    """Whose arithmetic."""

    BENCH2DRIVE = "bench2drive"
    """The published program's, defects included, for numbers beside published ones."""
    CORRECTED = "corrected"
    """What is wrong there repaired."""


PENALTIES = {
    InfractionKind.COLLISION_PEDESTRIAN: 0.5,
    InfractionKind.COLLISION_VEHICLE: 0.6,
    InfractionKind.COLLISION_STATIC: 0.65,
    InfractionKind.RED_LIGHT: 0.7,
    InfractionKind.STOP_SIGN: 0.8,
    InfractionKind.SCENARIO_TIMEOUT: 0.7,
    InfractionKind.YIELD_EMERGENCY: 0.7,
}
"""What an infraction leaves of the score; those not named here leave it whole (or end the drive)."""
IMPLAUSIBLE = 1000.0
"""Percentages of the traffic's speed above this are dropped: there was hardly any traffic."""
PASSED_M = 8.0
"""Metres after the first junction at which it is passed."""

Motions = Callable[[RouteRecord], Motion | None]


@dataclass(frozen=True)
class RouteScore:
    """The score of one drive; all values but ``penalty`` and ``success`` are percentages, None is unscored.

    Attributes
    ----------
    route, penalty, composed
        Completion, product of the penalties (0 to 1), and what the driving score averages.
    efficiency, comfort
        Mean speed in that of the traffic around; share of comfortable windows.
    signs
        Whether the route counts for Traffic_Signs though it is no success.
    state, lost
        Where the route stands, and why it has no score ("" if it has one).
    why
        Reasons of single values that are unscored.
    """

    route_id: str
    repeat: int
    scenarios: tuple[str, ...]
    town: str
    state: RouteState
    status: str = ""
    route: float | None = None
    penalty: float | None = None
    composed: float | None = None
    success: bool | None = None
    efficiency: float | None = None
    comfort: float | None = None
    signs: bool | None = None
    lost: str = ""
    why: dict[str, str] = field(default_factory=dict)

    def able(self, ability: Ability) -> float | None:
        """1 if the drive shows the ability, 0 if not, None if it has no score."""
        if self.success is None:
            return None
        by_junction = ability is Ability.TRAFFIC_SIGNS and self.signs
        return float(self.success or bool(by_junction))


def penalty_of(record: RouteRecord) -> float:
    """Product of the penalties, 0 to 1; the share of the way outside the route's lanes is taken off once."""
    product = 1.0
    for one in record.infractions:
        product *= PENALTIES.get(one.kind, 1.0)
    aside = sum(one.share for one in record.infractions if one.kind in ASIDE)
    return product * (1.0 - min(aside, 1.0))


def passed_signs(record: RouteRecord) -> bool | None:
    """Whether the first junction was passed and no light or stop sign run; None if its place is unknown."""
    if any(
        one.kind in (InfractionKind.RED_LIGHT, InfractionKind.STOP_SIGN)
        for one in record.infractions
    ):
        return False
    if record.first_junction is None:
        return None
    return record.completion * record.length_m >= record.first_junction[1] + PASSED_M


def peer_efficiency(record: RouteRecord) -> tuple[float | None, str]:
    """Percentage by the published arithmetic (of texts with two decimals), or the reason why there is none.

    Where every value is implausible that program divides by zero, and here nothing is scored.
    """
    if not record.speed_shares:
        return None, "no traffic around"
    kept = [v for s in record.speed_shares if (v := round(100.0 * s, 2)) <= IMPLAUSIBLE]
    if not kept:
        return None, DIVIDES_BY_ZERO
    return sum(kept) / len(kept), ""


DIVIDES_BY_ZERO = "every value exceeds 1000 %: the published program divides by zero"


def corrected_efficiency(record: RouteRecord) -> tuple[float | None, str]:
    """Percentage from unrounded shares, or the reason why there is none."""
    if not record.speed_shares:
        return None, "no traffic around"
    kept = [100.0 * share for share in record.speed_shares if 100.0 * share <= IMPLAUSIBLE]
    if not kept:
        return None, "every value exceeds 1000 %"
    return sum(kept) / len(kept), ""


def motion_of(record: RouteRecord) -> Motion | None:
    """The table that a record names; None if it names none. BadInput if it is broken."""
    return None if record.motion is None else read_motion(Path(record.motion))


def score_record(record: RouteRecord, variant: Variant, motions: Motions = motion_of) -> RouteScore:
    """Score one drive.

    In ``corrected`` a drive that failed by no fault of the policy has no score; in ``bench2drive`` whatever
    was recorded counts.
    """
    peer = variant is Variant.BENCH2DRIVE
    if not peer and not record.state.scored:
        reason = record.reason or record.status
        return lost_route(record, Loss(record.route_id, record.repeat, record.state, reason))
    penalty = penalty_of(record)
    efficiency, slow = (peer_efficiency if peer else corrected_efficiency)(record)
    motion = motions(record)
    comfort, felt = None, "no motion was recorded"
    if motion is not None:
        comfort = (peer_comfort if peer else corrected_comfort)(motion)
        felt = "" if comfort is not None else "shorter than one window"
    reasons = {"efficiency": slow, "comfort": felt}
    return RouteScore(
        record.route_id,
        record.repeat,
        record.scenarios,
        record.town,
        record.state,
        record.status,
        route=100.0 * record.completion,
        penalty=penalty,
        composed=100.0 * record.completion * penalty,
        success=record.success,
        efficiency=efficiency,
        comfort=comfort,
        signs=passed_signs(record),
        why={name: reason for name, reason in reasons.items() if reason},
    )


def lost_route(route: ExpectedRoute | RouteRecord, loss: Loss) -> RouteScore:
    """A drive without a score; one that the policy broke before anything was recorded is worth nothing."""
    broke = loss.state is RouteState.FAILED_BY_POLICY
    return RouteScore(
        loss.route_id,
        loss.repeat,
        route.scenarios,
        route.town,
        loss.state,
        route=0.0 if broke else None,
        penalty=1.0 if broke else None,
        composed=0.0 if broke else None,
        success=False if broke else None,
        lost="" if broke else f"{loss.state}: {loss.reason}",
        why={"composed": loss.reason} if broke else {},
    )
