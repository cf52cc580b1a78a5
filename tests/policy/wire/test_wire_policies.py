"""Policies over the wire answer as they do without it, and a failing server is an error, never an exception."""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from wire_helpers import Counter, Echo, asked, closing, pixels, said  # type: ignore[import-not-found]

from driveproof.errors import BadInput, Unreachable
from driveproof.policy import (
    ChatPolicy,
    ChatReply,
    ChatRequest,
    DriveDecision,
    DriveObservation,
    DrivingPolicy,
    Pedals,
    PolicySettings,
    open_driver,
    open_policy,
)
from driveproof.policy.wire import messages as wire
from driveproof.policy.wire import transport
from driveproof.policy.wire.client import connect
from driveproof.policy.wire.codec import JSON, Refused
from driveproof.policy.wire.pictures import SHARED
from driveproof.policy.wire.service import Limits, Service
from driveproof.policy.wire.transport import ServerFailed, Transport
from driveproof.scene import ImageRef


def seen(step: int = 0, views: tuple[str, ...] = ("CAM_FRONT", "CAM_BACK")) -> DriveObservation:
    pictures = {view: [pixels(n), pixels(n + 7)] for n, view in enumerate(views)}
    return DriveObservation(10 * step, 0.5 * step, pictures, 4.0, "left", 12.5)


@pytest.mark.parametrize("carrier", ["bytes", "file", "shared", None])
def test_answers_are_those_of_the_policy_itself(serve: Any, carrier: Any) -> None:
    policy = Echo()
    settings = PolicySettings(carrier=carrier, timeout_s=10)
    with closing(open_policy(f"wire:{serve(policy)}", settings)) as remote:
        assert isinstance(remote, ChatPolicy)
        schema = {"type": "object", "properties": {"a": {"type": "string"}}}
        requests = [
            asked(
                f"number {n} ÄÖ\u2028", n % 3, seed=n, temperature=0.5, top_p=0.9, max_tokens=7 + n
            )
            for n in range(70)
        ]
        requests.append(asked(schema=schema))
        replies = remote.reply(requests)
        assert [reply.text for reply in replies] == [said(request).text for request in requests]
        assert replies[0].usage == {"prompt_tokens": 3}
        assert remote.reply([]) == []
        assert remote.name == "echo"
        identity = remote.identity()
        assert identity["policy"] == policy.identity()
        assert len(identity["digest"]) == len(identity["prompts"]) == 64


def test_which_requests_begin_alike_is_told_and_nothing_else_of_their_session(serve: Any) -> None:
    policy = Echo()
    names = ["", "town12/7", "town12/7", "town12/8"]
    with closing(open_policy(f"wire:{serve(policy)}")) as remote:
        remote.reply([asked(session=name) for name in names])
    got = [request.session for request in policy.seen]
    assert got[0] == ""
    assert got[1] == got[2] != got[3]
    assert not any("town12" in name for name in got)


def test_a_request_that_cannot_be_sent_is_lost_alone(serve: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.jpg").write_bytes(b"\xff\xd8\xff no more")
    settings = PolicySettings(image_root=str(tmp_path))
    message = {"role": "user", "content": [{"type": "image"}]}
    wrong = [
        ChatRequest([message], [ImageRef("nowhere.jpg")]),
        ChatRequest([message], [ImageRef("broken.jpg")]),
        asked(max_tokens=0),
        asked("lone \ud800 surrogate"),
        ChatRequest([{"role": "wizard", "content": []}]),
    ]
    with closing(open_policy(f"wire:{serve(Echo())}", settings)) as remote:
        replies = remote.reply([asked(), *wrong, asked()])
    assert [reply.text is None for reply in replies] == [False, *[True] * 5, False]
    assert "nowhere.jpg" in replies[1].error
    assert not any(reply.outage for reply in replies)


def test_a_policy_that_raises_is_an_error_of_the_policy(serve: Any) -> None:
    policy = Echo()
    policy.fails = True
    with closing(open_policy(f"wire:{serve(policy)}")) as remote:
        (reply,) = remote.reply([asked()])
    assert reply.error == "RuntimeError: the model fell over"
    assert not reply.outage


def test_a_driver_decides_in_its_own_session(serve: Any) -> None:
    made = [Counter()]

    def again() -> Counter:
        made.append(Counter())
        return made[-1]

    url = serve(made[0], None, again)
    with closing(open_driver(f"wire:{url}")) as one, closing(open_driver(f"wire:{url}")) as two:
        assert isinstance(one, DrivingPolicy)
        assert (one.views, one.history) == (("CAM_FRONT", "CAM_BACK"), 2)
        assert one.decide(seen()).error == "no episode has begun"
        one.begin("1_rep0", 0)
        two.begin("2_rep0", 0)
        throttles = [one.decide(seen(n)).controls for n in range(3)]
        assert throttles == [Pedals(0.01, 0, 0), Pedals(0.02, 0, 0), Pedals(0.03, 0, 0)]
        other = two.decide(seen())
        assert other.controls == Pedals(0.01, 0, 0)
        assert (other.trace, other.usage) == ({"episode": "2_rep0"}, {"n": 1})
        one.begin("3_rep0", 0)
        assert one.decide(seen()).controls == Pedals(0.01, 0, 0)
        assert one.health().sessions == 2
    assert len(made) == 2
    mine, theirs = made[0].seen[0], seen()
    assert (mine.frame, mine.time_s, mine.speed) == (theirs.frame, theirs.time_s, theirs.speed)
    assert (mine.command, mine.command_distance) == ("left", 12.5)
    for view in theirs.pictures:
        assert np.array_equal(mine.pictures[view], theirs.pictures[view])


def test_without_shared_memory_pictures_go_as_bytes(
    serve: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The server is on another machine, or in a container of its own: it finds nothing under the name."""
    url, policy = serve(Echo()), Counter()
    driving = serve(policy)
    from driveproof.policy.wire import pictures

    real, elsewhere = pictures._read, tmp_path
    monkeypatch.setattr(pictures, "_read", lambda path, *a: real(elsewhere / path.name, *a))
    settings = PolicySettings(carrier="shared")
    with closing(open_policy(f"wire:{url}", settings)) as remote:
        assert remote.reply([asked()])[0].text == said(asked()).text
    with closing(open_driver(f"wire:{driving}", settings)) as driver:
        driver.begin("1_rep0", 0)
        assert driver.decide(seen()).controls == Pedals(0.01, 0, 0)
        assert driver.decide(seen(1)).controls == Pedals(0.02, 0, 0)
    assert np.array_equal(policy.seen[0].pictures["CAM_BACK"], seen().pictures["CAM_BACK"])


def test_the_role_and_the_name_must_fit(serve: Any) -> None:
    chat, driving = serve(Echo()), serve(Counter())
    with pytest.raises(BadInput, match="answers conversations, a server that drives in sessions"):
        open_driver(f"wire:{chat}")
    with pytest.raises(BadInput, match="drives in sessions"):
        open_policy(f"wire:{driving}")
    with pytest.raises(BadInput, match="serves echo, not parrot"):
        open_policy(f"wire:{chat}#parrot")
    connect(f"{chat}#echo").close()


def test_a_token_is_wanted_and_not_told(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    token = "0123456789abcdef-secret"
    url = serve(Echo(), token=token)
    assert httpx.get(f"{url}/health").status_code == 200
    assert httpx.get(f"{url}/identity").status_code == 401
    with pytest.raises(BadInput, match="put it into DRIVEPROOF_WIRE_TOKEN"):
        open_policy(f"wire:{url}")
    with pytest.raises(Unreachable):  # in the middle of a run, too: no failure of the policy
        open_policy(f"wire:{url}")
    monkeypatch.setenv(transport.TOKEN_VARIABLE, token + "x")
    with pytest.raises(BadInput) as caught:
        open_policy(f"wire:{url}")
    assert token not in str(caught.value)
    monkeypatch.setenv(transport.TOKEN_VARIABLE, token)
    with closing(open_policy(f"wire:{url}")) as remote:
        assert remote.reply([asked()])[0].text
        assert token not in repr(remote.identity())


def test_other_versions_are_refused_in_words(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = serve(Echo())
    answer = httpx.get(f"{url}/identity", headers={wire.VERSION_HEADER: "7"})
    assert (answer.status_code, answer.json()["supported"]) == (400, [1])
    assert "version '7' of the wire is not spoken here, but 1" in answer.json()["problem"]
    monkeypatch.setattr(transport.wire, "VERSIONS", (2, 3))
    health = wire.Health(versions=[1], running=0, waiting=0, capacity=1, sessions=0)
    handler = speaking(health.model_dump_json().encode(), JSON)
    with pytest.raises(ServerFailed, match="speaks version 1 of the wire, this program 2, 3"):
        Transport(url, http=httpx.Client(transport=handler))


@pytest.mark.slow
def test_a_busy_server_is_asked_again(serve: Any) -> None:
    policy = Echo()
    policy.slow_s = 0.15
    url = serve(policy, Limits(workers=1, queue=0))
    errors: list[str] = []

    def ask() -> None:
        with closing(open_policy(f"wire:{url}", PolicySettings(timeout_s=20))) as remote:
            errors.append(remote.reply([asked()])[0].error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert errors == [""] * 4


@pytest.mark.slow
def test_patience_ends(serve: Any) -> None:
    policy = Echo()
    url = serve(policy, Limits(workers=1, queue=0))
    settings = PolicySettings(timeout_s=0.6)
    with closing(open_policy(f"wire:{url}", settings)) as remote:
        policy.slow_s = 1.5
        slow = threading.Thread(
            target=lambda: httpx.post(f"{url}/v1/chat", json=plain(), timeout=9)
        )
        slow.start()
        time.sleep(0.3)
        refused = httpx.post(f"{url}/v1/chat", json=plain())
        assert (refused.status_code, refused.json()["code"]) == (503, "busy")
        assert int(refused.headers["retry-after"]) >= 1
        start = time.monotonic()
        (reply,) = remote.reply([asked()])
        assert time.monotonic() - start < 1.2
        assert "was busy for 0.6 s" in reply.error
        assert reply.outage
        slow.join()


def plain() -> dict[str, Any]:
    """A request in JSON as anyone may write it."""
    turn = {"role": "user", "content": [{"type": "text", "text": "hello"}]}
    return {"requests": [{"messages": [turn]}]}


@pytest.mark.slow
def test_time_is_limited_on_both_sides(serve: Any) -> None:
    policy = Echo()
    policy.slow_s = 0.8
    quick_server = serve(policy, Limits(timeout_s=0.2))
    with closing(open_policy(f"wire:{quick_server}")) as remote:
        (reply,) = remote.reply([asked()])
        assert "the policy took longer than 0.2 s" in reply.error
        assert reply.outage
    with closing(open_policy(f"wire:{serve(policy)}", PolicySettings(timeout_s=0.2))) as remote:
        start = time.monotonic()
        (reply,) = remote.reply([asked()])
        assert time.monotonic() - start < 0.7
        assert "ReadTimeout" in reply.error
        assert reply.outage


def test_a_driver_that_hangs_loses_its_session_and_its_policy(serve: Any) -> None:
    first = Counter()
    first.slow_s = 1.0
    url = serve(first, Limits(timeout_s=0.2, workers=2), Counter)
    with closing(open_driver(f"wire:{url}")) as driver:
        driver.begin("1_rep0", 0)
        for step in range(2):
            decision = driver.decide(seen(step))
            assert "took longer" in decision.error
            assert decision.outage
        driver.begin("1_rep1", 0)
        assert driver.decide(seen()).controls == Pedals(0.01, 0, 0)
    assert first.episode == "1_rep0"  # whoever hangs is never asked again


@pytest.mark.slow
def test_sessions_are_few_and_end_when_unused(serve: Any) -> None:
    url = serve(Counter(), Limits(sessions=2, idle_s=0.4), Counter)
    drivers = [open_driver(f"wire:{url}", PolicySettings(timeout_s=0.2)) for _ in range(3)]
    for driver in drivers:
        driver.begin("1_rep0", 0)
    errors = [driver.decide(seen()).error for driver in drivers]
    assert errors[:2] == ["", ""]
    assert "2 episodes are under way" in errors[2]
    time.sleep(0.5)
    for _ in range(2):  # lost for the rest of the episode, and by no fault of the policy
        lost = drivers[0].decide(seen(1))
        assert "no such session" in lost.error
        assert lost.outage
    drivers[2].begin("1_rep0", 0)
    assert not drivers[2].decide(seen()).error
    for driver in drivers:
        driver.close()


@pytest.mark.slow
def test_a_forgotten_driver_frees_its_place_and_its_memory(serve: Any) -> None:
    url = serve(Counter(), None, Counter)
    driver = open_driver(f"wire:{url}", PolicySettings(carrier="shared"))
    driver.begin("1_rep0", 0)
    driver.decide(seen())
    (memory,) = SHARED.glob(f"driveproof-wire-{os.getpid()}-*")
    assert httpx.get(f"{url}/health").json()["sessions"] == 1
    del driver
    gc.collect()
    assert httpx.get(f"{url}/health").json()["sessions"] == 0
    assert not memory.exists()


def test_a_step_asked_twice_is_decided_once(serve: Any) -> None:
    policy = Counter()
    url = serve(policy)
    begun = httpx.post(f"{url}/v1/sessions", json={"episode": "1_rep0", "seed": 0}).json()
    place = f"{url}/v1/sessions/{begun['session']}"
    body: dict[str, Any] = {
        "step": 0,
        "observation": {"frame": 0, "time_s": 0.0, "pictures": {}, "speed": 1.0, "command": "follow",
                        "command_distance": None},
    }  # fmt: skip
    first, second = (httpx.post(f"{place}/decide", json=body) for _ in range(2))
    assert first.json() == second.json()
    assert policy.count == 1
    ahead = httpx.post(f"{place}/decide", json={**body, "step": 5})
    assert (ahead.status_code, ahead.json()["code"]) == (409, "step")
    assert httpx.delete(place).status_code == 200
    assert httpx.delete(place).status_code == 200
    assert httpx.post(f"{place}/decide", json={**body, "step": 1}).status_code == 404


def test_what_is_no_policy_server_is_said_so() -> None:
    with pytest.raises(ServerFailed, match="ConnectError"):
        open_policy(f"wire:http://127.0.0.1:{unused_port()}")
    html = speaking(b"<p>hello</p>", "text/html")
    with pytest.raises(ServerFailed, match="is no policy server"):
        Transport("http://127.0.0.1:1", http=httpx.Client(transport=html))


def speaking(body: bytes, kind: str) -> httpx.MockTransport:
    """A server that answers everything alike."""
    headers = {"content-type": kind}
    return httpx.MockTransport(lambda _: httpx.Response(200, content=iter([body]), headers=headers))


def unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_answer_that_drips_or_floods_is_late_or_none(serve: Any) -> None:
    def body() -> Any:
        while True:
            time.sleep(0.05)
            yield b" "

    slow = httpx.MockTransport(lambda _: httpx.Response(200, content=body()))
    start = time.monotonic()
    with pytest.raises(ServerFailed, match="took longer"):
        Transport("http://127.0.0.1:1", timeout_s=0.3, http=httpx.Client(transport=slow))
    assert time.monotonic() - start < 1.0
    flood = httpx.MockTransport(
        lambda _: httpx.Response(200, content=(b"x" * 2**20 for _ in range(70)))
    )
    with pytest.raises(ServerFailed, match="more than"):
        Transport("http://127.0.0.1:1", http=httpx.Client(transport=flood))


def test_another_model_behind_the_same_address_is_noticed(serve: Any) -> None:
    url = serve(Echo())
    with closing(open_policy(f"wire:{url}")) as remote:
        remote._transport._digest = "0" * 64
        (reply,) = remote.reply([asked()])
    assert "serves another model than in the beginning" in reply.error
    assert reply.outage


def test_whose_failure_it_is_crosses_the_wire_as_a_field(serve: Any) -> None:
    """A server may itself ask another; and the words of an error say nothing, whatever they are."""
    words = "model server: APITimeoutError: "
    replies = [ChatReply(None, words), ChatReply(None, words, outage=True)]
    policy = Echo()
    policy.reply = lambda requests: replies  # type: ignore[method-assign]
    with closing(open_policy(f"wire:{serve(policy)}")) as remote:
        assert [reply.outage for reply in remote.reply([asked()] * 2)] == [False, True]
    driver = Counter()
    url = serve(driver)
    for outage in (False, True):
        decision = DriveDecision(error=words, outage=outage)
        driver.decide = lambda _, given=decision: given  # type: ignore[method-assign, misc]
        with closing(open_driver(f"wire:{url}")) as remote:
            remote.begin("1_rep0", 0)
            assert remote.decide(seen()).outage is outage


@pytest.mark.parametrize(
    ("status", "code", "outage"),
    [
        (401, "token", True),
        (403, "forbidden", True),
        (404, "role", True),
        (404, "session", True),
        (409, "step", True),
        (400, "version", True),
        (400, "malformed", False),
        (413, "picture", False),
        (422, "message", False),
    ],
)
def test_a_refusal_is_the_policys_only_if_it_is_of_what_was_asked(
    serve: Any, monkeypatch: pytest.MonkeyPatch, status: int, code: str, outage: bool
) -> None:
    def refuse(*_: Any) -> Any:
        raise Refused(status, code, "no")

    with closing(open_policy(f"wire:{serve(Echo())}")) as remote:
        monkeypatch.setattr(Service, "chat", refuse)
        (reply,) = remote.reply([asked()])
    assert "no" in reply.error
    assert reply.outage is outage
