"""The WebSocket endpoint of Socket Mode: hello, envelopes, acknowledgements, the end of a socket.

Owns the protocol on one WebSocket and the connection's planned end (a warning, then a refresh).
Which payload goes where is `outbox.py`'s and `sockets.py`'s.
"""

from __future__ import annotations

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from bot.playground.playground import Playground
from bot.playground.sockets import (
    CONNECTION_SECONDS,
    WARNING_SECONDS,
    Connection,
    DisconnectReason,
)
from bot.playground.transport import ABORT


class SocketServer:
    """Answers `/link/?ticket=…`."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground

    async def serve(self, websocket: WebSocket) -> None:
        sockets = self._playground.sockets
        app = sockets.redeem_ticket(websocket.query_params.get("ticket", ""))
        if app is None:
            await websocket.close(4401, "invalid ticket")
            return
        await websocket.accept()
        if sockets.is_full(app):
            await self._turn_away(websocket)
            return
        connection = self._connect(websocket, app)
        ending = asyncio.ensure_future(self._end_in_time(connection))
        try:
            await self._say_hello(websocket, app)
            sockets.announce(connection)
            self._playground.feed.touch()
            while True:
                connection.receive(await websocket.receive_text())
        except WebSocketDisconnect:
            pass
        finally:
            ending.cancel()
            sockets.remove(connection)
            self._playground.feed.touch()

    def _connect(self, websocket: WebSocket, app: str) -> Connection:
        async def send(text: str) -> None:
            if websocket.application_state is WebSocketState.CONNECTED:
                try:
                    await websocket.send_text(text)
                except WebSocketDisconnect:
                    connection.lost()

        async def close() -> None:
            if websocket.application_state is WebSocketState.CONNECTED:
                await websocket.close()

        connection = self._playground.sockets.add(
            app, send=send, close=close, abort=websocket.scope[ABORT]
        )
        return connection

    async def _say_hello(self, websocket: WebSocket, app: str) -> None:
        await websocket.send_json(
            {
                "type": "hello",
                "num_connections": len(self._playground.sockets.connections(app)),
                "debug_info": {
                    "host": "playground",
                    "build_number": 1,
                    "approximate_connection_time": CONNECTION_SECONDS,
                },
                "connection_info": {"app_id": app},
            }
        )

    async def _turn_away(self, websocket: WebSocket) -> None:
        await websocket.send_json(
            {
                "type": "disconnect",
                "reason": DisconnectReason.TOO_MANY,
                "debug_info": {"host": "playground"},
            }
        )
        await websocket.close()

    async def _end_in_time(self, connection: Connection) -> None:
        """Slack keeps a connection for some hours, warns, and asks for a new one."""
        clock, sockets = self._playground.clock, self._playground.sockets
        await clock.sleep(CONNECTION_SECONDS - WARNING_SECONDS)
        await sockets.disconnect(connection, DisconnectReason.WARNING)
        await clock.sleep(WARNING_SECONDS)
        await sockets.disconnect(connection, DisconnectReason.REFRESH)
