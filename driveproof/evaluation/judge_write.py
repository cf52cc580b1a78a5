"""Files of the judge benches: ``summary.json``, ``scores.parquet`` (every method on every clip), drawn verdicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.evaluation.judge_methods import Method
from driveproof.evaluation.judge_run import JudgeBench
from driveproof.evaluation.statistics import Estimate
from driveproof.files import atomic_dir, write_json
from driveproof.judge.clips import Clip
from driveproof.judge.criteria import CRITERIA
from driveproof.judge.explanation import explain, rescore
from driveproof.judge.score import Reading, judge_score
from driveproof.maps import load_town
from driveproof.policy.pictures import Pictures
from driveproof.rules import shape_of
from driveproof.rules.scenes import world_of
from driveproof.rules.variants import Variant
from driveproof.scene import Scene


def write_benches(
    bench: JudgeBench,
    clips: Sequence[Clip],
    scenes: Mapping[str, Scene],
    out: str | Path,
    *,
    explained: int = 0,
    root: str | Path = ".",
    variant: Variant = "navsim",
) -> None:
    """Write the folder; it appears whole or not at all.

    Parameters
    ----------
    clips
        All clips (those that were judged are looked up by key).
    scenes
        By setting, for the drawings; a verdict whose scene is not there is not drawn.
    explained
        How many verdicts of the last judge are drawn: where it differs most from EPDMS and its label agrees, first.
    """
    by_key = {clip.key: clip for clip in clips}
    with atomic_dir(out) as folder:
        _write_scores(bench.methods, folder / "scores.parquet")
        summary = summary_of(bench)
        summary["drawings"] = []
        judge = next((m for m in reversed(bench.methods) if m.vlm and m.tools), None)
        if judge is not None:
            reading = Reading(**bench.settings["reading"])
            for number, key in enumerate(_telling(judge, by_key, explained)):
                name = f"verdict-{number}.png"
                if draw_verdict(
                    by_key[key],
                    (judge.gates or {}).get(key),
                    reading,
                    scenes,
                    folder / name,
                    root,
                    variant,
                ):
                    summary["drawings"].append({"file": name, "clip": key})
        write_json(folder / "summary.json", summary)


def summary_of(bench: JudgeBench) -> dict[str, Any]:
    """Everything but single scores, as plain values."""
    return {
        "methods": [
            {
                "name": m.name,
                "vlm": m.vlm,
                "tools": m.tools,
                "tuned": m.tuned,
                "counts": dict(m.counts),
            }
            for m in bench.methods
        ],
        "quality": _plain(bench.quality),
        "quality_all": _plain(bench.quality_all),
        "selection": _plain(bench.selection),
        "selection_all": _plain(bench.selection_all),
        "perfect_match": {name: asdict(value) for name, value in bench.perfect.items()},
        "kinds": bench.kinds,
        "sweep": bench.sweep.to_json(),
        "counts": bench.counts,
        "label_sources": bench.label_sources,
        "settings": bench.settings,
    }


def draw_verdict(
    clip: Clip,
    gates: Any,
    reading: Reading,
    scenes: Mapping[str, Scene],
    path: Path,
    root: str | Path = ".",
    variant: Variant = "navsim",
) -> bool:
    """Draw one verdict; False where the clip's scene or its gates are not known."""
    scene = scenes.get(clip.setting)
    if scene is None or gates is None:
        return False
    town = load_town(scene.town) if scene.town else None
    world = world_of(scene, town, shape=shape_of(*clip.size)).world
    pictures = Pictures(root)
    frames = [pictures.pixels(ref) for ref in clip.frames]
    verdict = judge_score(clip.rules, gates, reading)
    scores = rescore(clip, world, max(scene.speed, 1.0), variant)
    explain(clip, verdict, scores, world, scene.agents, frames, path)
    return True


def _telling(judge: Method, clips: Mapping[str, Clip], count: int) -> list[str]:
    """Clips on which judge and EPDMS differ most, one a kind."""
    gaps = []
    for key, score in judge.scores.items():
        clip = clips[key]
        if score is not None and clip.epdms is not None:
            gaps.append((-abs(score - clip.epdms), key))
    chosen: list[str] = []
    seen: set[str] = set()
    for _, key in sorted(gaps):
        if clips[key].kind not in seen and len(chosen) < count:
            seen.add(clips[key].kind)
            chosen.append(key)
    return chosen


def _plain(values: Mapping[str, Mapping[str, Estimate]]) -> dict[str, dict[str, Any]]:
    return {
        name: {measure: asdict(value) for measure, value in measures.items()}
        for name, measures in values.items()
    }


def _write_scores(methods: Sequence[Method], path: Path) -> None:
    rows = [
        {
            "method": method.name,
            "clip": key,
            "score": score,
            "gates": None
            if method.gates is None or method.gates.get(key) is None
            else [method.gates[key][code] for code in CRITERIA],  # type: ignore[index]
        }
        for method in methods
        for key, score in sorted(method.scores.items())
    ]
    schema = pa.schema(
        {
            "method": pa.string(),
            "clip": pa.string(),
            "score": pa.float64(),
            "gates": pa.list_(pa.float64()),
        }
    )
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, compression="zstd")
