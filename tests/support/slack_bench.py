"""The real bot before a local Slack: real Bolt, real sockets, the real store, service and loop.

Only the model and the tools are scripted. Bot and Slack share the playground's clock, so that an
hour passes at once for both; the playground's rates and sizes are on.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bot.loop.limits import Limits
from bot.loop.stopping import Clock
from bot.loop.wire import Model
from bot.playground import Clock as SlackClock
from bot.playground import (
    FaultRule,
    Playground,
    RealClock,
    Running,
    build_world,
    read_seed,
    running_playground,
)
from bot.playground.log import Delivery, DeliveryState
from bot.playground.model import App, Message
from bot.playground.people import Draft
from bot.runs.dispatch import QueueLimits
from bot.runs.links import Links
from bot.runs.migrate import prepare
from bot.runs.owner import Owner
from bot.runs.records import RunRecord
from bot.runs.service import RunService, Workbench
from bot.runs.store import Store
from bot.slack.app import SlackApp, create_slack
from bot.slack.http import Requests
from bot.slack.reply import EVENT_TYPE
from bot.slack.settings import SlackSettings
from support.scripted import (
    CATALOG,
    Lookup,
    NoRedaction,
    ScriptedModel,
    answer,
    called,
    toolbox,
    turn,
)
from tools.base import Tool

GIVE_UP = 30.0
INC = "C0INCCHECK"
SHARED = "C0INCFJORD"
DEBUG = "C0DEBUG"
BOT = "U0ONCALL"
QUESTION = f"<@{BOT}> What was found?"
ANSWER = "apples was found"


def answering() -> ScriptedModel:
    """One read, one answer."""
    return ScriptedModel(
        turn(called("lookup", {"what": "apples"}), text="I look for apples."),
        turn(answer(ANSWER, (ANSWER, ["o1"]), confidence="high")),
    )


@dataclass
class Bench:
    """A playground and a bot in it."""

    running: Running
    slack: SlackApp
    service: RunService
    store: Store

    @property
    def pg(self) -> Playground:
        return self.running.playground

    # --- what people do ------------------------------------------------------------------------

    def say(
        self,
        text: str = QUESTION,
        *,
        user: str = "maya",
        channel: str = INC,
        thread: str | None = None,
        **more: Any,
    ) -> Said:
        draft = Draft(text=text, thread_ts=thread, **more)
        message, sent = self.pg.people.post(user, channel, draft)
        return Said(message, sent)

    def fault(self, method: str, fault: dict[str, Any], **more: Any) -> None:
        rule = {"method": method, "fault": fault, **more}
        self.pg.faults.add(FaultRule.model_validate(rule))

    # --- what is there to see ------------------------------------------------------------------

    def thread(self, root: str, channel: str = INC) -> list[Message]:
        """The bot's messages in a thread."""
        return [m for m in self.pg.world.replies(channel, root) if m.user == BOT]

    def posts(self, channel: str) -> list[Message]:
        """Every message of the bot in a channel, wherever it stands."""
        found = [m for m in self.pg.world.messages[channel].values() if m.user == BOT]
        return sorted(found, key=lambda m: m.ts)

    def reactions(self, ts: str, channel: str = INC) -> set[str]:
        message = self.pg.world.message(channel, ts)
        assert message is not None
        return {r.name for r in message.reactions if BOT in r.users}

    def calls(self, method: str) -> list[dict[str, Any]]:
        return [c.args for c in self.pg.calls.calls() if c.method == method]

    def posted_to(self, channel: str) -> list[dict[str, Any]]:
        """Every try to post there, whatever became of it."""
        return [args for args in self.calls("chat.postMessage") if args.get("channel") == channel]

    # --- waiting -------------------------------------------------------------------------------

    async def slow_call_waits(self) -> None:
        """Slack has got each call that it is to be slow with."""
        await self.until(lambda: all(armed.done for armed in self.pg.faults._armed))

    async def until(self, holds: Callable[[], Any], seconds: float = GIVE_UP) -> Any:
        return await until(holds, seconds)

    async def hurried_until(self, holds: Callable[[], Any]) -> Any:
        """As ``until``; waits pass at once."""
        async with asyncio.timeout(GIVE_UP):
            while not (value := holds()):
                await self.pg.clock.advance(0.25)
                await asyncio.sleep(0.005)
            return value

    async def reply(self, root: str, channel: str = INC) -> Message:
        """The one reply in a thread, once it is there and nothing works any more."""
        await self.until(lambda: self.thread(root, channel))
        await self.settled()
        (only,) = self.thread(root, channel)
        return only

    async def hurried_reply(self, root: str, channel: str = INC) -> Message:
        """As ``reply``; the waits after the first post pass at once."""
        await self.hurried()
        await self.until(lambda: self.posted_to(channel))
        await self.hurried()
        return await self.reply(root, channel)

    async def hurried(self) -> None:
        """All events are answered and all runs are over; waits pass at once."""
        async with asyncio.timeout(3 * GIVE_UP):
            while self.service._dispatcher._tasks or any(
                d.state is DeliveryState.PENDING for d in self.pg.outbox.deliveries()
            ):
                await self.pg.clock.advance(0.25)
                await asyncio.sleep(0.005)

    async def later(self) -> None:
        """All that the bot does afterwards is done, on the clock of the playground."""
        async with asyncio.timeout(GIVE_UP):
            while self.slack._tasks._tasks:
                await self.pg.clock.advance(15)
                await asyncio.sleep(0.005)

    async def settled(self) -> None:
        """All events are answered and all runs are over."""
        await self.until(
            lambda: all(d.state is not DeliveryState.PENDING for d in self.pg.outbox.deliveries())
        )
        await self.until(lambda: not self.service._dispatcher._tasks)


@dataclass(frozen=True)
class Said:
    message: Message
    deliveries: list[Delivery]

    @property
    def ts(self) -> str:
        return self.message.ts


async def until(holds: Callable[[], Any], seconds: float = GIVE_UP) -> Any:
    """Wait for a condition of the outside world; never for luck."""
    async with asyncio.timeout(seconds):
        while not (value := holds()):
            await asyncio.sleep(0.005)
        return value


def shared_clock(clock: SlackClock) -> Clock:
    return Clock(monotonic=clock.now, now=lambda: datetime.fromtimestamp(clock.now(), UTC))


def settings_for(running: Running, **more: Any) -> SlackSettings:
    app = only_app(running.playground)
    base: dict[str, Any] = {
        "bot_token": app.bot_token,
        "app_token": app.app_token,
        "base_url": running.api_url,
    }
    return SlackSettings(**(base | more))


def only_app(pg: Playground) -> App:
    (app,) = pg.world.apps.values()
    return app


@asynccontextmanager
async def local_slack() -> AsyncIterator[Running]:
    seed = read_seed()
    clock = RealClock(seed.now.timestamp())
    async with running_playground(Playground(build_world(seed), clock)) as running:
        yield running


@asynccontextmanager
async def bot_in(
    running: Running,
    folder: Path,
    *,
    model: Callable[[], Model] = answering,
    tools: Sequence[Tool[Any]] | None = None,
    limits: Limits | None = None,
    queue: QueueLimits | None = None,
    settings: SlackSettings | None = None,
    workbench: Callable[[RunRecord], Workbench] | None = None,
    requests: Requests | None = None,
) -> AsyncIterator[Bench]:
    """A bot that is connected. Closing it is what the product does at its end."""
    pg_clock = running.playground.clock
    assert isinstance(pg_clock, RealClock)
    clock = shared_clock(pg_clock)
    database = folder / "oncall.db"
    prepare(database)
    chosen = settings or settings_for(running)
    async with AsyncExitStack() as stack:
        store = Store.open(database)
        stack.push_async_callback(store.close)
        owner = stack.enter_context(Owner(folder / "owners"))
        links = Links("k" * 40, "http://127.0.0.1:8410")
        slack = await create_slack(
            chosen, links, clock=clock, sleep=pg_clock.sleep, requests=requests
        )
        stack.push_async_callback(slack.close, 0.1)  # what reads the store then comes to its end
        box = toolbox(*(tools if tools is not None else (Lookup(),)))
        service = RunService(
            store=store,
            owner=owner,
            surfaces=(slack.surface,),
            model=model,
            workbench=workbench or (lambda _: Workbench(box, CATALOG)),
            redactor=NoRedaction,
            workspace="demo",
            limits=limits or Limits(),
            queue=queue or QueueLimits(),
            clock=clock,
        )
        await slack.start(service)
        await service.resume_unfinished()
        bench = Bench(running, slack, service, store)
        try:
            yield bench
        finally:
            await service.close(0.05)


def is_reply(message: Message) -> bool:
    return (message.metadata or {}).get("event_type") == EVENT_TYPE
