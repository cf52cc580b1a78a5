"""Scores of planners' proposals on the scenes of a table: one row a proposal, unscored ones with a reason."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from driveproof.errors import UserError
from driveproof.files import sha256_file
from driveproof.geometry.arrays import Float
from driveproof.maps import TownMap, load_town
from driveproof.rules.aggregate import RULES
from driveproof.rules.plan import plan_poses
from driveproof.rules.proposals import BATCH_ROWS, Proposal, headings_along
from driveproof.rules.reference import reference_plan
from driveproof.rules.result import SubScore
from driveproof.rules.scene_store import SceneStore
from driveproof.rules.scenes import SceneWorld, world_of
from driveproof.rules.score import Scores, score_plans
from driveproof.rules.variants import Variant
from driveproof.scene import Scene
from driveproof.scene.table import scene_shards

SCORE_SCHEMA = pa.schema(
    {
        "row": pa.int64(),
        "record_key": pa.string(),
        "scene_key": pa.string(),
        "name": pa.string(),
        **{code: pa.float64() for code in (*RULES, "EPDMS", "EPDMS_human_filtered")},
        "broken": pa.list_(pa.string()),
        "reason": pa.string(),
    },
    metadata={"driveproof_table": "trajectory_scores", "schema_version": "1"},
)
"""One row a proposal; null is unscored, ``reason`` says why EPDMS is, ``broken`` names rules below 1 with evidence."""
_WORLDS = 64


@dataclass(frozen=True)
class PlannerRun:
    """What to score and how; two runs with the same settings and files give the same bytes.

    ``centred`` names the sources whose poses follow the centre of the box instead of the rear axle.
    """

    scenes: Path
    proposals: Path
    variant: Variant = "navsim"
    centred: tuple[str, ...] = ()
    batch_rows: int = BATCH_ROWS

    def identity(self) -> dict[str, Any]:
        """What a resumed run must agree in."""
        return {
            "proposals": sha256_file(self.proposals),
            "scenes": [sha256_file(shard) for shard in scene_shards(self.scenes)],
            "variant": self.variant,
            "centred": sorted(self.centred),
            "batch_rows": self.batch_rows,
            "schema": SCORE_SCHEMA.metadata[b"schema_version"].decode(),
        }


class Judge:
    """Scores batches of proposals of one run; keeps the worlds of the last 64 scenes."""

    def __init__(self, run: PlannerRun) -> None:
        self._run = run
        self._store = SceneStore(run.scenes)
        self._worlds: OrderedDict[str, tuple[SceneWorld, Scene, Float | None]] = OrderedDict()

    def __call__(self, batch: Sequence[Proposal]) -> pa.Table:
        """The scores of a batch, in its order."""
        rows: dict[int, dict[str, Any]] = {}
        groups: dict[tuple[str, float, tuple[int, ...]], list[Proposal]] = {}
        for proposal in batch:
            if proposal.problem is not None:
                rows[proposal.row] = self._lost(proposal, proposal.problem)
            elif proposal.record_key not in self._store:
                rows[proposal.row] = self._lost(proposal, "record_key: no such scene")
            else:
                alike = (proposal.record_key, proposal.dt, proposal.poses.shape)
                groups.setdefault(alike, []).append(proposal)
        for (key, dt, _), members in groups.items():
            rows.update(self._score(key, dt, members))
        ordered = [rows[proposal.row] for proposal in batch]
        return pa.Table.from_pylist(ordered, schema=SCORE_SCHEMA)

    def _score(
        self, key: str, dt: float, members: Sequence[Proposal]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        try:
            made, scene, reference = self._world(key)
            back = made.world.ego[:3]  # zero, or the rear axle of a scene that follows the centre
            plans = _plans(np.stack([member.poses for member in members]), dt, back)
            scores = score_plans(
                made.world, plans, reference=reference, human=made.human, variant=self._run.variant
            )
        except (UserError, ValueError) as error:
            for member in members:
                yield member.row, self._lost(member, f"scene: {error}")
            return
        for n, member in enumerate(members):
            yield member.row, _row(member, scene.scene_key, scores, n)

    def _world(self, key: str) -> tuple[SceneWorld, Scene, Float | None]:
        if key not in self._worlds:
            scene, later = self._store.get(key)
            axle = scene.source not in self._run.centred
            made = world_of(scene, _town(scene.town), rear_axle=axle, later=later)
            reference = reference_plan(made.world) if len(made.world.roads.route) else None
            self._worlds[key] = (made, scene, reference)
            if len(self._worlds) > _WORLDS:
                self._worlds.popitem(last=False)
        self._worlds.move_to_end(key)
        return self._worlds[key]

    def _lost(self, proposal: Proposal, reason: str) -> dict[str, Any]:
        known = proposal.record_key in self._store
        return {
            "row": proposal.row,
            "record_key": proposal.record_key,
            "scene_key": self._store.drive_of(proposal.record_key) if known else None,
            "name": proposal.name,
            "broken": [],
            "reason": reason,
        }


@cache
def _town(name: str) -> TownMap | None:
    return load_town(name) if name else None


def _plans(poses: Float, dt: float, back: Float) -> Float:
    """Plans ``[N, 41, 3]`` of the rear axle, which is at ``back`` ``[3]`` in the scene's frame at t = 0.

    ``poses`` ``[N, T, 2 or 3]`` are of the scene's own point of the vehicle.
    """
    if poses.shape[-1] == 2:
        poses = np.concatenate([poses, headings_along(poses)[..., None]], axis=-1)
    moved = poses.copy()
    moved[..., 0] += back[0] * np.cos(poses[..., 2]) - back[0]
    moved[..., 1] += back[0] * np.sin(poses[..., 2])
    return plan_poses(back, moved, dt)


def broken_rules(verdicts: Mapping[str, SubScore]) -> list[str]:
    """Rules that earned less than 1, each with value, time and reason in one line."""
    return [
        f"{code} = {v.value:.3g}{'' if v.time is None else f' at {v.time:.1f} s'}: {v.reason}"
        for code, v in verdicts.items()
        if v.value is not None and v.value < 1.0
    ]


def unjudged_rules(verdicts: Mapping[str, SubScore]) -> list[str]:
    """Rules without a verdict, each with the reason in one line."""
    return [f"{code}: {v.reason}" for code, v in verdicts.items() if not v.valid]


def _row(proposal: Proposal, drive: str, scores: Scores, n: int) -> dict[str, Any]:
    verdicts = scores.verdicts(n)
    plain = scores.row(n)
    total = plain.pop("EPDMS_raw")
    needed = {code: verdict for code, verdict in verdicts.items() if code != "EC"}
    return {
        "row": proposal.row,
        "record_key": proposal.record_key,
        "scene_key": drive,
        "name": proposal.name,
        **plain,
        "EPDMS": total,
        "broken": broken_rules(verdicts),
        "reason": "; ".join(unjudged_rules(needed)) if total is None else None,
    }
