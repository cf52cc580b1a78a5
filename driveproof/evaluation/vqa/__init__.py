"""Scoring of answers to driving questions: typed, reproducible, without a judge wherever rules can read."""

from driveproof.evaluation.vqa.score import Truth, VqaScore, score_answer
from driveproof.evaluation.vqa.waypoints import Replay

__all__ = ["Replay", "Truth", "VqaScore", "score_answer"]
