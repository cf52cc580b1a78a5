"""Models and answers that nobody thought about, on the same questions of clips that no model was taught."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from driveproof.commenter.dataset import AnswerRow
from driveproof.commenter.moments import Moment
from driveproof.config.vqa import VqaEvaluateParams
from driveproof.errors import BadInput
from driveproof.evaluation.vqa.asking import ask_moments
from driveproof.evaluation.vqa.baselines import BASELINES
from driveproof.evaluation.vqa.given import Given
from driveproof.evaluation.vqa.keys import agreement
from driveproof.evaluation.vqa.run import (
    Replays,
    Scored,
    VqaReport,
    pair_up,
    report_scores,
    score_pairs,
)
from driveproof.policy.manner import check_manner, read_manner
from driveproof.policy.registry import PolicySettings, open_policy
from driveproof.prompts.asking import wording_hash
from driveproof.prompts.inputs import mode_from_json
from driveproof.questions import QUESTIONS, ActionKeys, parse_keys
from driveproof.workers import process_pool

KEYS = 50


@dataclass(frozen=True)
class HeldOut:
    """What is asked: all questions of some moments, question 50 of more, and all rows, for answers that are right early.

    Raises
    ------
    BadInput
        If there is no moment.
    """

    moments: tuple[Moment, ...]
    params: VqaEvaluateParams

    def __post_init__(self) -> None:
        if not self.moments:
            raise BadInput("no moment of held-out clips", hint="are the clips of the split there?")

    @property
    def asked(self) -> list[Moment]:
        """The moments of which everything is asked."""
        return _thinned(self.moments, self.params.every)

    @property
    def keys(self) -> list[Moment]:
        """The moments of which question 50 is asked."""
        return [_only(m, {KEYS}) for m in _thinned(self.moments, self.params.keys_every)]

    @property
    def rows(self) -> list[AnswerRow]:
        """The questions that are scored."""
        return [row for moment in self.asked for row in moment.rows]


@dataclass(frozen=True)
class Asked:
    """A model's answers: to the rows that are scored, in their order, and the keys of the moments of question 50."""

    name: str
    taught: tuple[int, ...]
    given: tuple[Given, ...]
    keys: tuple[ActionKeys | None, ...]


def ask_model(name: str, folder: str, held: HeldOut) -> Asked:
    """Ask a model folder as its ``driveproof.json`` says.

    Raises
    ------
    BadInput
        If it does not say how, or was trained with another wording.
    """
    manner = read_manner(folder)
    if "mode" not in manner:
        raise BadInput("does not say how it is asked", path=folder, field="mode")
    mode = mode_from_json(manner["mode"])
    spec = f"transformers:{folder}"
    check_manner(spec, {"wording": wording_hash(mode)})
    settings = PolicySettings(batch_size=held.params.batch_size, threads=held.params.threads)
    policy: Any = open_policy(spec, settings)
    taught = tuple(manner.get("questions", ()))

    def ask(moments: Sequence[Moment], numbers: Collection[int], longest: int) -> list[Given]:
        return ask_moments(policy, mode, moments, numbers=numbers, max_tokens=longest)

    # what was not taught is rarely ended in time: apart, so that it does not hold up the others of its batch
    longest = held.params.max_tokens
    found = ask(held.asked, set(taught), longest)
    found += ask(held.asked, set(QUESTIONS) - set(taught), longest)
    by_key = {(g.clip, g.frame, g.key): g for g in found}
    given = tuple(by_key[row.clip, row.frame, row.key] for row in held.rows)
    keys = ask(held.keys, {KEYS}, longest)
    return Asked(name, taught, given, tuple(_keys(answer) for answer in keys))


def ask_models(folders: Mapping[str, Path], held: HeldOut) -> list[Asked]:
    """Every model by its name, ``workers`` at a time."""
    jobs = [(name, str(folder), held) for name, folder in folders.items()]
    workers = min(held.params.workers, len(jobs))
    if workers <= 1:
        return [ask_model(*job) for job in jobs]
    with process_pool(workers) as pool:
        return list(pool.map(ask_model, *zip(*jobs, strict=True)))


def report_held_out(
    asked: Sequence[Asked],
    held: HeldOut,
    usual: ActionKeys,
    *,
    seed: int = 0,
    replays: Replays | None = None,
) -> dict[str, Any]:
    """Scores of models and baselines with n, lost and intervals over clips, and the agreement of keys; JSON.

    Parameters
    ----------
    usual
        The keys that are right most often in the clips that were taught.
    replays
        What happened afterwards, for waypoints.
    """
    taught = {number for model in asked for number in model.taught}
    answers = {model.name: model.given for model in asked}
    answers |= {name: _baseline(name, held.rows, seed) for name in BASELINES}
    context = [row for moment in held.moments for row in moment.rows]
    scores: dict[str, Any] = {}
    for name, given in answers.items():
        pairs = pair_up(held.rows, given, replays, context)
        scored = score_pairs(pairs)
        scores[name] = report_scores(scored, seed).to_json()
        scores[name]["taught"] = asdict(_of(scored, taught, seed).overall)
        scores[name]["untaught"] = asdict(_of(scored, set(QUESTIONS) - taught, seed).overall)
    clips = [moment.clip for moment in held.keys]
    true = [_true(moment) for moment in held.keys]
    said: dict[str, Sequence[ActionKeys | None]] = {model.name: model.keys for model in asked}
    said["usual"] = [usual] * len(true)
    return {
        "clips": len({moment.clip for moment in held.moments}),
        "moments": len(held.asked),
        "questions": len(held.rows),
        "taught": {model.name: list(model.taught) for model in asked},
        "scores": scores,
        "keys": {
            "moments": len(true),
            "usual": usual.text(),
            "agreement": {
                name: agreement(clips, true, keys, seed).to_json() for name, keys in said.items()
            },
        },
    }


def _baseline(name: str, rows: Sequence[AnswerRow], seed: int) -> tuple[Given, ...]:
    texts = BASELINES[name](rows, seed)
    return tuple(
        Given(row.clip, row.frame, row.key, text, "" if text else "no other clip has this question")
        for row, text in zip(rows, texts, strict=True)
    )


def _of(scored: Sequence[Scored], numbers: Collection[int], seed: int) -> VqaReport:
    return report_scores([s for s in scored if s.number in numbers], seed)


def _thinned(moments: Sequence[Moment], every: int) -> list[Moment]:
    """Every ``every``-th moment of each clip."""
    seen: dict[str, int] = {}
    kept = []
    for moment in moments:
        place = seen[moment.clip] = seen.get(moment.clip, -1) + 1
        if place % every == 0:
            kept.append(moment)
    return kept


def _only(moment: Moment, numbers: Collection[int]) -> Moment:
    return replace(moment, rows=tuple(row for row in moment.rows if row.key.number in numbers))


def _keys(answer: Given) -> ActionKeys | None:
    return None if answer.text is None else parse_keys(answer.text)


def _true(moment: Moment) -> ActionKeys:
    keys = moment.rows[0].answer.facts["keys"]
    assert isinstance(keys, ActionKeys)
    return keys
