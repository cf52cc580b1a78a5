"""Stage scenes: data/raw/*.tar -> data/scenes (scene table, import.json, splits.json)."""

from __future__ import annotations

from pathlib import Path

from driveproof.config import load_params
from driveproof.datasets import find_format, import_logs, split_scenes
from driveproof.errors import BadInput, run
from driveproof.files import write_json
from driveproof.scene import WindowRules, read_columns

RAW, OUT = Path("data/raw"), Path("data/scenes")


def main() -> None:
    """Import the raw logs and assign every drive to a split."""
    params = load_params()
    section = params.scenes
    paths = sorted(path for path in RAW.glob("*") if find_format(section.format).claims(path))
    if not paths:
        raise BadInput(f"holds no {section.format} log", path=RAW)
    rules = WindowRules(
        stride_s=section.stride_s,
        max_gap_s=section.max_gap_s,
        max_speed=section.max_speed,
        max_yaw_rate=section.max_yaw_rate,
        agent_step_s=section.agent_step_s,
    )
    report = import_logs(
        section.format, paths, OUT, rules, skip_bad=section.skip_bad, workers=section.workers
    )
    columns = read_columns(OUT, ["scene_key", "situation"]).to_pydict()
    situations = dict(zip(columns["scene_key"], columns["situation"], strict=True))
    split = section.split
    shares = {"train": split.train, "dev": split.dev, "test": split.test}
    splits = split_scenes(situations, shares, params.seed)
    write_json(OUT / "splits.json", splits)
    print(f"{report.kept} scenes of {len(splits)} drives, {report.rejected.total()} rejected")


if __name__ == "__main__":
    run(main)
