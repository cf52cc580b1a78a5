"""Reinforcing the judge from two starts, and what it was worth on the test places (DriveJudge, section 5.3)."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.config.judge import JudgeEvaluateParams, JudgeSftParams
from driveproof.config.judge_rl import JudgeRlParams
from driveproof.errors import BadInput
from driveproof.evaluation.judge_gain import GateBench, compare_judges
from driveproof.evaluation.judge_methods import Method
from driveproof.evaluation.judge_run import reading_of
from driveproof.files import atomic_dir, atomic_path, check_folder, write_json
from driveproof.judge.clips import Clip, Pair
from driveproof.judge.prompt import JudgeStyle, judge_hash
from driveproof.policy.manner import read_manner
from driveproof.policy.seeds import derive_seed
from driveproof.training.grpo.train import TrainedRun, check_start, train_grpo
from driveproof.training.judge_rl import FormLessons, PreferenceTask
from driveproof.workers import follow, process_pool, report_queue

STARTS = ("sft", "zero_shot")
"""The supervised judge, and the same model where it knows the form of an answer alone."""
Watch = Callable[[str, str, int, int, float], None]
"""Called with the start, what it does, how far it is, of how much, and the reward so far (NaN: none)."""


@dataclass(frozen=True)
class JudgeRl:
    """Everything that a run needs to know.

    Attributes
    ----------
    clips, pairs
        Of the train and the test places.
    thresholds, params, sft, evaluation, seed
        Those of the section ``judge``, the sections ``judge_rl``, ``judge_sft`` and ``judge_evaluate``, and the seed.
    scratch
        Where checkpoints and the zero-shot start lie until all is done.
    root
        Directory that relative paths of pictures start from.
    """

    clips: Sequence[Clip]
    pairs: Sequence[Pair]
    thresholds: Mapping[str, float]
    params: JudgeRlParams
    sft: JudgeSftParams
    evaluation: JudgeEvaluateParams
    seed: int
    scratch: Path = Path(".cache/judge_rl")
    root: Path = Path()

    @property
    def style(self) -> JudgeStyle:
        """How the judge is asked, in training and in evaluation."""
        return JudgeStyle(self.sft.style, self.sft.frames)

    def of(self, split: str) -> tuple[list[Clip], list[Pair]]:
        """Clips and pairs of a split."""
        return (
            [clip for clip in self.clips if clip.split == split],
            [pair for pair in self.pairs if pair.split == split],
        )


def run_judge_rl(
    run: JudgeRl, models: Path, report: Path, watch: Watch = lambda *_: None
) -> dict[str, Any]:
    """Reinforce both starts, measure each before and after, and write ``models`` and ``report``; return the summary.

    Killed at any moment and called again, it goes on from its checkpoints.

    Raises
    ------
    BadInput
        If a place is in both splits, there is no start or it was asked in other words, or as :func:`train_grpo`.
    """
    check_folder(models)
    check_folder(report)
    _check(run)
    done = _run_all(run, watch)
    trained = {name: one.run for name, one in done.items()}
    bench = _bench(run)
    summary = {
        "settings": run.params.model_dump(mode="json", exclude={"workers"}),
        "judge_hash": judge_hash(run.style),
        "seed": run.seed,
        "train_pairs": len(run.of("train")[1]),
        "contested_train_pairs": _task(run).contested,
        "test_clips": len(bench.clips),
        "mined_clips": len(bench.mined),
        "pairs": len(bench.pairs),
        "contested_pairs": len(bench.contested),
        "places": len({clip.place for clip in bench.clips}),
        "starts": {name: one.found for name, one in done.items()},
    }
    with atomic_dir(report) as folder:
        write_json(folder / "summary.json", summary)
        write_json(folder / "curves.json", {name: one.curves for name, one in trained.items()})
        _write_samples(trained, folder / "samples.parquet")
    with atomic_dir(models) as folder:
        for name in STARTS:
            shutil.copytree(_model(run, name), folder / name)
    timing = {name: one.times for name, one in trained.items()}
    shutil.rmtree(run.scratch)
    return {**summary, "timing": timing}


def _check(run: JudgeRl) -> None:
    """Nothing is practised at a place that is tested, and the start was trained in the words it is asked in."""
    places = {split: {clip.place for clip in run.clips if clip.split == split} for split in ("train", "test")}  # fmt: skip
    both = sorted(places["train"] & places["test"])
    if both:
        raise BadInput("is a place of training and of the test", field=both[0])
    start = Path(run.params.start)
    check_start(start)
    if read_manner(start).get("judge_hash") != judge_hash(run.style):
        raise BadInput(
            "was trained with other questions than it would be asked",
            path=start,
            hint="run the stage judge_sft again",
        )


@dataclass(frozen=True)
class _Done:
    """A start: what its training came to, and its figures before and after."""

    run: TrainedRun
    found: dict[str, Any]


def _run_all(run: JudgeRl, watch: Watch) -> dict[str, _Done]:
    """Both starts, in as many processes as the settings say; the result does not depend on how many."""
    if run.params.workers == 1:
        return {name: _do(run, name, watch) for name in STARTS}
    reports = report_queue()
    pool = process_pool(min(run.params.workers, len(STARTS)), _prepare, (run, reports))
    try:
        futures = {name: pool.submit(_work, name) for name in STARTS}
        follow(list(futures.values()), reports, watch)
        return {name: future.result() for name, future in futures.items()}
    finally:
        pool.shutdown(cancel_futures=True)


_OWN: dict[str, Any] = {}
"""What a worker process was given."""


def _prepare(run: JudgeRl, reports: Any) -> None:
    _OWN.update(run=run, reports=reports)


def _work(name: str) -> _Done:
    return _do(_OWN["run"], name, lambda *entry: _OWN["reports"].put(entry))


def _do(run: JudgeRl, name: str, watch: Watch) -> _Done:
    """Reinforce a start; the test places are looked at afterwards, and not before."""
    clips, _ = run.of("train")
    start = Path(run.params.start) if name == "sft" else _form(run, clips, watch)
    trained = _reinforce(run, name, start, watch)
    bench = _bench(run)

    def judge(what: str, folder: Path) -> Method:
        return bench.judge(
            f"transformers:{folder}",
            what,
            lambda _, done, total: watch(name, what, done, total, float("nan")),
        )

    found = compare_judges(bench, judge("before", start), judge("after", _model(run, name)))
    return _Done(trained, found)


def _task(run: JudgeRl) -> PreferenceTask:
    clips, pairs = run.of("train")
    reading = reading_of(run.evaluation)
    return PreferenceTask(clips, pairs, run.thresholds, run.params, run.style, reading)


def _bench(run: JudgeRl) -> GateBench:
    return GateBench.of(*run.of("test"), run.thresholds, run.evaluation, run.seed, run.root)


def _form(run: JudgeRl, clips: Sequence[Clip], watch: Watch) -> Path:
    """The zero-shot start; made anew by an interrupted run, to the same bytes, so that its checkpoints still count."""
    from driveproof.training.sft import train

    params = run.sft.model_copy(
        update={
            "gate_steps": run.params.form_steps,
            "score_steps": 0,
            "threads": run.params.threads,  # the other start is reinforced meanwhile
        }
    )
    lessons = FormLessons(clips, run.thresholds, params, derive_seed(run.seed, "judge form"))
    out = run.scratch / "zero_shot_start"
    train(
        lessons,
        params,
        run.seed,
        out,
        root=run.root,
        progress=lambda step, steps, loss: watch("zero_shot", "form", step, steps, float("nan")),
    )
    return out


def _model(run: JudgeRl, name: str) -> Path:
    return run.scratch / name / "model"


def _reinforce(run: JudgeRl, name: str, start: Path, watch: Watch) -> TrainedRun:
    return train_grpo(
        start,
        _task(run),
        run.params,
        derive_seed(run.seed, "judge rl"),  # both starts practise the same pairs in the same order
        _model(run, name),
        scratch=run.scratch / name / "checkpoints",
        root=run.root,
        watch=lambda step, figures: watch(name, "train", step, run.params.steps, figures["reward"]),
    )


def _write_samples(runs: Mapping[str, TrainedRun], path: Path) -> None:
    rows = [{"start": name, **row} for name, run in runs.items() for row in run.samples]
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows), temporary, compression="zstd")
