"""From a setting at a place to a scene, its world for the rules, and what the rules say of each behaviour."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driveproof.geometry import poses_to_local
from driveproof.geometry.arrays import Float
from driveproof.judge.criteria import PAPER_THRESHOLDS, UNASKED, criteria_of
from driveproof.judge.scripted.actors import tracks_of
from driveproof.judge.scripted.motion import Motion, centred, history, steady
from driveproof.judge.scripted.places import Place
from driveproof.judge.scripted.topics import Behaviour, Setting
from driveproof.maps import TownMap
from driveproof.rules import Scores, plan_poses, score_plans
from driveproof.rules.reference import reference_plan
from driveproof.rules.scenes import world_of
from driveproof.rules.variants import Variant
from driveproof.rules.world import World
from driveproof.scene import AgentTracks, Command, LightState, Scene, TrafficSignal


@dataclass(frozen=True)
class Staged:
    """A setting in the world.

    ``scene.future`` is the way along the lane at the speed the ego came with; ``plans`` ``[B, 10, 3]`` are the
    behaviours' poses at ``FUTURE_TIMES`` in the scene's frame, ``scores`` what the rules say of them, ``reference``
    ``[41, 3]`` what the PDM-style planner would do.
    """

    scene: Scene
    world: World
    plans: Float
    scores: Scores
    reference: Float


def stage(
    setting: Setting, place: Place, town: TownMap, key: str, topic: str, variant: Variant
) -> Staged:
    """Set a scene and score its behaviours in it."""
    past = history(place, setting.speed)
    origin = past[-1]
    ahead = Motion(steady(setting.speed), centred()).plan(place)
    scene = Scene(
        record_key=f"{key}/0",
        scene_key=key,
        source="scripted",
        timestamp_s=0.0,
        history=poses_to_local(past, origin),
        future=poses_to_local(ahead, origin),
        velocity=np.array([setting.speed, 0.0]),
        acceleration=np.zeros(2),
        command=Command.FOLLOW,
        agents=tracks_of(setting.actors, place, origin) if setting.actors else _nobody(),
        signals=_signals(setting, place),
        town=town.name,
        world_pose=origin,
        situation=topic,
        missing=frozenset({"images"}),
    )
    world = world_of(scene, town, shape=setting.shape).world
    plans = poses_to_local(
        np.stack([each.motion.plan(place) for each in setting.behaviours]), origin
    )
    reference = reference_plan(world, setting.speed)
    scores = score_plans(
        world, plan_poses(world.ego[:3], plans, 0.5), reference=reference, variant=variant
    )
    return Staged(scene, world, plans, scores, reference)


def as_meant(behaviour: Behaviour, scores: Scores, index: int) -> bool:
    """Whether the rules see what the behaviour's name says: a breach it is about, and none that it is not about.

    Reasonable behaviour never hits anybody; behaviour that is to break nothing in particular must break nothing hard.
    """
    rules = scores.row(index)
    values = {**criteria_of(rules), **{code: rules[code] for code in UNASKED}}
    if any(value is None for value in values.values()):
        return False
    low = {code for code, value in values.items() if value is not None and value < _LOW[code]}
    if behaviour.reasonable and "NC" in low:
        return False
    if not behaviour.breaks:
        return not low - {"EP"}
    return bool(low & set(behaviour.breaks))


_LOW = {**PAPER_THRESHOLDS, "TLC": 0.5}
"""Below this a criterion counts as broken by a behaviour that is about it."""


def _nobody() -> AgentTracks:
    return AgentTracks.empty(np.linspace(-1.5, 5.0, 14))


def _signals(setting: Setting, place: Place) -> tuple[TrafficSignal, ...]:
    if not place.signal:
        return ()
    state = LightState.RED if setting.red else LightState.GREEN
    at = (float(place.junction), 0.0)
    return (TrafficSignal(place.signal, "traffic_light", at, state, True, place.junction),)
