"""One question as the policy met it: pictures, view from above with the candidates, both turns."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from driveproof.config.report import ReportParams
from driveproof.errors import BadInput, MissingMap, UserError
from driveproof.mcq import McqItem, read_items
from driveproof.mcq.answers import read_answers
from driveproof.mcq.interaction import Answer
from driveproof.prompts import (
    STYLES,
    option_letters,
    render_options_turn,
    render_scene_turn,
    shown_images,
)
from driveproof.report.figures import bird_eye
from driveproof.report.inputs import Inputs
from driveproof.report.tables import Table, number
from driveproof.scene import (
    AgentKind,
    Decision,
    ImageRef,
    ImageStore,
    Scene,
    decision_of,
    read_scenes,
)

_MARGIN_M = 8.0
_MAX_RANGE_M = 90.0


@dataclass(frozen=True)
class Example:
    """What is shown of one question."""

    record_key: str
    intro: str
    pictures: tuple[tuple[str, str], ...]
    """Pairs of data URI and caption."""
    bird_eye: str
    options: Table
    turns: tuple[tuple[str, str], ...]
    """Pairs of who speaks and what is said."""


def make_example(inputs: Inputs, params: ReportParams) -> Example | None:
    """The example, None if there are no questions yet.

    Raises
    ------
    BadInput
        If the question named in ``params`` is not in the test split.
    """
    path = inputs.root / "data/mcq/test.parquet"
    if not path.is_file():
        return None
    items = read_items(path)
    if not items:
        return None
    run, answers = _answers(inputs.root)
    item = _choose(items, params.example, answers)
    answer = answers.get(item.record_key)
    truth = decision_of(item.waypoints, item.observation.speed)
    style = _style(inputs)
    letters = option_letters(item.n_options)
    turns = [("user", render_scene_turn(item.observation, style))]
    if answer is not None:
        name = f"{run}, repeat {answer.repeat}"
        turns.append((name, answer.turn1 or f"(no answer: {answer.error})"))
        turns.append(("user", render_options_turn(item.options, style)))
        turns.append((name, answer.turn2 or f"(no answer: {answer.error})"))
    intro = (
        f"Class {item.drive_class}, situation {item.situation or 'unknown'}, speed "
        f"{item.observation.speed:.1f} m/s, command {item.observation.command.name.lower()}. "
        f"The log does: {truth}. Right is {letters[item.oracle_index]}. {_outcome(answer, truth, letters)}"
    )
    shown = [
        (image.camera, image.time, image.ref) for image in shown_images(item.observation, style)
    ]
    return Example(
        item.record_key,
        intro.strip(),
        _pictures(inputs.root, shown),
        _bird_eye(inputs.root, item, letters, params.bev_px),
        _options(item, letters),
        tuple(turns),
    )


def _choose(items: Sequence[McqItem], wanted: str, answered: Mapping[str, Answer]) -> McqItem:
    """The wanted question, else the first with pictures and an answer, else with pictures, else the first."""
    if wanted:
        found = next((item for item in items if item.record_key == wanted), None)
        if found is None:
            raise BadInput("no such test question", path="params.yaml", field="report.example")
        return found
    seen = [item for item in items if item.observation.images]
    return next((item for item in seen if item.record_key in answered), [*seen, *items][0])


def _answers(root: Path) -> tuple[str, dict[str, Answer]]:
    """The first run in DEFT with own pictures, and its first answer to each question."""
    path = root / "reports/evaluate/answers.parquet"
    if not path.is_file():
        return "", {}
    for run, answers in read_answers(path).items():
        if run.endswith(" deft"):
            return run, {a.record_key: a for a in reversed(answers) if not a.variant}
    return "", {}


def _style(inputs: Inputs) -> Any:
    settings = (inputs.evaluation or {}).get("settings") or {}
    style = STYLES[settings.get("style", "compact")]
    given = {
        key: settings[key] for key in ("decimals", "frames", "waypoint_every") if key in settings
    }
    return replace(style, **given)


def _outcome(answer: Answer | None, truth: Decision, letters: Sequence[str]) -> str:
    if answer is None:
        return "No policy has answered it yet."
    if answer.lost:
        return f"The policy failed: {answer.error}."
    said = "no readable decision" if answer.decision is None else str(answer.decision)
    agrees = " (the same)" if answer.decision == truth else ""
    chosen = (
        f"nothing readable ({answer.reason})" if answer.choice is None else letters[answer.choice]
    )
    return f"The policy decided: {said}{agrees}, and chose {chosen}."


def _pictures(
    root: Path, shown: Sequence[tuple[str, float, ImageRef]]
) -> tuple[tuple[str, str], ...]:
    store = ImageStore(root)
    found = []
    for camera, time, ref in shown:
        try:
            data = store.read_bytes(ref)
        except BadInput:
            continue  # raw logs may have been removed; the example then shows what is left
        kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
        uri = f"data:image/{kind};base64,{base64.b64encode(data).decode('ascii')}"
        found.append((uri, f"{camera}, {time:g} s"))
    return tuple(found)


def _options(item: McqItem, letters: Sequence[str]) -> Table:
    speed = item.observation.speed
    rows = []
    for place, (letter, points) in enumerate(zip(letters, item.options, strict=True)):
        error = float(np.linalg.norm(points - item.waypoints, axis=1).mean())
        figures = (float(item.similarities[place]), error)
        text = (letter, item.option_kinds[place], str(decision_of(points, speed)))
        rows.append((*text, *(number(figure, 2) for figure in figures)))
    head = ("option", "kind", "what it does", "similarity", "ADE to the log, m")
    note = "Kind, similarity and error are not shown to the policy."
    return Table("Candidates", head, tuple(rows), texts=3, note=note)


def _bird_eye(root: Path, item: McqItem, letters: Sequence[str], px: int) -> str:
    from driveproof.render import View, render_bev

    reach = float(np.abs(item.options).max()) + _MARGIN_M
    range_m = min(max(reach, 20.0), _MAX_RANGE_M)
    scene = _scene(root, item.record_key)
    view = _view(scene, root) if scene is not None else View(None, np.zeros(3))
    picture = render_bev(view, range_m=range_m, px=px)
    return bird_eye(picture, range_m, item.options, letters, item.oracle_index, item.waypoints)


def _scene(root: Path, record_key: str) -> Scene | None:
    folder = root / "data/scenes"
    if not folder.is_dir():
        return None
    try:
        return next((s for s in read_scenes(folder) if s.record_key == record_key), None)
    except UserError:
        return None  # the gate says what is wrong with the scenes; the example does without


def _view(scene: Scene, root: Path) -> Any:
    from driveproof.geometry import poses_to_world
    from driveproof.maps import load_town
    from driveproof.render import Box, View

    boxes = []
    states = scene.agents.at(0.0)
    for kind, (length, width, height), state in zip(
        scene.agents.kinds, scene.agents.dimensions, states, strict=True
    ):
        if not np.isfinite(state).all():
            continue
        x, y, heading = poses_to_world(state[:3], scene.world_pose)
        colour = (200, 90, 90) if kind is AgentKind.PEDESTRIAN else (150, 155, 165)
        boxes.append(Box(x, y, heading, length, width, height, kind.value, colour))
    try:
        town = load_town(scene.town, root / "data/maps") if scene.town else None
    except MissingMap:
        town = None
    return View(town, scene.world_pose, tuple(boxes))
