"""Same frame, same answers: what the expert says of a running session, a clip of it replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from driveproof.action import ActionModule
from driveproof.action.driver import KeyDriver
from driveproof.commenter import Commentary, Commenter, open_clips, windows
from driveproof.commenter.live import LiveExpert
from driveproof.datasets.bench2drive_writer import ClipWriter
from driveproof.maps import Route, SignalKind, load_town
from driveproof.questions import QUESTIONS
from driveproof.sim.client import Session
from driveproof.sim.drivers import Roads
from driveproof.sim.recorder import CAMERAS
from driveproof.sim.recorder.signals import SignalBoxes
from driveproof.sim.scenarios import Stage, run_scenario

pytestmark = pytest.mark.slow

NAME = "PedestrianCrossing"
CAMERA = CAMERAS["rgb_front"].resized(160, 90, 10)
WEATHER = {"precipitation": 60.0, "sun_altitude_angle": 10.0}


class Recorded:
    """Puts an expert into the ego that comments every frame and has it written."""

    name = "recorded"

    def __init__(self, writer: ClipWriter) -> None:
        self._writer = writer
        self.said: list[Commentary] = []

    def __call__(self, stage: Stage, ego: Any, route: Route) -> KeyDriver:
        session = stage.session
        commenter = Commenter(session.town)

        def also(anno: dict[str, Any], pictures: dict[str, bytes]) -> None:
            self._writer.add_frame(anno, pictures)
            self.said.append(commenter.comment(expert.windows.window))

        expert = LiveExpert(
            session,
            ego,
            stage.roads.route_path(route),
            NAME,
            lambda: stage.show.actors if stage.show is not None else {},  # type: ignore[attr-defined]
            mounts=[CAMERA],
            weather=WEATHER,
            also=also,
        )
        return KeyDriver(ActionModule.on_route(session.town, route), expert, int(ego.id))


def test_a_clip_of_a_live_drive_replays_to_the_same_answers(
    session: Session, tmp_path: Path
) -> None:
    path = tmp_path / f"{NAME}_Town03_Route001_Weather1.tar"
    with ClipWriter(path) as writer:
        recorded = Recorded(writer)
        run_scenario(session, NAME, recorded, seed=1)
    live = recorded.said
    assert len(live) > 100
    commenter = Commenter(session.town)
    replayed = [
        commenter.comment(window) for clip in open_clips(path) for window in windows(clip.frames)
    ]
    assert len(replayed) == len(live)
    for one, other in zip(live, replayed, strict=True):
        later = {key for key in other.answers if QUESTIONS[key.number].needs_future}
        assert one.answers == {k: a for k, a in other.answers.items() if k not in later}
        assert one.decision == other.decision
        assert one.objects == other.objects
    roles = {ref.tag for said in live for ref in said.objects if ref.is_role}
    walkers = {a.id for a in live[-1].frame.agents if a.kind == "walker"}
    assert roles == {f"c{number}" for number in walkers}


def test_speed_limits_along_the_way_govern_the_ego() -> None:
    town = load_town("Town01")
    path = Roads(town).route_path(town.random_route(np.random.default_rng(3), 400.0))
    signs = SignalBoxes(town, path)
    limits = [s for s in town.signals if s.kind is SignalKind.SPEED_LIMIT]
    for front in np.arange(0.0, path.length, 5.0).tolist():
        x, y = path.point(front)
        for box in signs.near(x, y, front, {}, 75.0):
            if box["type_id"].startswith("traffic.speed_limit") and box["affects_ego"]:
                sign = next(s for s in limits if s.key == box["id"])
                begins = path.project(*sign.stop_lines[0].mean(0)[:2].tolist())
                assert front - 1.0 < begins < front + 50.0
                break
        else:
            continue
        break
    else:
        raise AssertionError("no limit governs this way")
