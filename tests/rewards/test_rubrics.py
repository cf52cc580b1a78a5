"""Rubrics: atomic, weighted, valid, and blind for the future and the candidates."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from grading_world import CAR, RED, facts, scripted_server
from hypothesis import given
from hypothesis import strategies as st

from driveproof.config.rubrics import RubricsParams
from driveproof.errors import BadInput
from driveproof.evaluation.facts import SignalFact, UserFact, facts_of, surroundings_of
from driveproof.rewards import (
    Criterion,
    OfflineGrader,
    Rubric,
    offline_rubric,
    problems_of,
    read_rubrics,
    write_rubrics,
)
from driveproof.rewards.commented import commented_facts, sharpen
from driveproof.rewards.generate import make_rubrics, summary_of, write_rubric_set
from driveproof.scene import LightState, TrafficSignal
from driveproof.testing import make_lead, make_scene

SIGNALS = [
    None,
    RED,
    *(SignalFact(n, 12.0, True) for n in ("green", "yellow", "stop", "yield", "off")),
]
USERS = [
    None,
    CAR,
    *(UserFact(k, 9.0, 0.0, 0.0, "standing", True) for k in ("pedestrian", "cyclist", "obstacle")),
]


@pytest.mark.parametrize("signal", SIGNALS)
@pytest.mark.parametrize("ahead", USERS)
def test_an_offline_rubric_is_valid_and_a_full_account_meets_its_evidence(signal, ahead) -> None:
    rubric = offline_rubric(facts(signal=signal, ahead=ahead))
    assert problems_of(rubric) == []
    assert 6 <= len(rubric.criteria) <= 10
    said = f"signal {signal.name} {signal.distance:.0f}" if signal else "signal none"
    said += f" ahead {ahead.kind} {ahead.x:.0f} {ahead.motion}" if ahead else " ahead clear"
    met = OfflineGrader().grade(rubric, f"{said}\nmiddle 8,0 end 9,0")
    for criterion, fulfilled in zip(rubric.criteria, met, strict=True):
        assert fulfilled or criterion.kind == "implication", criterion.text


def test_criteria_are_met_one_by_one_in_english_too() -> None:
    rubric = offline_rubric(facts())
    text = (
        "The traffic light is red and about 20 m away. A car is in our way, 10 m ahead, slower than us. "
        "We drive 8 m/s. So the ego vehicle must slow down and follows its lane, to stop within 5 seconds."
    )
    assert all(OfflineGrader().grade(rubric, text))
    assert rubric.share((True,) * len(rubric.criteria)) == 1.0
    half = OfflineGrader().grade(rubric, "The traffic light is red and about 20 m away.")
    assert [c.kind for c, met in zip(rubric.criteria, half, strict=True) if met] == [
        "signal",
        "signal",
    ]


def test_the_share_is_weighted() -> None:
    criteria = tuple(Criterion(f"Says thing {n}.", w) for n, w in enumerate((5, 1, 1, 1, 1, 1)))
    rubric = Rubric("r", "v", "g", 0.0, criteria)
    assert rubric.share((True, False, False, False, False, False)) == pytest.approx(0.5)
    assert rubric.share((False,) * 6) == 0.0


@given(st.integers(0, 2**31))
def test_neither_future_nor_candidates_change_a_rubric(seed: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.linspace(-1.5, 5.0, 14)
    scene = replace(
        make_scene(speed=8.0),
        agents=make_lead(20.0, 3.0, times),
        signals=(TrafficSignal("l", "traffic_light", (30.0, 3.0), LightState.RED, True, 30.0),),
    )
    states = scene.agents.states.copy()
    states[:, times > 0.0] = rng.uniform(-50.0, 50.0, states[:, times > 0.0].shape)
    other = replace(
        scene,
        future=rng.uniform(-50.0, 50.0, scene.future.shape),
        agents=replace(scene.agents, states=states),
    )
    made = [offline_rubric(facts_of(s.observe(), surroundings_of(s))) for s in (scene, other)]
    assert made[0] == made[1]
    names = {f.name for f in fields(Rubric)}
    assert not names & {"future", "options", "oracle", "waypoints"}


GOOD = offline_rubric(facts())


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (replace(GOOD, criteria=GOOD.criteria[:5]), "5 criteria, not 6 to 10"),
        (replace(GOOD, criteria=GOOD.criteria * 2), "not 6 to 10"),
        (replace(GOOD, criteria=(*GOOD.criteria[:-1], GOOD.criteria[0])), "stands twice"),
        (replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("x", 0))), "weight 0"),
        (replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("x", True))), "weight True"),
        (replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("x", 2.5))), "weight 2.5"),  # type: ignore[arg-type]
        (replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("", 1))), "text is empty"),
        (
            replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("a\nb", 1))),
            "not one printable line",
        ),
        (
            replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("x", 1, "colour"))),
            "kind 'colour'",
        ),
        (
            replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("Picks candidate B.", 1))),
            "candidates",
        ),
        (
            replace(GOOD, criteria=(*GOOD.criteria[:-1], Criterion("FINAL_CHOICE: B", 1))),
            "candidates",
        ),
        (replace(GOOD, ego_speed=float("nan")), "ego_speed"),
    ],
)
def test_a_bad_rubric_is_named_and_not_written(bad: Rubric, problem: str, tmp_path: Path) -> None:
    assert any(problem in found for found in problems_of(bad))
    with pytest.raises(BadInput, match="r: "):
        write_rubrics([bad], tmp_path / "r.parquet")
    assert list(tmp_path.iterdir()) == []


def test_rubrics_survive_the_disk_and_broken_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    assert write_rubrics([GOOD], path) == 1
    assert read_rubrics(path) == {"r": GOOD}
    with pytest.raises(BadInput, match="two rubrics"):
        write_rubrics([GOOD, GOOD], path)
    table = pq.read_table(path)
    for name, odd in {
        "cut": path.read_bytes()[:-20],
        "text": b"rubric",
        "empty": b"",
    }.items():
        (tmp_path / name).write_bytes(odd)
        with pytest.raises(BadInput, match=name):
            read_rubrics(tmp_path / name)
    pq.write_table(table.replace_schema_metadata({}), tmp_path / "other.parquet")
    with pytest.raises(BadInput, match="schema version"):
        read_rubrics(tmp_path / "other.parquet")
    with pytest.raises(BadInput, match="no such file"):
        read_rubrics(tmp_path / "none.parquet")


CRITERIA = [
    {
        "text": f"Says that thing {n} is red and that the vehicle stops.",
        "weight": 1 + n % 5,
        "kind": "signal",
    }
    for n in range(6)
]


@pytest.mark.slow
def test_a_model_writes_rubrics_from_what_the_policy_sees_alone(make_item) -> None:
    items = [make_item(n, speed=5.0 + n) for n in range(3)]
    items = [replace(i, observation=replace(i.observation, images={})) for i in items]
    with scripted_server() as (url, state):
        state.answer = lambda prompt: f"```json\n{json.dumps({'criteria': CRITERIA})}\n```"
        params = RubricsParams(generator=f"openai:{url}#m", concurrency=2)
        made = make_rubrics([i.observation for i in items], {}, params, seed=1)
    assert made.lost == {}
    assert [r.record_key for r in made.rubrics] == [i.record_key for i in items]
    assert made.rubrics[0].generator == "m"
    assert made.rubrics[0].version.startswith("model-")
    for item, prompt in zip(items, sorted(state.prompts), strict=True):
        assert "CANDIDATE" not in prompt
        assert "FINAL_CHOICE" not in prompt
        for option in item.options:
            assert " ".join(f"{x:.2f},{y:.2f}" for x, y in option[:3]) not in prompt


@pytest.mark.slow
def test_a_model_that_breaks_the_rules_is_asked_again_and_then_lost(make_item) -> None:
    item = make_item()
    seen = replace(item.observation, images={})
    replies = [
        "nonsense",
        json.dumps({"criteria": CRITERIA[:3]}),
        json.dumps({"criteria": CRITERIA}),
    ]
    with scripted_server() as (url, state):
        state.answer = lambda prompt: replies.pop(0)
        params = RubricsParams(generator=f"openai:{url}#m", attempts=3, concurrency=1)
        assert len(make_rubrics([seen], {}, params).rubrics) == 1
        state.answer = lambda prompt: json.dumps(
            {"criteria": [{**c, "weight": 9} for c in CRITERIA]}
        )
        made = make_rubrics([seen], {}, params)
        assert made.rubrics == []
        assert "weight 9" in made.lost[seen.record_key]
        state.dead_after = 0
        dead = make_rubrics([seen], {}, params.model_copy(update={"attempts": 1}))
        assert "Connection" in dead.lost[seen.record_key]
    assert summary_of(dead)["lost"] == 1


def test_a_generator_that_cannot_write_is_refused(make_item) -> None:
    with pytest.raises(BadInput, match="cannot write rubrics"):
        make_rubrics([make_item().observation], {}, RubricsParams(generator="random"))


def test_a_set_is_written_whole_and_twice_alike(tmp_path: Path, make_item) -> None:
    observation = make_item().observation
    known = {observation.record_key: facts(observation.record_key)}
    for folder in ("a", "b"):
        write_rubric_set(
            make_rubrics([observation, observation], known, RubricsParams()), tmp_path / folder
        )
    names = ["lost.json", "summary.json", "train.parquet"]
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == names
    for name in names:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    lost = make_rubrics([observation], {}, RubricsParams())
    assert lost.lost == {observation.record_key: "no facts of this scene"}


def test_the_expert_lends_its_names() -> None:
    from driveproof.commenter import Agent, Frame

    ego = Agent("1", "vehicle.ego", "car", "vehicle", 0.0, 0.0, 0.0, 0.0, 4.5, 1.9, 1.5)
    lead = replace(
        ego, id="2", x=10.0 + 2.25, y=0.2, colour=(0, 128, 128), type_id="vehicle.audi.tt"
    )
    frame = Frame(0, 0.0, "", ego, (lead,), ())
    named = sharpen(facts(), frame)
    assert named.ahead is not None
    assert named.ahead.name == "teal car"
    assert "Names the vehicle (teal car) in the way of the ego vehicle." in {
        c.text for c in offline_rubric(named).criteria
    }


def pack(path: Path, member: str, content: bytes) -> None:
    """A clip of one annotation."""
    with tarfile.open(path, "w") as archive:
        entry = tarfile.TarInfo(member)
        entry.size = len(content)
        archive.addfile(entry, io.BytesIO(content))


def test_one_annotation_of_the_clip_is_read_and_no_other(tmp_path: Path) -> None:
    box = {"id": "1", "location": [0, 0, 0], "center": [0, 0, 0], "extent": [2.25, 0.95, 0.75]}
    box |= {"rotation": [0, 0, 0], "speed": 8.0, "class": "ego_vehicle"}
    # CARLA's axes: y to the right
    lead = box | {"id": "2", "class": "vehicle", "center": [12.25, -0.2, 0], "speed": 3.0}
    lead |= {"base_type": "truck", "color": "0,0,255", "state": "dynamic"}
    anno = gzip.compress(json.dumps({"speed": 8.0, "bounding_boxes": [box, lead]}).encode())
    pack(tmp_path / "clip.tar", "clip/anno/00015.json.gz", anno)
    here, later, elsewhere = "made/clip/00015", "made/clip/00020", "made/other/00015"
    known = {key: facts(key) for key in (here, later, elsewhere)}
    counted: list[int] = []
    named = commented_facts(known, tmp_path, counted.append)
    assert named[here].ahead is not None
    assert named[here].ahead.name == "blue truck"
    assert (named[later], named[elsewhere]) == (known[later], known[elsewhere])
    assert sum(counted) == 3
    for broken in (b"", b"no gzip", gzip.compress(b"[]"), gzip.compress(b'{"bounding_boxes": []}')):
        pack(tmp_path / "clip.tar", "clip/anno/00015.json.gz", broken)
        with pytest.raises(BadInput, match=r"clip\.tar"):
            commented_facts({here: facts(here)}, tmp_path)
