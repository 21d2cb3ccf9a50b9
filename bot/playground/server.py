"""Running a playground: on a port of 127.0.0.1, as a process or inside a test.

Owns the listening socket, the `ready` line, and an orderly end. `run` blocks until a signal;
`running_playground` is an async context manager for tests and embedding.
"""

from __future__ import annotations

import asyncio
import errno
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import uvicorn

from bot.playground.app import create_app
from bot.playground.playground import Playground
from bot.playground.transport import AbortableHttp, AbortableWebSocket

SHUTDOWN_SECONDS = 2
PING_SECONDS = 20.0


class PortInUseError(OSError):
    """Another program listens on the port; take another one, or 0 for any free one."""

    def __init__(self, host: str, port: int) -> None:
        super().__init__(
            errno.EADDRINUSE,
            f"port {port} is in use on {host}; choose another one, or 0 for any free one",
        )
        self.port = port

    def __str__(self) -> str:
        return str(self.args[1])


@dataclass(frozen=True)
class Running:
    """A playground that accepts connections."""

    playground: Playground
    url: str
    """`http://127.0.0.1:PORT`: the page."""

    @property
    def api_url(self) -> str:
        """The `base_url` of a Slack client."""
        return f"{self.url}/api/"

    @property
    def control_url(self) -> str:
        return f"{self.url}/_control/"


class _Server(uvicorn.Server):
    """uvicorn that ends the playground first, so that open streams do not hold up the end."""

    def __init__(self, config: uvicorn.Config, playground: Playground) -> None:
        super().__init__(config)
        self._playground = playground
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._playground.close()
        await super().shutdown(sockets)


class _EmbeddedServer(_Server):
    """Leaves the signal handlers of the process that it lives in alone, and ends when told to."""

    def __init__(self, config: uvicorn.Config, playground: Playground) -> None:
        super().__init__(config, playground)
        self.ending = asyncio.Event()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self.ending.wait()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises PortInUseError, or ValueError for an address that is not local."""
    if host not in ("127.0.0.1", "localhost"):
        raise ValueError(f"the playground listens on 127.0.0.1 only, not on {host}")
    # With the protocol named, asyncio turns Nagle's algorithm off; else each answer waits 40 ms.
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind(("127.0.0.1", port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise PortInUseError(host, port) from error
        raise
    return sock


def _config(playground: Playground) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(playground),
        http=AbortableHttp,
        ws=AbortableWebSocket,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


def _url(sock: socket.socket) -> str:
    return f"http://127.0.0.1:{sock.getsockname()[1]}"


async def serve(playground: Playground, sock: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; prints `ready URL` once connections are accepted."""
    server = _Server(_config(playground), playground)
    serving = asyncio.ensure_future(server.serve(sockets=[sock]))
    up = asyncio.ensure_future(server.is_up.wait())
    await asyncio.wait({serving, up}, return_when=asyncio.FIRST_COMPLETED)
    if up.done():
        print(f"ready {_url(sock)}", flush=True)  # noqa: T201  # what a caller waits for
    up.cancel()
    await serving


@asynccontextmanager
async def running_playground(
    playground: Playground | None = None, port: int = 0
) -> AsyncIterator[Running]:
    """A playground (the default world without one) served in this event loop, on a free port."""
    playground = playground or Playground.from_seed()
    sock = listen("127.0.0.1", port)
    server = _EmbeddedServer(_config(playground), playground)
    serving = asyncio.ensure_future(server.serve(sockets=[sock]))
    up = asyncio.ensure_future(server.is_up.wait())
    await asyncio.wait({serving, up}, return_when=asyncio.FIRST_COMPLETED)
    up.cancel()
    try:
        yield Running(playground, _url(sock))
    finally:
        server.ending.set()
        await serving
        sock.close()
