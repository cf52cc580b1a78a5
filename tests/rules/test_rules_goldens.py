"""Agreement with the reference program, case by case."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from driveproof.rules import RULES, Batch, aggregate_file, read_case
from driveproof.rules.extended_comfort import frame_difference
from driveproof.rules.history_comfort import CHECKS, comfort_flags
from driveproof.rules.lane_keeping import lateral_deviation
from driveproof.rules.simulator import simulate

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def goldens(shared_dir: Path) -> Path:
    return shared_dir / "goldens"


def _bits(flags: np.ndarray) -> str:
    return "".join("1" if flag else "0" for flag in flags)


@pytest.mark.slow
def test_all_cases_agree(goldens: Path) -> None:
    paths = sorted((goldens / "epdms").glob("*.json"))
    assert len(paths) == 78
    for path in paths:
        case, scores = read_case(path), read_case(path).score()
        flags = comfort_flags(Batch(case.world, scores.states))[0]
        batch = Batch(case.world, scores.states)
        for n, want in enumerate(json.loads(path.read_text())["expected"]):
            where, got, debug = f"{path.name}/{want['name']}", scores.row(n), want["debug"]
            for code in RULES:
                value = want["EC"] if code == "EC" else want["raw"][code]
                if code == "EP":
                    assert got[code] == pytest.approx(value, abs=1e-6), where
                else:
                    assert got[code] == value, (where, code)
            for key in ("EPDMS_raw", "EPDMS_human_filtered"):
                if key in want:
                    assert got[key] == pytest.approx(want[key], abs=1e-6), (where, key)
            states = np.array(debug["simulated_states"])
            assert np.abs(scores.states[n] - states).max() < 1e-6, where
            assert _bits(batch.areas.multiple_lanes[n]) == debug["multiple_lanes"], where
            assert _bits(batch.areas.non_drivable[n]) == debug["non_drivable"], where
            assert _bits(batch.areas.off_route[n]) == debug["oncoming"], where
            assert dict(zip(CHECKS, flags[n].tolist(), strict=True)) == debug["comfort_flags"], (
                where
            )
            deviation = np.abs(lateral_deviation(batch)[n] - debug["lateral_deviation_m"])
            assert deviation.max() < 1e-6, where
            for code, key in (("NC", "nc_first_fault_step"), ("TTC", "ttc_first_fault_step")):
                assert scores.rules[code][n].step == debug[key], (where, key)


def test_extended_comfort_agrees(goldens: Path) -> None:
    seen = 0
    for path in sorted((goldens / "epdms").glob("*extended_comfort.json")):
        case = read_case(path)
        assert case.previous is not None
        now = case.score().states
        before = simulate(case.previous.plans, case.previous.ego, case.world.shape)
        rms = frame_difference(now, before, case.previous.gap)
        for n, want in enumerate(json.loads(path.read_text())["expected"]):
            expected = list(want["debug"]["extended_comfort"]["rms"].values())
            assert rms[n] == pytest.approx(expected, abs=1e-7)
            seen += 1
    assert seen


def test_two_stage_examples_agree(goldens: Path) -> None:
    path = goldens / "epdms_twostage.json"
    wanted = json.loads(path.read_text())["cases"]
    results = aggregate_file(path)
    assert len(results) == len(wanted) == 6
    for got, case in zip(results, wanted, strict=True):
        want = case["expected"]
        assert got.weights == pytest.approx(want["weights"], abs=1e-9)
        for key in ("combined", "stage_one", "stage_two"):
            assert getattr(got, key) == pytest.approx(want[key], abs=1e-9)


@pytest.mark.parametrize("size", ["small", "large"])
def test_batches_agree(goldens: Path, size: str) -> None:
    """256 proposals at once, progress against the best of the batch."""
    case = read_case(goldens / "epdms_bench" / f"bench_input_{size}.json")
    rows = json.loads((goldens / "epdms_bench" / f"bench_expected_{size}.json").read_text())["rows"]
    from dataclasses import replace

    scores = replace(case, reference=None).score(grouping="group")
    for n, want in enumerate(rows):
        got = scores.row(n)
        got["pdm_score_no_EC"] = got.pop("EPDMS_raw")
        for key, value in want.items():
            assert got[key] == pytest.approx(value, abs=1e-6), (n, key)


def test_the_named_repairs_change_what_the_notes_say(goldens: Path) -> None:
    """Observed on the reference: the true jerk penalty flips NC of p066/p3; a car from behind breaks TTC in p007."""
    fuzz = read_case(goldens / "epdms" / "p066_fuzz.json")
    index = fuzz.names.index("p3")
    assert fuzz.score().row(index)["NC"] == 0.0
    assert fuzz.score(variant="corrected").row(index)["NC"] == 1.0
    behind = read_case(goldens / "epdms" / "p007_hit_from_behind.json")
    assert behind.score().row(0)["TTC"] == 0.0
    assert behind.score(variant="corrected").row(0)["TTC"] == 1.0
