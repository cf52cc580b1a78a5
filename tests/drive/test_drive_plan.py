"""What a run is: routes, settings, seeds, and whether two runs are the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driveproof.drive.begin import begin_run, served_spec
from driveproof.drive.openers import mode_text, parse_mode
from driveproof.drive.plan import (
    DriveSettings,
    PolicyFacts,
    choose_routes,
    differences,
    episode_seed,
    make_plan,
    parse_pictures,
    read_plan,
)
from driveproof.drive.rundir import OtherRun
from driveproof.errors import BadInput, UserError
from driveproof.prompts.inputs import Cameras, InputMode, Shown, mode_to_json

RANDOM = PolicyFacts(spec="random", name="random", identity={"kind": "random", "seed": 0})


def plan_of(suite, settings=None, policy=RANDOM):
    return make_plan(suite, choose_routes(suite), policy, settings or DriveSettings())


def test_every_route_is_driven_as_often_as_asked_with_a_seed_of_its_own(plain_suite) -> None:
    plan = plan_of(plain_suite, DriveSettings(repeats=2, seed=5))
    keys = [episode.key for episode in plan.episodes]
    assert keys == ["1_rep0", "2_rep0", "3_rep0", "1_rep1", "2_rep1", "3_rep1"]
    assert len({episode.seed for episode in plan.episodes}) == 6
    assert [episode.index for episode in plan.episodes] == [0, 1, 2, 0, 1, 2]


def test_a_seed_depends_on_run_route_and_repeat_and_on_nothing_else(plain_suite) -> None:
    alone = choose_routes(plain_suite, only=["2"])
    plan = make_plan(plain_suite, alone, RANDOM, DriveSettings(seed=3))
    assert [episode.seed for episode in plan.episodes] == [episode_seed(3, "2", 0)]
    assert episode_seed(3, "2", 0) != episode_seed(4, "2", 0)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [(2.0, 2.0), (0.1, 0.1), (20.0, 20.0), (6.667, 20 / 3), (6.66667, 20 / 3), (1 / 3, 1 / 3)],
)
def test_a_rate_means_a_whole_number_of_ticks(asked, meant) -> None:
    settings = DriveSettings(rate_hz=asked)
    assert settings.rate_hz == pytest.approx(meant, rel=1e-12)
    ticks = 20.0 / settings.rate_hz
    assert ticks == pytest.approx(round(ticks), abs=1e-9)
    assert DriveSettings(rate_hz=settings.rate_hz) == settings


@pytest.mark.parametrize(
    ("rate", "nearest"),
    [(3.0, "2.85714 and 3.33333"), (15.0, "10 and 20"), (0.3, "0.298507 and 0.30303")],
)
def test_a_rate_between_ticks_is_refused_with_the_nearest_ones(rate, nearest) -> None:
    with pytest.raises(BadInput, match=rf"\(--rate\).*{nearest}"):
        DriveSettings(rate_hz=rate)
    for word in nearest.split(" and "):
        DriveSettings(rate_hz=float(word))


def test_an_old_run_of_any_rate_can_be_looked_at(plain_suite, tmp_path) -> None:
    content = plan_of(plain_suite).model_dump(mode="json")
    content["settings"]["rate_hz"] = 3.0
    (tmp_path / "run.json").write_text(json.dumps(content))
    assert read_plan(tmp_path / "run.json").settings.rate_hz == 3.0


def test_a_plan_survives_its_file(plain_suite, tmp_path) -> None:
    plan = plan_of(plain_suite, DriveSettings(rate_hz=4.0, truth=True))
    (tmp_path / "run.json").write_text(json.dumps(plan.model_dump(mode="json")))
    assert read_plan(tmp_path / "run.json") == plan


@pytest.mark.parametrize(
    "text", ["", "[]", '{"routes": []}', '{"schema_version": 9}', "{" * 5000, "null"]
)
def test_what_is_no_plan_is_refused(tmp_path, text) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(BadInput):
        read_plan(tmp_path / "run.json")


def test_differences_are_named_and_versions_are_none(plain_suite) -> None:
    plan = plan_of(plain_suite)
    newer = plan.model_copy(update={"versions": {"driveproof": "99"}})
    assert differences(plan, newer) == []
    other = plan.model_copy(update={"settings": DriveSettings(seed=1, rate_hz=4.0)})
    assert [line.split(":")[0] for line in differences(plan, other)] == [
        "settings.seed",
        "settings.rate_hz",
    ]


def test_a_directory_goes_on_with_its_own_run_and_refuses_another(plain_suite, tmp_path) -> None:
    first = begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())
    again = begin_run(tmp_path / "run", plain_suite, "random", DriveSettings())
    assert again.plan == first.plan
    with pytest.raises(OtherRun, match=r"settings\.seed: 0, now 1"):
        begin_run(tmp_path / "run", plain_suite, "random", DriveSettings(seed=1))
    with pytest.raises(OtherRun, match="policy"):
        begin_run(tmp_path / "run", plain_suite, "expert", DriveSettings())
    with pytest.raises(OtherRun, match="routes"):
        begin_run(tmp_path / "run", plain_suite, "random", DriveSettings(), limit=1)


def test_a_directory_of_something_else_is_left_alone(plain_suite, tmp_path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(UserError, match="something else"):
        begin_run(tmp_path, plain_suite, "random", DriveSettings())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_run_json_says_what_is_privileged(plain_suite, tmp_path) -> None:
    told = begin_run(tmp_path / "a", plain_suite, "expert", DriveSettings())
    assert told.plan.policy.privileged == ("the expert drives",)
    plain = begin_run(tmp_path / "b", plain_suite, "random", DriveSettings())
    assert plain.plan.policy.privileged == ()
    noted = begin_run(tmp_path / "c", plain_suite, "random", DriveSettings(truth=True))
    assert "not shown" in noted.plan.policy.privileged[0]


@pytest.mark.parametrize("name", ["graph", "mode"])
def test_who_does_not_talk_has_no_graph_and_no_mode(plain_suite, tmp_path, name) -> None:
    value = {"graph": "action", "mode": "text"}[name]
    with pytest.raises(BadInput, match=name):
        begin_run(tmp_path / "run", plain_suite, "random", DriveSettings(**{name: value}))
    assert not (tmp_path / "run").exists()


def test_suites_with_twins_or_hostile_ids_are_refused(plain_suite, tmp_path) -> None:
    text = plain_suite.read_text()
    for old, new, problem in (
        ('id="2"', 'id="1"', "comes 2 times"),
        ('id="2"', 'id="../../etc"', "folder"),
    ):
        (tmp_path / "bad.xml").write_text(text.replace(old, new))
        with pytest.raises(BadInput, match=problem):
            choose_routes(tmp_path / "bad.xml")
    with pytest.raises(BadInput, match="no such route"):
        choose_routes(plain_suite, only=["77"])


def test_local_models_are_served_and_others_are_not() -> None:
    assert served_spec("transformers:models/x", "") == ("wire:{address}", "transformers:models/x")
    for model in ("baseline:qwen2.5-vl-7b", "baseline:gemma3-4b#models/gemma"):
        assert served_spec(model, "") == ("wire:{address}", model)
    assert served_spec("", "random") == ("wire:{address}", "random")
    assert served_spec("random", "") == ("random", "")
    with pytest.raises(BadInput):
        served_spec("random", "expert")
    with pytest.raises(BadInput):
        served_spec("", "")


@pytest.mark.parametrize("text", ["224", "0x0", "-1x5", "9999x9999", "axb", ""])
def test_bad_sizes_are_refused(text) -> None:
    with pytest.raises(BadInput):
        parse_pictures(text)


MODES = st.one_of(
    st.builds(
        InputMode,
        st.just(Shown.CAMERA),
        st.booleans(),
        st.integers(1, 9),
        st.sampled_from(Cameras),
    ),
    st.builds(InputMode, st.sampled_from([Shown.BEV, Shown.TEXT]), st.booleans()),
)


@given(MODES)
def test_a_mode_in_words_is_the_same_mode(mode) -> None:
    assert parse_mode(mode_text(mode_to_json(mode))) == mode


@pytest.mark.parametrize(
    "text", ["lidar", "camera+", "text+six", "bev+history=2", "camera+history=0"]
)
def test_bad_modes_are_refused(text) -> None:
    with pytest.raises(BadInput):
        parse_mode(text)
