"""The local Slack as one object: a world, a clock, faults, and what carries events out.

Owns the composition only: `Playground(world, clock, faults)` joins the parts that the Web API, the
sockets, the control API and the page share. It must be made and closed inside a running event loop's
thread; `server.py` does both.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.playground.clock import Clock, RealClock
from bot.playground.events import Events
from bot.playground.faults import FaultBook
from bot.playground.feed import Feed
from bot.playground.http_delivery import HttpSender
from bot.playground.log import CallLog
from bot.playground.outbox import Outbox
from bot.playground.pace import PaceFile
from bot.playground.people import People
from bot.playground.rates import Rates
from bot.playground.seed import Seed, build_world, read_seed
from bot.playground.sockets import Sockets
from bot.playground.world import World

STATUS_SECONDS = 120.0
"""Slack takes a thread's status away after two minutes without a message."""


@dataclass(frozen=True)
class Status:
    """What assistant.threads.setStatus shows in a thread, until `until` (world time)."""

    app: str
    text: str
    until: float


class Playground:
    """A workspace with one app or several, and everything that happens in it."""

    def __init__(
        self,
        world: World,
        clock: Clock | None = None,
        faults: FaultBook | None = None,
        pace: PaceFile | None = None,
    ) -> None:
        self.world = world
        self.pace = pace
        self.clock = clock or RealClock(_latest(world))
        self.faults = faults or FaultBook()
        self.feed = Feed()
        self.calls = CallLog()
        self.rates = Rates()
        self.sockets = Sockets(self.clock)
        self.http = HttpSender(self.clock)
        self.outbox = Outbox(
            self.clock, self.sockets, self.http, self.feed, lambda app: self.world.apps[app]
        )
        self.events = Events(world, self.clock, self.outbox)
        self.people = People(world, self.clock, self.events, self.feed)
        self._statuses: dict[tuple[str, str], Status] = {}

    @classmethod
    def from_seed(
        cls, seed: Seed | None = None, clock: Clock | None = None, faults: FaultBook | None = None
    ) -> Playground:
        """A playground of a seed (the default one without); the real clock starts at its `now`."""
        seed = seed or read_seed()
        return cls(build_world(seed), clock or RealClock(seed.now.timestamp()), faults)

    def set_status(self, app: str, channel: str, root: str, text: str) -> None:
        """Show a status in a thread; an empty one takes it away."""
        self._statuses.pop((channel, root), None)
        if text:
            until = self.clock.now() + STATUS_SECONDS
            self._statuses[channel, root] = Status(app, text, until)
        self.feed.touch()

    def statuses(self) -> dict[tuple[str, str], Status]:
        """The statuses that are still shown, by (channel, thread root)."""
        now = self.clock.now()
        return {key: status for key, status in self._statuses.items() if status.until > now}

    async def close(self) -> None:
        """End what runs: open streams, sockets, deliveries on their way."""
        self.feed.close()
        await self.outbox.close()
        await self.sockets.close()
        await self.http.close()


def _latest(world: World) -> float:
    return max((float(m.ts) for m in world.all_messages()), default=0.0)
