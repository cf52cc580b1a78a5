"""Rubrics from facts that are visible in the history: the generator that needs no model.

Its input is :class:`~driveproof.evaluation.facts.SceneFacts`, a type that holds neither future nor candidates.
"""

from __future__ import annotations

from driveproof.evaluation.facts import Demand, SceneFacts, SignalFact, UserFact
from driveproof.rewards.rubrics import LEAST, MOST, Criterion, Rubric, check_rubric

VERSION = "offline-1"
_LIGHTS = ("red", "yellow", "green")
_BESIDE_M = 20.0
"""Those on foot or bicycle who are so near, but not in the way, are worth a criterion."""
_MOTIONS = {
    "standing": "is standing",
    "slower": "is slower than the ego vehicle",
    "same": "moves at the same speed as the ego vehicle",
    "faster": "is faster than the ego vehicle",
}
_COMMANDS = {
    "left": "left",
    "right": "right",
    "straight": "straight",
    "follow": "follow the lane",
    "change_left": "left",
    "change_right": "right",
}


def offline_rubric(facts: SceneFacts) -> Rubric:
    """The rubric of a scene: evidence, its attributes, and what it implies, each a criterion of its own."""
    criteria = [*_signal(facts), *_ahead(facts), *_free(facts), *_beside(facts), *_ego(facts)]
    for filler in _FILLERS:
        if len(criteria) < LEAST:
            criteria.append(filler)
    rubric = Rubric(
        facts.record_key, VERSION, "offline", round(facts.speed, 2), tuple(criteria[:MOST])
    )
    return check_rubric(rubric)


def _signal(facts: SceneFacts) -> list[Criterion]:
    if "signals" not in facts.known:
        return []
    signal = facts.signal
    if signal is None:
        text = "States that no traffic light, stop sign or yield sign governs the ego vehicle."
        return [Criterion(text, 2, "signal")]
    name = _name(signal)
    criteria = [
        Criterion(f"Names the {name} that governs the ego vehicle.", 3, "signal"),
        Criterion(f"Places the {name} about {_metres(signal.distance)} m ahead.", 1, "signal"),
    ]
    if facts.signal_demand is not Demand.FREE:
        text = f"Concludes from the {name} that the ego vehicle must slow down or stop."
        criteria.append(Criterion(text, 3, "implication"))
    elif signal.name == "green":
        text = f"Concludes from the {name} that there is no need to stop for it."
        criteria.append(Criterion(text, 2, "implication"))
    return criteria


def _name(signal: SignalFact) -> str:
    if signal.name in ("stop", "yield"):
        return f"{signal.name} sign"
    return f"{signal.name} traffic light" if signal.name in _LIGHTS else "traffic light"


def _ahead(facts: SceneFacts) -> list[Criterion]:
    if "agents" not in facts.known:
        return []
    user = facts.ahead
    if user is None:
        return [Criterion("States that the way ahead is clear.", 2, "road_user")]
    kind = user.kind
    named = f"{kind} ({user.name})" if user.name else kind
    criteria = [
        Criterion(f"Names the {named} in the way of the ego vehicle.", 3, "road_user"),
        Criterion(f"Places the {kind} about {_metres(user.x)} m ahead.", 1, "road_user"),
        Criterion(f"Says that the {kind} ahead {_MOTIONS[user.motion]}.", 2, "road_user"),
    ]
    if facts.ahead_demand is not Demand.FREE:
        text = f"Concludes from the {kind} ahead that the ego vehicle must slow down or stop."
        criteria.append(Criterion(text, 3, "implication"))
    return criteria


def _free(facts: SceneFacts) -> list[Criterion]:
    """What follows where nothing is in the way; asked only if the source would know of it."""
    empty = facts.signal is None and facts.ahead is None
    if not empty or facts.known != {"agents", "signals"}:
        return []
    return [Criterion("Concludes that there is no need to stop.", 2, "implication")]


def _beside(facts: SceneFacts) -> list[Criterion]:
    for user in facts.users:
        if user.kind in ("pedestrian", "cyclist") and 0.0 < user.x < _BESIDE_M and not user.in_way:
            return [Criterion(_beside_text(user), 1, "road_user")]
    return []


def _beside_text(user: UserFact) -> str:
    side = "left" if user.y > 0 else "right"
    return f"Notices the {user.kind} on the {side} who is not in the way."


def _ego(facts: SceneFacts) -> list[Criterion]:
    speed = f"Takes into account that the ego vehicle moves at about {facts.speed:.0f} m/s."
    criteria = [Criterion(speed, 1, "ego")]
    if facts.command in _COMMANDS:
        text = f"Follows the route command: {_COMMANDS[facts.command]}."
        criteria.append(Criterion(text, 1, "route"))
    text = "Commits to where the ego vehicle will be within the next five seconds."
    return [*criteria, Criterion(text, 1, "plan")]


def _metres(distance: float) -> int:
    return 5 * round(distance / 5)


_FILLERS = (
    Criterion("Says whether a light or sign governs the ego vehicle.", 2, "any_signal"),
    Criterion("Says who or what, if anything, is in the way.", 2, "any_user"),
    Criterion("Says what the evidence means for the speed.", 2, "any_action"),
    Criterion("Says which way the ego vehicle goes.", 1, "route"),
)
