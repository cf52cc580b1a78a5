"""The intelligent-driver model: how hard to accelerate behind a leader or towards a standing thing.

Source: Treiber, Hennecke, Helbing, "Congested traffic states in empirical observations and microscopic
simulations", Physical Review E 62 (2000), equations 2 and 3, with exponent 4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

EXPONENT = 4.0


@dataclass(frozen=True)
class Style:
    """How a driver drives.

    Attributes
    ----------
    accel, brake
        Comfortable acceleration and deceleration, m/s².
    headway
        Time gap to a leader, s.
    standstill
        Gap to a standing leader, m.
    speed_factor
        Wanted speed as a fraction of what the road allows.
    attentive
        Whether the driver looks out for who may cross its way, and makes room.
    """

    accel: float = 2.0
    brake: float = 2.2
    headway: float = 1.3
    standstill: float = 2.5
    speed_factor: float = 0.95
    attentive: bool = False


def free_acceleration(speed: float, wanted: float, style: Style) -> float:
    """Acceleration (m/s²) on an empty road at ``speed`` with a wanted speed, both m/s.

    Above the wanted speed the model's fourth power is too fierce; the excess is taken off at a
    comfortable deceleration instead.
    """
    if wanted <= 0.05:
        return -style.brake if speed > 0.0 else 0.0
    if speed <= wanted:
        return float(style.accel * (1.0 - (speed / wanted) ** EXPONENT))
    return -min(style.brake, 1.2 * (speed - wanted))


def idm_acceleration(
    speed: float, wanted: float, gap: float, closing: float, style: Style, standstill: float
) -> float:
    """Acceleration (m/s²) with a leader ``gap`` metres ahead (bumper to bumper).

    Parameters
    ----------
    speed, wanted
        Own and wanted speed, m/s.
    closing
        Own speed minus the leader's along the path, m/s.
    standstill
        Gap to keep at rest, m.
    """
    reach = speed * style.headway + speed * closing / (2.0 * math.sqrt(style.accel * style.brake))
    desired = standstill + max(0.0, reach)
    interaction = style.accel * (desired / max(gap, 0.05)) ** 2
    return free_acceleration(speed, wanted, style) - interaction


def equilibrium_gap(speed: float, wanted: float, style: Style) -> float:
    """Gap (m) at which a follower keeps ``speed`` behind an equally fast leader."""
    return float(
        (style.standstill + speed * style.headway) / math.sqrt(1.0 - (speed / wanted) ** EXPONENT)
    )
