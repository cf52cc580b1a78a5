"""The judge in closed loop: windows of a drive, verdicts beside EPDMS and the driving score, rewards of the same scorer."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats
from typer.testing import CliRunner

from driveproof.cli.judge import app
from driveproof.errors import BadInput
from driveproof.evaluation.driving.clips import ego_size, read_clip
from driveproof.evaluation.driving.decisions import read_decisions
from driveproof.evaluation.driving.judged import JudgedWindow, judge_windows, summarise
from driveproof.evaluation.driving.runs import DriveRun, read_run
from driveproof.evaluation.driving.windows import Cutting, Window, rear_axle, windows_of
from driveproof.geometry.arrays import Float
from driveproof.judge import ALL_APPLY, Gates, parse_gates, read_clips
from driveproof.judge.windows import Surroundings, judged
from driveproof.rewards.closed_loop import ClosedLoopReward
from driveproof.scene import (
    AgentKind,
    AgentTracks,
    ImageStore,
    WindowReport,
    WindowRules,
    scenes_of,
)

pytestmark = pytest.mark.slow

APPLY = ", ".join(["apply"] * 7)
NO_COMFORT = "apply, apply, apply, apply, apply, apply, waive"


@pytest.fixture(scope="module")
def run(filmed_run: Path) -> DriveRun:
    return read_run(filmed_run)


@pytest.fixture(scope="module")
def windows(run: DriveRun) -> list[Window]:
    """The windows of the expert's eight seconds straight on, every half second."""
    found, pictures, rejected = windows_of(run, run.records[0], Cutting(every_s=0.5))
    assert rejected["short_history"] == 3, "moments at 0, 0.5 and 1 s of the clip"
    assert rejected["short_future"] >= 10, "the last 5 s"
    assert [frame.shape for frame in pictures[0]] == [(96, 160, 3)] * 4
    return found


def test_windows_begin_at_decisions_and_judge_what_was_driven(
    run: DriveRun, windows: list[Window]
) -> None:
    times = [window.time for window in windows]
    assert times[:3] == [1.55, 2.05, 2.55]
    made = [line.time for line in read_decisions(run.folder(run.records[0]))]
    assert all(min(abs(time - one) for one in made) < 0.051 for time in times)
    for window in windows:
        rules = window.clip.rules
        assert [rules[code] for code in ("NC", "DAC", "DDC", "TLC", "TTC", "LK")] == [1.0] * 6
        assert 0.5 < rules["EP"] <= 1.0
        assert rules["EC"] is None, "there is no second plan of half a second ago"
        assert window.clip.key == f"7_rep0/{round(10 * (window.time - 0.05)):05d}"
    length, width = ego_size(run.folder(run.records[0]))
    assert windows[0].clip.size == (length, width)
    assert 4.0 < length < 5.5


def test_moving_the_frame_to_the_rear_axle_changes_no_verdict(
    run: DriveRun, windows: list[Window]
) -> None:
    log = read_clip(run.folder(run.records[0]))
    scenes = list(scenes_of(log, WindowRules(agent_step_s=0.1), WindowReport()))
    around = windows[0].around
    centre = Surroundings(around.town, None, around.shape, rear_axle=False)
    (before,), _ = judged(scenes[0], centre)
    (after,), _ = judged(rear_axle(scenes[0], around.shape.rear_axle_to_center), around)
    assert after.rules == pytest.approx(before.rules, abs=1e-6)
    with pytest.raises(ValueError, match="rear axle"):
        judged(scenes[0], centre, scenes[0].future[None])


def test_frames_show_the_camera_where_asked(run: DriveRun) -> None:
    found, pictures, _ = windows_of(run, run.records[0], Cutting(every_s=60.0, front="recorded"))
    assert len(found) == 1, "windows are so far apart"
    front = found[0].scene.images["front"]
    recorded = ImageStore().load(front[-1])
    shown = pictures[0][-1]
    assert shown.shape[1] - 64 == round(recorded.shape[1] * 96 / recorded.shape[0])
    assert abs(float(shown[:, :-64].mean()) - float(recorded.mean())) < 3.0


def test_gates_forgive_and_unread_answers_are_named(windows: list[Window]) -> None:
    comfort = replace(windows[0].clip, rules={**windows[0].clip.rules, "HC": 0.0, "EP": 1.0})
    rough = replace(windows[0], clip=comfort)
    plain, forgiven, unread = (
        judge_windows([rough], {comfort.key: gates})[0]
        for gates in (ALL_APPLY, parse_gates(NO_COMFORT).gates, None)
    )
    assert plain.score < 1.0
    assert forgiven.score == 1.0
    assert (unread.score, unread.why) == (None, "no readable answer")
    lost = judge_windows(
        [replace(rough, clip=replace(comfort, rules={"NC": None}))], {comfort.key: ALL_APPLY}
    )
    assert lost[0].why == "NC is unjudged"


def _made(
    windows: list[Window], scores: list[list[float | None]]
) -> tuple[list, list[JudgedWindow]]:
    """Drives of made-up windows: the score of each is its value of LK alone, and the completion falls with them."""
    records, found = [], []
    for n, values in enumerate(scores):
        whole = windows[0].record
        record = replace(
            whole, route_id=str(n), completion=(5 - n) / 5.0, status="Failed - TickRuntime"
        )
        records.append(record)
        for k, value in enumerate(values):
            rules = dict.fromkeys(windows[0].clip.rules, 1.0) | {"NC": value}
            clip = replace(windows[0].clip, key=f"{n}/{k}", rules=rules, epdms=value)
            window = replace(
                windows[0],
                record=record,
                clip=clip,
                time=2.0 * k,
                infractions=("red_light",) * (k == 1),
            )
            found += judge_windows([window], {clip.key: ALL_APPLY if value is not None else None})
    return records, found


def test_a_summary_counts_what_is_lost_and_ranks_drives(windows: list[Window]) -> None:
    scores = [[0.9, 0.7], [0.5, 1.0], [0.6, 0.4], [0.85], [None, 0.1]]
    records, found = _made(windows, scores)
    rejected = {record.key: Counter({"short_future": 10}) for record in records}
    summary = summarise(records, found, rejected)
    known = [v for values in scores for v in values if v is not None]
    assert summary["judge"]["mean"] == pytest.approx(np.mean(known))
    assert (summary["judge"]["n"], summary["judge"]["lost"]) == (8, 1)
    assert summary["judge"]["low"] <= np.mean(known) <= summary["judge"]["high"]
    assert summary["lost"] == {"no readable answer": 1, "short_future": 50}
    means = [np.mean([v for v in values if v is not None]) for values in scores]
    driving = [one["driving_score"] for one in summary["episodes"]]
    assert driving == pytest.approx([100, 80, 60, 40, 20])
    found_rank = summary["correlation_with_driving_score"]["judge_mean"]["mean"]
    assert found_rank == pytest.approx(stats.spearmanr(means, driving).statistic)
    assert [(one["route_id"], one["time"]) for one in summary["worst"][:2]] == [
        ("4", 2.0),
        ("2", 2.0),
    ]
    assert summary["with_infraction"]["windows"] == 4
    assert summary["with_infraction"]["judge"]["mean"] == pytest.approx(
        np.mean([0.7, 1.0, 0.4, 0.1])
    )
    assert summary["judge_minus_epdms"]["mean"] == pytest.approx(0.0)
    assert summary["forgiven"] == []


def _beyond(window: Window, x: float) -> Window:
    """The same window with a lorry that stands ``x`` metres ahead, on the way."""
    times = np.arange(-15, 51) / 10.0
    states = np.zeros((1, len(times), 5))
    states[..., 0] = x
    lorry = AgentTracks(
        ("lorry",),
        (AgentKind.VEHICLE,),
        times,
        np.array([[6.0, 2.4, 3.0]]),
        states,
        np.ones((1, len(times)), bool),
    )
    return replace(window, scene=replace(window.scene, agents=lorry))


def _straight(window: Window, share: float, turn: float = 0.0) -> Float:
    """The plan that was driven, at a share of its pace, turned."""
    driven = window.scene.future * [share, share, 1.0]
    cos, sin = np.cos(turn), np.sin(turn)
    x, y, heading = driven.T
    return np.column_stack([cos * x - sin * y, sin * x + cos * y, heading + turn])


def test_trajectories_are_paid_by_the_rules_in_the_window(windows: list[Window]) -> None:
    window, reward = windows[0], ClosedLoopReward()
    plans = np.stack([_straight(window, 1.0), _straight(window, 0.3), _straight(window, 1.0, 0.6)])
    driven, slow, off = reward.of_plans(window, plans, ALL_APPLY)
    own = reward.of_windows(judge_windows([window], {window.clip.key: ALL_APPLY})).by_key
    assert driven.reward == pytest.approx(own[window.clip.key].reward, abs=1e-6), "one scorer"
    assert slow.reward < driven.reward
    assert off.reward == 0.0
    assert "DAC" in off.detail["broken"]
    blocked = _beyond(window, 22.0)
    through, waits = reward.of_plans(
        blocked, np.stack([_straight(window, 1.0), _straight(window, 0.2)]), ALL_APPLY
    )
    assert through.reward == 0.0
    assert "NC" in through.detail["broken"]
    assert waits.reward > 0.0
    assert reward.of_plans(window, np.zeros((0, 10, 3)), ALL_APPLY) == []
    with pytest.raises(ValueError, match="plans"):
        reward.of_plans(window, np.zeros((2, 8, 3)), ALL_APPLY)


def test_rewards_fall_back_on_rules_or_are_absent_and_never_zero(
    run: DriveRun, windows: list[Window]
) -> None:
    gates: dict[str, Gates | None] = {window.clip.key: ALL_APPLY for window in windows}
    gates[windows[1].clip.key] = None
    found = judge_windows(windows, gates)
    paid = ClosedLoopReward().of_windows(found).by_key[windows[1].clip.key]
    assert (paid.graded, paid.fallback) == (False, True)
    assert paid.reward > 0.5
    strict = ClosedLoopReward(fallback=False)
    rewards = strict.of_windows(found)
    assert windows[1].clip.key not in rewards.by_key
    assert rewards.lost == {"no readable answer": 1}
    lines = read_decisions(run.folder(run.records[0]))
    by_time = dict(
        zip([round(line.time, 2) for line in lines], strict.of_decisions(found, lines), strict=True)
    )
    assert by_time[1.5].reward == rewards.by_key[windows[0].clip.key].reward
    assert by_time[2.0] is None, "unread"
    assert by_time[0.0] is None, "no window begins there"


def test_a_run_is_judged_from_the_command_line(filmed_run: Path, tmp_path: Path) -> None:
    out = tmp_path / "judged"
    judge = f"told_judge:Judge#{APPLY};{NO_COMFORT};none of these;lost"
    words = [
        "drive",
        str(filmed_run),
        "--out",
        str(out),
        "--every",
        "0.5",
        "--judge",
        judge,
        "--json",
    ]
    shown = CliRunner().invoke(app, words, catch_exceptions=False)
    assert shown.exit_code == 0, shown.output
    summary = json.loads(shown.stdout)
    assert summary == json.loads((out / "summary.json").read_text())
    table = pq.read_table(out / "windows.parquet").to_pylist()
    assert [row["why"] for row in table[2:3]] == ["no readable answer"]
    assert table[0]["gate_COMFORT"] == 1.0
    assert table[1]["gate_COMFORT"] == 0.0
    assert table[2]["judge"] is None
    assert table[2]["epdms"] is not None, "EPDMS needs no model"
    assert summary["answers"]["invalid"] == {"count": 1}
    assert summary["settings"]["every_s"] == 0.5
    clips = read_clips(out / "clips.parquet")
    assert len(clips) == summary["windows"] == len(table)
    assert ImageStore().load(clips[0].frames[0]).shape == (96, 160, 3), (
        "frames are found where they lie"
    )
    again = CliRunner().invoke(app, words, catch_exceptions=False)
    assert again.stdout == shown.stdout


def test_what_cannot_be_judged_is_one_line(filmed_run: Path, tmp_path: Path) -> None:
    bare = Path(shutil.copytree(filmed_run, tmp_path / "run"))
    (bare / "routes/7_rep0/clip.tar").unlink()
    words = [
        "drive",
        str(bare),
        "--out",
        str(tmp_path / "out"),
        "--judge",
        f"told_judge:Judge#{APPLY}",
    ]
    with pytest.raises(BadInput, match="no drive has a window to judge"):
        CliRunner().invoke(app, words, catch_exceptions=False)
    assert not (tmp_path / "out").exists()
