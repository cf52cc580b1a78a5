"""Stage humans: real logs named in params.yaml, their drivers as proposals -> reports/humans."""

from __future__ import annotations

from pathlib import Path

from driveproof.cli.score_drives import Picture, Variant
from driveproof.cli.score_drives import humans as score_humans
from driveproof.config import load_params
from driveproof.errors import run
from driveproof.files import atomic_dir, write_json

OUT = Path("reports/humans")


def main() -> None:
    """Score every set of logs, or say that there is none."""
    params = load_params()
    section = params.humans
    with atomic_dir(OUT) as folder:
        done, skipped = [], {}
        for name, logs in sorted(section.logs.items()):
            missing = [path for path in logs.paths if not Path(path).exists()]
            if missing:
                skipped[name] = f"{missing[0]} is not on this machine"
                continue
            score_humans(
                [Path(path) for path in logs.paths],
                logs.reader,
                folder / name,
                section.drawings,
                Picture.png,
                section.stride_s,
                Variant(section.variant),
            )
            done.append(name)
        write_json(folder / "summary.json", {"logs": done, "skipped": skipped})
    print(f"scored {', '.join(done) or 'nothing'}; skipped {', '.join(skipped) or 'nothing'}")


if __name__ == "__main__":
    run(main)
