"""Stage drive: the same short routes for every policy, in the simulator -> reports/drive."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.config import load_params
from driveproof.drive.compared import drive_all
from driveproof.drive.plan import choose_routes
from driveproof.drive.runner import Report
from driveproof.drive.states import RouteStatus
from driveproof.errors import run


def main() -> None:
    """Drive and score."""
    params = load_params()
    count = len(choose_routes(params.drive.suite, params.drive.limit)) * params.drive.repeats
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as bar:

        def report(policy: str) -> Report:
            task = bar.add_task(policy, total=count)

            def note(key: str, status: RouteStatus) -> None:
                bar.advance(task, int(status.state.ended))

            return note

        rows = drive_all(params.drive, params.seed, "reports/drive", report)
    for row in rows.values():
        scores = row["scores"]["corrected"]
        score, success = (scores[name]["mean"] for name in ("driving_score", "success_rate"))
        answers = (row["answers"] or {"overall": {"answers": {"mean": None}}})["overall"]
        said = answers["answers"]["mean"]
        text = "" if said is None else f", answers {said:.1f}"
        print(f"{row['policy']}: driving score {score:.1f}, success {success:.1f} %{text}")


if __name__ == "__main__":
    run(main)
