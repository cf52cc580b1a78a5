"""Rendering the templates. Turn 1 is a function of the observation alone: it cannot know the candidates."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta
from numpy.typing import ArrayLike

from driveproof.geometry.arrays import Float, as_float
from driveproof.prompts.parse import option_letters
from driveproof.prompts.style import STYLES, PromptStyle, shown_images
from driveproof.scene import FUTURE_TIMES, Direction, Observation, SpeedChange

TURNS = ("system", "scene", "options", "joint")
"""Names of the templates that are rendered; the others are parts of these."""


@cache
def _environment(verbosity: str) -> Environment:
    # Prompts are plain text for a model, not markup: nothing is escaped.
    return Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates" / verbosity),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def render_system(style: PromptStyle) -> str:
    """The system message shared by all turns; "" where the style has none."""
    return _render("system", style)


def render_scene_turn(observation: Observation, style: PromptStyle) -> str:
    """Turn 1 of DEFT: scene, ego motion and command; asks for reasoning and a decision.

    The candidates are no argument, so they cannot be in it (DEFT-RLVR, section 4.1, equation 5).
    """
    return _render("scene", style, **_scene_facts(observation, style))


def render_options_turn(options: ArrayLike, style: PromptStyle) -> str:
    """Turn 2 of DEFT: reveals the candidates ``[M, 10, 2]`` (metres, ego frame) and asks for a letter."""
    return _render("options", style, **_option_facts(options, style))


def render_joint_turn(observation: Observation, options: ArrayLike, style: PromptStyle) -> str:
    """JEFT: the same facts, requirements and outputs as DEFT in one turn, candidates first."""
    facts = {**_scene_facts(observation, style), **_option_facts(options, style)}
    return _render("joint", style, **facts)


def prompt_hashes(style: PromptStyle) -> dict[str, str]:
    """Template name -> sha256 of its source, of the sources of its parts, and of the style."""
    return {turn: _hash(_sources(turn, style.verbosity), style) for turn in TURNS}


def prompt_hash(style: PromptStyle) -> str:
    """One sha256 for everything a style can say."""
    sources: dict[str, str] = {}
    for turn in TURNS:
        sources |= _sources(turn, style.verbosity)
    return _hash(sources, style)


def _render(turn: str, style: PromptStyle, **facts: Any) -> str:
    return _environment(style.verbosity).get_template(f"{turn}.j2").render(**facts).strip()


def _sources(turn: str, verbosity: str) -> dict[str, str]:
    environment = _environment(verbosity)
    assert environment.loader is not None
    found: dict[str, str] = {}
    wanted = [f"{turn}.j2"]
    while wanted:
        name = wanted.pop()
        found[name] = environment.loader.get_source(environment, name)[0]
        parts = meta.find_referenced_templates(environment.parse(found[name]))
        wanted += [part for part in parts if part is not None and part not in found]
    return found


def _hash(sources: dict[str, str], style: PromptStyle) -> str:
    text = json.dumps([sources, asdict(style)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _scene_facts(observation: Observation, style: PromptStyle) -> dict[str, Any]:
    cameras = [
        {"name": name, "times": [f"{image.time:g}" for image in images]}
        for name, images in groupby(shown_images(observation, style), key=lambda i: i.camera)
    ]
    return {
        "cameras": cameras,
        "speed": _number(observation.speed, style.decimals),
        "velocity": _point(observation.velocity, style.decimals),
        "acceleration": _point(observation.acceleration, style.decimals),
        "history": [_point(pose[:2], style.decimals) for pose in observation.history],
        "command": observation.command.name.lower(),
        "directions": [direction.value for direction in Direction],
        "speeds": [change.value for change in SpeedChange],
    }


def _option_facts(options: ArrayLike, style: PromptStyle) -> dict[str, Any]:
    points = as_float(options, (None, len(FUTURE_TIMES), 2), "options")
    letters = option_letters(len(points))
    shown = slice(style.waypoint_every - 1, None, style.waypoint_every)
    texts = [
        " ".join(_point(point, style.decimals) for point in option) for option in points[:, shown]
    ]
    times = [f"{time:.1f}" for time in FUTURE_TIMES[shown]]
    return {"options": list(zip(letters, texts, strict=True)), "letters": letters, "times": times}


def _point(point: Float, decimals: int) -> str:
    return ",".join(_number(float(value), decimals) for value in point)


def _number(value: float, decimals: int) -> str:
    # adding 0.0 turns the -0.0 that rounding leaves into 0.0, so that no "-0" is written
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


PROMPT_HASH = {name: prompt_hash(style) for name, style in STYLES.items()}
"""Hash of each named style; results carry the hash of the style they were made with."""
