"""Perform every scenario with both drivers on the embedded server: params ``scenarios`` -> ``reports/scenarios/``."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.config import load_params
from driveproof.errors import run
from driveproof.files import atomic_dir
from driveproof.sim.scenarios import SCENARIOS, perform, scenario_type, tasks_of, write_report


def main() -> None:
    """Run the stage."""
    params = load_params()
    chosen = params.scenarios
    names = [scenario_type(name) for name in chosen.names] or list(SCENARIOS)
    tasks = tasks_of(names, chosen.seeds, chosen.oblivious_seeds, chosen.first_seed)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with atomic_dir("reports/scenarios") as folder:
        with Progress(*columns, TimeRemainingColumn()) as bar:
            task = bar.add_task("performing", total=len(tasks))
            rows = perform(tasks, folder, chosen.workers, lambda row: bar.advance(task))
        summary = write_report(rows, folder)
    passed, runs = summary["expert_passed"], summary["expert_runs"]
    print(f"{summary['scenarios']} scenarios: the expert passed {passed} of {runs} performances")


if __name__ == "__main__":
    run(main)
