"""Files of Bench2Drive: a hand-written one is read, ours are accepted, and what is wrong is named."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_records import Kind, infraction, motion, record

from driveproof.errors import BadInput
from driveproof.evaluation.driving.bench2drive import (
    Checkpoint,
    Infractions,
    Merged,
    parse,
    plain,
    read_file,
    write_file,
)
from driveproof.evaluation.driving.exchange import (
    checkpoint_of,
    from_theirs,
    merged_of,
    read_checkpoint,
    read_merged,
    records_in,
    to_theirs,
    write_checkpoint,
    write_merged,
)
from driveproof.evaluation.driving.metric_info import read_metric_info, write_metric_info
from driveproof.evaluation.driving.motion import UNITS
from driveproof.evaluation.driving.records import RouteRecord, RouteState, Status
from driveproof.evaluation.driving.route_score import Variant
from driveproof.evaluation.driving.scores import driving_scores
from driveproof.evaluation.driving.suite import expected_by

ORDER = [
    "index",
    "route_id",
    "scenario_name",
    "weather_id",
    "save_name",
    "town_name",
    "status",
    "num_infractions",
    "infractions",
    "scores",
    "meta",
]
EMPTY: dict[str, list[str]] = {name: [] for name in Infractions.model_fields}


def theirs() -> dict[str, Any]:
    """A checkpoint as their leaderboard writes it: two of three routes are done."""
    hit = "Agent collided against object with type=vehicle.audi.tt and id=311 at (x=12.5, y=-40.25, z=0.3)"
    slow = [
        "Average speed is 50.0% of the surrounding traffic's one",
        "Average speed is 1200.55% of it",
    ]
    aside = (
        "Agent went outside its route lanes for about 25.0 meters (20.0% of the completed route)"
    )
    return {
        "_checkpoint": {
            "global_record": {},
            "progress": [2, 3],
            "records": [
                {
                    "index": 0,
                    "route_id": "RouteScenario_2091_rep0",
                    "scenario_name": "ParkingCutIn_1",
                    "weather_id": 15,
                    "save_name": "RouteScenario_2091_rep0_Town12_ParkingCutIn_1_15_01_02_03_04_05",
                    "town_name": "Town12",
                    "status": "Completed",
                    "num_infractions": 4,
                    "infractions": {
                        **EMPTY,
                        "collisions_vehicle": [hit],
                        "outside_route_lanes": [aside],
                        "min_speed_infractions": slow,
                    },
                    "scores": {"score_route": 100, "score_penalty": 0.48, "score_composed": 48.0},
                    "meta": {
                        "route_length": 125.0,
                        "duration_game": 20.05,
                        "duration_system": 210.7,
                    },
                },
                {
                    "index": 1,
                    "route_id": "RouteScenario_2100_rep0",
                    "scenario_name": "TJunction_1",
                    "weather_id": None,
                    "save_name": "RouteScenario_2100_rep0_Town05_TJunction_1_None_01_02_03_04_05",
                    "town_name": "Town05",
                    "status": "Failed - Agent got blocked",
                    "num_infractions": 1,
                    "infractions": {
                        **EMPTY,
                        "vehicle_blocked": ["Agent got blocked at (x=1.0, y=2.0, z=0.0)"],
                    },
                    "scores": {"score_route": 12.5, "score_penalty": 1.0, "score_composed": 12.5},
                    "meta": {"route_length": 80.0, "duration_game": 75.0, "duration_system": 300.0},
                },
            ],
        },
        "entry_status": "Started",
        "eligible": False,
        "sensors": ["carla_camera"],
        "values": [],
        "labels": [],
    }


def test_their_checkpoint_is_read_and_scored_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_text(json.dumps(theirs()))
    first, second = read_checkpoint(path)
    assert (first.route_id, first.repeat, first.town) == ("2091", 0, "Town12")
    assert first.scenarios == ("ParkingCutIn",)
    assert second.scenarios == ("T_Junction",)  # their other spelling
    assert first.speed_shares == pytest.approx((0.5, 12.0055))
    hit = next(one for one in first.infractions if one.kind is Kind.COLLISION_VEHICLE)
    assert (hit.place, hit.actor_id) == ((12.5, 40.25), 311)  # left-handed there
    assert hit.actor_type == "vehicle.audi.tt"
    scores = driving_scores([first, second], None, Variant.BENCH2DRIVE)
    assert scores.driving_score.mean == pytest.approx((48.0 + 12.5) / 220)  # 0.6 x (1 - 0.2) = 0.48
    assert scores.efficiency.mean == pytest.approx(50.0)  # 1200.55 is dropped
    assert scores.success_rate.mean == 0.0


def test_reading_and_writing_their_file_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_text(json.dumps(theirs(), indent=4))
    write_file(tmp_path / "again.json", read_file(path))
    again = json.loads((tmp_path / "again.json").read_text())
    assert again == theirs()
    assert list(again["_checkpoint"]["records"][0]) == ORDER
    assert list(again["_checkpoint"]["records"][0]["infractions"]) == list(EMPTY)


def driven() -> list[RouteRecord]:
    return [
        record("24", speed_shares=(0.5, 1.25), index=0),
        record(
            "3",
            infraction(Kind.OFF_LANE, 0.123456),
            infraction(Kind.WRONG_WAY, 0.1),
            infraction(Kind.COLLISION_PEDESTRIAN, actor_id=9, actor_type="walker.pedestrian.0001"),
            infraction(Kind.YIELD_EMERGENCY, 0.4, actor_id=11),
            infraction(Kind.RED_LIGHT, signal_id="943"),
            infraction(Kind.MIN_SPEED, 0.5),
            Kind.SCENARIO_TIMEOUT,
            speed_shares=(0.5,),
            index=1,
        ),
        record(
            "101",
            Kind.BLOCKED,
            index=2,
            completion=0.123456789,
            status=Status.BLOCKED,
            weather_id="",
            scenarios=("T_Junction",),
        ),
        record("5", index=3, status=Status.PERFECT),
    ]


def test_what_we_write_is_in_their_format(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "checkpoint.json", driven(), 4)
    write_merged(tmp_path / "merged.json", driven())
    found = read_file(tmp_path / "checkpoint.json")
    assert isinstance(found, Checkpoint)
    assert isinstance(read_file(tmp_path / "merged.json"), Merged)
    raw = json.loads((tmp_path / "checkpoint.json").read_text())
    assert list(raw) == ["_checkpoint", "entry_status", "eligible", "sensors", "values", "labels"]
    assert list(raw["_checkpoint"]) == ["global_record", "progress", "records"]
    assert raw["_checkpoint"]["progress"] == [4, 4]
    assert all(list(one) == ORDER for one in raw["_checkpoint"]["records"])
    assert raw["entry_status"] == "Finished"
    assert raw["_checkpoint"]["records"][2]["scores"]["score_route"] == 12.345679  # six decimals
    assert raw["_checkpoint"]["global_record"]["meta"]["exceptions"] == [
        ["RouteScenario_101_rep0", 2, "Failed - Agent got blocked"]
    ]


def test_the_numbers_in_our_sentences_are_where_their_tools_look() -> None:
    raw = plain(checkpoint_of(driven()))["_checkpoint"]["records"]
    speeds = raw[0]["infractions"]["min_speed_infractions"]
    assert [float(re.search(r"(\d+(\.\d+)?)%", text)[1]) for text in speeds] == [50.0, 125.0]  # type: ignore[index]
    (aside,) = raw[1]["infractions"][
        "outside_route_lanes"
    ]  # off the lanes and against traffic together
    metres, percent = map(float, re.findall(r"(\d+\.\d+)", aside))
    assert metres == pytest.approx(22.346)
    assert percent == pytest.approx(22.3456)
    (hit,) = raw[1]["infractions"]["collisions_pedestrian"]
    assert "type=walker.pedestrian.0001 and id=9 at (x=10.0, y=-5.0, z=0.0)" in hit
    assert raw[1]["num_infractions"] == 6  # 5 kinds and a checkpoint of minimum speed


def test_merged_is_the_sum_over_220_sorted_by_text() -> None:
    merged = plain(merged_of(driven()))
    ids = [one["route_id"] for one in merged["_checkpoint"]["records"]]
    assert ids == [f"RouteScenario_{n}_rep0" for n in ("5", "3", "24", "101")]
    assert "index" not in merged["_checkpoint"]["records"][0]
    # 0.5 (pedestrian) x 0.7 (light) x 0.7 (yield) x 0.7 (time) x (1 - 0.223456)
    second = 100.0 * 0.5 * 0.7**3 * (1.0 - 0.223456)
    assert merged["driving score"] == pytest.approx((200.0 + second + 12.345679) / 220, abs=1e-6)
    assert merged["success rate"] == 2 / 220
    assert merged["eval num"] == 4
    with pytest.raises(BadInput, match="4 records of 3"):
        merged_of(driven(), 3)


KINDS = [kind for kind in Kind if kind is not Kind.MIN_SPEED]


@settings(max_examples=25)
@given(
    st.lists(st.sampled_from(KINDS), max_size=5),
    st.floats(0.0, 1.0),
    st.lists(st.floats(0.0, 30.0), max_size=5),
)
def test_scores_survive_their_format(
    kinds: list[Kind], completion: float, shares: list[float]
) -> None:
    status = Status.COMPLETED if completion == 1.0 else Status.TICKS
    one = record(
        "1",
        *(infraction(kind, 0.1) for kind in kinds),
        completion=completion,
        speed_shares=tuple(shares),
        status=status,
    )
    content = parse(json.loads(json.dumps(plain(checkpoint_of([one])))), Checkpoint)
    suite = expected_by([one])
    before = driving_scores([one], suite, Variant.BENCH2DRIVE)
    after = driving_scores(records_in(content), suite, Variant.BENCH2DRIVE)
    assert after.driving_score.mean == pytest.approx(before.driving_score.mean, abs=1e-6)
    assert after.success_rate == before.success_rate
    assert after.efficiency.mean == pytest.approx(before.efficiency.mean)


def change(*path: str | int, to: Any) -> Any:
    """Their file with one value changed; ``...`` removes it."""

    def apply(content: Any) -> Any:
        content = copy.deepcopy(content)
        inner = content
        for key in path[:-1]:
            inner = inner[key]
        if to is ...:
            del inner[path[-1]]
        else:
            inner[path[-1]] = to
        return content

    return apply


RECORD = ("_checkpoint", "records", 0)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (change("sensors", to=...), "sensors: .*Field required"),
        (change("extra", to=1), "extra: .*Extra inputs"),
        (change(*RECORD, "colour", to="red"), "_checkpoint.records.0.colour"),
        (change(*RECORD, "index", to="0"), "_checkpoint.records.0.index"),
        (change(*RECORD, "status", to="Done"), "status 'Done' is none"),
        (change(*RECORD, "status", to="Perfect"), "status is Perfect, but"),
        (change(*RECORD, "route_id", to="2091"), "RouteScenario_<id>_rep<r>"),
        (change(*RECORD, "num_infractions", to=3), "num_infractions is 3, but 4 are listed"),
        (change(*RECORD, "scores", "score_composed", to=60.0), "60.0 is not score_route x"),
        (change(*RECORD, "scores", "score_penalty", to=1.5), "score_penalty"),
        (change(*RECORD, "meta", "route_length", to=-1.0), "route_length"),
        (change(*RECORD, "infractions", "red_light", to="none"), "infractions.red_light"),
        (change(*RECORD, "infractions", "stop_infraction", to=...), "stop_infraction"),
        (change("_checkpoint", "progress", to=[1, 3]), "progress is .1, 3., but there are 2"),
        (change("_checkpoint", "progress", to=[2]), "not .done, all."),
        (change("labels", to=["Avg. driving score"]), "0 values for 1 labels"),
        (change("_checkpoint", "records", 1, "route_id", to="RouteScenario_2091_rep0"), "two rec"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, broken: Any, said: str) -> None:
    path = tmp_path / "checkpoint.json"
    path.write_text(json.dumps(broken(theirs())))
    with pytest.raises(BadInput, match=said) as caught:
        read_file(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"_checkpoint": []}', '{"driving score": 1}']
)
def test_other_files_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(BadInput):
        read_file(path)
    with pytest.raises(BadInput):
        read_merged(path)


def test_a_sentence_without_its_number_is_refused() -> None:
    content = theirs()
    content["_checkpoint"]["records"][0]["infractions"]["min_speed_infractions"][0] = "too slow"
    with pytest.raises(
        BadInput, match=r"RouteScenario_2091_rep0.infractions.min_speed.*no percentage"
    ):
        records_in(parse(content, Checkpoint))


LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**20), st.floats(), st.text(max_size=8), st.just([])
)


@settings(max_examples=150)
@given(st.data())
def test_a_file_with_any_value_changed_is_read_or_refused(data: st.DataObject) -> None:
    content = theirs()
    inner: Any = content
    while True:  # walk to a random place in the file
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(inner[key], dict | list) or not inner[key] or data.draw(st.booleans()):
            break
        inner = inner[key]
    inner[key] = data.draw(LEAVES)
    found, said = _read(json.loads(json.dumps(content)))
    assert "\n" not in said
    assert 0.0 <= (driving_scores(found).driving_score.mean or 0.0) <= 100.0


def _read(content: Any) -> tuple[tuple[RouteRecord, ...], str]:
    """The records in a file, or why there are none; any other error is a failure."""
    try:
        return records_in(parse(content, Checkpoint)), ""
    except BadInput as error:
        return (), str(error)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (Status.COMPLETED, RouteState.COMPLETED),
        (Status.TIMED_OUT, RouteState.COMPLETED),
        (Status.TICKS, RouteState.COMPLETED),
        (Status.SIMULATION, RouteState.FAILED_BY_SIMULATOR),
        (Status.FAILED, RouteState.FAILED_BY_SIMULATOR),
        (Status.AGENT, RouteState.FAILED_BY_POLICY),
        (Status.STARTED, RouteState.RUNNING),
    ],
)
def test_their_words_say_whose_failure_it_was(status: str, state: RouteState) -> None:
    assert from_theirs(to_theirs(record("1", status=status))).state is state


def test_metric_info_comes_back_and_is_left_handed(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    columns = [rng.normal(size=12) for _ in range(3)]
    one = motion(0.05, *columns)
    object.__setattr__(one, "heading", np.linspace(-3.0, 3.0, 12))
    object.__setattr__(one, "y", np.arange(12.0))
    write_metric_info(tmp_path / "metric_info.json", one)
    raw = json.loads((tmp_path / "metric_info.json").read_text())
    assert list(raw) == [str(tick) for tick in range(12)]
    assert list(raw["3"]) == (
        [
            "acceleration",
            "angular_velocity",
            "forward_vector",
            "right_vector",
            "location",
            "rotation",
        ]
    )
    assert raw["3"]["location"] == [0.0, -3.0, 0.0]
    assert raw["3"]["angular_velocity"][2] == pytest.approx(-np.degrees(columns[2][3]))
    lon = np.dot(raw["3"]["acceleration"], raw["3"]["forward_vector"])
    right = np.dot(raw["3"]["acceleration"], raw["3"]["right_vector"])
    assert (lon, -right) == pytest.approx((columns[0][3], columns[1][3]))
    back = read_metric_info(tmp_path / "metric_info.json")
    for name in set(UNITS) - {"speed"}:
        assert getattr(back, name) == pytest.approx(getattr(one, name)), name


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "no tick"),
        ('{"a": {}}', "a"),
        ('{"0": {"acceleration": [0, 0]}}', "0.acceleration"),
        ("[]", "not a metric_info"),
    ],
)
def test_what_is_no_metric_info_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "metric_info.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=said):
        read_metric_info(path)
