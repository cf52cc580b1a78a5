"""Commentaries as question-answer graphs: a JSON a frame as Bench2Drive-VL writes them, or DriveLM's one file of scenes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driveproof.commenter.commentary import Commentary
from driveproof.commenter.dataset import known_objects, trivial, waiting_for_red
from driveproof.commenter.frame import Agent, CameraPose, Frame
from driveproof.commenter.naming import corners, project, visible
from driveproof.questions import QUESTIONS, Category, ObjectRef
from driveproof.questions import terms as t
from driveproof.questions.objects import SIGNS, VEHICLES
from driveproof.questions.wording import Sentences, ask


def frame_record(
    said: Commentary, clip: str, seed: int, images: Mapping[str, str]
) -> dict[str, Any]:
    """One frame in the peers' layout: ``key_object_infos``, ``QA`` by category, ``extra_flags``, ``image_paths``.

    Parameters
    ----------
    clip, seed
        Which phrasing of a question is taken depends on them.
    images
        Camera → path, as it should stand in the file.
    """
    refs = known_objects(said)
    agents = {f"c{agent.id}": agent for agent in said.frame.agents}
    return {
        "key_object_infos": {
            _tag(ref): _object(said.frame, ref, agents.get(ref.tag)) for ref in refs.values()
        },
        "QA": _questions(said, clip, seed, refs),
        "extra_flags": _flags(said),
        "image_paths": dict(images),
    }


def _questions(
    said: Commentary, clip: str, seed: int, refs: Mapping[str, ObjectRef]
) -> dict[str, list[dict[str, Any]]]:
    write = Sentences()
    asked = {key.number for key in said.answers}
    found: dict[str, list[dict[str, Any]]] = {category.value: [] for category in Category}
    for key, answer in said.answers.items():
        question = QUESTIONS[key.number]
        subject = refs.get(key.subject)
        about: Any = subject if subject is not None else key.subject
        about = answer.refs if question.given_objects else about
        text = ask(
            question, seed=seed, key=f"{clip}/{said.frame.index}/{key.subject}", subject=about
        )
        found[question.category.value].append(
            {
                "Q": text,
                "A": write.write(key.number, answer, subject),
                "C": None,
                "qid": key.number,
                "con_up": [n for n in question.after if n in asked],
                "con_down": sorted(n for n in asked if key.number in QUESTIONS[n].after),
                "cluster": question.chain,
                "layer": question.layer,
                "object_tags": [_tag(ref) for ref in answer.refs],
            }
        )
    return found


def _tag(ref: ObjectRef) -> str:
    cameras = ref.cameras or ("CAM_FRONT",)
    return f"<{','.join((ref.tag, *cameras))}>"


def _object(frame: Frame, ref: ObjectRef, agent: Agent | None) -> dict[str, Any]:
    return {
        "id": ref.tag,
        "Category": _category(ref),
        "Status": None,
        "Visual_description": ref.name,
        "Detailed_description": f"{ref.name} to the {ref.sector.value}",
        "2d_bbox": _boxes(frame, agent, flat=True),
        "3d_bbox": _boxes(frame, agent, flat=False),
        "is_role": ref.is_role,
        "is_dangerous": ref.is_dangerous,
        "position": [ref.x, ref.y],
        "distance": round(ref.distance, 3),
        "speed": ref.speed,
        "is_sign": ref.kind in SIGNS,
    }


def _category(ref: ObjectRef) -> str:
    if ref.kind in VEHICLES:
        return "Vehicle"
    return "Pedestrian" if ref.kind.value == "pedestrian" else "Traffic element"


def _boxes(frame: Frame, agent: Agent | None, *, flat: bool) -> dict[str, Any]:
    """Camera → projected corners, or their bounds, in pixels; only where a corner is seen."""
    if agent is None:
        return {}
    points = corners(agent)
    found = {}
    for camera in frame.cameras:
        if visible(camera, points):
            pixels = _clipped(camera, points)
            bounds = [pixels.min(0).tolist(), pixels.max(0).tolist()]
            found[camera.name] = bounds if flat else pixels.tolist()
    return found


def _clipped(camera: CameraPose, points: Any) -> Any:
    pixels, depth = project(camera, points)
    seen = pixels[depth > 0.1]
    return np.round(np.clip(seen, 0, (camera.width, camera.height)), 1)


def _flags(said: Commentary) -> dict[str, Any]:
    keys, brake = said.decision.keys, said.decision.brake
    change = {
        t.Braking.STOP: "Decelerate",
        t.Braking.SLOW_DOWN: "Decelerate",
    }.get(
        brake.level, "Accelerate" if keys.speed and keys.speed.value == "ACCELERATE" else "Constant"
    )
    return {
        "ego_speed": round(said.frame.ego.speed, 3),
        "change_lane_flag": said.decision.move.needed,
        "change_lane_gt": said.decision.move.maneuver.value,
        "speed_cmd": keys.speed,
        "direction_cmd": keys.direction,
        "speed_change_gt": change,
        "waiting_for_red_light": waiting_for_red(said),
        "is_trivial_case": trivial(said),
    }


def drivelm(scenes: Mapping[str, Sequence[tuple[int, Mapping[str, Any]]]]) -> dict[str, Any]:
    """DriveLM's form: scene → key frames → objects, QA graph, pictures; from records of :func:`frame_record`."""
    return {
        clip: {
            "scene_description": clip.split("_", 1)[0],
            "key_frames": {
                f"{clip}_{number:05d}": {
                    "key_object_infos": record["key_object_infos"],
                    "QA": record["QA"],
                    "image_paths": record["image_paths"],
                }
                for number, record in records
            },
        }
        for clip, records in scenes.items()
    }
