"""The truth does not travel: numbers and words that only the expert knows occur in no byte that is sent."""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from typing import Any

import httpx
import numpy as np
import pytest
from wire_helpers import Counter, Echo, serving  # type: ignore[import-not-found]

from driveproof.policy import ChatRequest, DriveObservation
from driveproof.policy.wire.client import WireChat, WireDriver
from driveproof.policy.wire.codec import JSON, MSGPACK
from driveproof.policy.wire.pictures import Sender
from driveproof.policy.wire.transport import Transport
from driveproof.prompts.asking import compose_question
from driveproof.prompts.inputs import InputMode, Shown
from driveproof.questions import QUESTIONS
from driveproof.render.marks import Mark
from driveproof.scene import AgentKind, AgentTracks, Command
from driveproof.testing import make_scene

ID, X, Y, SPEED, WORD = "c918273", 31.415926, -7.182818, 13.372025, "chartreuse lorry"
ANSWER = "the reference answer is TURN_LEFT because of c918273"
STATE = (X, Y, 0.577215, 6.626070, -1.602176)
ROAD = "secret-log-of-Town77"
QUESTION = f"Where is the {WORD} ({ID}, CAM_FRONT) going, and may {ID} cross the ego's path?"


def markers() -> dict[str, bytes]:
    """The truth in every form that it could take: words, decimals, floats of both widths and orders, base64."""
    texts = [ID, ID[1:], ANSWER, ROAD, "chartreuse"] + [f"{abs(value):.4f}" for value in STATE]
    found = {text: text.encode() for text in texts}
    found |= {f"b64 {text}": base64.b64encode(text.encode())[:-4] for text in (ID, ANSWER, ROAD)}
    for value in (*STATE, SPEED, X + 1000.0):
        for form in ("<d", ">d", "<f", ">f"):
            found[f"{form} {value}"] = struct.pack(form, value)
    found |= {f"{form} id": struct.pack(form, 918273) for form in ("<i", ">i", "<q", ">q")}
    return found


def told(data: bytes) -> list[str]:
    return [name for name, marker in markers().items() if marker in data]


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[str, str]]:
    with serving() as start:
        yield start(Echo()), start(Counter(), None, Counter)


class Tapped(httpx.HTTPTransport):
    """Keeps every byte of every request: line, headers, body."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.sent += str(request.url).encode() + repr(request.headers.raw).encode()
        self.sent += request.read()
        return super().handle_request(request)


def truth() -> tuple[Any, list[Mark]]:
    """A scene whose agent, map of origin and answers are all marked, and the expert's marks of it."""
    times = np.arange(121) / 10.0
    states = np.broadcast_to(np.array(STATE), (1, len(times), 5))
    agents = AgentTracks(
        (ID,),
        (AgentKind.VEHICLE,),
        times,
        np.array([[4.5, 1.9, 1.5]]),
        states,
        np.ones(states.shape[:2], dtype=bool),
    )
    origin = (X + 1000.0, Y, 0.577215)
    scene = make_scene(log_id=ROAD, agents=agents, command=Command.LEFT, origin=origin)
    return scene, [Mark(ID, WORD, X, Y, speed=SPEED, heading=0.577215)]


@pytest.mark.parametrize("kind", [JSON, MSGPACK])
@pytest.mark.parametrize("carrier", ["bytes", "shared"])
def test_a_driver_is_sent_the_observation_alone(
    servers: tuple[str, str], kind: str, carrier: Any
) -> None:
    scene, _ = truth()
    observation = scene.observe()
    tap = Tapped()
    with httpx.Client(transport=tap) as http:
        driver = WireDriver(Transport(servers[1], kind=kind, http=http), Sender(None, carrier))
        driver.begin("1_rep0", 0)
        pictures = {view: [np.full((8, 8, 3), 77, np.uint8)] * 2 for view in driver.views}
        seen = DriveObservation(4, 0.2, pictures, observation.speed, "left", 21.5)
        assert not driver.decide(seen).error
        driver.close()
    sent = tap.sent
    assert b"command" in sent  # the tap works
    assert (b"21.5" if kind == JSON else struct.pack(">d", 21.5)) in sent
    assert told(sent) == []


@pytest.mark.parametrize("kind", [JSON, MSGPACK])
def test_a_camera_request_without_references_tells_nothing(
    servers: tuple[str, str], kind: str
) -> None:
    """Every question of the catalogue, in camera mode; and the same with references tells, so the markers work."""
    scene, marks = truth()
    speed = float(scene.observe().speed)
    picture = [np.full((8, 8, 3), 77, np.uint8)]

    def sent(mode: InputMode) -> bytes:
        shown = picture if mode.shown is Shown.CAMERA else []
        requests = []
        for question in QUESTIONS.values():
            messages, images = compose_question(
                mode, question, QUESTION, shown, marks, ego_speed=speed, command="left"
            )
            requests.append(ChatRequest(messages, images))
        tap = Tapped()
        with httpx.Client(transport=tap) as http:
            chat = WireChat(Transport(servers[0], kind=kind, http=http), Sender())
            assert all(reply.text for reply in chat.reply(requests))
        return tap.sent

    camera = sent(InputMode())
    assert b"The navigator says: turn left" in camera
    assert set(told(camera)) <= {"chartreuse"}  # the question itself names what it asks about
    assert ID in told(sent(InputMode(references=True)))
    assert ID in told(sent(InputMode(Shown.TEXT, references=True)))


def test_an_object_that_hides_more_than_an_observation_is_not_sent_whole(
    servers: tuple[str, str],
) -> None:
    """A subclass of the driving side carries the truth along; the wire takes the named fields only."""

    class Privileged(DriveObservation):
        pass

    seen = Privileged(0, 0.0, {}, 4.0)
    object.__setattr__(seen, "truth", {"id": ID, "answer": ANSWER, "x": X})
    object.__setattr__(seen, "scene", truth()[0])
    tap = Tapped()
    with httpx.Client(transport=tap) as http:
        driver = WireDriver(Transport(servers[1], http=http), Sender())
        driver.begin("1_rep0", 0)
        assert not driver.decide(seen).error
    assert told(tap.sent) == []


@pytest.mark.parametrize(
    "extra", [{"truth": ANSWER}, {"ego": {"x": X}}, {"actors": [ID]}, {"gt": ANSWER}]
)
def test_a_server_refuses_what_is_slipped_in(servers: tuple[str, str], extra: Any) -> None:
    seen = {"frame": 0, "time_s": 0.0, "pictures": {}, "speed": 1.0, "command": "follow"}
    url = servers[1]
    begun = httpx.post(f"{url}/v1/sessions", json={"episode": "1_rep0", "seed": 0, **extra})
    assert begun.status_code == 422
    session = httpx.post(f"{url}/v1/sessions", json={"episode": "1_rep0", "seed": 0})
    place = f"{url}/v1/sessions/{session.json()['session']}"
    body = {"step": 0, "observation": {**seen, "command_distance": None, **extra}}
    answer = httpx.post(f"{place}/decide", json=body)
    httpx.delete(place)
    assert answer.status_code == 422
    assert "Extra inputs" in answer.json()["problem"]
    message = {"role": "user", "content": [{"type": "text", "text": "?", **extra}]}
    chat = httpx.post(f"{servers[0]}/v1/chat", json={"requests": [{"messages": [message]}]})
    assert chat.status_code == 422
