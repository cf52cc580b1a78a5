"""Averages over the drives of a suite, with intervals; see :mod:`~driveproof.evaluation.driving.scores`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from driveproof.evaluation.driving.route_score import DIVIDES_BY_ZERO, RouteScore, Variant
from driveproof.evaluation.driving.suite import ExpectedRoute, abilities_of, unknown_types
from driveproof.evaluation.statistics import (
    CONFIDENCE,
    FEWEST_CLUSTERS,
    RESAMPLES,
    Estimate,
    bootstrap_mean,
)
from driveproof.sim.routes import Ability


@dataclass(frozen=True)
class Group:
    """The drives of one scenario type, town or ability; lost ones are left out and counted."""

    driving_score: Estimate
    success_rate: Estimate


@dataclass(frozen=True)
class DrivingScores:
    """The scores of a suite, percentages throughout; intervals draw whole routes with all their repeats.

    Attributes
    ----------
    variant, expected
        Whose arithmetic, and how many drives there should be.
    driving_score, success_rate
        ``bench2drive``: sums over the expected number, so that a missing drive is a zero. ``corrected``: means
        over the drives that have a score.
    driving_score_lost_as_zero, success_rate_lost_as_zero
        The other average: lost drives count as zeros in both variants.
    efficiency, comfort
        Means over the drives that have a value.
    abilities, abilities_lost_as_zero, ability_mean
        By ability, and the mean of the five; an ability without a route is unscored.
    by_scenario, by_town
        The same drives in groups.
    routes
        Every expected drive, with its score or why it has none.
    notes
        What a reader has to know about these numbers.
    """

    variant: Variant
    expected: int
    driving_score: Estimate
    driving_score_lost_as_zero: Estimate
    success_rate: Estimate
    success_rate_lost_as_zero: Estimate
    efficiency: Estimate
    comfort: Estimate
    abilities: dict[str, Estimate]
    abilities_lost_as_zero: dict[str, Estimate]
    ability_mean: Estimate
    by_scenario: dict[str, Group]
    by_town: dict[str, Group]
    by_ability: dict[str, Group]
    routes: tuple[RouteScore, ...]
    notes: tuple[str, ...] = ()

    @property
    def lost(self) -> tuple[RouteScore, ...]:
        """The drives without a score."""
        return tuple(one for one in self.routes if one.lost)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Suite:
    """The scored drives of a suite, to be averaged."""

    variant: Variant
    expected: int
    routes: tuple[RouteScore, ...]
    wanted: tuple[ExpectedRoute, ...]
    seed: int

    def scores(self) -> DrivingScores:
        """All averages."""
        peer = self.variant is Variant.BENCH2DRIVE
        zeroed = (self._over_expected(_composed), self._over_expected(_succeeded))
        plain = (self._mean(self.routes, _composed), self._mean(self.routes, _succeeded))
        abilities = {a.value: self._ability(a, zeros=False) for a in Ability}
        return DrivingScores(
            self.variant,
            self.expected,
            driving_score=(zeroed if peer else plain)[0],
            driving_score_lost_as_zero=zeroed[0],
            success_rate=(zeroed if peer else plain)[1],
            success_rate_lost_as_zero=zeroed[1],
            efficiency=self._efficiency(),
            comfort=self._mean(self.routes, lambda one: one.comfort),
            abilities=abilities,
            abilities_lost_as_zero={a.value: self._ability(a, zeros=True) for a in Ability},
            ability_mean=self._ability_mean(),
            by_scenario=self._groups(lambda one: dict.fromkeys(one.scenarios)),
            by_town=self._groups(lambda one: [one.town] if one.town else []),
            by_ability=self._groups(lambda one: [a.value for a in self._tested(one)]),
            routes=self.routes,
            notes=tuple(self._notes(abilities)),
        )

    def _mean(
        self, routes: Sequence[RouteScore], value: Callable[[RouteScore], float | None]
    ) -> Estimate:
        """Over the drives that have a value."""
        values = [np.nan if (v := value(one)) is None else v for one in routes]
        if not values:
            return Estimate(None, None, None, 0)
        return bootstrap_mean(values, self.seed, clusters=[one.route_id for one in routes])

    def _over_expected(self, value: Callable[[RouteScore], float | None]) -> Estimate:
        """The sum over the expected number of drives; unnamed missing ones are routes of their own."""
        values = [value(one) or 0.0 for one in self.routes]
        names = [one.route_id for one in self.routes]
        unnamed = max(self.expected - len(values), 0)
        lost = sum(value(one) is None for one in self.routes) + unnamed
        if not values and not unnamed:
            return Estimate(None, None, None, 0)
        values += [0.0] * unnamed
        names += [f"unnamed {number}" for number in range(unnamed)]
        found = bootstrap_mean(values, self.seed, clusters=names)
        factor = len(values) / self.expected  # above 1 where a file has more records than the suite
        mean, low, high = (
            None if v is None else factor * v for v in (found.mean, found.low, found.high)
        )
        return Estimate(mean, low, high, self.expected, lost)

    def _efficiency(self) -> Estimate:
        found = self._mean(self.routes, lambda one: one.efficiency)
        if any(one.why.get("efficiency") == DIVIDES_BY_ZERO for one in self.routes):
            return Estimate(None, None, None, 0, lost=len(self.routes))
        return found

    def _able(self, ability: Ability) -> list[RouteScore]:
        return [one for one in self.routes if ability in self._tested(one)]

    def _tested(self, one: RouteScore) -> tuple[Ability, ...]:
        """The abilities of a route: of its first scenario in the published program, which reads no further."""
        peer = self.variant is Variant.BENCH2DRIVE
        return abilities_of(one.scenarios[:1] if peer else one.scenarios)

    def _ability(self, ability: Ability, *, zeros: bool) -> Estimate:
        def value(one: RouteScore) -> float | None:
            able = one.able(ability)
            return (0.0 if zeros else None) if able is None else 100.0 * able

        routes = self._able(ability)
        found = self._mean(routes, value)
        lost = sum(one.able(ability) is None for one in routes)
        return Estimate(found.mean, found.low, found.high, found.n, lost)

    def _ability_mean(self) -> Estimate:
        """Mean of the abilities; a draw of routes serves all five, for routes show several."""
        _, code = np.unique([one.route_id for one in self.routes], return_inverse=True)
        totals = np.zeros((int(code.max(initial=-1)) + 1, len(Ability)))
        counts = np.zeros_like(totals)
        lost = sum(one.success is None for one in self.routes)
        for number, ability in enumerate(Ability):
            for one, row in zip(self.routes, code.tolist(), strict=True):
                value = one.able(ability)
                if value is not None and ability in self._tested(one):
                    totals[row, number] += 100.0 * value
                    counts[row, number] += 1
        there = counts.sum(axis=0) > 0
        absent = not there.all() and self.variant is Variant.BENCH2DRIVE
        if absent or not there.any():
            return Estimate(None, None, None, 0, lost)
        known = counts.sum(axis=1) > 0  # a draw of lost routes alone would say nothing
        totals, counts = totals[known][:, there], counts[known][:, there]
        mean = float((totals.sum(axis=0) / counts.sum(axis=0)).mean())
        rng, groups = np.random.default_rng(self.seed), len(totals)
        if groups < FEWEST_CLUSTERS:
            return Estimate(mean, None, None, int(there.sum()), lost)
        draws = rng.multinomial(groups, np.full(groups, 1 / groups), size=RESAMPLES)
        drawn = draws @ counts
        means = np.divide(draws @ totals, drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0)
        half = (1.0 - CONFIDENCE) / 2.0
        low, high = np.quantile(np.nanmean(means, axis=1), [half, 1.0 - half])
        return Estimate(mean, float(low), float(high), int(there.sum()), lost)

    def _groups(self, names: Callable[[RouteScore], Iterable[str]]) -> dict[str, Group]:
        members: dict[str, list[RouteScore]] = defaultdict(list)
        for one in self.routes:
            for name in names(one):
                members[name].append(one)
        return {
            name: Group(self._mean(found, _composed), self._mean(found, _succeeded))
            for name, found in sorted(members.items())
        }

    def _notes(self, abilities: dict[str, Estimate]) -> Iterable[str]:
        for name in unknown_types(self.wanted):
            yield f"nobody knows the scenario type {name}; it counts for no ability"
        empty = [name for name, found in abilities.items() if found.n + found.lost == 0]
        if empty:
            yield f"no route tests {', '.join(empty)}"
        unasked = sum(
            one.success is False and one.signs is None and not one.lost
            for one in self._able(Ability.TRAFFIC_SIGNS)
        )
        if unasked:
            yield (
                f"{unasked} failed drives may have passed their first junction, whose place is unknown; "
                "they do not count for Traffic_Signs"
            )
        for one in self.routes:
            if one.why.get("efficiency") == DIVIDES_BY_ZERO:
                yield f"efficiency is unscored, route {one.route_id}: {DIVIDES_BY_ZERO}"
        if self.variant is Variant.BENCH2DRIVE and self.expected > len(self.routes):
            yield f"{self.expected - len(self.routes)} of {self.expected} drives are absent and count as zeros"


def _composed(one: RouteScore) -> float | None:
    return one.composed


def _succeeded(one: RouteScore) -> float | None:
    return None if one.success is None else 100.0 * one.success
