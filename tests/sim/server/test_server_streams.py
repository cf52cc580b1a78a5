"""Streams: tokens, who hears what, and slow readers that lose only their own oldest frames."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from driveproof.sim.server import streams
from driveproof.sim.server.streams import StreamHub, Subscriber, stream_token


@asynccontextmanager
async def serving(hub: StreamHub) -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Subscriber(hub), "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        hub.close_all()
        await asyncio.sleep(0)


async def subscribe(port: int, stream: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(struct.pack("<I", stream))
    return reader, writer


async def receive(reader: asyncio.StreamReader) -> bytes:
    async with asyncio.timeout(5):
        (length,) = struct.unpack("<I", await reader.readexactly(4))
        return await reader.readexactly(length)


def hub(greeting: bytes | None = None) -> StreamHub:
    return StreamHub(lambda stream: greeting)


def test_a_token_is_24_packed_bytes() -> None:
    assert stream_token(7, 2001) == struct.pack("<IHBB", 7, 2001, 1, 0) + bytes(16)


def test_every_subscriber_of_a_stream_hears_it_and_others_do_not() -> None:
    async def scene() -> None:
        many = hub(b"hello")
        first, second = many.open(), many.open()
        async with serving(many) as port:
            many.expect(first)
            many.expect(first)
            many.expect(second)
            a, wa = await subscribe(port, first)
            b, wb = await subscribe(port, first)
            c, wc = await subscribe(port, second)
            await many.settle(5.0)
            many.publish(first, (b"to ", b"first"))
            many.publish(second, (b"to second",))
            for reader in (a, b, c):
                assert await receive(reader) == b"hello"
            assert await receive(a) == await receive(b) == b"to first"
            assert await receive(c) == b"to second"
            many.close(first)
            assert await a.read() == b""
            assert not many.is_heard(first)
            assert many.is_heard(second)
            for writer in (wa, wb, wc):
                writer.close()

    asyncio.run(scene())


def test_settling_waits_for_a_socket_but_not_for_ever() -> None:
    async def scene() -> None:
        lonely = hub()
        stream = lonely.open()
        lonely.expect(stream)
        started = asyncio.get_running_loop().time()
        await lonely.settle(0.05)
        assert asyncio.get_running_loop().time() - started >= 0.05
        assert lonely.is_settled

    asyncio.run(scene())


def test_a_socket_of_a_past_stream_is_kept_silent() -> None:
    async def scene() -> None:
        past = hub(b"hello")
        stream = past.open()
        past.close(stream)
        async with serving(past) as port:
            reader, writer = await subscribe(port, stream)
            await asyncio.sleep(0.05)
            past.publish(stream, (b"nobody",))
            try:
                async with asyncio.timeout(0.1):
                    assert await reader.read(1) is None, "heard something, or was closed"
            except TimeoutError:
                pass
            writer.close()

    asyncio.run(scene())


def test_a_slow_reader_loses_its_oldest_frames_and_memory_stays_bounded() -> None:
    async def scene() -> None:
        many = hub()
        stream = many.open()
        frame = bytes(1 << 20)
        async with serving(many) as port:
            slow, slow_writer = await subscribe(port, stream)
            quick, quick_writer = await subscribe(port, stream)
            await asyncio.sleep(0.05)
            count = 200
            for number in range(count):
                many.publish(stream, (struct.pack("<I", number), frame))
                assert (await receive(quick))[:4] == struct.pack("<I", number)
            waiting = [s for s in many._connections if s._queue]
            assert len(waiting) == 1
            held = sum(len(f) for f in waiting[0]._queue)
            assert held == many.queued_bytes <= streams.QUEUED_BYTES
            assert many.dropped > 0
            seen = []
            while not seen or seen[-1] != count - 1:
                seen.append(struct.unpack("<I", (await receive(slow))[:4])[0])
            assert seen == sorted(set(seen)), "frames are in their order, each at most once"
            assert len(seen) + many.dropped == count
            assert many.queued_bytes == 0
            slow_writer.close()
            quick_writer.close()

    asyncio.run(scene())


def test_draining_gives_a_slow_reader_time_once() -> None:
    async def scene() -> None:
        many = hub()
        stream = many.open()
        async with serving(many) as port:
            reader, writer = await subscribe(port, stream)
            await asyncio.sleep(0.05)
            while not many.is_crowded:
                many.publish(stream, (bytes(1 << 20),))
            await many.drain(0.05)
            assert not many.is_crowded, "it was waited for in vain, so it is not waited for again"
            await many.drain(0.05)
            assert not many.is_crowded
            many.publish(stream, (bytes(1 << 20),))
            assert not many.is_crowded, "until it has caught up"
            while not all(s.patience for s in many._connections):
                await receive(reader)
            writer.close()

    asyncio.run(scene())
