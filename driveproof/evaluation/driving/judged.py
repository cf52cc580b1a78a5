"""What a judge says of a run, window by window, beside plain EPDMS and the driving score.

DriveJudge (section 5, limitations) judges logged clips and leaves closed loop to others. What it means here: every window
of a drive is judged like a clip, after the drive, by rules on the way that was driven; the gates come from a model that sees
the window's frames. The driving score says how the whole route ended; the two are compared drive by drive.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.evaluation.driving.answers import rank_correlation
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import Variant, score_record
from driveproof.evaluation.driving.windows import Window
from driveproof.evaluation.statistics import Estimate, bootstrap_mean, paired_difference
from driveproof.files import atomic_path
from driveproof.judge import CRITERIA, Gates, Reading, Verdict, judge_score
from driveproof.judge.criteria import broken
from driveproof.rules import RULES

UNREAD = "no readable answer"
WORST = 10
"""Windows that a summary names."""
_TABLE = pa.schema(
    {
        **dict.fromkeys(("key", "route_id"), pa.string()),
        "repeat": pa.int64(),
        "time": pa.float64(),
        **dict.fromkeys((*RULES, "epdms", "judge"), pa.float64()),
        **{f"gate_{code}": pa.float64() for code in CRITERIA},
        "why": pa.string(),
        "infractions": pa.list_(pa.string()),
    },
    metadata={"driveproof_table": "judged_windows", "schema_version": "1"},
)


@dataclass(frozen=True)
class JudgedWindow:
    """A window with its verdict; None where the model's answer could not be read."""

    window: Window
    verdict: Verdict | None

    @property
    def score(self) -> float | None:
        """DriveJudge's score in [0, 1], None where there is none; :attr:`why` says why."""
        return None if self.verdict is None else self.verdict.score

    @property
    def why(self) -> str:
        """Why there is no score, "" if there is one."""
        return UNREAD if self.verdict is None else self.verdict.why

    def to_json(self) -> dict[str, Any]:
        """Plain values, for people who look for the moment."""
        record, clip = self.window.record, self.window.clip
        gates = None if self.verdict is None else self.verdict.gates
        return {
            "key": clip.key,
            "route_id": record.route_id,
            "repeat": record.repeat,
            "time": self.window.time,
            "judge": self.score,
            "epdms": clip.epdms,
            "broken": list(broken(clip.rules)),
            "waived": [] if gates is None else list(gates.waived),
            "infractions": list(self.window.infractions),
        }


def judge_windows(
    windows: Iterable[Window], gates: Mapping[str, Gates | None], reading: Reading | None = None
) -> list[JudgedWindow]:
    """Equation 14 on every window, with the gates of a model by the key of the window's clip."""
    found = []
    for window in windows:
        gate = gates.get(window.clip.key)
        verdict = None if gate is None else judge_score(window.clip.rules, gate, reading)
        found.append(JudgedWindow(window, verdict))
    return found


def write_judged(path: str | Path, judged: Sequence[JudgedWindow]) -> None:
    """Write the table of windows as parquet, a row a window: rules, EPDMS, gates, score, or why there is none."""
    rows = []
    for one in judged:
        row = {name: value for name, value in one.to_json().items() if name in _TABLE.names}
        row |= {code: one.window.clip.rules.get(code) for code in RULES}
        if one.verdict is not None:
            row |= {f"gate_{code}": one.verdict.gates[code] for code in CRITERIA}
        rows.append({**row, "why": one.why})
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows, schema=_TABLE), temporary, compression="zstd")


def summarise(
    records: Sequence[RouteRecord],
    judged: Sequence[JudgedWindow],
    rejected: Mapping[tuple[str, int], Counter[str]],
    seed: int = 0,
) -> dict[str, Any]:
    """Means with intervals over routes, what was lost and why, and how window scores go with driving scores.

    Parameters
    ----------
    records
        All drives of the run that have a record, judged or not.
    rejected
        By drive, moments that are no window, by reason.
    """
    episodes = [_episode(record, judged, rejected.get(record.key, Counter())) for record in records]
    lost = Counter(one.why for one in judged if one.why)
    for counts in rejected.values():
        lost.update(counts)
    scored = [one for one in judged if one.score is not None]
    ranked = sorted(scored, key=_rank)
    gain = [one for one in scored if one.window.clip.epdms is not None]
    forgiven = sorted(gain, key=lambda one: (-_gain(one), _rank(one)))
    groups = {
        "with_infraction": [one for one in judged if one.window.infractions],
        "without_infraction": [one for one in judged if not one.window.infractions],
    }
    return {
        "windows": len(judged),
        "drives": len(records),
        "drives_judged": sum(one["windows"] > 0 for one in episodes),
        "lost": dict(sorted(lost.items())),
        **_means(judged, seed),
        "judge_minus_epdms": asdict(_difference(judged, seed)),
        **{name: {"windows": len(group), **_means(group, seed)} for name, group in groups.items()},
        "waived": {code: asdict(_waived(judged, code, seed)) for code in CRITERIA},
        "correlation_with_driving_score": _correlations(episodes, seed),
        "driving_score": asdict(
            bootstrap_mean(
                _column(episodes, "driving_score"), seed, clusters=[e["route_id"] for e in episodes]
            )
        ),
        "episodes": episodes,
        "worst": [one.to_json() for one in ranked[:WORST]],
        "forgiven": [one.to_json() for one in forgiven[:WORST] if _gain(one) > 1e-9],
    }


def _episode(
    record: RouteRecord, judged: Sequence[JudgedWindow], rejected: Counter[str]
) -> dict[str, Any]:
    """A drive: its driving score, and the mean and the worst window by both metrics."""
    own = [one for one in judged if one.window.record.key == record.key]
    row: dict[str, Any] = {
        "route_id": record.route_id,
        "repeat": record.repeat,
        "scenarios": list(record.scenarios),
        "success": record.success,
        "driving_score": score_record(record, Variant.CORRECTED, motions=lambda _: None).composed,
        "windows": len(own),
        "rejected": dict(sorted(rejected.items())),
    }
    for name, values in (
        ("judge", [one.score for one in own]),
        ("epdms", [one.window.clip.epdms for one in own]),
    ):
        known = [value for value in values if value is not None]
        row[f"{name}_mean"] = float(np.mean(known)) if known else None
        row[f"{name}_worst"] = min(known, default=None)
    return row


def _correlations(episodes: Sequence[Mapping[str, Any]], seed: int) -> dict[str, Any]:
    """Spearman's, over drives; an interval over routes."""
    driving = _column(episodes, "driving_score")
    routes = [one["route_id"] for one in episodes]
    names = ("judge_mean", "judge_worst", "epdms_mean", "epdms_worst")
    return {
        name: asdict(rank_correlation(_column(episodes, name), driving, routes, seed))
        for name in names
    }


def _means(judged: Sequence[JudgedWindow], seed: int) -> dict[str, Any]:
    routes = _routes(judged)
    judge = bootstrap_mean([_float(one.score) for one in judged], seed, clusters=routes)
    plain = [_float(one.window.clip.epdms) for one in judged]
    return {
        "judge": asdict(judge),
        "epdms": asdict(bootstrap_mean(plain, seed, clusters=routes)),
    }


def _difference(judged: Sequence[JudgedWindow], seed: int) -> Estimate:
    return paired_difference(
        [_float(one.score) for one in judged],
        [_float(one.window.clip.epdms) for one in judged],
        seed,
        clusters=_routes(judged),
    )


def _waived(judged: Sequence[JudgedWindow], code: str, seed: int) -> Estimate:
    """How far a criterion is waived: 1 is always and wholly."""
    values = [np.nan if one.verdict is None else 1.0 - one.verdict.gates[code] for one in judged]
    return bootstrap_mean(values, seed, clusters=_routes(judged))


def _routes(judged: Sequence[JudgedWindow]) -> list[str]:
    return [one.window.record.route_id for one in judged]


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> list[float]:
    return [_float(row[name]) for row in rows]


def _float(value: float | None) -> float:
    return np.nan if value is None else value


def _rank(one: JudgedWindow) -> tuple[float, str, int, float]:
    record = one.window.record
    return _float(one.score), record.route_id, record.repeat, one.window.time


def _gain(one: JudgedWindow) -> float:
    return _float(one.score) - _float(one.window.clip.epdms)
