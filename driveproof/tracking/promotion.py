"""Comparing two versions, and moving an alias where the gate holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from driveproof.config.promote import GateRule, PromoteParams
from driveproof.errors import BadInput
from driveproof.evaluation.statistics import Estimate
from driveproof.evaluation.unit_scores import Comparison, compare_units
from driveproof.tracking.registry import (
    NoSuchVersion,
    Version,
    find_version,
    set_alias,
    unit_scores,
)
from driveproof.tracking.store import Store


@dataclass(frozen=True)
class RuleVerdict:
    """Whether a rule of the gate holds, and why, in one line."""

    rule: GateRule
    holds: bool
    why: str


@dataclass(frozen=True)
class Promotion:
    """What came of trying to promote.

    Attributes
    ----------
    challenger, champion
        The versions; no champion where there was none.
    comparisons
        Challenger minus champion by metric; against itself where there is no champion.
    verdicts
        One a rule of the gate.
    moved
        Whether the champion's alias was moved.
    """

    challenger: Version
    champion: Version | None
    comparisons: tuple[Comparison, ...]
    verdicts: tuple[RuleVerdict, ...]
    moved: bool

    @property
    def holds(self) -> bool:
        """Whether all rules hold."""
        return all(verdict.holds for verdict in self.verdicts)


def compare_versions(store: Store, first: Version, second: Version) -> list[Comparison]:
    """Two versions by every metric that either was measured by, unit for unit.

    Raises
    ------
    BadInput
        If one was never measured.
    """
    return compare_units(unit_scores(store, first), unit_scores(store, second))


def judge_gate(
    gate: Sequence[GateRule], comparisons: Sequence[Comparison], *, rivals: bool
) -> tuple[RuleVerdict, ...]:
    """Each rule against the comparisons; without ``rivals`` only floors and numbers of units and clusters count."""
    by_metric = {comparison.metric: comparison for comparison in comparisons}
    return tuple(_judge(rule, by_metric.get(rule.metric), rivals) for rule in gate)


def _judge(rule: GateRule, found: Comparison | None, rivals: bool) -> RuleVerdict:
    if found is None or found.first.mean is None:
        return RuleVerdict(rule, False, f"{rule.metric}: the challenger was not measured by it")
    if few := _too_few(rule, found.first, found.clusters_first, "measured on"):
        return RuleVerdict(rule, False, few)
    if rule.floor is not None and found.first.mean < rule.floor:
        why = f"{rule.metric}: {found.first.mean:.3f} is below the floor {rule.floor:.3f}"
        return RuleVerdict(rule, False, why)
    if not rivals:
        return RuleVerdict(rule, True, f"{rule.metric}: {found.first}, and there is no champion")
    difference = found.difference
    few = _too_few(rule, difference, found.clusters, "both are measured on")
    if few or difference.low is None:
        return RuleVerdict(rule, False, few or f"{rule.metric}: the difference has no interval")
    why = f"{rule.metric}: difference {difference}, at least {rule.at_least:g} is wanted"
    return RuleVerdict(rule, difference.low >= rule.at_least, why)


def _too_few(rule: GateRule, found: Estimate, clusters: int, said: str) -> str:
    """What is missing, "" if there are units and clusters enough."""
    if found.n < rule.min_units:
        return f"{rule.metric}: {said} {found.n} units, {rule.min_units} are wanted"
    if clusters < rule.min_clusters:
        many = "" if clusters == 1 else "s"
        return f"{rule.metric}: {said} {found.n} units of {clusters} drive{many} or route{many}, {rule.min_clusters} are wanted"
    return ""


def promote(
    store: Store, params: PromoteParams, *, dry_run: bool = False, only: Sequence[str] = ()
) -> Promotion:
    """Make the challenger the champion if the gate holds; a champion already stays what it is.

    Parameters
    ----------
    only
        Versions as ``name/number``: the challenger must be one of them; empty for any.

    Raises
    ------
    BadInput
        If the model has no gate or no challenger, the challenger is another than was meant, or one of the two was
        never measured.
    Unreachable
        If the store does not say whether there is a champion; nothing is moved then.
    """
    gate = params.gates.get(params.model)
    if not gate:
        hint = "add its rules to promote.gates of params.yaml"
        raise BadInput("has no gate", field=params.model, hint=hint)
    challenger = find_version(store, f"{params.model}@{params.challenger}")
    if only and str(challenger) not in only:
        raise BadInput(
            f"the challenger is {challenger} and none of {', '.join(only)}",
            field=f"{params.model}@{params.challenger}",
            hint="something else was published since; publish again, or promote without --only",
        )
    champion = _champion(store, params)
    rival = champion or challenger
    comparisons = tuple(compare_versions(store, challenger, rival))
    verdicts = judge_gate(gate, comparisons, rivals=champion is not None)
    same = champion is not None and champion.number == challenger.number
    moved = not same and not dry_run and all(verdict.holds for verdict in verdicts)
    if moved:
        set_alias(store, challenger, params.champion)
    return Promotion(challenger, champion, comparisons, verdicts, moved)


def _champion(store: Store, params: PromoteParams) -> Version | None:
    try:
        return find_version(store, f"{params.model}@{params.champion}")
    except NoSuchVersion:
        return None
