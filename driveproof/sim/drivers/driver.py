"""The driver: every step, the lowest acceleration that any reason asks for, and that reason.

Longitudinal: the intelligent-driver model towards the road's speed, leaders, lights, stop signs and
right of way. Lateral: pure pursuit of the path with its lateral plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from driveproof.scene import AgentKind, LightState
from driveproof.sim.drivers.agents import (
    OBLIVIOUS,
    STANDING,
    Agent,
    DriverDecision,
    Reason,
    Vehicle,
    stands,
)
from driveproof.sim.drivers.attention import careful_speed, threat
from driveproof.sim.drivers.control import pursuit_angle, pursuit_distance
from driveproof.sim.drivers.deadlock import backs_off
from driveproof.sim.drivers.idm import free_acceleration, idm_acceleration
from driveproof.sim.drivers.lateral import Purpose
from driveproof.sim.drivers.merging import FAR, lane_speed
from driveproof.sim.drivers.passing import passable
from driveproof.sim.drivers.perception import Blocker
from driveproof.sim.drivers.sideways import plan_sideways
from driveproof.sim.drivers.yielding import Lights, Meetings, RightOfWay

LINE_GAP = 0.8
"""Metres before a stop line at which the front bumper halts."""
STOP_SIGHT = 60.0
"""Metres within which lights and signs are obeyed."""
YELLOW_BRAKE = 3.2
"""A yellow light is obeyed if this deceleration (m/s²) is enough."""
SIGN_WAIT = 1.2
"""Seconds at a stop sign."""
OBSTACLE_GAP = 8.0
"""Metres kept before something that is to be passed, so that there is room to swerve."""
FALL_BACK = 0.8
"""Share of the new lane's speed that is driven while it has no gap."""
BECAUSE = frozenset({Reason.PASSING, Reason.MAKE_ROOM})
"""Reasons to drive slower that are due to the agent of the lateral plan."""
CREEP, GENTLE = 2.5, 2.5
"""Slower than this (m/s) the line is reached with at most so much deceleration (m/s²): its gap allows it."""
WAITS = frozenset(
    {Reason.YIELD, Reason.LEAD, Reason.CROSSING, Reason.MERGE, Reason.OBSTACLE, Reason.PEDESTRIAN}
)
"""Reasons to stand after which a driver becomes impatient."""


@dataclass(frozen=True)
class Option:
    """An acceleration that a reason asks for, with the speed it ends in."""

    accel: float
    decision: DriverDecision


@dataclass
class Situation:
    """What a driver knows in a step."""

    time: float
    dt: float
    blockers: Sequence[Blocker]
    meetings: Meetings
    agents: Sequence[Agent]
    lights: Lights
    right_of_way: RightOfWay
    plans: bool = True
    """Whether a new swerve may be planned in this step."""


def decide(driver: Vehicle, now: Situation) -> tuple[float, float]:
    """Acceleration (m/s²) and front wheel angle (rad) wanted; sets ``driver.decision`` and its memory."""
    if driver.role == OBLIVIOUS:
        driver.decision = DriverDecision(Reason.CRUISE, driver.cruise)
        return (driver.cruise - driver.speed) / 0.5, steer_to(driver)
    plan_sideways(driver, now.blockers, now.agents, now.plans)
    wanted, reason = _wanted_speed(driver)
    passing = driver.plan.agent_id if driver.plan is not None else None
    best = Option(
        free_acceleration(driver.speed, wanted, driver.style),
        DriverDecision(reason, wanted, agent_id=passing if reason in BECAUSE else None),
    )
    options = [
        *_followed(driver, now, wanted),
        *_stops(driver, now),
        *_yields(driver, now),
        *_scripted(driver, now),
    ]
    if driver.style.attentive:
        options += [*_merges(driver, now), *_careful(driver, now)]
    for option in options:
        if option.accel < best.accel - 1e-9:
            best = option
    if driver.style.attentive:
        best = _attentive(driver, now, best)
        driver.backing = backs_off(driver, now.blockers, now.agents)
    found = best.decision
    offset = driver.offset_at(driver.s + driver.body.front)
    driver.decision = DriverDecision(
        found.reason, found.target_speed, found.agent_id, found.signal_id, offset
    )
    waiting = found.reason in WAITS and driver.speed < STANDING
    driver.stuck = driver.stuck + now.dt if waiting else max(0.0, driver.stuck - 0.5 * now.dt)
    return best.accel, steer_to(driver)


def steer_to(driver: Vehicle) -> float:
    """Wheel angle (rad) that leads the rear axle to its path, by pure pursuit."""
    s = driver.s + pursuit_distance(driver.speed)
    x, y = driver.path.point(s, driver.offset_at(s))
    dx, dy = x - driver.state.x, y - driver.state.y
    return pursuit_angle(dx, dy, driver.heading, driver.body.wheelbase)


def _wanted_speed(driver: Vehicle) -> tuple[float, Reason]:
    path, i = driver.path, driver.path.index(driver.s + 0.3 * driver.speed)
    wanted = min(float(path.cap[i]), float(path.limit[i]) * driver.style.speed_factor)
    reason = Reason.CURVE if path.cap[i] < 0.9 * path.limit[i] else Reason.CRUISE
    plan = driver.plan
    if plan is None or plan.purpose is Purpose.HOLD:
        return wanted, reason
    if plan.purpose is Purpose.ASIDE:
        made = plan.leave >= FAR and wanted > plan.speed
        return (plan.speed, Reason.MAKE_ROOM) if made else (wanted, reason)
    if driver.s > plan.begin - 8.0 and wanted > plan.speed:
        return plan.speed, Reason.PASSING
    return wanted, Reason.PASSING if driver.s > plan.begin - 2.0 else reason


def _attentive(driver: Vehicle, now: Situation, best: Option) -> Option:
    """The best option so far, or what avoids somebody who would be met with it."""
    found = threat(driver, now.agents, now.lights, best.accel)
    if found is None:
        return best
    walks = found.agent.kind is AgentKind.PEDESTRIAN
    reason = Reason.PEDESTRIAN if walks else Reason.CROSSING
    target = 0.0 if found.accel < 0.0 else driver.speed
    return Option(found.accel, DriverDecision(reason, target, found.agent.agent_id))


def _careful(driver: Vehicle, now: Situation) -> list[Option]:
    found = careful_speed(driver, now.agents)
    if found is None:
        return []
    speed, agent = found
    accel = (speed - driver.speed) / 0.4 if speed < driver.speed else FAR
    return [Option(accel, DriverDecision(Reason.PEDESTRIAN, speed, agent.agent_id))]


def _merges(driver: Vehicle, now: Situation) -> list[Option]:
    """What a lane change without a gap asks for: to fall back a little, and to stop where the lane ends."""
    plan = driver.plan
    if plan is None or plan.purpose is not Purpose.HOLD or plan.leave < FAR:
        return []
    options = []
    pace = lane_speed(driver, now.agents)
    if pace is not None and plan.limit < FAR and driver.s > plan.begin:
        slow = max(FALL_BACK * pace, 2.0)
        accel = max((slow - driver.speed) / 1.0, -1.5)
        options.append(Option(accel, DriverDecision(Reason.MERGE, slow)))
    if plan.limit < FAR:
        accel = _stop_at(driver, plan.limit - driver.s_front)
        options.append(Option(accel, DriverDecision(Reason.MERGE, 0.0)))
    return options


def _scripted(driver: Vehicle, now: Situation) -> list[Option]:
    phase = driver.script.active(now.time) if driver.script is not None else None
    if phase is None:
        return []
    accel = max(min((phase.speed - driver.speed) / 0.5, driver.style.accel), -phase.brake)
    if phase.speed <= 0.0 and driver.speed <= STANDING:
        accel = -phase.brake
    return [Option(accel, DriverDecision(Reason.SCRIPT, phase.speed))]


def _followed(driver: Vehicle, now: Situation, wanted: float) -> list[Option]:
    """What those in the way ask for. A plan made in this step clears its blockers in the next one."""
    options = []
    for blocker in now.blockers:
        agent, gap, speed = blocker.agent, blocker.gap, blocker.speed
        standstill, reason = driver.style.standstill, Reason.LEAD
        if agent.kind is AgentKind.PEDESTRIAN:
            standstill, reason, speed = 3.0, Reason.PEDESTRIAN, 0.0
        elif passable(driver, agent):
            reason = Reason.OBSTACLE if stands(agent) else Reason.LEAD
            if driver.plan is not None and driver.plan.purpose is Purpose.PASS:
                if driver.s < driver.plan.full and gap > 1.0:
                    continue  # the swerve begins before it
                standstill = 1.0
            elif driver.plan is None:
                standstill = OBSTACLE_GAP
        elif blocker.ahead > 0.0:
            reason = Reason.CUT_IN
            gap = max(gap - speed * blocker.ahead, 0.5)
        accel = idm_acceleration(
            driver.speed, wanted, gap, driver.speed - speed, driver.style, standstill
        )
        if driver.speed < STANDING and gap < standstill + 0.5 and speed < 0.3:
            accel = min(accel, -0.5)
        options.append(Option(accel, DriverDecision(reason, max(speed, 0.0), agent.agent_id)))
    return options


def _stops(driver: Vehicle, now: Situation) -> list[Option]:
    """What lights and stop signs ahead ask for."""
    options = []
    for stop in driver.path.stops:
        distance = stop.s - driver.s_front
        if distance < -1.0:
            continue
        if distance > STOP_SIGHT:
            break
        reason = _stop_reason(driver, now, stop.kind, stop.signal_id, distance)
        if reason is not None:
            accel = _stop_at(driver, distance)
            options.append(Option(accel, DriverDecision(reason, 0.0, signal_id=stop.signal_id)))
    return options


def _stop_reason(
    driver: Vehicle, now: Situation, kind: str, signal_id: str, distance: float
) -> Reason | None:
    if kind == "light":
        state = now.lights.get(signal_id, LightState.OFF)
        if state is LightState.GREEN:
            driver.committed.discard(signal_id)
            driver.obeyed.discard(signal_id)
            return None
        if state is LightState.OFF or signal_id in driver.committed:
            return None
        if state is LightState.RED:
            return Reason.RED_LIGHT
        needed = driver.speed**2 / (2.0 * max(distance - LINE_GAP, 0.1))
        if needed > YELLOW_BRAKE and signal_id not in driver.obeyed:
            driver.committed.add(signal_id)
            return None
        driver.obeyed.add(signal_id)
        return Reason.YELLOW_LIGHT
    if kind != "stop" or signal_id in driver.cleared:
        return None
    if driver.speed < STANDING and distance < 2.5:
        driver.waited += now.dt
        if driver.waited >= SIGN_WAIT:
            driver.cleared.add(signal_id)
            driver.waited = 0.0
            return None
    return Reason.STOP_SIGN


def _yields(driver: Vehicle, now: Situation) -> list[Option]:
    found = now.right_of_way.yield_to(driver, now.meetings, now.lights)
    if found is None:
        return []
    point, other = found
    accel = _stop_at(driver, point - driver.s_front)
    return [Option(accel, DriverDecision(Reason.YIELD, 0.0, agent_id=other.agent_id))]


def _stop_at(driver: Vehicle, distance: float) -> float:
    """Acceleration that halts the front bumper :data:`LINE_GAP` before a line."""
    gap = distance - LINE_GAP
    speed = driver.speed
    if gap <= 0.15:
        return -2.0 if speed < 1.0 else -min(speed * speed, 8.0)
    if speed < STANDING and gap < 0.6:
        return -0.5
    wanted = max(speed, 6.0) + 2.0
    braking = speed * speed / (2.0 * gap)
    if braking > 1.6:
        # the IDM brakes early and creeps at the end; from here a constant deceleration reaches the line
        return -1.08 * braking if speed > CREEP else -min(1.08 * braking, GENTLE)
    smooth = idm_acceleration(speed, wanted, gap + 1.5, speed, driver.style, 1.0)
    return max(smooth, -1.6)
