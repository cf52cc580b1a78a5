"""A server under pressure takes in no more than it has places for, and decodes no more than it has memory for."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from wire_helpers import Counter, Echo, asked, closing, pixels  # type: ignore[import-not-found]

from driveproof.policy import PolicySettings, open_policy
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire import pictures
from driveproof.policy.wire.codec import JSON, Refused
from driveproof.policy.wire.desk import Busy, Desk
from driveproof.policy.wire.pictures import FILE_PIXELS, Receiver, Sender, pixels_of
from driveproof.policy.wire.service import Limits

QUESTION = {"requests": [{"messages": [{"role": "user", "content": []}]}]}


def until(condition: Any) -> None:
    """Wait until something is so, ten seconds at most."""
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it never came to be")


def waiting(url: str) -> int:
    return int(httpx.get(f"{url}/health").json()["waiting"])


def test_a_body_on_its_way_has_a_place_and_no_other_is_read(serve: Any) -> None:
    url = serve(Echo(), Limits(workers=1, queue=0))
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port)) as slow:
        head = f"POST /v1/chat HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\nContent-Length: 900"
        slow.sendall(f"{head}\r\n\r\n{{".encode())
        until(lambda: waiting(url) == 1)
        with socket.create_connection((parts.hostname, parts.port)) as other:
            other.settimeout(10)
            other.sendall(f"{head}\r\n\r\n".encode())  # it is refused before it sends anything
            assert b" 503 " in other.recv(4096)
    until(lambda: waiting(url) == 0)
    assert httpx.post(f"{url}/v1/chat", json=QUESTION).status_code == 200


@pytest.mark.slow
def test_decisions_that_wait_for_one_another_are_counted(serve: Any) -> None:
    policy = Counter()
    policy.slow_s = 1.0
    url = serve(policy, Limits(workers=1, queue=1))
    begun = httpx.post(f"{url}/v1/sessions", json={"episode": "1_rep0", "seed": 0}).json()
    seen = {"frame": 0, "time_s": 0.0, "pictures": {}, "speed": 1.0, "command": "follow"}
    body = {"step": 0, "observation": {**seen, "command_distance": None}}
    answers: list[int] = []

    def decide() -> None:
        place = f"{url}/v1/sessions/{begun['session']}/decide"
        answers.append(httpx.post(place, json=body, timeout=20).status_code)

    threads = [threading.Thread(target=decide) for _ in range(2)]
    for thread in threads:
        thread.start()
    until(lambda: waiting(url) == 1)  # for the session's lock
    decide()
    assert answers == [503]
    for thread in threads:
        thread.join(20)
    assert sorted(answers) == [200, 200, 503]
    assert policy.count == 1


def test_a_place_is_free_again_however_it_was_left() -> None:
    async def use() -> None:
        desk = Desk(workers=1, queue=0)
        with desk.place():
            assert (desk.inside, desk.running, desk.waiting) == (1, 0, 1)
            with pytest.raises(Busy):
                desk.place()
        with pytest.raises(KeyError), desk.place():
            raise KeyError
        with desk.place() as place:
            at_work = asyncio.create_task(place.run(lambda: time.sleep(0.2)))
            await asyncio.sleep(0.05)
            assert (desk.inside, desk.running, desk.waiting) == (1, 1, 0)
            await at_work
        for _ in range(100):
            await asyncio.sleep(0.01)
            if not desk.inside:
                break
        assert (desk.inside, desk.running) == (0, 0)
        desk.close()

    asyncio.run(use())


def test_the_pictures_of_a_call_are_bounded_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_CALL_PIXELS", 2 * 24 * 32)
    sent = Sender().send([pixels(0)] * 3)
    receiver = Receiver()
    for picture in sent[:2]:
        receiver.pixels(picture)
    with pytest.raises(Refused, match="in one call") as caught:
        receiver.pixels(sent[2])
    assert (caught.value.status, caught.value.code) == (413, "picture")


@pytest.mark.parametrize("carrier", ["bytes", "shared"])
def test_a_client_cuts_its_batches_so_that_they_fit(
    serve: Any, monkeypatch: pytest.MonkeyPatch, carrier: Any
) -> None:
    for module in (pictures, wire):
        monkeypatch.setattr(module, "MAX_CALL_PIXELS", 2 * 24 * 32)
    with closing(open_policy(f"wire:{serve(Echo())}", PolicySettings(carrier=carrier))) as remote:
        replies = remote.reply([asked(str(n)) for n in range(5)] + [asked("too much", 3)])
    assert [reply.error for reply in replies[:5]] == [""] * 5
    assert "in one call" in replies[5].error
    assert not replies[5].outage


def test_what_a_picture_will_take_is_known_before() -> None:
    (sent,) = Sender().send([pixels(0)])
    assert pixels_of(sent) == 24 * 32
    assert pixels_of(wire.Encoded(data=b"GIF89a")) == 0
    assert pixels_of(wire.FilePicture(path="a.png")) == FILE_PIXELS
    name = "driveproof-wire-1-" + "0" * 32
    shared = wire.SharedPicture(name=name, offset=0, height=3, width=5)
    assert pixels_of(shared) == 15
