"""A whole evaluation: every policy in every mode, the ablation of pictures, the difficulty grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.evaluate import EvaluateParams
from driveproof.errors import BadInput
from driveproof.evaluation.cfs import open_judge
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
    base = AskSettings(
        style=style,
        temperature=params.temperature,
        top_p=params.top_p,
        max_tokens=params.max_tokens,
        seed=derive_seed(seed, "evaluate"),
    )
    result = Evaluation({"prompt_hash": prompt_hash(style), "seed": seed, **params.model_dump()})
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
    judge = None if params.cfs == "off" else open_judge(params.cfs, opening)
    seen = {item.record_key: item.observation for item in items}
    for spec in (*params.policies, *params.baselines):
        policy = open_policy(spec, opening)
        for plan in _plans(policy, params, bool(grid)):
            if plan.name in result.runs:
                raise BadInput(f"two policies are called {policy.name}", field=spec)
            asked = _questions(plan, items, grid, seed)
            settings = replace(base, repeats=plan.repeats)
            done = _run(policy, plan, asked, settings, seed, watch)
            if judge and isinstance(policy, ChatPolicy) and not plan.grid:
                judged, _ = report_cfs(done.table, judge, seed, facts=facts, seen=seen)
                done = replace(done, cfs=judged)
            result.runs[plan.name] = done
        _compare_pictures(result, policy, seed)
    return result


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


def _compare_pictures(result: Evaluation, policy: Policy, seed: int) -> None:
    own = result.runs.get(f"{policy.name} deft")
    for pictures in ("other", "none"):
        changed = result.runs.get(f"{policy.name} deft {pictures} pictures")
        if own and changed:
            compared = picture_dependence(own.table, changed.table, seed)
            result.dependence[changed.name] = compared


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
