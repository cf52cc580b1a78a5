"""Replay pages: everything of a drive is there, offline, and what a policy said is never markup.

The pages are read by an HTML parser; no browser runs their script here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image

from driveproof.errors import BadInput, UserError
from driveproof.evaluation.driving.records import read_record, write_record
from driveproof.evaluation.driving.runs import read_run
from driveproof.report.replay import ReplayStyle, read_episode, write_replays
from driveproof.sim.criteria import Infraction, InfractionKind

EVIL = '</script><script>alert("1")</script><img src=x onerror=alert(2)> & \u2028'


class Page(HTMLParser):
    """Text, tags with their attributes, and the contents of scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text, self.tags, self.scripts = "", [], []
        self._open = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append((tag, dict(attrs)))
        self._open = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag) -> None:
        self._open = ""

    def handle_data(self, data) -> None:
        if self._open == "script":
            self.scripts[-1] += data
        elif self._open != "style":
            self.text += data

    def all(self, tag: str) -> list[dict]:
        return [attrs for name, attrs in self.tags if name == tag]


def frames_of(page: Page) -> list[dict]:
    return json.loads(page.scripts[0])


def picture(uri: str) -> np.ndarray:
    kind, _, data = uri.partition(",")
    assert kind == "data:image/jpeg;base64"
    return cv2.imdecode(np.frombuffer(base64.b64decode(data), np.uint8), cv2.IMREAD_COLOR)


@pytest.fixture(scope="module")
def pages(filmed_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("replay") / "pages"
    write_replays(read_run(filmed_run), out)
    return out


@pytest.fixture
def copied(filmed_run: Path, tmp_path: Path) -> Path:
    """A copy of the run to change."""
    return Path(shutil.copytree(filmed_run, tmp_path / "run"))


def test_a_page_shows_every_half_second_of_a_drive(filmed_run: Path, pages: Path) -> None:
    run = read_run(filmed_run)
    page = Page((pages / "7_rep0.html").read_text())
    frames = frames_of(page)
    end = run.records[0].game_s
    assert len(frames) == int((end - 0.05) / 0.5) + 2, "twice a second, and the end"
    assert frames[-1]["time"] == pytest.approx(end)
    assert [row["time"] for row in frames[:3]] == [0.05, 0.55, 1.05]
    front, above = picture(frames[6]["front"]), picture(frames[6]["above"])
    assert front.shape == (128, 224, 3), "as recorded: it is no wider than a page shows"
    assert above.shape == (240, 240, 3)
    assert not np.array_equal(front, picture(frames[10]["front"])), "the picture of its own moment"
    # the ego is in the middle of the view from above, and its way goes up, green
    assert above[150, 120, 0] > above[150, 120, 2], "blue"
    assert np.any(above[40:115, 118:123, 1] > above[40:115, 118:123, 2].astype(int) + 60), "green"
    assert frames[0]["completion"] < frames[8]["completion"] <= 1.0
    assert frames[8]["speed"] > 3.0
    made = [row["decision"] for row in frames]
    assert made == sorted(made)
    assert len(page.all("section")) == len(read_episode(run, run.records[0], 99).decisions)
    assert "FOLLOW_LANE, ACCELERATE" in page.text
    assert "Success." in page.text


def test_pages_load_nothing_and_run_one_script_alone(pages: Path) -> None:
    for path in pages.glob("*.html"):
        text = path.read_text()
        page = Page(text)
        assert not page.all("link")
        assert not any("src" in attrs for attrs in page.all("script") + page.all("img"))
        assert not re.search(r"url\(|@import|https?:", text)
        policy = page.all("meta")[1]["content"]
        assert policy.startswith("default-src 'none'")
        if len(page.scripts) == 2:
            digest = hashlib.sha256(page.scripts[1].encode()).digest()
            assert f"script-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
        else:
            assert path.name == "index.html"
            assert not page.scripts
        links = [attrs["href"] for attrs in page.all("a")]
        assert all((pages / link).is_file() for link in links)


def test_what_a_policy_says_is_text(copied: Path, tmp_path: Path) -> None:
    folder = copied / "routes/7_rep0"
    rows = [json.loads(line) for line in (folder / "decisions.jsonl").read_text().splitlines()]
    step = {"number": 50, "subject": EVIL, "question": EVIL, "prompt": EVIL, "text": EVIL}
    rows[0] |= {"keys": None, "error": EVIL, "command": EVIL, "trace": {"steps": [step, "no step"]}}
    rows[1] |= {"trace": {"steps": [step | {"text": None, "error": EVIL}], "move": EVIL}}
    rows[1]["truth"] = {"keys": EVIL, "answers": [{"number": 50, "subject": EVIL, "text": EVIL}]}
    rows[2] |= {"trace": {"steps": "many"}, "truth": {"answers": {"a": 1}}}
    rows[3]["trace"] = {"steps": [step | {"text": "x" * 5000}]}
    (folder / "decisions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    record = read_record(folder / "record.json")
    wrong = Infraction(InfractionKind.COLLISION_VEHICLE, 2.0, (1.0, 2.0), text=EVIL)
    changed = {
        **record.to_json(),
        "reason": EVIL,
        "infractions": [vars(wrong) | {"kind": "collision_vehicle"}],
    }
    (folder / "record.json").write_text(json.dumps(_plain(changed)))
    plan = json.loads((copied / "run.json").read_text())
    plan["policy"]["name"] = EVIL
    (copied / "run.json").write_text(json.dumps(plan))
    write_replays(read_run(copied), tmp_path / "out")
    page = Page((tmp_path / "out/7_rep0.html").read_text())
    assert len(page.scripts) == 2
    assert not any("onerror" in attrs for _, attrs in page.tags)
    assert len(page.all("img")) == 2
    assert page.text.count('<script>alert("1")</script>') >= 10
    assert "(1000 characters more)" in page.text
    index = Page((tmp_path / "out/index.html").read_text())
    assert EVIL.strip() in index.text
    assert not index.scripts


def _plain(value):
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def test_infractions_stand_on_the_time_line(copied: Path, tmp_path: Path) -> None:
    folder = copied / "routes/7_rep0"
    record = read_record(folder / "record.json")
    wrong = Infraction(InfractionKind.RED_LIGHT, record.game_s / 2.0, (1.0, 2.0), text="light 3")
    write_record(folder / "record.json", type(record)(**{**vars(record), "infractions": (wrong,)}))
    write_replays(read_run(copied), tmp_path / "out", ["7"])
    page = Page((tmp_path / "out/7_rep0.html").read_text())
    end = float(next(one for one in page.all("svg"))["data-end"])
    red = [one for one in page.all("line") if one.get("stroke") == "#c62828"]
    assert [float(one["x1"]) for one in red] == [pytest.approx(1000 * wrong.time / end, abs=0.1)]
    assert float(page.all("button")[1]["data-seek"]) == pytest.approx(wrong.time)
    assert "ran red light" in page.text


def test_without_a_clip_the_map_and_the_motion_are_drawn(copied: Path, tmp_path: Path) -> None:
    folder = copied / "routes/7_rep0"
    (folder / "clip.tar").unlink()
    write_replays(read_run(copied), tmp_path / "out", ["7_rep0"])
    page = Page((tmp_path / "out/7_rep0.html").read_text())
    assert [one["id"] for one in page.all("img")] == ["above"]
    assert "nobody recorded the other road users" in page.text
    assert picture(frames_of(page)[3]["above"]).std() > 20.0, "road and grass"
    (folder / "motion.parquet").unlink()
    (folder / "decisions.jsonl").unlink()
    record = read_record(folder / "record.json")
    write_record(folder / "record.json", type(record)(**{**vars(record), "motion": None}))
    write_replays(read_run(copied), tmp_path / "bare")
    bare = Page((tmp_path / "bare/7_rep0.html").read_text())
    assert "Neither motion nor pictures were recorded" in bare.text
    assert "No decisions were recorded" in bare.text
    made = write_replays(read_run(copied), tmp_path / "film", style=ReplayStyle(film="gif"))
    assert made.files == ["7_rep0.html", "index.html"]
    assert made.broken["7_rep0"].startswith("no film: ")
    assert "no film" in (tmp_path / "film/index.html").read_text()


def test_the_index_names_what_has_no_page(pages: Path) -> None:
    page = Page((pages / "index.html").read_text())
    assert [one["href"] for one in page.all("a")] == ["7_rep0.html"]
    assert "8_rep0" in page.text
    assert "not begun" in page.text
    assert "100.0 [no interval] (n 1, lost 1)" in page.text


def test_films_have_a_frame_a_moment_and_pages_at_most_so_many(
    filmed_run: Path, tmp_path: Path
) -> None:
    run = read_run(filmed_run)
    write_replays(run, tmp_path / "mp4", style=ReplayStyle(most=5, width=101, film="mp4"))
    film = cv2.VideoCapture(str(tmp_path / "mp4/7_rep0.mp4"))
    assert int(film.get(cv2.CAP_PROP_FRAME_COUNT)) == 5
    assert film.read()[1].shape == (240 + 24, 342, 3), "both views, even edges"
    frames = frames_of(Page((tmp_path / "mp4/7_rep0.html").read_text()))
    assert [frames[0]["time"], len(frames)] == [0.05, 5]
    assert frames[-1]["completion"] == 1.0, "thinned evenly, up to the end"
    write_replays(run, tmp_path / "gif", style=ReplayStyle(most=5, film="gif"))
    with Image.open(tmp_path / "gif/7_rep0.gif") as gif:
        assert gif.n_frames == 5
        assert gif.info["duration"] == 500


def test_the_same_run_gives_the_same_pages(filmed_run: Path, pages: Path, tmp_path: Path) -> None:
    write_replays(read_run(filmed_run), tmp_path / "again")
    for path in pages.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_what_cannot_be_replayed_is_one_line(copied: Path, tmp_path: Path) -> None:
    run = read_run(copied)
    with pytest.raises(BadInput, match="no such route"):
        write_replays(run, tmp_path / "out", ["9"])
    with pytest.raises(BadInput, match="nothing to replay: not begun"):
        write_replays(run, tmp_path / "out", ["8"])
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("keep me")
    with pytest.raises(UserError, match="holds something else"):
        write_replays(run, tmp_path / "mine")
    (copied / "routes/7_rep0/clip.tar").write_bytes(b"not a tar")
    with pytest.raises(BadInput, match=r"nothing to replay: no page: .*clip.tar"):
        write_replays(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()
