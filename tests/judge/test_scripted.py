"""Scripted behaviour: what the rules see of it is what its name says, and no rule alone tells good from bad."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from driveproof.config.judge import JudgeParams
from driveproof.errors import BadInput
from driveproof.files import sha256_file
from driveproof.geometry.kinematics import differentiate
from driveproof.judge import PAPER_THRESHOLDS, Clip, judge_score, read_clips, read_pairs
from driveproof.judge.criteria import UNASKED, criteria_of
from driveproof.judge.gates import gate_labels
from driveproof.judge.scripted import write as writing
from driveproof.judge.scripted.actors import TIMES, walker
from driveproof.judge.scripted.build import Unit, clips_of, make_unit, pairs_of
from driveproof.judge.scripted.motion import (
    GRID,
    Motion,
    bump,
    centred,
    history,
    shift,
    slowing,
    steady,
)
from driveproof.judge.scripted.places import Place, PlaceKind, places_of
from driveproof.judge.scripted.registry import TOPICS
from driveproof.maps import TownMap, load_town
from driveproof.policy.pictures import Pictures
from driveproof.scene import FUTURE_TIMES, read_scenes

pytestmark = pytest.mark.slow

NAMES = ("Town01", "Town05")


@pytest.fixture(scope="module")
def towns() -> dict[str, TownMap]:
    return {name: load_town(name) for name in NAMES}


@pytest.fixture(scope="module")
def places(towns) -> list[Place]:
    return [place for town in towns.values() for place in places_of(town)]


@pytest.fixture(scope="module")
def units(towns, places) -> list[Unit]:
    """Two units of every topic."""
    made = []
    for topic in TOPICS.values():
        for number in range(2):
            able = [n for n in NAMES if any(topic.fits(p) for p in places if p.town == n)]
            town = able[number % len(able)]
            own = [place for place in places if place.town == town]
            unit = make_unit(topic, number, "train", own, towns[town], 0, "navsim")
            assert unit is not None, topic.name
            made.append(unit)
    return made


@pytest.fixture(scope="module")
def clips(units) -> list[Clip]:
    return [clip for unit in units for clip, _, _ in clips_of(unit)]


def test_there_are_ten_kinds_of_each_that_break_a_rule(clips) -> None:
    kinds = defaultdict(set)
    for clip in clips:
        if low(clip):
            kinds[clip.label].add(clip.kind)
    assert len(kinds[True]) >= 10, sorted(kinds[True])
    assert len(kinds[False]) >= 10, sorted(kinds[False])


def low(clip: Clip) -> set[str]:
    """Criteria and unasked rules that are broken."""
    values = {**criteria_of(clip.rules), **{code: clip.rules[code] for code in UNASKED}}
    limits = {**PAPER_THRESHOLDS, "TLC": 0.5}
    return {code for code, value in values.items() if value < limits[code]}


def test_every_excusable_breach_is_reasonable_here_and_unreasonable_there(clips) -> None:
    seen = {
        label: set().union(*(low(c) for c in clips if c.label is label)) for label in (True, False)
    }
    assert seen[True] == {"LK", "DDC", "DAC", "TTC", "EP", "COMFORT"}
    assert seen[True] <= seen[False]
    assert "NC" not in seen[True]  # hitting somebody is never reasonable
    assert {"NC", "TLC"} <= seen[False]


def test_the_gates_of_the_labels_tell_good_from_bad(clips) -> None:
    for clip in clips:
        gates = gate_labels(clip.criteria, clip.label, PAPER_THRESHOLDS)
        score = judge_score(clip.rules, gates).score
        assert (score > 0.87) == clip.label or clip.kind in {
            "waits_behind_blockage",
            "emergency_brake",
        }, clip.key


def test_twins_drive_alike_where_only_the_circumstance_differs(units) -> None:
    twins = {
        "nudge": 1,
        "pass_blocked": 1,
        "courtesy": 1,
        "work_zone": 1,
        "emergency": 1,
        "evade": 1,
    }
    for unit in units:
        if unit.topic.name not in twins:
            continue
        with_reason = {b.name: b for b in unit.settings[0].behaviours if b.reasonable}
        without = {b.name: b for b in unit.settings[1].behaviours if not b.reasonable}
        (good,), (bad,) = with_reason.values(), without.values()
        assert np.array_equal(good.motion.offset, bad.motion.offset)
        assert np.array_equal(good.motion.speed, bad.motion.speed)
        assert unit.settings[0].actors != unit.settings[1].actors


def test_pairs_prefer_the_reasonable_one_and_their_order_is_drawn(units, clips) -> None:
    label = {clip.key: clip.label for clip in clips}
    firsts = []
    for unit in units:
        for pair in pairs_of(unit, 0):
            better, worse = (
                (pair.first, pair.second) if pair.preferred == "A" else (pair.second, pair.first)
            )
            assert label[better] is True
            assert label[worse] is False
            firsts.append(pair.preferred)
    assert 0.25 < np.mean([first == "A" for first in firsts]) < 0.75


def test_the_same_seed_gives_the_same_unit_and_another_seed_another(towns, places) -> None:
    own = [place for place in places if place.town == "Town01"]
    topic = TOPICS["nudge"]
    one, again, other = (
        make_unit(topic, 0, "train", own, towns["Town01"], seed, "navsim") for seed in (0, 0, 1)
    )
    assert np.array_equal(one.staged[0].plans, again.staged[0].plans)
    assert not np.array_equal(one.staged[0].plans, other.staged[0].plans)


def test_places_look_ahead_along_their_lane(places) -> None:
    for place in places[::7]:
        here, ahead = place.poses(np.array([0.0, 10.0]), np.zeros(2))
        assert np.hypot(*(ahead - here)[:2]) == pytest.approx(10.0, abs=1.0)
        left = place.poses(np.array([0.0]), np.array([1.0]))[0] - here
        assert left[:2] @ [-np.sin(here[2]), np.cos(here[2])] == pytest.approx(1.0)
        if place.kind is PlaceKind.TURN_LEFT:
            turn = place.poses(np.array([place.junction + 20.0]), np.zeros(1))[0, 2] - here[2]
            assert np.sin(turn) > 0.5


def test_motions_do_what_they_say(places) -> None:
    place = next(p for p in places if p.kind is PlaceKind.ROAD and p.town == "Town01")
    still = Motion(steady(8.0), centred()).plan(place)
    past = history(place, 8.0)
    moved = np.hypot(*(still[-1] - past[-1])[:2])
    assert moved == pytest.approx(40.0, abs=0.3)
    stop = slowing(8.0, 0.0, 4.0, ease=0.1)
    assert stop[0] == 8.0
    assert stop[-1] == 0.0
    assert np.abs(differentiate(stop, GRID)).max() <= 4.0 + 1e-6
    assert shift(1.5, 0.0, 2.0)[GRID >= 2.0] == pytest.approx(1.5)
    there = bump(2.0, 0.5, 1.0, 1.0)
    assert there.max() == pytest.approx(2.0)
    assert abs(there[-1]) < 1e-9
    assert len(still) == len(FUTURE_TIMES)


def test_actors_begin_end_and_appear_when_they_should(places) -> None:
    place = next(p for p in places if p.kind is PlaceKind.ROAD)
    states = walker(10.0, -3.0, vd=2.0, begins=0.5, ends=2.0, appears=0.0).states(place)
    assert np.isnan(states[TIMES < 0.0]).all()
    origin = place.poses(np.array([10.0]), np.zeros(1))[0]
    normal = np.array([-np.sin(origin[2]), np.cos(origin[2])])
    aside = (states[TIMES >= 0.0][:, :2] - origin[:2]) @ normal
    at = TIMES[TIMES >= 0.0]
    assert aside == pytest.approx(-3.0 + 2.0 * (np.clip(at, 0.5, 2.0) - 0.5))


def small(**changes: object) -> JudgeParams:
    return JudgeParams.model_validate(
        {"towns": list(NAMES), "units": {"train": 1, "test": 1}, "workers": 1, **changes}
    )


@pytest.fixture
def two_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("nudge", "red_light"):
        monkeypatch.setitem(writing.TOPICS, name, TOPICS[name])
    for name in set(TOPICS) - {"nudge", "red_light"}:
        monkeypatch.delitem(writing.TOPICS, name)


@pytest.mark.usefixtures("two_topics")
def test_the_files_are_whole_and_the_same_again(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    stats = writing.write_scripted(small(), 0, "one")
    writing.write_scripted(small(), 0, "two")
    clips, pairs = read_clips("one/clips.parquet"), read_pairs("one/pairs.parquet")
    assert {clip.split for clip in clips} == {"train", "test"}
    train, test = ({c.place for c in clips if c.split == split} for split in ("train", "test"))
    assert not train & test
    assert {pair.first for pair in pairs} <= {clip.key for clip in clips}
    scenes = {scene.scene_key for scene in read_scenes("one/scenes")}
    assert {clip.setting for clip in clips} == scenes
    assert {clip.label_source for clip in clips} == {"scripted"}
    assert stats["clips"]["train"]["reasonable"] > 0
    shown = Pictures().pixels(clips[0].frames[-1])
    assert shown.shape == (96, 160, 3)
    for name in ("pictures.tar", "pairs.parquet", "stats.json"):
        assert sha256_file(f"one/{name}") == sha256_file(f"two/{name}")


@pytest.mark.usefixtures("two_topics")
def test_a_topic_without_a_place_is_said(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(
        writing, "places_of", lambda town: [p for p in places_of(town) if p.kind is PlaceKind.ROAD]
    )
    with pytest.raises(BadInput, match="red_light"):
        writing.write_scripted(small(), 0, tmp_path / "out")
    assert not (tmp_path / "out").exists()
