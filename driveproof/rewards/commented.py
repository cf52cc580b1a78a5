"""What the expert's eyes add to the facts of a moment: closer names, and who is in no picture.

One annotation is read for each moment, that of t = 0, so nothing later can enter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from driveproof.commenter import Frame, frame_of
from driveproof.commenter.naming import name_agent
from driveproof.datasets.archives import Archive, gunzip, open_archive
from driveproof.datasets.checks import malformed, parse_json
from driveproof.evaluation.facts import SceneFacts, UserFact
from driveproof.questions import ObjectRef

_MAX_BYTES = 64 << 20
_SAME_M = 0.75
"""An annotated road user so near to a known one is the same."""
_FRONT = frozenset({"CAM_FRONT", "CAM_FRONT_LEFT", "CAM_FRONT_RIGHT"})


def commented_facts(
    facts: Mapping[str, SceneFacts],
    clips: str | Path,
    progress: Callable[[int], None] | None = None,
) -> dict[str, SceneFacts]:
    """The facts of all moments, sharpened where the clip of a moment lies in ``clips`` (``CLIP.tar``).

    ``progress`` is called with the number of moments that were just finished.

    Raises
    ------
    BadInput
        If a clip is there but broken; member and field are named.
    """
    by_clip: dict[str, list[str]] = {}
    for key in facts:
        by_clip.setdefault(key.rpartition("/")[0], []).append(key)
    result = dict(facts)
    for drive, keys in by_clip.items():
        name = drive.rpartition("/")[2]
        path = Path(clips) / f"{name}.tar"
        if path.is_file():
            with open_archive(path) as archive:
                result |= {key: _sharpen(facts[key], archive, name) for key in keys}
        if progress:
            progress(len(keys))
    return result


def _sharpen(facts: SceneFacts, archive: Archive, clip: str) -> SceneFacts:
    member = f"{clip}/anno/{facts.record_key.rpartition('/')[2]}.json.gz"
    if member not in archive.sizes:
        return facts
    data = gunzip(archive.read(member), _MAX_BYTES, archive.path, member)
    anno = parse_json(data, archive.path, member)
    with malformed(archive.path, member):
        frame = frame_of(anno, 0)
    return sharpen(facts, frame)


def sharpen(facts: SceneFacts, frame: Frame) -> SceneFacts:
    """Facts with the names that the expert gives, without those whom no front camera shows and who are not in the way."""
    refs = [(name_agent(frame, agent), agent.length) for agent in frame.agents]
    users = []
    ahead = facts.ahead
    for user in facts.users:
        ref = _same(user, refs)
        named = user if ref is None else replace(user, name=_words(ref))
        if user == facts.ahead:
            ahead = named
        if ref is None or user.in_way or _FRONT & set(ref.cameras) or not frame.cameras:
            users.append(named)
    return replace(facts, users=tuple(users), ahead=ahead)


def _same(user: UserFact, refs: Iterable[tuple[ObjectRef, float]]) -> ObjectRef | None:
    apart = [
        (max(abs(ref.x - length / 2.0 - user.x), abs(ref.y - user.y)), ref) for ref, length in refs
    ]
    gap, nearest = min(apart, key=lambda pair: pair[0], default=(_SAME_M, None))
    return nearest if gap < _SAME_M else None


def _words(ref: ObjectRef) -> str:
    colour = f"{ref.colour.value} " if ref.colour is not None else ""
    return f"{colour}{ref.kind.value}"
