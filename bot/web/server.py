"""Serves an app on one address until it is told to end.

Owns the socket, so that a port in use is said before anything starts, and leaves signals alone: who
calls decides when it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp


class AddressError(Exception):
    """The address cannot be served at. The message says what to change."""


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are the command's: it ends the runs first, then the pages."""
        yield


def listen(host: str, port: int) -> socket.socket:
    """A socket at the address; port 0 takes any. Raises ``AddressError``."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((host, port))
            made.listen(128)
        except OSError:
            made.close()
            raise
    except OSError as error:
        raise AddressError(
            f"cannot serve at {host}:{port} ({error.strerror or error}): {_mend(error)}."
        ) from error
    return made


def _mend(error: OSError) -> str:
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return "set web.host in oncall.toml to an address of this machine, such as 127.0.0.1"
    if error.errno == errno.EACCES:
        return "set web.port in oncall.toml to 1024 or more"
    return "end what uses it, or set web.port in oncall.toml"


class WebServer:
    """An app at a socket, in the background."""

    def __init__(self, app: ASGIApp, at: socket.socket) -> None:
        config = uvicorn.Config(
            app, log_config=None, access_log=False, lifespan="off", server_header=False
        )
        config.timeout_graceful_shutdown = 2
        self._server = _Server(config)
        self._socket = at
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Returns once requests are answered."""
        self._task = asyncio.create_task(self._server.serve(sockets=[self._socket]))
        up = asyncio.create_task(self._server.up.wait())
        await asyncio.wait({self._task, up}, return_when=asyncio.FIRST_COMPLETED)
        up.cancel()

    async def stop(self) -> None:
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        self._socket.close()
