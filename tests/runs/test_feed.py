from __future__ import annotations

import asyncio

from bot.loop.journal import Event, ModelCalled
from bot.runs.feed import Feed


async def nothing() -> None:
    return


async def never(_: object = None) -> None:
    await asyncio.Event().wait()


def events(count: int) -> list[Event]:
    return [ModelCalled(step=n, model="m", kept=0, added=(), size=n) for n in range(1, count + 1)]


class Notes:
    def __init__(self) -> None:
        self.events: list[Event] = []

    async def note(self, event: Event) -> None:
        self.events.append(event)


async def test_logs_and_metrics_miss_no_event_of_a_run_that_slack_is_too_slow_to_show() -> None:
    notes = Notes()
    feed = Feed(nothing, never, notes.note)
    for event in events(5):
        feed.put(event)
    await feed.close(0)
    assert notes.events == events(5)


async def test_logs_and_metrics_miss_no_event_when_slack_does_not_even_begin() -> None:
    notes = Notes()
    feed = Feed(never, never, notes.note)
    for event in events(3):
        feed.put(event)
    await feed.close(0)
    assert notes.events == events(3)


async def test_each_event_is_noted_once_and_shown_in_order() -> None:
    notes, shown = Notes(), Notes()
    feed = Feed(nothing, shown.note, notes.note)
    for event in events(4):
        feed.put(event)
    await feed.catch_up(5)
    await feed.close(0)
    assert shown.events == notes.events == events(4)


async def test_logs_and_metrics_hear_at_once_while_slack_is_slow_to_show() -> None:
    notes = Notes()
    feed = Feed(never, never, notes.note)
    for event in events(3):
        feed.put(event)
    async with asyncio.timeout(5):
        while notes.events != events(3):
            await asyncio.sleep(0)
    await feed.close(0)
    assert notes.events == events(3)
