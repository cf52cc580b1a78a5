"""Stage ``vqa``: the expert's answers about recorded clips, and what answers that nobody thought about would score."""

from __future__ import annotations

from pathlib import Path

from driveproof.commenter.campaign import comment_clips
from driveproof.commenter.statistics import dataset_statistics
from driveproof.config import load_params
from driveproof.errors import BadInput, run
from driveproof.evaluation.vqa.baselines import score_baselines, to_json
from driveproof.evaluation.vqa.replays import ClipReplays
from driveproof.files import atomic_dir, write_json

CLIPS, DATA, REPORTS = Path("data/raw"), Path("data/vqa"), Path("reports/vqa")


def main() -> None:
    """Write data/vqa (answers and frames) and reports/vqa (statistics.json, baselines.json)."""
    params = load_params()
    section = params.vqa
    clips = sorted(CLIPS.glob("*.tar"))
    if not clips:
        raise BadInput("no clips (*.tar) here", path=CLIPS, hint="dvc repro collect")
    comment_clips(clips, DATA, every=section.every, seed=params.seed, workers=section.workers)
    reports = score_baselines(
        DATA, seed=params.seed, replays=ClipReplays(clips), every=section.baseline_every
    )
    with atomic_dir(REPORTS) as folder:
        write_json(folder / "statistics.json", dataset_statistics(DATA))
        write_json(folder / "baselines.json", to_json(reports))


if __name__ == "__main__":
    run(main)
