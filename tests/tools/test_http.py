"""The HTTP client: bounded, typed errors, connections that are kept and closed."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from models.model_server import Hangs, Resets, Sent, Status, model_server
from tools.http import (
    HttpClient,
    HttpError,
    HttpNetworkError,
    HttpTimeoutError,
    HttpTooLargeError,
)

ASKED = b'{"messages":[]}'


@pytest.fixture
async def client() -> AsyncIterator[HttpClient]:
    async with HttpClient(connect_seconds=0.3) as opened:
        yield opened


async def test_any_status_is_a_reply_and_the_connection_is_kept(client: HttpClient) -> None:
    async with model_server(Status(404, b"x", (("X-Why", "gone"),)), Sent(b"y")) as server:
        first = await client.post(server.url, {"A": "b"}, ASKED, max_bytes=10)
        second = await client.post(server.url, {}, ASKED, max_bytes=10)
    assert (first.status, first.body, first.headers["x-why"]) == (404, b"x", "gone")
    assert (second.status, second.body) == (200, b"y")
    assert server.connections == 1
    assert server.asked[0].headers["a"] == "b"
    assert server.asked[0].raw == ASKED


async def test_a_redirect_is_not_followed(client: HttpClient) -> None:
    async with model_server(Status(302, b"", (("location", "/other"),))) as server:
        reply = await client.post(server.url, {}, ASKED, max_bytes=10)
    assert reply.status == 302
    assert len(server.asked) == 1


async def test_a_body_that_is_too_large_is_an_error(client: HttpClient) -> None:
    async with model_server(Sent(b"x" * 11)) as server:
        with pytest.raises(HttpTooLargeError, match="more than 10 bytes"):
            await client.post(server.url, {}, ASKED, max_bytes=10)


async def test_a_packed_body_counts_unpacked(client: HttpClient) -> None:
    packed = zlib.compress(b"x" * 100_000)
    async with model_server(Status(200, packed, (("content-encoding", "deflate"),))) as server:
        with pytest.raises(HttpTooLargeError):
            await client.post(server.url, {}, ASKED, max_bytes=50_000)


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
            await client.post(server.url, {}, ASKED, max_bytes=1000)


async def test_a_refused_connection_and_one_that_never_comes_differ(client: HttpClient) -> None:
    with pytest.raises(HttpNetworkError, match="could not be reached"):
        await client.post("http://127.0.0.1:9/x?secret=1", {}, ASKED, max_bytes=1)
    full = _Full()
    try:
        with pytest.raises(HttpTimeoutError, match="in time"):
            await client.post(full.url, {}, ASKED, max_bytes=1)
    finally:
        full.close()


async def test_cancelling_closes_the_connection_and_the_client_goes_on(client: HttpClient) -> None:
    async with model_server(Hangs(), Sent(b"y")) as server:
        task = asyncio.create_task(client.post(server.url, {}, ASKED, max_bytes=1))
        await server.waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 10)
        assert (await client.post(server.url, {}, ASKED, max_bytes=1)).body == b"y"


@dataclass
class _Raw:
    """Sends these bytes to whoever asks, then hangs up; ``heads`` is what it was asked."""

    reply: bytes
    heads: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
        if not self.heads[-1].startswith("CONNECT"):
            await reader.readexactly(len(ASKED))
        writer.write(self.reply)
        if not self.reply:
            await reader.read()
            self.left.set()
        writer.close()


@asynccontextmanager
async def _raw(reply: bytes, tls: ssl.SSLContext | None = None) -> AsyncIterator[_Raw]:
    raw = _Raw(reply)
    server = await asyncio.start_server(raw.serve, "127.0.0.1", 0, ssl=tls)
    raw.port = server.sockets[0].getsockname()[1]
    async with server:
        yield raw


OK = b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\ny"


@pytest.mark.parametrize(
    "reply",
    [
        b"\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhal",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ],
    ids=["nothing", "not http", "half a body", "half a chunk", "bad chunk"],
)
async def test_what_is_no_whole_reply_is_a_lost_connection_and_no_timeout(
    reply: bytes, client: HttpClient
) -> None:
    async with _raw(reply) as raw:
        with pytest.raises(HttpNetworkError, match="closed the connection"):
            await client.post(f"http://127.0.0.1:{raw.port}/", {}, ASKED, max_bytes=100)


@pytest.mark.parametrize("url", ["http://no-such-host.invalid/", "ftp://127.0.0.1/"])
async def test_a_host_without_an_address_could_not_be_reached(url: str) -> None:
    async with HttpClient() as client:
        with pytest.raises(HttpNetworkError, match="could not be reached"):
            await client.post(url, {}, ASKED, max_bytes=1)


async def test_a_header_of_two_lines_is_never_sent(client: HttpClient) -> None:
    async with _raw(OK) as raw:
        with pytest.raises(HttpNetworkError):
            await client.post(
                f"http://127.0.0.1:{raw.port}/", {"a": "b\r\nc: d"}, ASKED, max_bytes=1
            )
    assert raw.heads == []


async def test_the_proxy_of_the_environment_is_asked_but_for_what_no_proxy_names(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _raw(OK) as proxy, _raw(OK) as near:
        monkeypatch.setenv("HTTP_PROXY", f"http://me:pw@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("http_proxy", f"http://me:pw@127.0.0.1:{proxy.port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        await client.post("http://models.invalid/v1", {}, ASKED, max_bytes=1)
        await client.post(f"http://127.0.0.1:{near.port}/v1", {}, ASKED, max_bytes=1)
    assert proxy.heads[0].startswith("POST http://models.invalid/v1 HTTP/1.1\r\n")
    assert "proxy-authorization: basic bwu6chc=" in proxy.heads[0].lower()
    assert near.heads[0].startswith("POST /v1 ")
    assert len(proxy.heads) == 1


async def test_https_goes_through_a_tunnel_and_a_proxy_that_refuses_is_said(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with _raw(b"HTTP/1.1 407 No\r\ncontent-length: 0\r\n\r\n") as proxy:
        monkeypatch.setenv("https_proxy", f"127.0.0.1:{proxy.port}")
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(HttpNetworkError) as refused:
            await client.post("https://models.invalid/v1", {}, ASKED, max_bytes=1)
    assert str(refused.value) == (
        "models.invalid could not be reached: the proxy refused with HTTP 407"
    )
    assert proxy.heads[0].startswith("CONNECT models.invalid:443 HTTP/1.1\r\n")


async def test_a_proxy_of_another_kind_is_a_typed_error(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("all_proxy", "socks5://127.0.0.1:9")
    monkeypatch.delenv("http_proxy", raising=False)
    monkeypatch.delenv("HTTP_PROXY", raising=False)
    with pytest.raises(HttpNetworkError, match=r"could not be reached: .* is not an HTTP proxy"):
        await client.post("http://models.invalid/v1", {}, ASKED, max_bytes=1)


async def test_a_proxy_that_is_down_is_named_and_its_password_is_not(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://me:hush@127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with pytest.raises(HttpNetworkError) as down:
        await client.post("http://models.invalid/v1", {}, ASKED, max_bytes=1)
    assert str(down.value) == "models.invalid could not be reached: its proxy does not answer"


async def test_certificates_that_cannot_be_read_are_said_and_are_no_lost_connection(
    client: HttpClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    with pytest.raises(HttpNetworkError, match=r"could not be reached: .*SSL_CERT_FILE"):
        await client.post("https://127.0.0.1:9/", {}, ASKED, max_bytes=1)


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ssl.SSLContext]:
    """A certificate for 127.0.0.1 that nobody has signed, and the server's side of it."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl command")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2"
    more = ["-subj", "/CN=models", "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(
        ["openssl", *asked.split(), *more, "-out", cert, "-keyout", key],
        check=True,
        capture_output=True,
    )
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)
    return cert, context


async def test_a_certificate_that_nobody_trusts_is_refused(
    tls: tuple[Path, ssl.SSLContext], client: HttpClient
) -> None:
    async with _raw(OK, tls[1]) as raw:
        with pytest.raises(HttpNetworkError, match=r"certificate is not trusted .self-signed"):
            await client.post(f"https://127.0.0.1:{raw.port}/", {}, ASKED, max_bytes=1)
    assert raw.heads == []


async def test_ssl_cert_file_is_trusted_and_an_abort_closes_the_connection(
    tls: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tls[0]))
    async with HttpClient() as client, _raw(OK, tls[1]) as raw, _raw(b"", tls[1]) as silent:
        reply = await client.post(f"https://127.0.0.1:{raw.port}/", {}, ASKED, max_bytes=1)
        assert reply.body == b"y"
        task = asyncio.create_task(
            client.post(f"https://127.0.0.1:{silent.port}/", {}, ASKED, max_bytes=1)
        )
        while not silent.heads:
            await asyncio.sleep(0.005)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(silent.left.wait(), 0.25)


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
