"""Stage judge: scripted behaviour at places of the towns, its pictures, labels and preferences -> data/judge."""

from __future__ import annotations

from pathlib import Path

from rich.progress import Progress

from driveproof.config import load_params
from driveproof.errors import run
from driveproof.judge.scripted.write import write_scripted

OUT = Path("data/judge")


def main() -> None:
    """Write clips, pairs, scenes, pictures and statistics."""
    params = load_params()
    with Progress() as bar:
        task = bar.add_task("scripted units", total=None)
        stats = write_scripted(
            params.judge,
            params.seed,
            OUT,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    print(f"clips {stats['clips']}, pairs {stats['pairs']}")


if __name__ == "__main__":
    run(main)
