"""Stage judge_evaluate: scripted clips and pairs of the test places, models/judge_sft -> reports/judge_evaluate."""

from __future__ import annotations

from pathlib import Path

from driveproof.config import load_params
from driveproof.errors import BadInput, run
from driveproof.evaluation.judge_run import run_benches
from driveproof.evaluation.judge_write import write_benches
from driveproof.judge import read_clips, read_pairs
from driveproof.scene import read_scenes

DATA, OUT = Path("data/judge"), Path("reports/judge_evaluate")
TRAINED = "transformers:models/judge_sft"


def main() -> None:
    """Run both benches on every method."""
    params = load_params()
    section = params.judge_evaluate
    for key in ("style", "frames"):
        if TRAINED in section.judges and getattr(section, key) != getattr(params.judge_sft, key):
            raise BadInput(
                "differs from the section judge_sft, so the model would read prompts it never saw",
                path="params.yaml",
                field=f"judge_evaluate.{key}",
            )
    clips, pairs = read_clips(DATA / "clips.parquet"), read_pairs(DATA / "pairs.parquet", ["test"])
    thresholds = params.judge.thresholds
    bench = run_benches(section, clips, pairs, thresholds, params.seed)
    scenes = {scene.scene_key: scene for scene in read_scenes(DATA / "scenes")}
    write_benches(
        bench, clips, scenes, OUT, explained=section.explain, variant=params.judge.variant
    )
    for name, measures in bench.selection.items():
        found = bench.quality.get(name, {}).get("AUC", "n/a")
        print(f"{name}: AUC {found}, preference {measures['half']}")


if __name__ == "__main__":
    run(main)
