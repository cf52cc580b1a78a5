"""Driving rules: EPDMS as NAVSIM computes it, and with its known defects repaired.

Rear-axle plans go in, a simulated vehicle follows them, nine rules judge what it does. Every verdict carries
value, validity, reason and evidence. Frames: right-handed world; metres, seconds, radians.
"""

from driveproof.rules.aggregate import MULTIPLIERS, RULES, WEIGHTS, epdms, forgive, pdms_v1
from driveproof.rules.case import Case, case_of, read_case
from driveproof.rules.pdms import ScoresV1, score_plans_v1
from driveproof.rules.plan import plan_poses
from driveproof.rules.result import RuleResult, SubScore
from driveproof.rules.roads import MapPolygon, PolygonKind, RoadMap
from driveproof.rules.score import Previous, Scores, score_plans
from driveproof.rules.simulator import simulate
from driveproof.rules.states import DT, HORIZON, STEPS, VehicleShape, shape_of
from driveproof.rules.traffic import Signals, Track, Traffic
from driveproof.rules.two_stage import (
    Frame,
    Group,
    TwoStage,
    aggregate_file,
    kernel_weights,
    two_stage,
)
from driveproof.rules.variants import CORRECTED, NAVSIM, Quirks, Variant
from driveproof.rules.world import Batch, History, World

__all__ = [
    "CORRECTED",
    "DT",
    "HORIZON",
    "MULTIPLIERS",
    "NAVSIM",
    "RULES",
    "STEPS",
    "WEIGHTS",
    "Batch",
    "Case",
    "Frame",
    "Group",
    "History",
    "MapPolygon",
    "PolygonKind",
    "Previous",
    "Quirks",
    "RoadMap",
    "RuleResult",
    "Scores",
    "ScoresV1",
    "Signals",
    "SubScore",
    "Track",
    "Traffic",
    "TwoStage",
    "Variant",
    "VehicleShape",
    "World",
    "aggregate_file",
    "case_of",
    "epdms",
    "forgive",
    "kernel_weights",
    "pdms_v1",
    "plan_poses",
    "read_case",
    "score_plans",
    "score_plans_v1",
    "shape_of",
    "simulate",
    "two_stage",
]
