"""Whatever comes over the sockets, the world goes on for everybody else."""

from __future__ import annotations

import contextlib
import os
import random
import socket
import struct
import time
from typing import Any

import msgpack
import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from server_probe import META, answer, ask, connection

from driveproof.sim.client import ServerHandle

pytestmark = pytest.mark.slow


def is_closed(opened: socket.socket) -> bool:
    try:
        while opened.recv(1 << 16):
            pass
    except ConnectionError:
        return True
    return True


def assert_alive(server: ServerHandle) -> None:
    with connection(server) as opened:
        assert ask(opened, "version") == [1, 1, None, [[1, "0.9.16"]]]


def memory_mb(server: ServerHandle) -> float:
    guard = psutil.Process(server.process.pid)
    members = [guard, *guard.children(recursive=True)]
    return float(sum(member.memory_info().rss for member in members)) / 2**20


@pytest.mark.parametrize(
    "garbage",
    [
        b"\xc1",
        b"GET / HTTP/1.1\r\n\r\n",
        msgpack.packb({"method": "version"}),
        msgpack.packb([0, 1, "version"]),
        msgpack.packb([0, "1", "version", [META]]),
        msgpack.packb([5, 1, "version", [META]]),
        msgpack.packb([0, 1, 2, [META]]),
        msgpack.packb("version"),
        b"\xdd\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
        b"\xc9\xff\xff\xff\xff\x01",
        b"\x91" * 5000,
    ],
)
def test_garbage_ends_its_own_connection_only(server: ServerHandle, garbage: bytes) -> None:
    with connection(server) as bystander, connection(server) as opened:
        opened.sendall(garbage)
        assert is_closed(opened)
        assert ask(bystander, "version")[3] == [[1, "0.9.16"]]


def test_random_bytes_do_no_harm(server: ServerHandle) -> None:
    source = random.Random(0)
    for _ in range(100):
        with connection(server, source.choice((0, 1))) as opened:
            opened.sendall(source.randbytes(source.randrange(1, 400)))
    assert_alive(server)


def test_a_request_in_pieces_is_answered(server: ServerHandle) -> None:
    with connection(server) as opened:
        for byte in msgpack.packb([0, 9, "version", [META]]):
            opened.sendall(bytes([byte]))
            time.sleep(0.001)
        assert answer(opened) == [1, 9, None, [[1, "0.9.16"]]]


def test_unknown_methods_and_bad_arguments_are_errors_of_their_call(server: ServerHandle) -> None:
    with connection(server) as opened:
        error = ask(opened, "fly_to_the_moon", 1, 2)[2]
        assert (
            error
            == "rpclib: server could not find function 'fly_to_the_moon' with argument count 3."
        )
        assert "invalid number of arguments" in ask(opened, "destroy_actor")[2]
        assert "bad argument" in ask(opened, "destroy_actor", "seven")[3][0][1][0]
        for number in (float("nan"), 1e39):
            told = ask(opened, "set_weather_parameters", [number] * 14)[3]
            assert told[0][0] is True
            assert "cloudiness: expected a finite number" in told[0][1][0]
        assert ask(opened, "destroy_actor", 999_999)[3][0][0] == 0
        assert "not found" in ask(opened, "destroy_actor", 999_999)[3][0][1][0]
        assert ask(opened, "set_actor_collisions", 999_999, True)[3][0][0] is True
        assert ask(opened, "get_actor_bounding_box", 999_999)[3][0][0] == 1
        assert ask(opened, "version")[3] == [[1, "0.9.16"]]


wires = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=6)
    | st.binary(max_size=6),
    lambda inner: st.lists(inner, max_size=6),
    max_leaves=12,
)


@settings(max_examples=150)
@given(data=st.data())
def test_any_arguments_of_any_method_are_answered(server: ServerHandle, data: Any) -> None:
    from driveproof.sim.server.registry import METHODS

    # Loading towns is tested elsewhere: it would take all the time.
    names = sorted(set(METHODS) - {"load_new_episode", "copy_opendrive_to_file"})
    with connection(server) as opened:
        reply = ask(
            opened, data.draw(st.sampled_from(names)), *data.draw(st.lists(wires, max_size=4))
        )
        assert reply[:2] == [1, 1]


def test_a_client_that_never_reads_costs_no_memory(server: ServerHandle) -> None:
    request = msgpack.packb([0, 1, "get_actor_definitions", [META]])
    with connection(server) as opened:
        before = memory_mb(server)
        opened.settimeout(0.2)
        sent = 0
        try:
            while sent < 4 << 20:
                sent += opened.send(request * 100)
        except TimeoutError:
            pass
        assert_alive(server)
        assert memory_mb(server) - before < 40.0


@pytest.mark.parametrize("head", [b"\xdb\xff\xff\xff\xff", b"\xc6\xff\xff\xff\xff"])
def test_a_text_of_four_gigabytes_is_not_waited_for(server: ServerHandle, head: bytes) -> None:
    before = memory_mb(server)
    with connection(server) as opened:
        opened.sendall(head)
        with contextlib.suppress(ConnectionError):
            for _ in range(150):
                opened.sendall(bytes(1 << 20))
        assert is_closed(opened)
    assert_alive(server)
    assert memory_mb(server) - before < 150.0


def test_half_a_huge_message_costs_no_memory_and_ends_with_its_connection(
    server: ServerHandle,
) -> None:
    before = memory_mb(server)
    for _ in range(5):
        with connection(server) as opened:
            opened.sendall(b"\x94\x00\x01\xdb" + struct.pack(">I", 100 << 20) + bytes(1 << 20))
    time.sleep(0.1)
    assert_alive(server)
    assert memory_mb(server) - before < 40.0


def test_deep_and_wide_arrays_cost_no_memory(server: ServerHandle) -> None:
    before = memory_mb(server)
    with connection(server) as opened:
        opened.sendall(b"\xdd" + struct.pack(">I", 16_000) + b"\xdd\x00\x00\x3e\x80" * 900)
        time.sleep(0.2)
        assert_alive(server)
        assert memory_mb(server) - before < 100.0


def test_stream_sockets_that_say_nothing_or_nonsense(server: ServerHandle) -> None:
    with (
        connection(server, 1) as silent,
        connection(server, 1) as half,
        connection(server, 1) as unknown,
    ):
        half.sendall(b"\x01\x00")
        unknown.sendall(struct.pack("<I", 4_000_000_000) + os.urandom(1000))
        assert_alive(server)
        silent.sendall(struct.pack("<I", 1))
        (length,) = struct.unpack("<I", silent.recv(4, socket.MSG_WAITALL))
        header = silent.recv(length, socket.MSG_WAITALL)
        assert struct.unpack_from("<Q", header) == (17,)
        assert (length - 48 - 36) % 119 == 0


def test_a_reader_that_stops_reading_loses_frames_and_nobody_else_does(
    server: ServerHandle, world: Any
) -> None:
    before = memory_mb(server)
    with connection(server, 1) as lazy:
        lazy.sendall(struct.pack("<I", 1))
        frames = [world.tick() for _ in range(200)]
        assert frames == list(range(frames[0], frames[0] + 200))
        assert world.get_snapshot().frame == frames[-1]
    assert memory_mb(server) - before < 20.0


def test_a_wrong_number_is_explained_to_the_user_of_the_client(world: Any) -> None:
    settings = world.get_settings()
    settings.fixed_delta_seconds = float("inf")
    with pytest.raises(RuntimeError, match="fixed_delta_seconds: expected a finite number"):
        world.apply_settings(settings)
