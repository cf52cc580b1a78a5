"""What a driving policy may see and give, and the policies that need no model."""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.errors import BadInput
from driveproof.policy import DriveDecision, DriveObservation, DrivingPolicy, Pedals, open_driver
from driveproof.policy.drivers import RandomKeys, SteadySpeed
from driveproof.questions import ActionKeys, DirectionKey, SpeedKey

PICTURE = np.zeros((4, 6, 3), dtype=np.uint8)
GO = ActionKeys(DirectionKey.FOLLOW_LANE, SpeedKey.KEEP)


def seen(time_s: float = 0.0, speed: float = 5.0, **values: Any) -> DriveObservation:
    return DriveObservation(round(20 * time_s), time_s, {}, speed, **values)


@pytest.mark.parametrize(
    "values",
    [
        {"frame": -1},
        {"time_s": math.nan},
        {"time_s": -0.1},
        {"speed": math.inf},
        {"command": "fly"},
        {"command_distance": math.inf},
        {"pictures": {"CAM_FRONT": []}},
        {"pictures": {"CAM_FRONT": [PICTURE.astype(np.float32)]}},
        {"pictures": {"CAM_FRONT": [PICTURE[..., 0]]}},
        {"pictures": {"CAM_FRONT": [PICTURE[:0]]}},
    ],
)
def test_an_observation_is_checked(values: dict[str, Any]) -> None:
    good = {"frame": 3, "time_s": 0.15, "pictures": {"CAM_FRONT": [PICTURE]}, "speed": -0.2}
    DriveObservation(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="DriveObservation"):
        DriveObservation(**{**good, **values})  # type: ignore[arg-type]


def test_an_observation_has_no_place_for_the_truth() -> None:
    names = [field.name for field in fields(DriveObservation)]
    assert names == ["frame", "time_s", "pictures", "speed", "command", "command_distance"]


def test_a_decision_is_one_thing() -> None:
    pedals = Pedals(0.2, 0.0, -1.0)
    assert DriveDecision(GO).usage == {}
    for wrong in ({}, {"keys": GO, "controls": pedals}, {"controls": pedals, "error": "no"}):
        with pytest.raises(ValueError, match="exactly one"):
            DriveDecision(**wrong)  # type: ignore[arg-type]
    for values in ((1.1, 0, 0), (0, -0.1, 0), (0, 0, 1.01), (math.nan, 0, 0)):
        with pytest.raises(ValueError, match="not a control"):
            Pedals(*values)


def test_random_keys_are_uniform_seeded_and_differ_by_episode() -> None:
    def drive(seed: int, episode: str) -> list[str]:
        policy = RandomKeys(seed)
        policy.begin(episode, 1)
        observations = [DriveObservation(n, 0.5 * n, {}, 1.0) for n in range(2400)]
        return [policy.decide(moment).keys.text() for moment in observations]  # type: ignore[union-attr]

    first = drive(0, "1_rep0")
    assert first == drive(0, "1_rep0")
    assert first != drive(0, "1_rep1")
    assert first != drive(1, "1_rep0")
    counts = Counter(first)
    assert len(counts) == 32
    assert max(counts.values()) < 2 * 2400 / 32


@pytest.mark.parametrize(("start", "target"), [(8.0, None), (0.0, 8.0), (12.0, 8.0)])
def test_constant_velocity_holds_its_speed_with_a_straight_wheel(
    start: float, target: float | None
) -> None:
    """A car of a closed form: throttle minus drag; decisions twice a second, pedals held between."""
    policy = SteadySpeed(target)
    policy.begin("r", 0)
    speed, speeds = start, []
    for step in range(60):
        controls = policy.decide(seen(0.5 * step, speed)).controls
        assert controls is not None
        assert controls.steer == 0.0
        for _ in range(10):
            speed = max(speed + 0.05 * (9.0 * (controls.throttle - 0.35) - 0.08 * speed), 0.0)
        speeds.append(speed)
    assert speeds[-20:] == pytest.approx([8.0] * 20, abs=0.4)
    assert max(speeds) < max(start, 8.0) + 1.5


def test_constant_velocity_stands_if_it_stood() -> None:
    policy = open_driver("constant_velocity")
    policy.begin("r", 0)
    decision = policy.decide(seen(speed=0.0))
    assert decision.controls == Pedals(0.0, 0.6, 0.0)
    policy.begin("r", 0)
    moving = policy.decide(seen(speed=6.0)).controls
    assert moving is not None
    assert moving.throttle > 0.2


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    """A run directory with one episode of four decisions."""
    rows = [
        {"frame": 0, "time": 0.0, "keys": "TURN_LEFT, STOP", "error": "", "trace": {"q": 1}},
        {"frame": 10, "time": 0.5, "keys": {"direction": None, "speed": "KEEP"}, "error": ""},
        {"frame": 20, "time": 1.0, "keys": None, "error": "timed out"},
        {"frame": 30, "time": 1.5, "controls": {"throttle": 0.1, "brake": 0.2, "steer": -0.3}},
    ]
    folder = tmp_path / "run" / "routes" / "7_rep0"
    folder.mkdir(parents=True)
    (tmp_path / "run" / "run.json").write_text("{}")
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "decisions.jsonl").write_text(lines + '{"time": 2.0, "keys": "TURN')
    return tmp_path / "run"


def test_a_recorded_run_is_driven_again(run_dir: Path) -> None:
    policy = open_driver(f"recorded:{run_dir}")
    policy.begin("7_rep0", 0)
    assert policy.decide(seen(0.0)).keys == ActionKeys(DirectionKey.TURN_LEFT, SpeedKey.STOP)
    assert policy.decide(seen(0.50000001)).keys == ActionKeys(None, SpeedKey.KEEP)
    assert policy.decide(seen(1.0)).error == "timed out"
    assert policy.decide(seen(1.5)).controls == Pedals(0.1, 0.2, -0.3)
    assert policy.decide(seen(0.8)).error == "no decision was recorded at 0.80 s"
    assert "no decision" in policy.decide(seen(2.0)).error  # the run was killed while it wrote this
    policy.begin("8_rep0", 0)
    assert policy.decide(seen(0.0)).error == "episode 8_rep0 was not recorded"


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"time": NaN, "keys": "KEEP"}', '{"time": 0, "keys": "FLY"}', "\x00"]
)
def test_a_malformed_recording_is_one_line(run_dir: Path, line: str) -> None:
    policy = open_driver(f"recorded:{run_dir}")
    (run_dir / "routes" / "7_rep0" / "decisions.jsonl").write_text(line + "\n")
    with pytest.raises(BadInput, match="line 1: not a decision"):
        policy.begin("7_rep0", 0)
    with pytest.raises(BadInput, match="not the name of an episode"):
        policy.begin("../7_rep0", 0)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("", "no such kind"),
        ("oracle", "no such kind"),
        ("random:1", "write random"),
        ("constant_velocity:", "write constant_velocity"),
        ("constant_velocity:nan", "not a speed"),
        ("constant_velocity:-1", "not a speed"),
        ("recorded", "write recorded:RUN_DIR"),
        ("recorded:nowhere", "no such file"),
        ("wire:ftp://host", "not a policy server's URL"),
        ("wire:http://me:secret@host:1", "holds credentials"),
        ("no_such_module_here:Driver", "no such module: no_such_module_here"),
        ("json:Driver", "no such class: Driver"),
        ("json:__doc__", "not a class"),
        ("json:JSONDecoder", "no driving policy: it has no name, views"),
        ("broken_module:Driver", "cannot be imported: ZeroDivisionError"),
        ("good_module:Fails", "the constructor failed: RuntimeError: no weights"),
        ("good_module:Driver#x", "the constructor failed: TypeError"),
        ("os.system('id'):Driver", "no such kind"),
    ],
)
def test_a_bad_specification_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str, said: str
) -> None:
    (tmp_path / "broken_module.py").write_text("1 / 0\n")
    (tmp_path / "good_module.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("good_module", None)
    with pytest.raises(BadInput) as caught:
        open_driver(spec)
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


MODULE = """
from driveproof.policy import DriveDecision
from driveproof.questions import ActionKeys, SpeedKey

class Driver:
    name, views, history = "mine", ("CAM_FRONT",), 2

    def identity(self):
        return {"kind": "mine"}

    def begin(self, episode, seed):
        if episode == "bad":
            raise KeyError("map")

    def decide(self, observation):
        if observation.speed > 50:
            return 3
        if observation.speed > 20:
            raise RuntimeError("too\\nfast")
        return DriveDecision(ActionKeys(None, SpeedKey.STOP))

class Fails(Driver):
    def __init__(self):
        raise RuntimeError("no weights")
"""


def test_a_plugin_of_the_current_folder_drives_and_its_mistakes_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_plugin.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    policy = open_driver("my_plugin:Driver")
    assert isinstance(policy, DrivingPolicy)
    assert (policy.name, policy.views, policy.history) == ("mine", ("CAM_FRONT",), 2)
    assert policy.identity() == {"kind": "mine"}
    policy.begin("good", 0)
    assert policy.decide(seen(speed=5.0)).keys == ActionKeys(None, SpeedKey.STOP)
    assert policy.decide(seen(speed=30.0)).error == "RuntimeError: too fast"
    assert policy.decide(seen(speed=60.0)).error == "decide gave a int, no DriveDecision"
    policy.begin("bad", 0)
    assert policy.decide(seen(speed=5.0)).error == "KeyError: 'map'"
    policy.begin("good", 0)
    assert not policy.decide(seen(speed=5.0)).error
