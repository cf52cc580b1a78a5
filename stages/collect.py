"""Drive situations with the expert and record clips: params ``collect`` -> ``data/raw/``."""

from __future__ import annotations

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from driveproof.collect import collect
from driveproof.config import load_params
from driveproof.errors import run


def main() -> None:
    """Run the stage."""
    params = load_params()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeRemainingColumn()) as bar:
        task = bar.add_task("driving", total=params.collect.clips)
        records = collect(params.collect, params.seed, "data/raw", lambda record: bar.advance(task))
    made = sum(bool(record.clip) for record in records)
    rejected = sum(len(record.rejected) for record in records)
    print(
        f"{made} of {len(records)} clips in data/raw, {rejected} setups rejected (index.json says why)"
    )


if __name__ == "__main__":
    run(main)
