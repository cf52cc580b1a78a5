"""Traces asked again, and traces as answers that can be scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from driveproof.errors import BadInput
from driveproof.files import atomic_open
from driveproof.policy.chat import ChatPolicy
from driveproof.reasoning.run import answered, ask_all, request_of
from driveproof.reasoning.trace import Trace, picture_hash
from driveproof.scene.images import Pixels


class TracePictures:
    """Pictures of traces in a folder, ``<hash>.png``: each once, however often it was shown."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    def keep(self, picture: Pixels) -> None:
        """Write a picture unless it is there."""
        path = self._folder / f"{picture_hash(picture)}.png"
        if not path.exists():
            _, png = cv2.imencode(".png", cv2.cvtColor(picture, cv2.COLOR_RGB2BGR))
            with atomic_open(path, "wb") as stream:
                stream.write(png.tobytes())

    def load(self, name: str) -> Pixels:
        """The picture ``[H, W, 3]`` of a hash.

        Raises
        ------
        BadInput
            If it is absent, broken or another.
        """
        if len(name) != 64 or set(name) - set("0123456789abcdef"):
            raise BadInput("not the hash of a picture", path=self._folder, field=name[:80])
        path = self._folder / f"{name}.png"
        try:
            data = np.frombuffer(path.read_bytes(), np.uint8)
        except OSError as error:
            raise BadInput(f"picture cannot be read: {error.strerror}", path=path) from None
        decoded = cv2.imdecode(data, cv2.IMREAD_COLOR) if len(data) else None
        if decoded is None:
            raise BadInput("not a picture", path=path)
        found = np.asarray(cv2.cvtColor(decoded, cv2.COLOR_BGR2RGB), dtype=np.uint8)
        if picture_hash(found) != name:
            raise BadInput("is another picture than was shown", path=path)
        return found


def replay(trace: Trace, chat: ChatPolicy, pictures: TracePictures) -> Trace:
    """The same requests again, to any policy: same words, context, pictures, sampling and seeds, in one batch.

    The contexts stay those of the trace, whatever the policy would have answered before. What the expert answered
    stays, too.

    Raises
    ------
    BadInput
        If a picture is missing.
    """
    shown = tuple(pictures.load(name) for name in trace.pictures)
    asked = [step for step in trace.steps if not step.truth]
    session = f"{trace.episode}/{trace.frame}"
    requests = [request_of(step, shown, trace.sampling, session) for step in asked]
    again = {
        step.key: answered(step, reply)
        for step, reply in zip(asked, ask_all(chat, requests), strict=True)
    }
    steps = tuple(again.get(step.key, step) for step in trace.steps)
    return replace(trace, policy=chat.name, steps=steps)


def answers_of(traces: Iterable[Trace]) -> Iterator[Mapping[str, Any]]:
    """The policy's answers as rows that ``driveproof evaluate vqa`` scores; the expert's own are left out."""
    for trace in traces:
        for step in trace.steps:
            if not step.truth:
                yield {
                    "clip": trace.episode,
                    "frame": trace.frame,
                    "number": step.key.number,
                    "subject": step.key.subject,
                    "text": step.text,
                    "error": step.error,
                }


def compare(before: Trace, after: Trace) -> dict[str, int]:
    """How the answers to the same requests differ: ``same``, ``other``, ``failed`` (in either)."""
    counts = {"same": 0, "other": 0, "failed": 0}
    for old, new in zip(before.steps, after.steps, strict=True):
        if old.truth:
            continue
        lost = old.text is None or new.text is None
        counts["failed" if lost else "same" if old.text == new.text else "other"] += 1
    return counts
