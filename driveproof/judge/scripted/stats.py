"""What the scripted data hold: who breaks what, reasonably and unreasonably, and what the gates say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from driveproof.judge.clips import Clip, Pair
from driveproof.judge.criteria import CRITERIA, UNASKED
from driveproof.judge.gates import gate_labels


def mined(clip: Clip, thresholds: Mapping[str, float]) -> bool:
    """Whether the driver scores low on a rule: below a criterion's threshold, or on a red light.

    DriveJudge, section 4.2, mines such clips; the rest is driving that nobody disputes.
    """
    low = any(
        value is not None and value < thresholds[code] for code, value in clip.criteria.items()
    )
    return low or any(
        (clip.rules.get(code) or 0.0) < 1.0 for code in UNASKED if clip.rules.get(code) is not None
    )


def statistics_of(
    clips: Sequence[Clip],
    pairs: Sequence[Pair],
    thresholds: Mapping[str, float],
    lost: Mapping[str, int],
) -> dict[str, Any]:
    """Counts by split and label, by kind, of breaches by label, of waived gates; units without a place by topic."""
    splits = sorted({clip.split for clip in clips})
    return {
        "clips": {
            split: _labels(clip for clip in clips if clip.split == split) for split in splits
        },
        "mined": {
            split: _labels(c for c in clips if c.split == split and mined(c, thresholds))
            for split in splits
        },
        "pairs": dict(sorted(Counter(pair.split for pair in pairs).items())),
        "places": dict(
            sorted(Counter(split for _, split in {(c.place, c.split) for c in clips}).items())
        ),
        "kinds": _kinds(clips),
        "breaches": {
            code: _labels(clip for clip in clips if _breaks(clip, code, thresholds))
            for code in (*CRITERIA, *UNASKED)
        },
        "waived": dict(_waived(clips, thresholds)),
        "without_place": dict(lost),
        "label_source": dict(sorted(Counter(clip.label_source for clip in clips).items())),
    }


def _labels(clips: Any) -> dict[str, int]:
    counts = Counter(
        "unlabelled" if c.label is None else "reasonable" if c.label else "unreasonable"
        for c in clips
    )
    return dict(sorted(counts.items()))


def _kinds(clips: Sequence[Clip]) -> dict[str, dict[str, Any]]:
    kinds: dict[str, dict[str, Any]] = {}
    for clip in clips:
        entry = kinds.setdefault(clip.kind, {"reasonable": clip.label, "topics": set(), "clips": 0})
        entry["topics"].add(clip.topic)
        entry["clips"] += 1
    return {
        kind: {**entry, "topics": sorted(entry["topics"])} for kind, entry in sorted(kinds.items())
    }


def _breaks(clip: Clip, code: str, thresholds: Mapping[str, float]) -> bool:
    value = clip.rules.get(code) if code in UNASKED else clip.criteria[code]
    return value is not None and value < thresholds.get(code, 0.5)


def _waived(clips: Sequence[Clip], thresholds: Mapping[str, float]) -> Counter[str]:
    counts: Counter[str] = Counter(dict.fromkeys(CRITERIA, 0))
    for clip in clips:
        if clip.label is not None:
            counts.update(gate_labels(clip.criteria, clip.label, thresholds).waived)
    return counts
