"""Rewards with a process score: instance rubrics on the text, or four shared axes against the scene.

DEFT-RLVR, equations 10, 11 and 16. Only correct answers are graded; a failed grader leaves the exact reward, counted.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from driveproof.config.rewards import AxisWeights
from driveproof.evaluation.cfs import AXES, CfsCase, CfsJudge, CfsScore
from driveproof.evaluation.facts import SceneFacts
from driveproof.evaluation.normalise import normalise
from driveproof.rewards.graders import Grader
from driveproof.rewards.reward import Known, Pending, Rollout, Running, Scored
from driveproof.rewards.rubrics import Rubric
from driveproof.scene import Observation


@dataclass
class Counts:
    """What became of the rollouts so far: ``asked`` of graders, ``failed`` of those, ``unpaid`` without asking."""

    asked: int = 0
    failed: int = 0
    unpaid: int = 0


class _Graded(ABC):
    """Starts gradings in threads, mixes and counts; subclasses say what the process score of a rollout is."""

    def __init__(self, exact_share: float, concurrency: int) -> None:
        if not 0.0 <= exact_share <= 1.0:
            raise ValueError(f"exact_share: {exact_share} is not within 0 .. 1")
        self._exact_share = exact_share
        self._pool = ThreadPoolExecutor(concurrency, thread_name_prefix="grade")
        self._lock = threading.Lock()
        self.counts = Counts()

    def start(self, rollouts: Sequence[Rollout]) -> Pending:
        """Begin to grade the correct ones and return."""
        if not any(r.exact for r in rollouts):
            return Known([self._score(r) for r in rollouts])
        return Running(self._pool, self._score, rollouts)

    def close(self) -> None:
        """Wait for what is under way and let the threads go."""
        self._pool.shutdown()

    def _score(self, rollout: Rollout) -> Scored:
        exact = rollout.exact
        if exact == 0.0:
            with self._lock:
                self.counts.unpaid += 1
            return Scored(0.0, detail={"exact": 0.0})
        try:
            process = self._process(rollout)
        except Exception as error:  # a grader of somebody else must not end a training
            process = f"{type(error).__name__}: {error}"
        failed = isinstance(process, str)
        with self._lock:
            self.counts.asked += 1
            self.counts.failed += failed
        if isinstance(process, str):
            return Scored(exact, fallback=True, detail={"exact": exact, "problem": process})
        share, detail = process
        reward = exact * (self._exact_share + (1.0 - self._exact_share) * share)
        return Scored(reward, graded=True, detail={"exact": exact, "process": share, **detail})

    @abstractmethod
    def _process(self, rollout: Rollout) -> tuple[float, dict[str, Any]] | str:
        """The process score of a correct rollout, 0 .. 1, and what it is made of; a text says why there is none."""


class RubricReward(_Graded):
    """Exact reward times a mix of itself and the weighted share of the instance rubric that the reasoning meets.

    Parameters
    ----------
    rubrics
        Record key -> rubric; a record without one is paid exactly, counted as failed.
    grader
        Sees the criteria and the normalised turn 1.
    exact_share
        Share of the reward that a correct answer has for sure, 0 .. 1.
    concurrency
        Gradings under way at once.
    """

    def __init__(
        self,
        rubrics: Mapping[str, Rubric],
        grader: Grader,
        *,
        exact_share: float = 0.5,
        concurrency: int = 8,
    ) -> None:
        super().__init__(exact_share, concurrency)
        self._rubrics, self._grader = rubrics, grader

    @property
    def name(self) -> str:
        """With the grader's name."""
        return f"rubric ({self._grader.name})"

    def _process(self, rollout: Rollout) -> tuple[float, dict[str, Any]] | str:
        rubric = self._rubrics.get(rollout.record_key)
        if rubric is None:
            return "no rubric for this record"
        trace = normalise(rollout.turn1, rollout.turn2)
        met = self._grader.grade(rubric, trace) if trace else (False,) * len(rubric.criteria)
        return met if isinstance(met, str) else (rubric.share(met), {"met": list(met)})


class SharedRubricReward(_Graded):
    """The controlled variant: the same four axes for every scene, judged against the scene (equation 16).

    Parameters
    ----------
    judge
        A vision-language model, or the offline judge.
    scenes
        Record key -> what the policy saw, and the facts for the offline judge (None for a model).
    weights
        Of the axes; they are normalised to sum 1.
    exact_share, concurrency
        As in :class:`RubricReward`.
    """

    def __init__(
        self,
        judge: CfsJudge,
        scenes: Mapping[str, tuple[Observation, SceneFacts | None]],
        weights: AxisWeights | None = None,
        *,
        exact_share: float = 0.5,
        concurrency: int = 8,
    ) -> None:
        super().__init__(exact_share, concurrency)
        chosen = weights or AxisWeights()
        self._weights = {
            "grounding": chosen.grounding,
            "no_hallucination": chosen.no_hallucination,
            "specificity": chosen.specificity,
            "coherence": chosen.coherence,
        }
        self._total = sum(self._weights.values())
        if self._total <= 0.0:
            raise ValueError("weights: all axes weigh nothing")
        self._judge, self._scenes = judge, scenes

    @property
    def name(self) -> str:
        """With the judge's name."""
        return f"shared ({self._judge.name})"

    def _process(self, rollout: Rollout) -> tuple[float, dict[str, Any]] | str:
        scene = self._scenes.get(rollout.record_key)
        if scene is None:
            return "no scene for this record"
        trace = normalise(rollout.turn1, rollout.turn2)
        if not trace:
            return 0.0, dict.fromkeys(AXES, 0.0)
        judged = self._judge.judge([CfsCase(trace, *scene)])[0]
        if not isinstance(judged, CfsScore):
            return judged
        axes = judged.axes()
        share = sum(self._weights[name] * axes[name] for name in AXES) / self._total
        return share, axes
