"""A whole evaluation: every policy in every mode, the ablation of pictures, the difficulty grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.evaluate import EvaluateParams
from driveproof.errors import BadInput
from driveproof.evaluation.cfs import CfsJudge, open_judge
from driveproof.evaluation.cfs_table import CfsReport, report_cfs
from driveproof.evaluation.facts import SceneFacts
from driveproof.evaluation.mcq import AnswerTable, McqReport, report_table, tabulate
from driveproof.evaluation.pictures import (
    PictureDependence,
    picture_dependence,
    with_other_pictures,
    without_pictures,
)
from driveproof.evaluation.score import true_decision
from driveproof.files import atomic_dir, write_json
from driveproof.mcq.answers import write_answers
from driveproof.mcq.interaction import Answer, AskSettings, Mode, ask
from driveproof.mcq.items import McqItem
from driveproof.policy import ChatPolicy, Policy, PolicySettings, derive_seed, open_policy
from driveproof.policy.recorded import Recorded
from driveproof.prompts import STYLES, prompt_hash
from driveproof.workers import follow, process_pool, report_queue


@dataclass(frozen=True)
class Run:
    """One row of the result: a policy, how it was asked, what it answered, what that came to.

    ``pictures`` is "own", "other" (of other drives) or "none"; ``grid`` marks the run over the difficulty grid. ``cfs`` is what
    the judge made of its reasons, None where there are none or nobody was to judge.
    """

    name: str
    policy: dict[str, Any]
    mode: Mode
    pictures: str
    grid: bool
    answers: list[Answer]
    table: AnswerTable
    report: McqReport
    cfs: CfsReport | None = None


@dataclass
class Evaluation:
    """All runs by name, and what pictures change by policy."""

    settings: dict[str, Any]
    runs: dict[str, Run] = field(default_factory=dict)
    dependence: dict[str, PictureDependence] = field(default_factory=dict)


@dataclass(frozen=True)
class _Plan:
    """One run to do."""

    name: str
    mode: Mode
    pictures: str
    repeats: int
    grid: bool = False


Watch = Callable[[str, int, int], None]
"""Called with the run's name, answers done, answers wanted."""


def evaluate(
    params: EvaluateParams,
    items: Sequence[McqItem],
    grid: Sequence[McqItem] = (),
    *,
    facts: Mapping[str, SceneFacts] | None = None,
    seed: int = 0,
    image_root: str = ".",
    cache_dir: str | None = None,
    watch: Watch | None = None,
) -> Evaluation:
    """Run everything that ``params`` names over ``items`` and, in DEFT, over ``grid``.

    ``facts`` by record key are what the offline judge of reasons knows of the scenes; without them CFS is unscored.

    Raises
    ------
    BadInput
        If there are no items, a policy cannot be opened, or two policies have one name.
    """
    if not items:
        raise BadInput("no questions to ask")
    items = draw(items, params.max_items, seed)
    grid = draw_records(grid, params.max_grid_records, seed)
    style = replace(
        STYLES[params.style],
        decimals=params.decimals,
        frames=params.frames,
        waypoint_every=params.waypoint_every,
    )
    settings = params.model_dump(exclude={"workers"})
    result = Evaluation({"prompt_hash": prompt_hash(style), "seed": seed, **settings})
    opening = PolicySettings(
        seed=seed,
        image_root=image_root,
        batch_size=params.batch_size,
        threads=params.threads,
        timeout_s=params.timeout_s,
        attempts=params.attempts,
        concurrency=params.concurrency,
        cache_dir=cache_dir,
    )
    base = AskSettings(
        style=style,
        temperature=params.temperature,
        top_p=params.top_p,
        max_tokens=params.max_tokens,
        seed=derive_seed(seed, "evaluate"),
    )
    asker = _Asker(params, items, grid, facts, opening, base)
    result.runs.update((run.name, run) for run in _runs(asker, watch))
    _compare_pictures(result, seed)
    return result


@dataclass
class _Asker:
    """Whoever does runs, one at a time; each process has its own."""

    params: EvaluateParams
    items: Sequence[McqItem]
    grid: Sequence[McqItem]
    facts: Mapping[str, SceneFacts] | None
    opening: PolicySettings
    base: AskSettings
    opened: dict[str, Policy] = field(default_factory=dict)

    def policy(self, spec: str) -> Policy:
        """The policy of a specification; the one before it is let go, since a model may fill the memory."""
        if spec not in self.opened:
            self.opened.clear()
            self.opened[spec] = open_policy(spec, self.opening)
        return self.opened[spec]

    @cached_property
    def judge(self) -> CfsJudge | None:
        """Who judges the reasons."""
        return None if self.params.cfs == "off" else open_judge(self.params.cfs, self.opening)

    def run(self, spec: str, plan: _Plan, watch: Watch | None) -> Run:
        """Ask what is planned, and have the reasons judged."""
        policy, seed = self.policy(spec), self.opening.seed
        asked = _questions(plan, self.items, self.grid, seed)
        settings = replace(self.base, repeats=plan.repeats)
        done = _run(policy, plan, asked, settings, seed, watch)
        judge = self.judge
        if judge is None or not isinstance(policy, ChatPolicy) or plan.grid:
            return done
        seen = {item.record_key: item.observation for item in self.items}
        judged, _ = report_cfs(done.table, judge, seed, facts=self.facts, seen=seen)
        return replace(done, cfs=judged)


def _jobs(asker: _Asker) -> Iterator[tuple[str, _Plan]]:
    """Every run to do, with the specification of its policy."""
    names: set[str] = set()
    for spec in (*asker.params.policies, *asker.params.baselines):
        policy = asker.policy(spec)
        for plan in _plans(policy, asker.params, bool(asker.grid)):
            if plan.name in names:
                raise BadInput(f"two policies are called {policy.name}", field=spec)
            names.add(plan.name)
            yield spec, plan


def _runs(asker: _Asker, watch: Watch | None) -> Iterable[Run]:
    asker.judge  # noqa: B018  one that cannot be opened is said before anybody is asked
    if asker.params.workers == 1:
        return (asker.run(spec, plan, watch) for spec, plan in _jobs(asker))
    return _in_processes(asker, list(_jobs(asker)), watch)


def _in_processes(
    asker: _Asker, jobs: Sequence[tuple[str, _Plan]], watch: Watch | None
) -> list[Run]:
    """The runs in their order, done by several processes."""
    reports = report_queue()
    asker.opened.clear()
    given = (replace(asker), reports)  # without the judge, whom each process opens for itself
    pool = process_pool(min(asker.params.workers, len(jobs)), _prepare, given)
    try:
        futures = [pool.submit(_work, *job) for job in jobs]
        follow(futures, reports, watch)
        return [future.result() for future in futures]
    finally:
        pool.shutdown(cancel_futures=True)


_OWN: dict[str, Any] = {}
"""What a worker process was given."""


def _prepare(asker: _Asker, reports: Any) -> None:
    _OWN.update(asker=asker, reports=reports)


def _work(spec: str, plan: _Plan) -> Run:
    run: Run = _OWN["asker"].run(spec, plan, lambda *entry: _OWN["reports"].put(entry))
    return run


def draw(items: Sequence[McqItem], most: int, seed: int) -> list[McqItem]:
    """At most ``most`` of ``items``, in their order, drawn without replacement."""
    if len(items) <= most:
        return list(items)
    rng = np.random.default_rng(derive_seed(seed, "draw"))
    chosen = np.sort(rng.choice(len(items), most, replace=False))
    return [items[int(i)] for i in chosen]


def draw_records(items: Sequence[McqItem], most: int, seed: int) -> list[McqItem]:
    """All variants of at most ``most`` records, so that cells are compared on the same moments."""
    first = {item.record_key: item for item in items}
    kept = {item.record_key for item in draw(list(first.values()), most, seed)}
    return [item for item in items if item.record_key in kept]


def _plans(policy: Policy, params: EvaluateParams, has_grid: bool) -> Iterator[_Plan]:
    name = policy.name
    if not isinstance(policy, ChatPolicy):
        recorded = policy.repeats if isinstance(policy, Recorded) else params.repeats
        yield _Plan(name, "choice", "own", min(params.repeats, recorded))
        return
    for mode in params.modes:
        yield _Plan(f"{name} {mode}", mode, "own", params.repeats)
    for pictures in params.pictures:
        yield _Plan(f"{name} deft {pictures} pictures", "deft", pictures, params.picture_repeats)
    if has_grid and params.grid_repeats:
        yield _Plan(f"{name} deft grid", "deft", "own", params.grid_repeats, grid=True)


def _questions(
    plan: _Plan, items: Sequence[McqItem], grid: Sequence[McqItem], seed: int
) -> Sequence[McqItem]:
    if plan.grid:
        return grid
    if plan.pictures == "other":
        return with_other_pictures(items, derive_seed(seed, "pictures"))
    return without_pictures(items) if plan.pictures == "none" else items


def _run(
    policy: Policy,
    plan: _Plan,
    items: Sequence[McqItem],
    settings: AskSettings,
    seed: int,
    watch: Watch | None,
) -> Run:
    total, done = len(items) * settings.repeats, 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if watch:
            watch(plan.name, done, total)

    answers = ask(policy, items, plan.mode, settings, advance)
    table = tabulate(items, answers)
    report = report_table(table, seed)
    identity = policy.identity()
    return Run(plan.name, identity, plan.mode, plan.pictures, plan.grid, answers, table, report)


def _compare_pictures(result: Evaluation, seed: int) -> None:
    for run in result.runs.values():
        own = result.runs.get(run.name.removesuffix(f" {run.pictures} pictures"))
        if run.pictures != "own" and own:
            result.dependence[run.name] = picture_dependence(own.table, run.table, seed)


def summary_of(evaluation: Evaluation) -> dict[str, Any]:
    """The main figures as JSON: for each run n, lost, invalid, ACC, HLD and CFS with intervals."""
    names = ("items", "scenes", "repeats", "answers", "lost", "invalid", "chance")
    figures = ("accuracy", "accuracy_valid", "hld")
    runs = {}
    for name, run in evaluation.runs.items():
        report = asdict(run.report)
        runs[name] = {
            "policy": run.policy,
            "mode": run.mode,
            "pictures": run.pictures,
            "grid": run.grid,
            **{key: report[key] for key in (*names, *figures)},
            "cfs": asdict(run.cfs) if run.cfs else None,
        }
    revisions = [
        run.policy["revision"] for run in evaluation.runs.values() if "revision" in run.policy
    ]
    return {
        "prompt_hash": evaluation.settings["prompt_hash"],
        "model_revision": revisions[0] if revisions else None,
        "settings": evaluation.settings,
        "runs": runs,
        "picture_dependence": {n: asdict(d) for n, d in evaluation.dependence.items()},
    }


def write_evaluation(evaluation: Evaluation, directory: str | Path) -> None:
    """Write summary.json, details.json, items.json and answers.parquet; all of them or none."""
    details = {name: asdict(run.report) for name, run in evaluation.runs.items()}
    with atomic_dir(directory) as folder:
        write_json(folder / "summary.json", summary_of(evaluation))
        write_json(folder / "details.json", details)
        write_json(folder / "items.json", _per_item(evaluation))
        answers = {name: run.answers for name, run in evaluation.runs.items()}
        write_answers(answers, folder / "answers.parquet")


def _per_item(evaluation: Evaluation) -> list[dict[str, Any]]:
    """What each question is, and how many repeats of each run were right, wrong, invalid, lost."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for name, run in evaluation.runs.items():
        table = run.table
        for n, item in enumerate(table.items):
            decision = true_decision(item)
            row = rows.setdefault(
                (item.record_key, item.variant),
                {
                    "record_key": item.record_key,
                    "variant": item.variant,
                    "scene_key": item.scene_key,
                    "drive_class": item.drive_class,
                    "oracle": item.oracle_index,
                    "direction": decision.direction.value,
                    "speed": decision.speed.value,
                    "runs": {},
                },
            )
            correct = table.correct[n]
            row["runs"][name] = {
                "right": int(np.nansum(correct)),
                "invalid": int(((table.chosen[n] < 0) & ~np.isnan(correct)).sum()),
                "lost": int(np.isnan(correct).sum()),
                "repeats": len(correct),
            }
    return list(rows.values())
