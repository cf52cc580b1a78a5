"""DriveJudge as a reward of closed-loop driving: what a window that was driven, or might have been, is worth.

The same functions score the windows of ``driveproof judge drive``, so that training cannot drift from scoring. Rewards
are of moments: the window that begins at a decision says what came of the next 4 s. What cannot be scored is
absent and counted, never a zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driveproof.evaluation.driving.decisions import DecisionLine
from driveproof.evaluation.driving.judged import UNREAD, JudgedWindow
from driveproof.evaluation.driving.windows import Window
from driveproof.geometry.arrays import Float, as_float
from driveproof.judge import ALL_APPLY, Gates, Reading, judge_score
from driveproof.judge.clips import Clip
from driveproof.judge.criteria import broken
from driveproof.judge.windows import judged
from driveproof.rewards.reward import Scored
from driveproof.rules.variants import Variant
from driveproof.scene.types import FUTURE_TIMES

SAME_MOMENT_S = 0.05 + 1e-6
"""A decision up to a tick before or after a window's moment is that window's: the expert decides a tick earlier."""


@dataclass(frozen=True)
class WindowRewards:
    """Rewards in [0, 1] by the key of the window's clip, and how many windows have none, by reason."""

    by_key: dict[str, Scored]
    lost: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class ClosedLoopReward:
    """Pays windows and trajectories by the judge.

    Attributes
    ----------
    reading
        Of equation 14.
    fallback
        Whether a window whose gates could not be read is paid by the rules alone (all criteria apply), which is
        marked; else it has no reward.
    variant
        Of the rules, for trajectories.
    """

    reading: Reading = field(default_factory=Reading)
    fallback: bool = True
    variant: Variant = "navsim"
    name: str = "closed_loop"

    def of_windows(self, windows: Iterable[JudgedWindow]) -> WindowRewards:
        """What was driven."""
        paid: dict[str, Scored] = {}
        lost: Counter[str] = Counter()
        for one in windows:
            gates = None if one.verdict is None else one.verdict.gates
            found = self._pay(one.window.clip, gates)
            if isinstance(found, Scored):
                paid[one.window.clip.key] = found
            else:
                lost[found] += 1
        return WindowRewards(paid, lost)

    def of_decisions(
        self, windows: Sequence[JudgedWindow], decisions: Sequence[DecisionLine]
    ) -> list[Scored | None]:
        """What came of each decision of one drive: the reward of the window that begins at it, None where none does.

        Cut the windows every 0.5 s to have one for every decision but those of the first and last seconds.
        """
        paid = self.of_windows(windows).by_key
        found: list[Scored | None] = []
        for line in decisions:
            own = [w for w in windows if abs(w.window.time - line.time) <= SAME_MOMENT_S]
            found.append(paid.get(own[0].window.clip.key) if own else None)
        return found

    def of_plans(self, window: Window, plans: Float, gates: Gates | None) -> list[Scored | None]:
        """What other trajectories would have been worth in a window that was driven; None where NC is unjudged.

        The others move as they did: they do not react to the new trajectory. Gates are those of the window for all of
        them, so that they are compared by the same rules.

        Parameters
        ----------
        plans
            Poses ``[N, 10, 3]`` of the rear axle at ``FUTURE_TIMES``, frame of ``window.scene``.
        gates
            As the model answered about the window; None if it could not be read.

        Raises
        ------
        ValueError
            If the plans have another shape.
        """
        poses = as_float(plans, (None, len(FUTURE_TIMES), 3), "plans")
        if not len(poses):
            return []
        clips, _ = judged(
            window.scene, window.around, poses, variant=self.variant, later=window.later
        )
        paid = [self._pay(clip, gates) for clip in clips]
        return [found if isinstance(found, Scored) else None for found in paid]

    def _pay(self, clip: Clip, gates: Gates | None) -> Scored | str:
        """The reward, or why there is none."""
        if gates is None and not self.fallback:
            return UNREAD
        verdict = judge_score(clip.rules, gates or ALL_APPLY, self.reading)
        if verdict.score is None:
            return verdict.why
        detail: Mapping[str, Any] = {
            "product": verdict.product,
            "mean": verdict.mean,
            "epdms": clip.epdms,
            "broken": list(broken(clip.rules)),
            "waived": list(verdict.gates.waived),
            "unjudged": list(verdict.unjudged),
        }
        return Scored(
            verdict.score, graded=gates is not None, fallback=gates is None, detail=detail
        )
