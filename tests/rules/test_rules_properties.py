"""What must not matter does not: where the world lies, left or right, someone far away."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rules_examples import (
    Doc,
    car,
    lane,
    mirrored,
    moved,
    plan,
    rectangle,
    score,
    street,
    with_plans,
)

QUIET = settings(max_examples=20, deadline=None, derandomize=True)
VARIANTS = ("navsim", "corrected")
NUMBER = st.floats(-1.0, 1.0).map(lambda x: round(x, 3) + 0.000317)
KINDS = ("vehicle", "pedestrian", "bicycle", "traffic_cone", "barrier")


@st.composite
def scenes(draw: st.DrawFn) -> Doc:
    """A street with a junction, a light, agents of all kinds and three plans, one the reference."""
    speed = 6.0 + 4.0 * draw(NUMBER)
    doc = street(speed)
    turn = lane("turn", 0.0, kind="LANE_CONNECTOR")
    turn["exterior"] = rectangle(21.7, 33.1, -1.75, 1.75)
    cross = {"id": "cross", "type": "INTERSECTION", "exterior": rectangle(21.7, 33.1, -9.0, 16.0)}
    doc["map"]["polygons"] += [turn, cross]
    doc["map"]["route_lane_ids"].append("turn")
    begin = draw(st.integers(0, 60))
    doc["traffic_lights"] = [{"lane_connector_id": "turn", "red": [k >= begin for k in range(41)]}]
    for n in range(draw(st.integers(0, 5))):
        x, y = 14.0 + 25.0 * draw(NUMBER), 3.0 + 7.0 * draw(NUMBER)
        vx, vy = 8.0 * draw(NUMBER), 2.0 * draw(NUMBER)
        doc["agents"].append(car(f"a{n}", x, y, vx=vx, vy=vy, kind=draw(st.sampled_from(KINDS))))
    plans = {}
    for name in ("p", "q", "reference"):
        pull, shift = 1.5 * draw(NUMBER), 3.0 * draw(NUMBER)
        plans[name] = plan(
            lambda t, a=pull, v=speed: v * t + 0.5 * max(a, -v / 4.0) * t * t,
            lambda t, d=shift: d * (1.0 - math.cos(math.pi * t / 4.0)) / 2.0,
        )
    reference = plans.pop("reference")
    doc = with_plans(doc, **plans)
    doc["reference_trajectory"], doc["human_trajectory"] = reference, plans["q"]
    return doc


def _same(a: Doc, b: Doc) -> None:
    for variant in VARIANTS:
        first, second = score(a, variant=variant), score(b, variant=variant)
        for n in range(len(first)):
            left, right = first.row(n), second.row(n)
            assert left.keys() == right.keys()
            for code, value in left.items():
                assert right[code] == pytest.approx(value, abs=1e-5), (variant, n, code)


@QUIET
@given(scenes(), st.sampled_from([(664425.2, 3997509.0), (-31.7, 12.9)]), st.floats(-3.1, 3.1))
def test_a_rigid_motion_of_the_world_changes_nothing(
    doc: Doc, shift: tuple[float, float], turn: float
) -> None:
    _same(doc, moved(doc, (*shift, turn)))


@QUIET
@given(scenes())
def test_a_mirrored_world_changes_nothing(doc: Doc) -> None:
    _same(doc, mirrored(doc))


@pytest.mark.slow
@QUIET
@given(scenes(), st.floats(0.0, 6.28), st.floats(150.0, 1000.0))
def test_an_agent_far_away_changes_nothing(doc: Doc, angle: float, far: float) -> None:
    crowd = {
        **doc,
        "agents": [car("far", far * math.cos(angle), far * math.sin(angle)), *doc["agents"]],
    }
    _same(doc, crowd)


@QUIET
@given(scenes())
def test_the_order_of_agents_and_plans_changes_nothing(doc: Doc) -> None:
    turned = {**doc, "agents": doc["agents"][::-1], "proposals": doc["proposals"][::-1]}
    turned["map"] = {**doc["map"], "polygons": doc["map"]["polygons"][::-1]}
    first, second = score(doc), score(turned)
    for n in range(len(first)):
        assert first.row(n) == second.row(len(first) - 1 - n)


@QUIET
@given(scenes())
def test_a_plan_scores_the_same_alone_and_in_company(doc: Doc) -> None:
    together = score(doc)
    for n, proposal in enumerate(doc["proposals"]):
        assert score({**doc, "proposals": [proposal]}).row(0) == pytest.approx(together.row(n))


@QUIET
@given(scenes(), st.floats(0.3, 0.95))
def test_a_slower_twin_never_gains_progress(doc: Doc, share: float) -> None:
    """The twin drives the same path with ``share`` of the speed at every moment.

    (A twin that is merely behind may brake later, and the tracker follows speeds, not places.)
    """
    fast = doc["proposals"][0]
    path = np.concatenate([[[0.0, 0.0, 0.0]], fast["poses"]])
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(path[:, :2], axis=0).T))])
    slow = [[float(np.interp(s * share, way, path[:, k])) for k in range(3)] for s in way[1:]]
    doc = {**doc, "proposals": [fast, {**fast, "name": "twin", "poses": slow}]}
    for grouping in ("pair", "group"):
        scores = score(doc, grouping=grouping)
        assert scores.row(1)["EP"] <= scores.row(0)["EP"] + 1e-9


@QUIET
@given(scenes())
def test_scores_are_shares(doc: Doc) -> None:
    for variant in VARIANTS:
        scores = score(doc, variant=variant)
        for n in range(len(scores)):
            for code, value in scores.row(n).items():
                assert code == "EC" or 0.0 <= value <= 1.0
