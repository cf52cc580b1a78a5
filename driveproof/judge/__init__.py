"""The judge: a vision-language model chooses which driving rules count, computed rules say how well they are kept.

After DriveJudge. Clips go in (frames, a trajectory, values of the rules), gates and a score in [0, 1] come out.
"""

from driveproof.judge.ask import Answers, Asking, ask
from driveproof.judge.clips import Clip, Pair, read_clips, read_pairs, write_clips, write_pairs
from driveproof.judge.criteria import CRITERIA, HARD, PAPER_THRESHOLDS, SOFT, broken, criteria_of
from driveproof.judge.gates import ALL_APPLY, Gates, gate_labels, parse_gates, parse_score
from driveproof.judge.labels import agreement, apply_labels, read_labels, read_preferences
from driveproof.judge.prompt import JudgeStyle, judge_hash, judge_messages
from driveproof.judge.score import Reading, Verdict, judge_pair, judge_score, preference
from driveproof.judge.thresholds import Sweep, sweep_thresholds

__all__ = [
    "ALL_APPLY",
    "CRITERIA",
    "HARD",
    "PAPER_THRESHOLDS",
    "SOFT",
    "Answers",
    "Asking",
    "Clip",
    "Gates",
    "JudgeStyle",
    "Pair",
    "Reading",
    "Sweep",
    "Verdict",
    "agreement",
    "apply_labels",
    "ask",
    "broken",
    "criteria_of",
    "gate_labels",
    "judge_hash",
    "judge_messages",
    "judge_pair",
    "judge_score",
    "parse_gates",
    "parse_score",
    "preference",
    "read_clips",
    "read_labels",
    "read_pairs",
    "read_preferences",
    "sweep_thresholds",
    "write_clips",
    "write_pairs",
]
