"""What an ordinary web framework does not let one do: cut a connection, or never answer.

Owns the uvicorn protocols that give a request or a WebSocket its own transport, and the responses
that send nothing. A reset is a real one (RST): SO_LINGER 0, then close.
"""

from __future__ import annotations

import socket
import struct
from asyncio import BaseTransport, Transport
from collections.abc import Callable
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

ABORT = "playground.abort"
"""The key in the ASGI scope of the function that resets the connection."""


class AbortableHttp(H11Protocol):
    """HTTP/1.1 whose connections can be reset."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app = _with_abort(self.app, transport)


class AbortableWebSocket(WebSocketsSansIOProtocol):
    """WebSockets that can be reset."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.app = _with_abort(self.app, cast("Transport", transport))


def _with_abort(app: Any, transport: Transport) -> Any:
    def abort() -> None:
        sock = transport.get_extra_info("socket")
        if sock is not None and not transport.is_closing():
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        transport.abort()

    async def with_abort(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, ABORT: abort}, receive, send)

    return with_abort


class NoResponse(Response):
    """Sends nothing, and waits until the client is gone."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002
        while (await receive())["type"] != "http.disconnect":
            pass


def reset(request: Request) -> Response:
    """Reset the request's connection; the client sees a lost connection, not an answer."""
    abort: Callable[[], None] = request.scope[ABORT]
    abort()
    return NoResponse()


def hang() -> Response:
    """Never answer."""
    return NoResponse()
