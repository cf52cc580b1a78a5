"""One verdict explained: the frames that the judge saw, sub-scores with their gates, the score, and who is to blame."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from driveproof.files import atomic_path
from driveproof.geometry import box_corners, points_to_local
from driveproof.geometry.arrays import Float
from driveproof.judge.bev import BevView, draw_bev
from driveproof.judge.clips import Clip
from driveproof.judge.criteria import CRITERIA, UNASKED
from driveproof.judge.score import Verdict
from driveproof.rules import Scores, SubScore, VehicleShape, plan_poses, score_plans
from driveproof.rules.reference import reference_plan
from driveproof.rules.states import DT, HEADING, X
from driveproof.rules.variants import Variant
from driveproof.rules.world import World
from driveproof.scene import AgentTracks
from driveproof.scene.images import Pixels

APPLIED, WAIVED, BLAMED = "#3b7dd8", "#c8c8c8", (255, 140, 0)
_RULES_OF = {"COMFORT": ("HC", "EC")}
_BIG = BevView(ahead=30.0, behind=12.0, width=34.0, px=9.0)


def rescore(clip: Clip, world: World, limit: float, variant: Variant = "navsim") -> Scores:
    """The rules on a clip's trajectory once more, for their evidence; ``limit`` m/s is the progress reference's."""
    plans = plan_poses(world.ego[:3], clip.plan[None], 0.5)
    reference = reference_plan(world, limit) if len(world.roads.route) else None
    return score_plans(world, plans, reference=reference, variant=variant)


def explain(
    clip: Clip,
    verdict: Verdict,
    scores: Scores,
    world: World,
    agents: AgentTracks,
    frames: Sequence[Pixels],
    path: Path,
) -> None:
    """Draw a verdict as PNG or SVG, by the suffix of ``path``; the same input gives the same file.

    ``agents`` are the scene's (the world knows the future only).
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 7.0), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    columns = max(len(frames), 1)
    grid = figure.add_gridspec(2, columns * 3, height_ratios=(1.0, 1.7))
    for n, frame in enumerate(frames):
        axes = figure.add_subplot(grid[0, 3 * n : 3 * n + 3])
        axes.imshow(frame, interpolation="nearest")
        axes.set_axis_off()
    verdicts = scores.verdicts(0)
    third = columns
    _draw_bars(figure.add_subplot(grid[1, : 2 * third]), clip, verdict, verdicts)
    axes = figure.add_subplot(grid[1, 2 * third :])
    axes.imshow(_moment(scores.states[0], verdicts, agents, world))
    axes.set_axis_off()
    step, agent = _fault(verdicts)
    who = f", with {agent}" if agent else ""
    axes.set_title(
        "nothing is broken" if step is None else f"after {step * DT:.1f} s{who}", fontsize=9
    )
    figure.suptitle(_headline(clip, verdict), fontsize=11)
    plain = {"Date": None} if path.suffix == ".svg" else {"Software": None}
    with atomic_path(path) as temporary, mpl.rc_context({"svg.hashsalt": "driveproof"}):
        figure.savefig(temporary, metadata=plain)


def _headline(clip: Clip, verdict: Verdict) -> str:
    score = f"unscored: {verdict.why}" if verdict.score is None else f"score {verdict.score:.2f}"
    epdms = "unscored" if clip.epdms is None else f"{clip.epdms:.2f}"
    waived = ", ".join(verdict.gates.waived) or "none"
    label = (
        ""
        if clip.label is None
        else f"{clip.label_source} label: " + ("reasonable" if clip.label else "unreasonable")
    )
    return f"{clip.key}\n{score} (EPDMS {epdms}); waived: {waived}. {label}"


def _draw_bars(axes: Any, clip: Clip, verdict: Verdict, verdicts: dict[str, SubScore]) -> None:
    """One bar a criterion: blue as far as its gate is open, grey where waived, with the rule's reason."""
    values = {**clip.criteria, **{code: clip.rules.get(code) for code in UNASKED}}
    names = list(values)
    for row, (code, value) in enumerate(values.items()):
        gate = verdict.gates[code] if code in CRITERIA else 1.0
        axes.barh(row, 1.0, color="#f0f0f0", height=0.7)
        if value is not None:
            axes.barh(row, value, color=WAIVED, height=0.7)
            axes.barh(row, value * gate, color=APPLIED, height=0.7)
        note = "unjudged" if value is None else f"{value:.2f}"
        said = "" if code in UNASKED else f" gate {gate:.2g}"
        axes.text(
            1.03, row, f"{note}{said}: {_reason(code, verdicts)}"[:76], va="center", fontsize=7.5
        )
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 3.2)
    axes.set_xticks([0.0, 0.5, 1.0])
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def _reason(code: str, verdicts: dict[str, SubScore]) -> str:
    reasons = [
        verdicts[rule].reason for rule in _RULES_OF.get(code, (code,)) if verdicts[rule].valid
    ]
    return "; ".join(reasons) or verdicts[_RULES_OF.get(code, (code,))[0]].reason


def _fault(verdicts: dict[str, SubScore]) -> tuple[int | None, str | None]:
    """First step at which a rule is broken, and whom the earliest breach that blames somebody blames."""
    faults = [v for v in verdicts.values() if v.value is not None and v.value < 1.0]
    timed = sorted((v.step, v.agent or "") for v in faults if v.step is not None)
    agents = [agent for _, agent in timed if agent]
    return (timed[0][0] if timed else None), (agents[0] if agents else None)


def _moment(
    states: Float, verdicts: dict[str, SubScore], agents: AgentTracks, world: World
) -> Pixels:
    """The view from above at the first breach (or now), whoever is blamed outlined."""
    step, agent = _fault(verdicts)
    step = step or 0
    ego = states[step, X : HEADING + 1]
    shape: VehicleShape = world.shape
    image = draw_bev(world.roads, agents, step * DT, ego, states[step + 1 :, :2], shape, _BIG)
    if agent in agents.track_ids:
        index = agents.track_ids.index(agent)
        state = agents.at(step * DT)[index]
        if np.isfinite(state).all():
            corners = box_corners(state[:3], *(agents.dimensions[index, :2] + 0.8))
            ring = _BIG.fixed(points_to_local(corners, ego))
            cv2.polylines(image, [ring], True, BLAMED, 4, cv2.LINE_AA, 4)
    return image
