"""Socket Mode's connections: tickets, who is connected, envelopes out and acknowledgements in.

Owns the registry of open WebSockets by app and the rule that a payload goes to any one of them.
Knows nothing of retries (`outbox.py`) or of HTTP routing (`socket_server.py`).
"""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import StrEnum

from bot.playground.clock import Clock
from bot.playground.model import Json

MAX_CONNECTIONS = 10
TICKET_SECONDS = 30.0
CONNECTION_SECONDS = 18_060
"""How long Slack says that it keeps a connection; then it asks for a refresh."""
WARNING_SECONDS = 10.0
"""How long before the end a `warning` comes."""


class DisconnectReason(StrEnum):
    WARNING = "warning"
    REFRESH = "refresh_requested"
    TOO_MANY = "too_many_websockets"
    LINK_DISABLED = "link_disabled"


@dataclass(frozen=True)
class Ticket:
    app: str
    expires: float
    debug_reconnects: bool = False


@dataclass(eq=False)
class Connection:
    """One open WebSocket of an app. `send` puts a text frame on it, `close` and `abort` end it."""

    id: str
    app: str
    send: Callable[[str], Awaitable[None]]
    close: Callable[[], Awaitable[None]]
    abort: Callable[[], None]
    open: bool = True
    acks: dict[str, asyncio.Future[Json | None]] = field(default_factory=dict)
    """Who waits for an acknowledgement; None as the result is a lost connection."""

    async def put(self, envelope: Json) -> asyncio.Future[Json | None]:
        """Send an envelope; the future is its acknowledgement."""
        ack: asyncio.Future[Json | None] = asyncio.get_running_loop().create_future()
        self.acks[envelope["envelope_id"]] = ack
        await self.send(json.dumps(envelope, ensure_ascii=False))
        return ack

    def forget(self, envelope_id: str) -> None:
        self.acks.pop(envelope_id, None)

    def receive(self, text: str) -> None:
        """Take a frame from the app: an acknowledgement, or something to ignore as Slack does."""
        try:
            frame = json.loads(text)
        except ValueError:
            return
        if isinstance(frame, dict):
            ack = self.acks.pop(str(frame.get("envelope_id")), None)
            if ack is not None and not ack.done():
                ack.set_result(frame)

    def lost(self) -> None:
        self.open = False
        for ack in self.acks.values():
            if not ack.done():
                ack.set_result(None)
        self.acks.clear()


class Sockets:
    """All open connections. A payload goes to one of an app's, in turn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._connections: dict[str, list[Connection]] = {}
        self._tickets: dict[str, Ticket] = {}
        self._arrivals: dict[str, asyncio.Event] = {}
        self._numbers = itertools.count(1)
        self._turn = itertools.count()

    def issue_ticket(self, app: str) -> str:
        ticket = f"ticket-{next(self._numbers):06d}"
        self._tickets[ticket] = Ticket(app, self._clock.now() + TICKET_SECONDS)
        return ticket

    def redeem_ticket(self, ticket: str) -> str | None:
        """The app of a ticket that is known, fresh and unused, else None."""
        issued = self._tickets.pop(ticket, None)
        if issued is None or issued.expires < self._clock.now():
            return None
        return issued.app

    def connections(self, app: str) -> list[Connection]:
        return [c for c in self._connections.get(app, []) if c.open]

    def all(self) -> list[Connection]:
        return [c for app in self._connections for c in self.connections(app)]

    def is_full(self, app: str) -> bool:
        return len(self.connections(app)) >= MAX_CONNECTIONS

    def add(
        self,
        app: str,
        *,
        send: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[None]],
        abort: Callable[[], None],
    ) -> Connection:
        connection = Connection(f"conn-{next(self._numbers):04d}", app, send, close, abort)
        self._connections.setdefault(app, []).append(connection)
        return connection

    def announce(self, connection: Connection) -> None:
        """The connection has said hello: payloads that wait for one may go."""
        arrival = self._arrivals.pop(connection.app, None)
        if arrival is not None:
            arrival.set()

    def remove(self, connection: Connection) -> None:
        connection.lost()
        kept = [c for c in self._connections.get(connection.app, []) if c is not connection]
        self._connections[connection.app] = kept

    def pick(self, app: str) -> Connection | None:
        """Any one of the app's connections."""
        open_ones = self.connections(app)
        return open_ones[next(self._turn) % len(open_ones)] if open_ones else None

    def arrival(self, app: str) -> asyncio.Event:
        """Set when the next connection of the app has said hello."""
        return self._arrivals.setdefault(app, asyncio.Event())

    async def disconnect(self, connection: Connection, reason: DisconnectReason) -> None:
        """Tell a connection to go. After a warning it stays usable; otherwise it is closed."""
        frame = {"type": "disconnect", "reason": reason, "debug_info": {"host": "playground"}}
        await connection.send(json.dumps(frame))
        if reason is not DisconnectReason.WARNING:
            self.remove(connection)
            await connection.close()

    async def close(self) -> None:
        for connection in self.all():
            self.remove(connection)
            await connection.close()
