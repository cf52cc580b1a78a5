"""Stage vqa_evaluate: models/vqa_sft and answers that nobody thought about, on test clips -> reports/vqa_evaluate."""

from __future__ import annotations

from pathlib import Path

from driveproof.commenter.dataset import read_frames
from driveproof.commenter.moments import clips_of_split, read_moments
from driveproof.config import load_params
from driveproof.errors import run
from driveproof.evaluation.vqa.held_out import HeldOut, ask_models, report_held_out
from driveproof.evaluation.vqa.keys import majority
from driveproof.evaluation.vqa.replays import ClipReplays
from driveproof.files import write_json
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey

CLIPS, DATA, SPLITS = Path("data/raw"), Path("data/vqa"), Path("data/scenes/splits.json")
MODELS, REPORT = Path("models/vqa_sft"), Path("reports/vqa_evaluate/vqa_evaluate.json")


def main() -> None:
    """Ask the models about the test clips and score them beside the baselines."""
    params = load_params()
    archives = sorted(CLIPS.glob("*.tar"))
    moments = read_moments(DATA, archives, clips=set(clips_of_split(SPLITS, "test")))
    held = HeldOut(tuple(moments), params.vqa_evaluate)
    asked = ask_models({mode: MODELS / mode for mode in params.vqa_sft.modes}, held)
    train = set(clips_of_split(SPLITS, "train"))
    usual = majority(
        ActionKeys(DirectionKey(frame.direction), SpeedKey(frame.speed))
        for frame in read_frames(DATA)
        if frame.clip in train
    )
    replays = ClipReplays(archives)
    report = report_held_out(asked, held, usual, seed=params.seed, replays=replays)
    write_json(REPORT, report)
    for name, scores in report["scores"].items():
        overall, taught = scores["overall"]["mean"], scores["taught"]["mean"]
        print(f"{name}: {overall:.1f} of 100, questions that were taught {taught:.1f}")


if __name__ == "__main__":
    run(main)
