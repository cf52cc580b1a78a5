"""Stage grpo VARIANT: models/sft, questions, scenes -> models/grpo/VARIANT, reports/grpo/VARIANT."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.config import load_params
from driveproof.errors import UserError, run
from driveproof.evaluation.statistics import bounds_text
from driveproof.training.examples import prompt_style
from driveproof.training.grpo.variant import Plan, run_variant
from driveproof.training.single import check_single

MODELS, REPORTS = Path("models/grpo"), Path("reports/grpo")


def main() -> None:
    """Train and measure one variant; its name is the only argument."""
    if len(sys.argv) != 2:
        raise UserError("expected the name of a variant", hint="python -m stages.grpo deft_rlvr")
    name = sys.argv[1]
    params = load_params()
    check_single(params, "grpo", name)
    style, max_pixels = prompt_style(params.sft), params.sft.max_pixels
    plan = Plan(name, params.grpo, params.evaluate, style, params.seed, max_pixels=max_pixels)
    columns = (TextColumn("{task.description}, {task.fields[note]}", markup=False), BarColumn())
    with Progress(*columns, MofNCompleteColumn(), TimeRemainingColumn()) as bar:
        rows = {}

        def watch(who: str, what: str, done: int, total: int, reward: float) -> None:
            if (who, what) not in rows:
                rows[who, what] = bar.add_task(f"{name} {who}: {what}", note="")
            note = "" if reward != reward else f"reward {reward:.2f}"
            bar.update(rows[who, what], completed=done, total=total, note=note)

        summary = run_variant(plan, MODELS / name, REPORTS / name, watch)
    gain = summary["gain"]["accuracy"]
    print(
        f"{name}: ACC {summary['start']['accuracy']['mean']:.3f} -> {summary['trained']['accuracy']['mean']:.3f}, "
        f"gain {gain['mean']:+.3f} [{bounds_text(gain['low'], gain['high'])}]"
    )
    print(" ".join(f"{part} {value:.4g}" for part, value in summary["timing"]["mean"].items()))


if __name__ == "__main__":
    run(main, options=True)
