"""Scores and their statistics; training rewards call the same functions."""

from driveproof.evaluation.cfs import CfsScore, open_judge
from driveproof.evaluation.cfs_table import CfsReport, report_cfs
from driveproof.evaluation.mcq import AnswerTable, McqReport, report_mcq, report_table, tabulate
from driveproof.evaluation.pictures import (
    PictureDependence,
    picture_dependence,
    scene_derangement,
    with_other_pictures,
    without_pictures,
)
from driveproof.evaluation.run import Evaluation, Run, evaluate, summary_of, write_evaluation
from driveproof.evaluation.score import Score, score_choice, score_decision, true_decision
from driveproof.evaluation.statistics import (
    Estimate,
    bootstrap_mean,
    mean_over_repeats,
    paired_difference,
)

__all__ = [
    "AnswerTable",
    "CfsReport",
    "CfsScore",
    "Estimate",
    "Evaluation",
    "McqReport",
    "PictureDependence",
    "Run",
    "Score",
    "bootstrap_mean",
    "evaluate",
    "mean_over_repeats",
    "open_judge",
    "paired_difference",
    "picture_dependence",
    "report_cfs",
    "report_mcq",
    "report_table",
    "scene_derangement",
    "score_choice",
    "score_decision",
    "summary_of",
    "tabulate",
    "true_decision",
    "with_other_pictures",
    "without_pictures",
    "write_evaluation",
]
