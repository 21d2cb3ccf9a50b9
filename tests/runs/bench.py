"""A real service over a real SQLite file, with scripted models, tools and a surface that records."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.loop.journal import Event
from bot.loop.limits import Limits
from bot.loop.outcome import Failure, Outcome
from bot.loop.stopping import Clock
from bot.loop.toolbox import Redactor
from bot.loop.wire import Model
from bot.runs.dispatch import QueueLimits
from bot.runs.ids import new_run_id
from bot.runs.migrate import prepare
from bot.runs.owner import Owner
from bot.runs.records import Ask, RunRecord, RunState
from bot.runs.service import Accepted, RunService, Workbench
from bot.runs.store import Store
from bot.runs.surface import Gone, Posted
from support.scripted import CATALOG, NOW, NoRedaction, ScriptedModel, answer, called, toolbox, turn
from tools.base import Tool

LOOK_THEN_ANSWER = (
    turn(called("lookup", {"what": "apples"}), text="Look first."),
    turn(answer("apples was found", ("apples was found", ["o1"]))),
)


@dataclass
class Channel:
    """A surface that keeps what it is told. ``before_reply`` may raise or wait."""

    name: str = "channel"
    before_reply: Callable[[RunRecord], Any] | None = None
    on_event: Callable[[Event], Any] | None = None
    gone: bool = False
    begun: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    replies: list[tuple[RunRecord, Outcome]] = field(default_factory=list)

    async def started(self, run: RunRecord) -> None:
        self.begun.append(run.id)

    async def saw(self, run: RunRecord, event: Event) -> None:
        self.events.append(event)
        if self.on_event is not None:
            await self.on_event(event)

    async def reply(self, run: RunRecord, outcome: Outcome) -> Posted | Gone:
        if self.before_reply is not None:
            await self.before_reply(run)
        if self.gone:
            return Gone("the question was deleted")
        self.replies.append((run, outcome))
        return Posted(f"post-{len(self.replies)}")


def ask(key: str = "m1", text: str = "What was found?", **more: Any) -> Ask:
    return Ask(
        origin_key=key,
        surface="channel",
        text=text,
        asked_at=NOW,
        address={"channel": "C1"},
        **more,
    )


def new_run(key: str = "m1", owner: str | None = None, **more: Any) -> RunRecord:
    base: dict[str, Any] = {
        "id": new_run_id(NOW),
        "origin_key": key,
        "surface": "channel",
        "address": {"channel": "C1"},
        "workspace": "/shop",
        "question": "What was found?",
        "thread": (),
        "asked_at": NOW,
        "accepted_at": NOW,
        "state": RunState.ACCEPTED,
        "epoch": 0,
        "owner": owner,
    }
    return RunRecord(**(base | more))


@asynccontextmanager
async def opened(database: Path) -> AsyncIterator[Store]:
    prepare(database)
    store = Store.open(database)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def serving(
    database: Path,
    channel: Channel,
    *tools: Tool[Any],
    model: Callable[[], Model] = lambda: ScriptedModel(*LOOK_THEN_ANSWER),
    workbench: Callable[[RunRecord], Workbench] | None = None,
    redactor: Callable[[], Redactor] = NoRedaction,
    limits: Limits | None = None,
    queue: QueueLimits | None = None,
    clock: Clock | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[RunService]:
    """One process's service; leaving it is an orderly end without patience."""
    async with opened(database) as store:
        with Owner(database.parent / "owners") as owner:
            service = RunService(
                store=store,
                owner=owner,
                surfaces=(channel,),
                model=model,
                workbench=workbench or (lambda _: Workbench(toolbox(*tools), CATALOG)),
                redactor=redactor,
                workspace="/shop",
                limits=limits or Limits(),
                queue=queue or QueueLimits(),
                clock=clock or Clock(),
                sleep=sleep,
            )
            try:
                yield service
            finally:
                await service.close(0.0)


async def accepted(service: RunService, **more: Any) -> RunRecord:
    """The run of a question that must be accepted."""
    taken = await service.accept(ask(**more))
    assert isinstance(taken, Accepted)
    return taken.run


def failed(channel: Channel, number: int = 0) -> Failure:
    """A reply that must be a failure."""
    outcome = channel.replies[number][1]
    assert isinstance(outcome, Failure)
    return outcome
