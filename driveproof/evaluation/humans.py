"""How humans fare under the driving rules: the logged driver of real logs as the proposal.

The reference of progress is the PDM-style planner; extended comfort compares with the moment half a second before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.datasets import open_logs
from driveproof.errors import MissingMap
from driveproof.evaluation.planners import Tally
from driveproof.geometry import poses_to_local, poses_to_world
from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap, load_town
from driveproof.rules import RULES, Previous, SubScore, World, score_plans, shape_of
from driveproof.rules.aggregate import epdms_of_judged
from driveproof.rules.planners import broken_rules, unjudged_rules
from driveproof.rules.reference import reference_plan
from driveproof.rules.scenes import SceneWorld, world_of
from driveproof.rules.states import DT, HORIZON
from driveproof.rules.variants import Variant
from driveproof.scene import Log, Scene, WindowReport, WindowRules, scenes_of
from driveproof.scene.log_map import LogMap

BREAKABLE = tuple(code for code in RULES if code != "EP")
"""Rules that are kept or broken; progress is a matter of degree."""
_GAP = 0.5


@dataclass(frozen=True)
class Moment:
    """One scored moment: verdicts, both readings of EPDMS (None: unscored), and what is needed to draw it."""

    scene: Scene
    world: World
    states: Float
    verdicts: dict[str, SubScore]
    epdms: float | None
    epdms_judged: float | None
    notes: tuple[str, ...]

    def to_row(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "record_key": self.scene.record_key,
            "scene_key": self.scene.scene_key,
            **{code: verdict.value for code, verdict in self.verdicts.items()},
            "EPDMS": self.epdms,
            "EPDMS_judged": self.epdms_judged,
            "broken": broken_rules(self.verdicts),
            "unjudged": unjudged_rules(self.verdicts),
        }


def score_humans(
    format: str,
    paths: Iterable[Path],
    report: WindowReport,
    *,
    variant: Variant = "navsim",
    stride: float = 0.5,
    on_log: Callable[[str], None] | None = None,
) -> Iterator[Moment]:
    """Score the logged driver at every usable moment of the logs; ``report`` counts the rejected ones.

    Raises
    ------
    BadInput
        Naming file and field, at the first log or map that cannot be read.
    """
    rules = WindowRules(stride_s=stride, agent_step_s=DT)
    for log in open_logs(format, paths):
        if isinstance(log, Scene):
            scenes, log_map, town = [log], None, None
            report.kept += 1
        else:
            scenes = list(scenes_of(log, rules, report))
            log_map = log.load_map() if log.load_map is not None and scenes else None
            town = _town(log.town) if log_map is None else None
        before: tuple[Scene, SceneWorld] | None = None
        for n, scene in enumerate(scenes):
            made = _world(scene, log, log_map, town, scenes[n + 1 :])
            yield _moment(scene, made, before, variant)
            before = (scene, made)
        if on_log is not None:
            on_log(scenes[0].scene_key if scenes else "")


def _town(name: str) -> TownMap | None:
    try:
        return load_town(name) if name else None
    except MissingMap:
        return None  # the world then says that it has no map


def _world(
    scene: Scene,
    log: Log | Scene,
    log_map: LogMap | None,
    town: TownMap | None,
    later: Sequence[Scene],
) -> SceneWorld:
    size = log.ego_size if isinstance(log, Log) else None
    axle = not isinstance(log, Log) or log.frame_origin != "box_center"
    soon = [each for each in later if each.timestamp_s - scene.timestamp_s <= HORIZON * DT]
    return world_of(
        scene,
        town,
        shape=shape_of(*size) if size is not None else None,
        rear_axle=axle,
        later=soon,
        log_map=log_map,
    )


def _moment(
    scene: Scene, made: SceneWorld, before: tuple[Scene, SceneWorld] | None, variant: Variant
) -> Moment:
    world = made.world
    scores = score_plans(
        world,
        made.human[None],
        reference=reference_plan(world) if len(world.roads.route) else None,
        previous=_previous(scene, before),
        variant=variant,
    )
    values = {code: rule.values for code, rule in scores.rules.items()}
    total, judged = float(scores.epdms_raw[0]), float(epdms_of_judged(values)[0])
    return Moment(
        scene,
        world,
        scores.states[0],
        scores.verdicts(0),
        None if np.isnan(total) else total,
        None if np.isnan(judged) else judged,
        made.notes,
    )


def _previous(scene: Scene, before: tuple[Scene, SceneWorld] | None) -> Previous | None:
    """The plan of half a second ago in the frame of this scene, if that moment was scored."""
    if before is None or abs(scene.timestamp_s - before[0].timestamp_s - _GAP) > 0.05:
        return None
    old, made = before
    ego = made.world.ego.copy()
    ego[:3] = _moved(ego[:3], old, scene)
    return Previous(ego, _moved(made.human, old, scene)[None], _GAP)


def _moved(poses: Float, old: Scene, new: Scene) -> Float:
    return poses_to_local(poses_to_world(poses, old.world_pose), new.world_pose)


@dataclass
class HumanReport:
    """Which rules humans break: shares of judged moments with intervals over drives, and means."""

    broken: Tally
    means: Tally
    unjudged: Counter[str]
    notes: Counter[str]

    @classmethod
    def empty(cls) -> HumanReport:
        """Nothing seen yet."""
        return cls(Tally(), Tally(), Counter(), Counter())

    def add(self, moment: Moment) -> None:
        """Count one moment."""
        drive = moment.scene.scene_key
        self.broken.rows += 1
        self.means.rows += 1
        self.notes.update(moment.notes)
        self.unjudged.update(unjudged_rules(moment.verdicts))
        for code, verdict in moment.verdicts.items():
            if verdict.value is not None:
                self.broken.add(code, drive, float(verdict.value < 1.0), 1)
                self.means.add(code, drive, verdict.value, 1)
        for name, value in (("EPDMS", moment.epdms), ("EPDMS_judged", moment.epdms_judged)):
            if value is not None:
                self.means.add(name, drive, value, 1)

    def to_json(self, windows: WindowReport) -> dict[str, Any]:
        """Everything as plain values; ``broken_rate`` is the share of judged moments that earn less than 1."""
        columns = (*RULES, "EPDMS", "EPDMS_judged")
        return {
            "moments": self.means.rows,
            "rejected": dict(sorted(windows.rejected.items())),
            "broken_rate": self.broken.to_json(BREAKABLE)["scores"],
            "mean": self.means.to_json(columns)["scores"],
            "unjudged": dict(sorted(self.unjudged.items())),
            "notes": dict(sorted(self.notes.items())),
        }


class Worst:
    """The K moments of lowest EPDMS over the judged rules, at least 2 s apart within a drive."""

    APART = 2.0

    def __init__(self, count: int) -> None:
        self._count = count
        self._kept: list[Moment] = []

    def add(self, moment: Moment) -> None:
        """Offer a moment; unscored ones and those that break nothing are not kept."""
        if self._count and moment.epdms_judged is not None and moment.epdms_judged < 1.0:
            chosen: list[Moment] = []
            for each in sorted([*self._kept, moment], key=_badness):
                if len(chosen) < self._count and all(_apart(each, other) for other in chosen):
                    chosen.append(each)
            self._kept = chosen

    def moments(self) -> list[Moment]:
        """The worst first."""
        return list(self._kept)


def _badness(moment: Moment) -> tuple[float, int, str]:
    judged = moment.epdms_judged
    broken = len(broken_rules(moment.verdicts))
    return (2.0 if judged is None else judged, -broken, moment.scene.record_key)


def _apart(one: Moment, other: Moment) -> bool:
    same = one.scene.scene_key == other.scene.scene_key
    gap = abs(one.scene.timestamp_s - other.scene.timestamp_s)
    return not same or gap >= Worst.APART - 1e-6
