"""Writing the pages: one file an episode that needs nothing else, and an index of the run.

Whatever a policy, a suite or a record says is text. The script of a page reads numbers and pictures alone, its hash
is the only one that the page allows to run, and nothing can be loaded from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from driveproof.errors import BadInput
from driveproof.evaluation.driving.decisions import DecisionLine
from driveproof.evaluation.driving.motion import Motion
from driveproof.evaluation.driving.records import RouteRecord
from driveproof.evaluation.driving.route_score import Variant, motion_of, score_record
from driveproof.evaluation.driving.runs import DriveRun
from driveproof.evaluation.driving.scores import driving_scores
from driveproof.files import atomic_dir, check_folder
from driveproof.report.replay.episode import Episode, read_episode
from driveproof.report.replay.film import write_film
from driveproof.report.replay.pictures import Shot, shots, to_jpeg
from driveproof.report.replay.timeline import HEIGHT, WIDTH, numbers_of, timeline_of
from driveproof.report.tables import MISSING, estimate, number
from driveproof.validation.page import render_page

INDEX = "index.html"
_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,100}")
LONGEST_TEXT = 4000
"""Characters of an answer or prompt that a page shows; what is cut off is said."""
Film = Literal["", "mp4", "gif"]


@dataclass(frozen=True)
class ReplayStyle:
    """How large pages become.

    Attributes
    ----------
    most
        Moments of a page; longer drives are thinned evenly.
    width, above_px
        Pixels of the front view's width, and of the edge of the view from above.
    quality
        Of the JPEGs, 1 to 100.
    film
        "mp4" or "gif" writes one beside each page.
    """

    most: int = 240
    width: int = 320
    above_px: int = 240
    quality: int = 70
    film: Film = ""


@dataclass
class Replays:
    """What was written.

    Attributes
    ----------
    files
        Names in the folder, the index last.
    broken
        By drive (``ROUTE_repN``) what could not be shown of it, and why.
    """

    files: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)


def chosen(run: DriveRun, routes: Sequence[str]) -> list[RouteRecord]:
    """The drives of a run that are named by route (``ROUTE``, all its repeats) or drive (``ROUTE_repN``), or all.

    Raises
    ------
    BadInput
        If a name is none, or that drive has no record.
    """
    known = {f"{one.route_id}_rep{one.repeat}": one for one in run.records}
    lost = {f"{one.route_id}_rep{one.repeat}": one for one in run.losses}
    for name in routes:
        keys = [key for key in (*known, *lost) if name in (key, key.rpartition("_rep")[0])]
        if not keys:
            raise BadInput("the run has no such route", path=run.path, field=name)
        if not any(key in known for key in keys):
            raise BadInput(f"nothing to replay: {lost[keys[0]].reason}", path=run.path, field=name)
    return [
        record
        for key, record in known.items()
        if not routes or key in routes or record.route_id in routes
    ]


def write_replays(
    run: DriveRun,
    out: str | Path,
    routes: Sequence[str] = (),
    style: ReplayStyle | None = None,
    progress: Callable[[str], None] = lambda key: None,
) -> Replays:
    """Write pages of the chosen drives and ``index.html`` of the whole run into ``out``.

    A drive with a broken file costs its own page only: the index says why there is none.

    Parameters
    ----------
    routes
        See :func:`chosen`.
    progress
        Called with the key of each drive that is done.

    Raises
    ------
    BadInput
        If a route is none, or there is nothing to replay: nothing has ended, or all drives are broken.
    """
    style = style or ReplayStyle()
    records = chosen(run, routes)
    if not records:
        raise BadInput("nothing has ended yet", path=run.path)
    check_folder(out, [INDEX])
    made = Replays()
    with atomic_dir(out) as folder:
        for record in records:
            key = f"{record.route_id}_rep{record.repeat}"
            _write_episode(run, record, style, folder, made)
            progress(key)
        if not made.files:
            first, *more = made.broken.values()
            raise BadInput(f"nothing to replay: {first}" + (f", and {len(more)} more" * bool(more)))
        made.files.append(INDEX)
        text = index_page(run, made.files, made.broken)
        (folder / INDEX).write_text(text, encoding="utf-8")
    return made


def _write_episode(
    run: DriveRun, record: RouteRecord, style: ReplayStyle, folder: Path, made: Replays
) -> None:
    """Write the page of a drive and its film, and note in ``made`` what came of it."""
    key, what = f"{record.route_id}_rep{record.repeat}", "no page"
    try:
        if not _SAFE.fullmatch(key):
            raise BadInput("the id cannot name a page", field=f"route {key[:40]}")
        episode = read_episode(run, record, style.most)
        pictures = list(shots(episode, style.width, style.above_px))
        page = f"{key}.html"
        text = episode_page(run.name, episode, pictures, style)
        (folder / page).write_text(text, encoding="utf-8")
        made.files.append(page)
        if style.film:
            film, what = f"{key}.{style.film}", "no film"
            lines = [_line(episode, number) for number in range(len(pictures))]
            write_film(folder / film, episode, pictures, lines)
            made.files.append(film)
    except BadInput as error:  # one broken file is one drive's problem
        made.broken[key] = f"{what}: {error}"


def episode_page(
    policy: str, episode: Episode, pictures: Sequence[Shot], style: ReplayStyle
) -> str:
    """The page of an episode as HTML."""
    script = files("driveproof").joinpath("report/templates/replay.js").read_text(encoding="utf-8")
    frames = [
        {**numbers, "front": _uri(shot.front, style), "above": _uri(shot.above, style)}
        for numbers, shot in zip(numbers_of(episode), pictures, strict=True)
    ]
    score = score_record(episode.record, Variant.CORRECTED)
    return render_page(
        "report",
        "replay.html.j2",
        policy=policy,
        record=episode.record,
        key=episode.key,
        failure=episode.failure,
        score=number(score.composed, 1),
        line=timeline_of(episode),
        width=WIDTH,
        height=HEIGHT,
        decisions=[_decision(line) for line in episode.decisions],
        frames=frames,
        has_front=any(frame["front"] for frame in frames),
        has_above=any(frame["above"] for frame in frames),
        with_clip=episode.clip is not None,
        script=script,
        script_hash=_hash(script),
    )


def index_page(run: DriveRun, written: Sequence[str], broken: Mapping[str, str]) -> str:
    """The page of a run: its scores, every drive with what came of it, links to what was written.

    ``broken`` says of drives by key what could not be shown and why.
    """
    unread = dict(broken)

    def motion(record: RouteRecord) -> Motion | None:
        """None where the file is broken: it costs this drive's comfort, not the page."""
        try:
            return motion_of(record)
        except BadInput as error:
            unread.setdefault(f"{record.route_id}_rep{record.repeat}", str(error))
            return None

    scores = {
        variant.value: driving_scores(
            run.records,
            run.expected,
            variant,
            losses=run.losses,
            repeats=run.repeats,
            motions=motion,
        )
        for variant in Variant
        if run.records
    }
    records = {record.key: record for record in run.records}
    losses = {loss.key: loss for loss in run.losses}
    rows = []
    for repeat in range(run.repeats):
        for route in run.expected:
            key = f"{route.route_id}_rep{repeat}"
            at = (route.route_id, repeat)
            links = [name for name in written if name.rpartition(".")[0] == key]
            fate = _fate(records.get(at), losses.get(at))
            if key in unread:
                fate["status"] += f" ({unread[key]})"
            rows.append({"key": key, "route": route, "links": links, **fate})
    kinds = ("driving_score", "success_rate", "efficiency", "comfort")
    summary = [
        (variant, *(estimate(asdict(getattr(found, kind)), 1) for kind in kinds))
        for variant, found in scores.items()
    ]
    return render_page(
        "report", "replay_index.html.j2", policy=run.name, rows=rows, summary=summary
    )


def _fate(record: RouteRecord | None, loss: Any) -> dict[str, Any]:
    """What came of a drive, for the index."""
    if record is None:
        reason = "there is no record of it" if loss is None else loss.reason
        state = "" if loss is None else loss.state.value
        return {
            "state": state,
            "status": reason,
            "score": MISSING,
            "way": MISSING,
            "wrong": "",
            "good": False,
        }
    # the driving score is without motion, which may be broken
    score = score_record(record, Variant.CORRECTED, lambda _: None)
    return {
        "state": record.state.value,
        "status": record.reason or record.status,
        "score": number(score.composed, 1),
        "way": f"{100.0 * record.completion:.0f} %",
        "wrong": ", ".join(one.kind.value.replace("_", " ") for one in record.failures),
        "good": record.success,
    }


def _decision(line: DecisionLine) -> dict[str, Any]:
    """A decision with its questions as plain texts, cut where they are too long to read."""
    steps = (line.trace or {}).get("steps")
    steps = steps if isinstance(steps, list) else []
    rest = {name: value for name, value in (line.trace or {}).items() if name in ("brake", "move")}
    true = _true_answers(line)
    return {
        "time": f"{line.time:.2f}",
        "command": line.command,
        "told": _cut(line.keys) or "pedals",
        "error": _cut(line.error),
        "latency": f"{line.latency_s:.2f}",
        "expert": _cut((line.truth or {}).get("keys") or ""),
        "reason": _cut(", ".join(f"{name}: {value}" for name, value in rest.items())),
        "steps": [_step(step, true) for step in steps if isinstance(step, Mapping)],
    }


def _step(step: Mapping[str, Any], true: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    number_, subject = str(step.get("number", "")), str(step.get("subject") or "")
    return {
        "number": _cut(number_),
        "subject": _cut(subject),
        "question": _cut(step.get("question") or ""),
        "prompt": _cut(step.get("prompt") or ""),
        "told": bool(step.get("truth")),
        "text": None if step.get("text") is None else _cut(step["text"]),
        "error": _cut(step.get("error") or ""),
        "expert": true.get((number_, subject), ""),
    }


def _true_answers(line: DecisionLine) -> dict[tuple[str, str], str]:
    """What the expert said, by question number and subject."""
    answers = (line.truth or {}).get("answers")
    return {
        (str(one.get("number", "")), str(one.get("subject") or "")): _cut(one.get("text") or "")
        for one in (answers if isinstance(answers, list) else [])
        if isinstance(one, Mapping)
    }


def _cut(text: Any) -> str:
    plain = str(text)
    if len(plain) <= LONGEST_TEXT:
        return plain
    return f"{plain[:LONGEST_TEXT]} … ({len(plain) - LONGEST_TEXT} characters more)"


def _line(episode: Episode, index: int) -> str:
    """What stands below a frame of the film."""
    numbers = numbers_of(episode)[index]
    made = numbers["decision"]
    decision = episode.decisions[int(made)] if made is not None else None
    told = "" if decision is None else decision.keys or decision.error or "pedals"
    speed = numbers.get("speed")
    driven = "" if speed is None else f"  {speed + 0.0:.1f} m/s"
    return f"{numbers['time']:.1f} s{driven}  {told[:60]}"


def _uri(image: Any, style: ReplayStyle) -> str:
    if image is None:
        return ""
    return "data:image/jpeg;base64," + base64.b64encode(to_jpeg(image, style.quality)).decode()


def _hash(script: str) -> str:
    """The script's hash as a Content-Security-Policy has it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
