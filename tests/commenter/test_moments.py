"""Recorded moments as policies are shown them, and what the expert would say at other speeds."""

from __future__ import annotations

from pathlib import Path

import pytest
from clip_makers import write_clip

from driveproof.commenter.campaign import comment_clips
from driveproof.commenter.moments import Moment, read_moments
from driveproof.commenter.whatif import at_other_speeds
from driveproof.errors import BadInput
from driveproof.questions import ActionKeys, SpeedKey


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("clips")
    return [write_clip(folder, "Town05", route, 21, route - 1) for route in (1, 2)]


@pytest.fixture(scope="module")
def dataset(clips: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("vqa") / "vqa"
    comment_clips(clips, out, every=10)
    return out


def keys(moment: Moment) -> ActionKeys:
    (row,) = [row for row in moment.rows if row.key.number == 50]
    found = row.answer.facts["keys"]
    assert isinstance(found, ActionKeys)
    assert row.text == found.text()
    return found


def test_moments_are_read_from_clips(dataset: Path, clips: list[Path]) -> None:
    found = read_moments(dataset, clips, numbers={50, 8})
    assert [moment.frame for moment in found] == [0, 10, 20] * 2
    assert {moment.command for moment in found} == {"follow"}
    assert {round(moment.speed, 3) for moment in found} == {6.0}
    assert all({row.key.number for row in moment.rows} == {50, 8} for moment in found)
    assert any(moment.marks for moment in found)
    name = clips[1].name.removesuffix(".tar")
    assert found[-1].picture.member == f"{name}/camera/rgb_front/00020.jpg"
    one = read_moments(dataset, clips, clips={name}, every=2)
    assert [(moment.clip, moment.frame) for moment in one] == [(name, 0), (name, 20)]
    with pytest.raises(BadInput, match="no recording"):
        read_moments(dataset, clips[:1])


def test_at_its_own_speed_the_expert_says_the_same(dataset: Path, clips: list[Path]) -> None:
    recorded = read_moments(dataset, clips, numbers={50, 8, 7})
    again = at_other_speeds(recorded, clips, lambda clip, frame: 6.0)
    assert [keys(moment) for moment in again] == [keys(moment) for moment in recorded]
    assert {row.key.number for moment in again for row in moment.rows} == {50, 8}, (
        "7 needs no speed"
    )
    assert [m.marks for m in again] == [m.marks for m in recorded]


def test_on_an_empty_road_who_stands_starts_and_who_races_brakes(
    dataset: Path, clips: list[Path]
) -> None:
    empty = read_moments(dataset, clips[:1], clips={clips[0].name.removesuffix(".tar")})
    (standing, *_) = at_other_speeds(empty, clips, lambda clip, frame: 0.0)
    (racing, *_) = at_other_speeds(empty, clips, lambda clip, frame: 40.0)
    assert (standing.speed, racing.speed) == (0.0, 40.0)
    assert keys(standing).speed is SpeedKey.ACCELERATE
    assert keys(racing).speed in (SpeedKey.DECELERATE, SpeedKey.STOP)
