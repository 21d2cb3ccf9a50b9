"""The HTTP client: bounded, typed errors, connections that are kept and closed."""

from __future__ import annotations

import asyncio
import socket
import zlib
from collections.abc import AsyncIterator

import pytest

from models.model_server import Hangs, Resets, Sent, Status, model_server
from tools.http import (
    HttpClient,
    HttpError,
    HttpNetworkError,
    HttpTimeoutError,
    HttpTooLargeError,
)


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient(connect_seconds=0.3) as opened:
        yield opened


async def test_any_status_is_a_reply_and_the_connection_is_kept(client: HttpClient) -> None:
    async with model_server(Status(404, b"x", (("X-Why", "gone"),)), Sent(b"y")) as server:
        first = await client.post(server.url, {"A": "b"}, b"in", max_bytes=10)
        second = await client.post(server.url, {}, b"in", max_bytes=10)
    assert (first.status, first.body, first.headers["x-why"]) == (404, b"x", "gone")
    assert (second.status, second.body) == (200, b"y")
    assert server.connections == 1
    assert server.asked[0].headers["a"] == "b"
    assert server.asked[0].raw == b"in"


async def test_a_redirect_is_not_followed(client: HttpClient) -> None:
    async with model_server(Status(302, b"", (("location", "/other"),))) as server:
        reply = await client.post(server.url, {}, b"", max_bytes=10)
    assert reply.status == 302
    assert len(server.asked) == 1


async def test_a_body_that_is_too_large_is_an_error(client: HttpClient) -> None:
    async with model_server(Sent(b"x" * 11)) as server:
        with pytest.raises(HttpTooLargeError, match="more than 10 bytes"):
            await client.post(server.url, {}, b"", max_bytes=10)


async def test_a_packed_body_counts_unpacked(client: HttpClient) -> None:
    packed = zlib.compress(b"x" * 100_000)
    async with model_server(Status(200, packed, (("content-encoding", "deflate"),))) as server:
        with pytest.raises(HttpTooLargeError):
            await client.post(server.url, {}, b"", max_bytes=50_000)


@pytest.mark.parametrize(
    ("play", "wrong"),
    [
        (Resets(), HttpNetworkError),
        (Status(200, b"junk", (("content-encoding", "gzip"),)), HttpNetworkError),
    ],
    ids=["reset", "bad gzip"],
)
async def test_a_broken_reply_is_a_typed_error(
    play: Resets | Status, wrong: type[HttpError], client: HttpClient
) -> None:
    async with model_server(play) as server:
        with pytest.raises(wrong, match=r"127\.0\.0\.1"):
            await client.post(server.url, {}, b"", max_bytes=1000)


async def test_a_refused_connection_and_one_that_never_comes_differ(client: HttpClient) -> None:
    with pytest.raises(HttpNetworkError, match="could not be reached"):
        await client.post("http://127.0.0.1:9/x?secret=1", {}, b"", max_bytes=1)
    full = _Full()
    try:
        with pytest.raises(HttpTimeoutError, match="in time"):
            await client.post(full.url, {}, b"", max_bytes=1)
    finally:
        full.close()


async def test_cancelling_closes_the_connection_and_the_client_goes_on(client: HttpClient) -> None:
    async with model_server(Hangs(), Sent(b"y")) as server:
        task = asyncio.create_task(client.post(server.url, {}, b"", max_bytes=1))
        await server.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 1)
        assert (await client.post(server.url, {}, b"", max_bytes=1)).body == b"y"


class _Full:
    """A port whose queue of connections is full, so that no further one is made."""

    def __init__(self) -> None:
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(0)
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.held: list[socket.socket] = []
        for _ in range(4):
            one = socket.socket()
            one.settimeout(0)
            one.connect_ex(self.listener.getsockname())
            self.held.append(one)

    def close(self) -> None:
        for one in (*self.held, self.listener):
            one.close()
