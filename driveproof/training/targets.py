"""What the teacher says: texts rendered from the expert's own plan and from what it saw at the moment of decision.

The teacher of the default profile is the expert that drove: its plan is the logged future, its reasons are the
signal that governs it and the nearest road user in its way at t = 0. Decision first, text second: every text
is rendered from a :class:`TeacherPlan`, and turn 1 is a function of the plan alone, so it cannot know the options.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float
from driveproof.prompts import choice_line, decision_line, option_letters
from driveproof.scene import AgentKind, Decision, Scene, decision_of

MIDDLE, LAST = 4, 9
"""Waypoints at 2.5 s and 5 s, which stand for a trajectory where it is put into words."""
REACH_M = 40.0
"""How far ahead a road user may be to be a reason."""
CORRIDOR_M = (2.0, 4.0)
"""Half width of the way ahead for vehicles and obstacles, and for those on foot or bicycle."""
BUCKET_M = 5
"""Distances in reasons are rounded to so many metres: more cannot be seen in a small picture."""
SAME_SPEED = 1.0
"""Difference of speed along the road, m/s, from which a road user is slower or faster."""
STANDING = 0.5
GAP_LIMIT = 40
"""Gaps are not told apart beyond so many metres: what is far is not chosen."""


@dataclass(frozen=True)
class TeacherPlan:
    """A committed plan.

    Attributes
    ----------
    signal, ahead
        Reasons in words, for example "red 20" or "vehicle 10 slower"; "none" and "clear" if there is none.
    middle, end
        Ego-frame position x, y in whole metres after 2.5 and 5 s.
    decision
        The class of the plan.
    """

    signal: str
    ahead: str
    middle: tuple[int, int]
    end: tuple[int, int]
    decision: Decision


def teacher_plan(scene: Scene, waypoints: ArrayLike | None = None) -> TeacherPlan:
    """The expert's plan in ``scene``; ``waypoints`` ``[10, 2]`` replaces the logged future."""
    points = np.asarray(scene.waypoints if waypoints is None else waypoints, dtype=np.float64)
    return TeacherPlan(
        signal=signal_words(scene),
        ahead=ahead_words(scene),
        middle=_whole(points[MIDDLE]),
        end=_whole(points[LAST]),
        decision=decision_of(points, scene.speed),
    )


def signal_words(scene: Scene) -> str:
    """The light or sign that governs the ego at t = 0 and its distance, "none" if there is none."""
    governing = [
        signal for signal in scene.signals if signal.affects_ego and signal.kind != "speed_limit"
    ]
    if not governing:
        return "none"
    nearest = min(governing, key=lambda s: (_distance(s.distance, s.position), s.signal_id))
    name = nearest.state.value if nearest.kind == "traffic_light" else nearest.kind
    return f"{name} {_bucket(_distance(nearest.distance, nearest.position))}"


def ahead_words(scene: Scene) -> str:
    """The nearest road user in the ego's way at t = 0, its distance and relative motion; "clear" if none."""
    states = scene.agents.at(0.0)
    nearest, found = REACH_M, "clear"
    for kind, dimensions, state in zip(
        scene.agents.kinds, scene.agents.dimensions, states, strict=True
    ):
        wide = kind in (AgentKind.PEDESTRIAN, AgentKind.CYCLIST)
        x, y = float(state[0] - dimensions[0] / 2), float(state[1])
        if not (0.0 < x < nearest and abs(y) < CORRIDOR_M[wide]):  # false for NaN, too
            continue
        nearest = x
        found = f"{kind.value} {_bucket(x)} {_motion(state, scene.speed)}"
    return found


def teacher_turn1(plan: TeacherPlan) -> str:
    """Reasons, expected positions, and the decision in its exact line."""
    return (
        f"signal {plan.signal} ahead {plan.ahead}\n"
        f"middle {_point(plan.middle)} end {_point(plan.end)}\n"
        f"{decision_line(plan.decision)}"
    )


def gaps(options: ArrayLike, plan: TeacherPlan) -> list[tuple[int, int]]:
    """Distance (|dx|, |dy|) of each option's final position to the planned one in whole metres.

    Computed from the rounded numbers that the policy itself has written and reads.
    """
    shown = np.array([_whole(option[LAST]) for option in np.asarray(options)])
    apart = np.abs(shown - plan.end).clip(max=GAP_LIMIT).tolist()
    return [(x, y) for x, y in apart]


def teacher_turn2(options: ArrayLike, plan: TeacherPlan, oracle_index: int) -> str:
    """Each option's final position, its gap to the committed plan, the best option so far; then the choice.

    The best has the smallest |dx| + |dy|; of equal ones the oracle counts as the smaller. The last line always
    names the oracle, also where whole metres make another option nearer.
    """
    options = np.asarray(options, dtype=np.float64)
    letters, measured = option_letters(len(options)), gaps(options, plan)
    lines, best = [], 0
    for index, (letter, option, gap) in enumerate(zip(letters, options, measured, strict=True)):
        if (sum(gap), index != oracle_index) < (sum(measured[best]), best != oracle_index):
            best = index
        end = _point(_whole(option[LAST]))
        lines.append(f"{letter}: {end} gap {_point(gap)} best {letters[best]}")
    return "\n".join([*lines, choice_line(oracle_index)])


def teacher_joint(options: ArrayLike, plan: TeacherPlan, oracle_index: int) -> str:
    """The single answer of JEFT: what DEFT says in two turns."""
    return f"{teacher_turn1(plan)}\n{teacher_turn2(options, plan, oracle_index)}"


def _whole(point: Float) -> tuple[int, int]:
    x, y = np.rint(point).astype(int).tolist()
    return x, y


def _point(point: tuple[int, int]) -> str:
    return f"{point[0]},{point[1]}"


def _bucket(metres: float) -> int:
    return BUCKET_M * round(metres / BUCKET_M)


def _distance(along_route: float, position: tuple[float, float]) -> float:
    return max(along_route, 0.0) if np.isfinite(along_route) else float(np.hypot(*position))


def _motion(state: Float, ego_speed: float) -> str:
    if np.hypot(state[3], state[4]) < STANDING:
        return "standing"
    difference = float(state[3]) - ego_speed
    if abs(difference) < SAME_SPEED:
        return "same"
    return "slower" if difference < 0 else "faster"
