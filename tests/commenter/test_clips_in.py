"""Clips in Bench2Drive's format: read in one pass, commented consistently, several at once."""

from __future__ import annotations

import gzip
import json
import math
import tarfile
from pathlib import Path

import numpy as np
import pytest
from clip_makers import write_clip

from driveproof.commenter import Commenter, Window, frame_of, open_clips, windows
from driveproof.commenter.campaign import comment_clips
from driveproof.commenter.dataset import read_answers
from driveproof.commenter.naming import visible
from driveproof.datasets.archives import _Tar
from driveproof.errors import BadInput
from driveproof.maps import load_town
from driveproof.questions import QUESTIONS, QuestionKey
from driveproof.questions import terms as t
from driveproof.questions.question import Rule
from driveproof.questions.reading import read_answer


def test_every_file_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_clip(tmp_path, frames=60, vehicles=3)
    opened: list[str] = []
    read = _Tar.read

    def counting(self: _Tar, name: str, *limit: int) -> bytes:
        opened.append(name)
        return read(self, name, *limit)

    monkeypatch.setattr(_Tar, "read", counting)
    comment_clips([path], tmp_path / "out", every=20)
    assert len(opened) == 60
    assert len(set(opened)) == 60


def test_windows_slide(tmp_path: Path) -> None:
    path = write_clip(tmp_path, frames=80, vehicles=1)
    for clip in open_clips(path):
        seen = [(len(w.past), w.now.index, len(w.future)) for w in windows(clip.frames)]
    assert seen[0] == (0, 0, 40)
    assert seen[30] == (20, 30, 40)
    assert seen[-1] == (20, 79, 0)
    assert [index for _, index, _ in seen] == list(range(80))


def test_scenarios_are_called_as_in_route_files(tmp_path: Path) -> None:
    made = write_clip(tmp_path, frames=1, vehicles=0)
    with tarfile.open(made) as archive:
        data = archive.extractfile(archive.getnames()[0]).read()  # type: ignore[union-attr]
    for folder in ("TJunction", "LaneChange"):
        path = tmp_path / f"{folder}_Town05_Route001_Weather1" / "anno" / "00000.json.gz"
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
    made.unlink()
    assert [clip.scenario for clip in open_clips(tmp_path)] == [
        "SequentialLaneChange",
        "T_Junction",
    ]


@pytest.mark.slow
def test_workers_change_nothing(tmp_path: Path) -> None:
    paths = [write_clip(tmp_path, route=r, frames=6, vehicles=4) for r in (1, 2)]
    for out, workers in (("one", 1), ("two", 2)):
        comment_clips(paths, tmp_path / out, workers=workers)
    for one in sorted((tmp_path / "one").iterdir()):
        assert one.read_bytes() == (tmp_path / "two" / one.name).read_bytes(), one.name


@pytest.mark.slow
def test_all_questions_are_answered_and_read_back(tmp_path: Path) -> None:
    path = write_clip(tmp_path, frames=46, vehicles=12)
    comment_clips([path], tmp_path / "out", every=6)
    numbers = set()
    for row in read_answers(tmp_path / "out"):
        numbers.add(row.key.number)
        said = read_answer(QUESTIONS[row.key.number], row.text, row.known).answer
        if row.key.number == 43:  # its reasons are read by judges; the keys count
            assert said.facts["keys"] == row.answer.facts["keys"], row.text
            continue
        assert said.facts == row.answer.facts, row.text
        if QUESTIONS[row.key.number].rule not in (Rule.LISTED, Rule.RANKED):
            continue
        assert [ref.tag for ref in said.refs] == [ref.tag for ref in row.answer.refs], row.text
    signs = {9, 14}  # only where there are any
    assert set(QUESTIONS) - numbers <= signs


@pytest.mark.shared
def test_a_frame_of_the_original_data(shared_dir: Path) -> None:
    path = shared_dir / "data/fixtures/bench2drive/anno_excerpt/00093.json.gz"
    anno = json.loads(gzip.decompress(path.read_bytes()))
    frame = frame_of(anno, 93, "Accident")
    assert (frame.ego.id, frame.ego.x, frame.ego.y) == ("109", pytest.approx(94.32, abs=0.01), pytest.approx(-193.85, abs=0.01))  # fmt: skip
    assert frame.ego.heading == pytest.approx(math.radians(-166.07), abs=1e-3)
    (camera,) = frame.cameras
    assert camera.name == "CAM_BACK_RIGHT"
    back_right, ahead = (frame.ego.heading - math.radians(110.0), frame.ego.heading)
    for angle, seen in ((back_right, 1), (ahead, 0)):
        away = 20.0 * np.array([math.cos(angle), math.sin(angle), 0.0])
        place = np.array([frame.ego.x, frame.ego.y, frame.ego.z]) + away
        assert visible(camera, place[None]) == seen
    town = load_town("Town03")
    boxes = {box["id"]: box for box in anno["bounding_boxes"]}
    for agent in (frame.ego, *frame.agents):
        lane = int(town.nearest_lane((agent.x, agent.y), (agent.heading,)).lane[0])
        known = (boxes[agent.id]["road_id"], boxes[agent.id]["lane_id"])
        assert (town.lanes.road[lane], town.lanes.lane[lane]) == known
    said = Commenter(town).comment(Window((), frame))
    assert said.answers[QuestionKey(37)].facts == {"daytime": t.Daytime.NIGHT, "sky": t.Sky.HEAVY_RAIN}  # fmt: skip
    assert said.answers[QuestionKey(40)].facts["hazards"] == {t.Hazard.FLOOD}
    (oncoming,) = (agent for agent in frame.agents if agent.id == "162")
    assert oncoming.speed == pytest.approx(5.52, abs=0.01)


def test_bad_clips_are_refused_by_name(tmp_path: Path) -> None:
    path = write_clip(tmp_path, frames=2, vehicles=1)
    data = path.read_bytes()
    cut = tmp_path / "ParkedObstacle_Town05_Route001_Weather1.tar"
    cut.write_bytes(data[: len(data) // 3])
    with pytest.raises(BadInput, match="ParkedObstacle"):
        comment_clips([cut], tmp_path / "out")
    assert not (tmp_path / "out").exists()
