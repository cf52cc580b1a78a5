"""EPDMS in plain numpy and shapely, written from the definitions: the baseline that the compiled rules are held against.

It shares only the readers and the plan interpolation with the library, so agreement is evidence, too.
"""

from __future__ import annotations

import numpy as np
import shapely

from driveproof.geometry import box_corners, boxes_overlap
from driveproof.geometry.arrays import Bool, Float
from driveproof.rules import Case
from driveproof.rules.history_comfort import comfort_signals, history_states
from driveproof.rules.roads import RoadMap

DT = 0.1


def fit_profiles(plans: Float) -> tuple[Float, Float]:
    """Speed and curvature profiles by pseudo-inverses of the batched normal matrices."""
    count, steps = len(plans), 40
    delta, heading = np.diff(plans, axis=1), plans[:, :-1, 2]
    turns = np.arctan2(np.sin(delta[..., 2]), np.cos(delta[..., 2]))
    integrate = np.tri(steps) * DT
    integrate[:, 0] = 1.0
    penalty = np.zeros((steps - 2, steps))
    penalty[np.arange(steps - 2), np.arange(1, steps - 1)] = -1.0
    penalty[-1, -1] = 1.0
    direction = np.stack([np.cos(heading), np.sin(heading)], -1)
    model = (direction[..., None] * integrate[:, None, :] * DT).reshape(count, 2 * steps, steps)
    inverse = np.linalg.pinv(model.transpose(0, 2, 1) @ model + 1e-4 * penalty.T @ penalty)
    target = delta[..., :2].reshape(count, -1)
    fit = np.einsum("nij,nkj,nk->ni", inverse, model, target)
    speeds = fit @ integrate.T
    model = speeds[..., None] * DT * integrate
    weights = np.diag([1e-10, *[1e-2] * (steps - 1)])
    inverse = np.linalg.pinv(model.transpose(0, 2, 1) @ model + weights)
    fit = np.einsum("nij,nkj,nk->ni", inverse, model, turns)
    return speeds, fit @ integrate.T


def simulate(plans: Float, initial: Float, wheel_base: float) -> Float:
    """Tracker and bicycle, vectorised over proposals, a Python loop over time."""
    speeds, curvatures = fit_profiles(plans)
    states = np.zeros((len(plans), 41, 11))
    states[:, 0] = initial
    for i in range(40):
        now, last = states[:, i], min(i + 10, 39)
        v, target = now[:, 3], speeds[:, last]
        stop = (target <= 0.2) & (v <= 0.2)
        command = np.where(stop, -0.5, -10.0 / 11.0) * (v - target)
        dx, dy, planned = *(now[:, :2] - plans[:, i, :2]).T, plans[:, i, 2]
        error = [-dx * np.sin(planned) + dy * np.cos(planned), now[:, 2] - planned, now[:, 7]]
        error[1] = np.arctan2(np.sin(error[1]), np.cos(error[1]))
        unit = [np.zeros(len(v))] * 3
        for k in range(10):
            way = (v + k * DT * command) * DT
            kappa = curvatures[:, min(i + k, last)]
            error = [
                error[0] + way * error[1],
                error[1] + way * (error[2] / wheel_base - kappa),
                error[2],
            ]
            unit = [unit[0] + way * unit[1], unit[1] + way * unit[2] / wheel_base, unit[2] + DT]
        turn = np.arctan2(np.sin(error[1]), np.cos(error[1]))
        rate = -(unit[0] * error[0] + 10 * unit[1] * turn) / (unit[0] ** 2 + 10 * unit[1] ** 2 + 1)
        rate = np.where(stop, 0.0, rate) * 2.0 / 3.0
        after = states[:, i + 1]
        after[:, 5] = now[:, 5] + (command - now[:, 5]) / 3.0
        after[:, 0] = now[:, 0] + DT * v * np.cos(now[:, 2])
        after[:, 1] = now[:, 1] + DT * v * np.sin(now[:, 2])
        heading = now[:, 2] + DT * v * np.tan(now[:, 7]) / wheel_base
        after[:, 2] = (heading + np.pi) % (2 * np.pi) - np.pi
        after[:, 3] = v + DT * after[:, 5]
        after[:, 7] = np.clip(now[:, 7] + DT * rate, -np.pi / 3, np.pi / 3)
        after[:, 8] = rate
        after[:, 9] = after[:, 3] * np.tan(after[:, 7]) / wheel_base
        after[:, 10] = (after[:, 9] - now[:, 9]) / DT
    return states


def areas(points: Float, roads: RoadMap) -> tuple[Bool, Bool, Bool, Bool, Bool]:
    """Between lanes, off the drivable area, off the route, centre and rear axle inside an intersection, each ``[N, 41]``."""
    flat = points.reshape(-1, 2)
    inside = np.stack(
        [
            shapely.contains_xy(shapely.Polygon(roads.rings[p]), flat[:, 0], flat[:, 1])
            for p in range(len(roads.ids))
        ]
    ).reshape(-1, *points.shape[:3])
    corners, center, rear = inside[..., :4], inside[..., 4], inside[..., 5]
    lanes = corners[roads.lanes].sum(-1)
    between = ((lanes > 0).sum(0) > 1) & (lanes != 4).all(0)
    off = ~corners[roads.drivable].any(0).all(-1)
    off_route = ~center[roads.lanes & roads.on_route].any(0)
    junction = roads.intersections
    return between, off, off_route, center[junction].any(0), rear[junction].any(0)


def _relative_angle(states: Float, target: Float) -> Float:
    offset = target - states[:2]
    facing = np.array([np.cos(states[2]), np.sin(states[2])])
    return float(np.degrees(np.arccos(np.clip(offset @ facing / np.linalg.norm(offset), -1, 1))))


def contacts(
    case: Case, states: Float, center: Float, astray: Bool, rear_in: Bool
) -> tuple[Float, Float]:
    """NC and TTC: overlaps by separating axes over all pairs of a step, judged one by one in Python."""
    traffic, shape = case.world.others, case.world.shape
    heading = np.arctan2(traffic.pose[..., 3], traffic.pose[..., 2])
    poses = np.concatenate([traffic.pose[..., :2], heading[..., None]], -1)
    others = box_corners(poses, traffic.half[:, :1] * 2, traffic.half[:, 1:] * 2)
    speed = np.hypot(states[..., 3], states[..., 4])
    first = traffic.speed[np.arange(len(traffic)), traffic.appears]
    nc, ttc = np.ones(len(states)), np.ones(len(states))
    exempt = np.zeros((len(states), len(traffic)), bool)
    exempt_ttc = exempt.copy()

    def touching(t: int, ahead: int, front_only: bool = False) -> Bool:
        shift = np.stack([np.cos(states[:, t, 2]), np.sin(states[:, t, 2])], -1)
        forward = shape.length / 2 if front_only else 0.0
        middle = center[:, t] + shift * (speed[:, t] * ahead * DT + forward)[:, None]
        ego = np.concatenate([middle, states[:, t, 2:3]], -1)
        box = box_corners(ego, 1e-12 if front_only else shape.length, shape.width)
        hit = boxes_overlap(box[:, None], others[None, :, t + ahead])
        return hit & traffic.present[:, t + ahead]

    for t in range(41):
        front = touching(t, 0, front_only=True)
        for n, a in np.argwhere(touching(t, 0) & ~exempt):
            behind = _relative_angle(states[n, t], poses[a, t, :2]) > 150.0
            if speed[n, t] <= 0.05:
                fault = False
            elif traffic.static[a] or first[a] <= 0.05:
                fault = True
            else:
                fault = not behind and bool(front[n, a] or astray[n, t])
            if fault:
                nc[n] = min(nc[n], 0.5 if traffic.static[a] else 0.0)
            exempt[n, a] |= not fault
        for ahead in (0, 3, 6, 9) if t <= 31 else ():
            for n, a in np.argwhere(
                touching(t, ahead) & ~exempt_ttc & (speed[:, t, None] >= 0.005)
            ):
                angle = _relative_angle(states[n, t], poses[a, t + ahead, :2])
                if angle < 30.0 or ((astray[n, t] or rear_in[n, t]) and not angle > 150.0):
                    ttc[n] = 0.0
                else:
                    exempt_ttc[n, a] = True
    return nc, ttc


def comfort(case: Case, states: Float) -> Float:
    """HC."""
    assert case.world.history is not None
    past = history_states(case.world.history, missing_sample=True)
    whole = np.concatenate([np.broadcast_to(past, (len(states), *past.shape)), states], 1)
    bounds = np.array([4.89, 8.37, 4.13, 1.93, 0.95])[:, None]
    signals = comfort_signals(whole, case.world.shape)
    forward, rest = signals[:, 0], signals[:, 1:]
    fine = ((forward > -4.05) & (forward < 2.40)).all(-1) & (np.abs(rest) < bounds).all((1, 2))
    return np.where(fine, 1.0, 0.0)


def score(case: Case) -> dict[str, Float]:
    """The eight sub-scores ``[N]`` of a case without lights, as one group without a reference."""
    world, roads = case.world, case.world.roads
    states = simulate(case.plans, world.ego, world.shape.wheel_base)
    facing = np.stack([np.cos(states[..., 2]), np.sin(states[..., 2])], -1)
    center = states[..., :2] + world.shape.rear_axle_to_center * facing
    box = box_corners(
        np.concatenate([center, states[..., 2:3]], -1), world.shape.length, world.shape.width
    )
    points = np.concatenate([box, center[..., None, :], states[..., None, :2]], -2)
    between, off, off_route, center_in, rear_in = areas(points, roads)
    nc, ttc = contacts(case, states, center, between | off, rear_in)
    moved = np.zeros(center.shape[:2])
    moved[:, 1:] = np.linalg.norm(np.diff(center, axis=1), axis=-1)
    moved *= off_route & ~center_in
    metres = np.max([moved[:, max(0, t - 10) : t + 1].sum(-1) for t in range(41)], axis=0)
    dac = np.where(off.any(-1), 0.0, 1.0)
    ddc = np.where(metres < 2.0, 1.0, np.where(metres < 6.0, 0.5, 0.0))
    line = shapely.LineString(roads.route)
    along = shapely.line_locate_point(line, shapely.points(center[:, [0, -1]]))
    raw = np.maximum(along[:, 1] - along[:, 0], 0.0)
    bar = (raw * nc * dac * ddc).max()
    ep = np.clip(raw / bar, 0.0, 1.0) if bar > 5.0 else np.ones(len(raw))
    far = shapely.distance(line, shapely.points(center)) > 0.5
    run, lk = np.zeros(len(far)), np.ones(len(far))
    for t in range(41):
        run = np.where(center_in[:, t], run, np.where(far[:, t], run + 1, 0))
        lk[run >= 20] = 0.0
    names = ("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC")
    columns = (nc, dac, ddc, np.ones(len(nc)), ep, ttc, lk, comfort(case, states))
    return dict(zip(names, columns, strict=True))
