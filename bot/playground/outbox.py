"""Getting payloads to the app: one attempt, then Slack's retries, over sockets or HTTP.

Owns what is on its way and the schedule of retries. An event that is not acknowledged within three
seconds is sent again at about 0 s, 1 min and 5 min, and at once when a new socket connects;
interactive payloads are sent once. Knows nothing of what the payloads mean.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from bot.playground.clock import Clock
from bot.playground.feed import Feed
from bot.playground.http_delivery import ACK_SECONDS, HttpSender
from bot.playground.log import Attempt, Delivery, DeliveryState, Outcome, PayloadKind
from bot.playground.model import App, HttpDelivery, Json, SocketDelivery
from bot.playground.sockets import Sockets

RETRY_PAUSES = (0.0, 60.0, 300.0)
"""Seconds of world time before the first, the second and the third retry."""
UNSENT_SECONDS = 3_600.0
"""How long an event waits for an app that has no connection at all."""

_REASONS: Mapping[Outcome, str] = {
    Outcome.TIMEOUT: "timeout",
    Outcome.LOST: "connection_lost",
    Outcome.REFUSED: "http_error",
    Outcome.UNREACHABLE: "connection_failed",
}
_HTTP_REASONS: Mapping[Outcome, str] = {**_REASONS, Outcome.TIMEOUT: "http_timeout"}


@dataclass(frozen=True)
class _Try:
    """One attempt about to be made: which it is, and why there was need for it."""

    number: int
    reason: Outcome | None


class Outbox:
    """Deliveries in the order they were put; `app` looks up an app as it is now."""

    def __init__(
        self,
        clock: Clock,
        sockets: Sockets,
        http: HttpSender,
        feed: Feed,
        app: Callable[[str], App],
    ) -> None:
        self._clock = clock
        self._sockets = sockets
        self._http = http
        self._feed = feed
        self._app = app
        self._numbers = itertools.count(1)
        self._deliveries: dict[str, Delivery] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def put(self, app: str, kind: PayloadKind, payload: Json) -> Delivery:
        """Start delivering a payload; returns at once."""
        delivery = Delivery(f"D{next(self._numbers):06d}", app, kind, payload)
        self._deliveries[delivery.id] = delivery
        task = asyncio.get_running_loop().create_task(self._deliver(delivery))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._feed.touch()
        return delivery

    def deliveries(self) -> list[Delivery]:
        return list(self._deliveries.values())

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _deliver(self, delivery: Delivery) -> None:
        retries = RETRY_PAUSES if delivery.kind is PayloadKind.EVENT else ()
        outcome: Outcome | None = None
        for number, pause in enumerate((0.0, *retries)):
            await self._pause(delivery.app, pause)
            outcome = await self._attempt(delivery, _Try(number, outcome))
            if outcome in (Outcome.ACKED, Outcome.NO_RETRY, Outcome.NOBODY):
                break
        acked = outcome is Outcome.ACKED
        self._settle(delivery.id, DeliveryState.ACKED if acked else DeliveryState.GAVE_UP)

    async def _pause(self, app: str, seconds: float) -> None:
        """Wait before a retry; a new connection of the app ends the wait."""
        if seconds <= 0:
            return
        arrival = asyncio.ensure_future(_set(self._sockets.arrival(app)))
        try:
            await self._clock.wait(arrival, seconds)
        finally:
            arrival.cancel()

    async def _attempt(self, delivery: Delivery, this: _Try) -> Outcome:
        app = self._app(delivery.app)
        match app.delivery:
            case SocketDelivery():
                return await self._over_socket(delivery, this)
            case HttpDelivery(url):
                return await self._over_http(delivery, this, app, url)
            case _:
                assert_never(app.delivery)

    async def _over_socket(self, delivery: Delivery, this: _Try) -> Outcome:
        connection = self._sockets.pick(delivery.app)
        if connection is None and delivery.kind is PayloadKind.EVENT:
            arrival = asyncio.ensure_future(_set(self._sockets.arrival(delivery.app)))
            try:
                await self._clock.wait(arrival, UNSENT_SECONDS)
            finally:
                arrival.cancel()
            connection = self._sockets.pick(delivery.app)
        if connection is None:
            return Outcome.NOBODY
        reason = _REASONS.get(this.reason, "") if this.reason else ""
        envelope_id = f"{delivery.id}-{this.number}"
        envelope: Json = {
            "envelope_id": envelope_id,
            "type": delivery.kind,
            "accepts_response_payload": delivery.kind is not PayloadKind.EVENT,
            "payload": delivery.payload,
        }
        if delivery.kind is PayloadKind.EVENT:
            envelope |= {"retry_attempt": this.number, "retry_reason": reason}
        self._record(delivery.id, envelope_id, connection.id, this.number, reason)
        ack = await connection.put(envelope)
        done = asyncio.ensure_future(_ended(ack))
        in_time = await self._clock.wait(done, ACK_SECONDS)
        connection.forget(envelope_id)
        frame = ack.result() if in_time else None
        if not in_time:
            done.cancel()
            return self._end(delivery.id, Outcome.TIMEOUT)
        if frame is None:
            return self._end(delivery.id, Outcome.LOST)
        return self._end(delivery.id, Outcome.ACKED, frame.get("payload"))

    async def _over_http(self, delivery: Delivery, this: _Try, app: App, url: str) -> Outcome:
        reason = _HTTP_REASONS.get(this.reason, "") if this.reason else ""
        retry = {"x-slack-retry-num": str(this.number), "x-slack-retry-reason": reason}
        self._record(delivery.id, f"{delivery.id}-{this.number}", url, this.number, reason)
        answer = await self._http.post(
            url,
            app.signing_secret,
            delivery.kind,
            delivery.payload,
            retry=retry if this.number else None,
        )
        return self._end(delivery.id, answer.outcome, answer.body)

    def _record(self, key: str, envelope_id: str, via: str, number: int, reason: str) -> None:
        attempt = Attempt(self._clock.now(), envelope_id, via, number, reason, Outcome.WAITING)
        was = self._deliveries[key]
        self._deliveries[key] = replace(was, attempts=(*was.attempts, attempt))

    def _end(self, key: str, outcome: Outcome, answer: Json | None = None) -> Outcome:
        was = self._deliveries[key]
        ended = replace(was.attempts[-1], outcome=outcome, answer=answer, ended=self._clock.now())
        self._deliveries[key] = replace(was, attempts=(*was.attempts[:-1], ended))
        return outcome

    def _settle(self, key: str, state: DeliveryState) -> None:
        self._deliveries[key] = replace(self._deliveries[key], state=state)
        self._feed.touch()


async def _set(event: asyncio.Event) -> None:
    await event.wait()


async def _ended(ack: asyncio.Future[Json | None]) -> None:
    await asyncio.wait({ack})
