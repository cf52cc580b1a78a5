"""A variant of DEFT-RLVR's table 2: several seeds trained in processes of their own, measured, and written down."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from driveproof.config.evaluate import EvaluateParams
from driveproof.config.grpo import GrpoParams, Variant
from driveproof.errors import BadInput
from driveproof.evaluation.facts import SceneFacts, read_facts
from driveproof.evaluation.run import draw
from driveproof.files import atomic_dir, atomic_path, check_folder, sha256_file, write_json
from driveproof.mcq import McqItem, read_items
from driveproof.mcq.answers import read_answers, write_answers
from driveproof.mcq.interaction import Answer, Mode
from driveproof.policy import derive_seed
from driveproof.policy.pictures import Pictures
from driveproof.prompts import PromptStyle, prompt_hash, shown_images
from driveproof.rewards import Reward, Rubric, make_reward, read_rubrics, scenes_of
from driveproof.training.digest import digest, digest_pictures
from driveproof.training.grpo.measure import answer_questions, compare, measure
from driveproof.training.grpo.questions import Joint, McqTask, TwoTurn
from driveproof.training.grpo.train import TIMES, TrainedRun, check_start, train_grpo
from driveproof.workers import follow, process_pool, report_queue

Watch = Callable[[str, str, int, int, float], None]
"""Called with the run ("start", "seed 0"), what it does, how far it is, of how much, and the reward so far."""
START = "start"


@dataclass(frozen=True)
class Plan:
    """Everything that the processes of a variant need to know.

    Attributes
    ----------
    name, variant
        Which.
    params, evaluation, style, seed
        Sections of params.yaml, the style of the prompts, and the seed of the whole build.
    data, scenes
        Folders of the questions and the scenes.
    max_pixels
        Most pixels of a picture, as in the section ``sft``; 0: as the start's folder says.
    timing
        Folder that gets the seconds of each step, which are other ones every time.
    scratch
        Where checkpoints and finished models of single runs lie until all are done.
    root
        Directory that relative paths of pictures start from.
    """

    name: str
    params: GrpoParams
    evaluation: EvaluateParams
    style: PromptStyle
    seed: int
    data: Path = Path("data/mcq")
    scenes: Path = Path("data/scenes")
    max_pixels: int = 0
    timing: Path = Path("reports/timing")
    scratch: Path = Path(".cache/grpo")
    root: Path = Path()

    @property
    def variant(self) -> Variant:
        """What the name stands for."""
        try:
            return self.params.variants[self.name]
        except KeyError:
            known = ", ".join(self.params.variants)
            raise BadInput(f"no such variant: {self.name}", hint=f"one of {known}") from None

    @property
    def mode(self) -> Mode:
        """How its models are asked."""
        return "deft" if self.variant.rollout == "two_turn" else "jeft"

    @property
    def folder(self) -> Path:
        """Scratch of this variant."""
        return self.scratch / self.name


@dataclass(frozen=True)
class Done:
    """One run: what training came to (nothing for the start), and its answers to the test questions."""

    run: TrainedRun | None
    answers: list[Answer]


def run_variant(
    plan: Plan, model: Path, report: Path, watch: Watch | None = None
) -> dict[str, Any]:
    """Train and measure every seed of a variant; write ``model`` (of the first seed) and ``report``.

    Killed at any moment and called again, it goes on from its checkpoints.

    Raises
    ------
    BadInput
        If the variant is unknown, or as :func:`train_grpo`.
    """
    start, reward = Path(plan.params.start), plan.variant.reward
    check_folder(model)
    check_folder(report)
    check_start(start)
    items = read_items(plan.data / "train.parquet")
    test = draw(read_items(plan.data / "test.parquet"), plan.evaluation.max_items, plan.seed)
    rubrics = read_rubrics(plan.params.rubrics) if reward == "rubric" else {}
    facts = read_facts(plan.scenes, {item.record_key for item in (*items, *test)})
    done = _run_all(plan, items, test, facts, rubrics, watch)
    summary = write_results(plan, test, facts, done, _model(plan, _names(plan)[0]), model, report)
    timing = {name: one.run.times for name, one in done.items() if one.run is not None}
    split = {"mean": scoring_share(timing), "runs": timing}
    write_json(plan.timing / f"grpo_{plan.name}.json", split)
    shutil.rmtree(plan.folder)
    return {**summary, "timing": split}


def write_results(
    plan: Plan,
    test: Sequence[McqItem],
    facts: Mapping[str, SceneFacts],
    done: Mapping[str, Done],
    trained: Path,
    model: Path,
    report: Path,
) -> dict[str, Any]:
    """Measure the answers of the start and of all runs; write the folder ``report``, and ``trained`` as ``model``.

    Returns what is written as ``summary.json``.
    """
    measured = {name: measure(test, run.answers, facts) for name, run in done.items()}
    runs = {name: run.run for name, run in done.items() if run.run is not None}
    summary = {
        "variant": plan.name,
        **plan.variant.model_dump(),
        "mode": plan.mode,
        "prompt_hash": prompt_hash(plan.style),
        "settings": plan.params.model_dump(mode="json", exclude={"variants", "workers"}),
        "questions": len(test),
        "repeats": plan.evaluation.repeats,
        "seeds": list(runs),
        **compare(measured[START], [measured[name] for name in runs], plan.seed),
    }
    with atomic_dir(report) as folder:
        write_json(folder / "summary.json", summary)
        write_json(folder / "curves.json", {name: run.curves for name, run in runs.items()})
        _write_samples(runs, folder / "samples.parquet")
        write_answers({name: run.answers for name, run in done.items()}, folder / "answers.parquet")
    with atomic_dir(model) as folder:
        shutil.copytree(trained, folder, dirs_exist_ok=True)
    return summary


def scoring_share(timing: Mapping[str, Sequence[Mapping[str, float]]]) -> dict[str, float]:
    """Mean seconds of a step by part over all runs, and the share of it that was waiting for graders."""
    rows = [row for run in timing.values() for row in run]
    means = {name: sum(row[name] for row in rows) / len(rows) for name in TIMES}
    return {**means, "scoring_share": means["scoring_wait_s"] / means["step_s"]}


def _names(plan: Plan) -> list[str]:
    return [f"seed {number}" for number in range(plan.params.train_seeds)]


def seeds_of(plan: Plan) -> list[int]:
    """Of each run; the variant is no part, so that all practise the same questions in the same order."""
    return [derive_seed(plan.seed, "grpo", number) for number in range(plan.params.train_seeds)]


def _model(plan: Plan, name: str) -> Path:
    return plan.folder / name.replace(" ", "") / "model"


def _task(plan: Plan, known: Known, reward: Reward) -> McqTask:
    kind = TwoTurn if plan.variant.rollout == "two_turn" else Joint
    talk = kind(plan.style, plan.params.max_tokens)
    graded: Mapping[str, Any] = known.rubrics if plan.variant.reward == "rubric" else {}
    if plan.variant.reward == "shared":
        graded = known.facts
    share = plan.params.hard_share
    return McqTask(known.items, talk, reward, plan.style, share, known=graded)


def _run_all(
    plan: Plan,
    items: Sequence[McqItem],
    test: Sequence[McqItem],
    facts: Mapping[str, SceneFacts],
    rubrics: Mapping[str, Rubric],
    watch: Watch | None,
) -> dict[str, Done]:
    """The start and all seeds, in processes of one thread each; the result does not depend on how many."""
    reports = report_queue()
    jobs = [(START, 0), *zip(_names(plan), seeds_of(plan), strict=True)]
    given = (plan, items, test, facts, rubrics, reports)
    pool = process_pool(min(plan.params.workers, len(jobs)), _prepare, given)
    try:
        futures = {name: pool.submit(_work, name, seed) for name, seed in jobs}
        follow(list(futures.values()), reports, watch)
        return {name: future.result() for name, future in futures.items()}
    finally:
        pool.shutdown(cancel_futures=True)


_OWN: dict[str, Any] = {}
"""What a worker process was given."""


def _prepare(*given: Any) -> None:
    names = ("plan", "items", "test", "facts", "rubrics", "reports")
    _OWN.update(zip(names, given, strict=True))


def _work(name: str, seed: int) -> Done:
    plan: Plan = _OWN["plan"]
    if name != START:
        run = _train(plan, name, seed)
        return Done(run, _answers(plan, name, _model(plan, name)))
    # several variants start from the same model: what it answers is kept for the next of them
    kept = plan.scratch / f"start_{_start_identity(plan)[:16]}.parquet"
    if not kept.is_file():
        write_answers({START: _answers(plan, START, Path(plan.params.start))}, kept)
    return Done(None, read_answers(kept)[START])


def _answers(plan: Plan, name: str, model: Path) -> list[Answer]:
    total, asked = len(_OWN["test"]) * plan.evaluation.repeats, 0

    def advance(count: int) -> None:
        nonlocal asked
        asked += count
        _tell(name, "test", asked, total, float("nan"))

    return ask_model(plan, model, _OWN["test"], advance)


def ask_model(
    plan: Plan, model: Path, test: Sequence[McqItem], progress: Callable[[int], None] | None
) -> list[Answer]:
    """What ``model`` says to the test questions.

    Raises
    ------
    BadInput
        If it cannot be loaded, or every answer was lost.
    """
    answers = answer_questions(
        model,
        test,
        plan.mode,
        plan.style,
        plan.evaluation,
        plan.seed,
        root=plan.root,
        batch_size=plan.params.answer_batch_size,
        max_pixels=plan.max_pixels,
        progress=progress,
    )

    if all(answer.error for answer in answers):
        raise BadInput(f"every answer was lost: {answers[0].error}", path=model)
    return answers


def _start_identity(plan: Plan) -> str:
    """What the answers of the start depend on."""
    start = Path(plan.params.start)
    files = {path.name: sha256_file(path) for path in sorted(start.iterdir()) if path.is_file()}
    questions = sha256_file(plan.data / "test.parquet")
    settings = plan.evaluation.model_dump(mode="json", exclude={"workers"})
    images = [i.ref for item in _OWN["test"] for i in shown_images(item.observation, plan.style)]
    shown = digest_pictures(images, Pictures(plan.root))
    bounds = (plan.max_pixels, plan.params.answer_batch_size)
    asked = (
        files,
        questions,
        shown,
        bounds,
        plan.mode,
        prompt_hash(plan.style),
        settings,
        plan.seed,
    )
    return digest(*asked)


def _train(plan: Plan, name: str, seed: int) -> TrainedRun:
    def watch(step: int, figures: Mapping[str, float]) -> None:
        _tell(name, "train", step, plan.params.steps, figures["reward"])

    model = _model(plan, name)
    known = Known(_OWN["items"], _OWN["facts"], _OWN["rubrics"])
    return train_one(plan, known, seed, model, model.parent / "checkpoints", watch)


@dataclass(frozen=True)
class Known:
    """The train questions, and what rewards know of their scenes."""

    items: Sequence[McqItem]
    facts: Mapping[str, SceneFacts]
    rubrics: Mapping[str, Rubric]


def train_one(
    plan: Plan,
    known: Known,
    seed: int,
    model: Path,
    scratch: Path,
    watch: Callable[[int, Mapping[str, float]], None],
) -> TrainedRun:
    """Train one seed of a variant and write ``model``; as :func:`train_grpo`."""
    shared = plan.variant.reward == "shared"
    reward = make_reward(
        plan.variant.reward,
        plan.params.reward,
        rubrics=known.rubrics,
        scenes=scenes_of(known.items, known.facts) if shared else None,
        image_root=str(plan.root),
        cache_dir=str(plan.scratch / "grades"),
    )
    return train_grpo(
        plan.params.start,
        _task(plan, known, reward),
        plan.params,
        seed,
        model,
        scratch=scratch,
        root=plan.root,
        max_pixels=plan.max_pixels,
        watch=watch,
    )


def _tell(*entry: Any) -> None:
    _OWN["reports"].put(entry)


def _write_samples(runs: Mapping[str, TrainedRun], path: Path) -> None:
    rows = [{"run": name, **row} for name, run in runs.items() for row in run.samples]
    with atomic_path(path) as temporary:
        pq.write_table(pa.Table.from_pylist(rows), temporary, compression="zstd")
