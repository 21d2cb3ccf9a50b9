"""A stop that another process asked for reaches the run while it is inside a slow call."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from structlog.testing import capture_logs

from bot.loop.limits import StopReason
from bot.loop.outcome import Failure
from bot.runs.dispatch import QueueLimits
from bot.runs.service import Aborting, RunService
from bot.runs.watching import LONGEST_PAUSE, LOOK_SECONDS, AbortWatch
from runs.bench import Channel, accepted, failed, new_run, opened, serving
from runs.test_crash import child, lines
from support.scripted import Lookup, forever


class Ticks:
    """A sleep that is over when the test says so."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self._over = asyncio.Event()

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await self._over.wait()
        self._over.clear()

    def tick(self) -> None:
        self._over.set()


async def begun(service: RunService, key: str, channel: Channel) -> str:
    run = await accepted(service, key=key)
    async with asyncio.timeout(10):
        while run.id not in channel.begun:
            await asyncio.sleep(0.005)
    return run.id


async def test_it_is_heard_at_the_next_look_by_running_and_by_waiting_runs(database: Path) -> None:
    ticks, owned, other = Ticks(), Channel(), Channel()
    tool = Lookup(forever)
    async with (
        serving(
            database, owned, tool, queue=QueueLimits(running=1, waiting=1), sleep=ticks
        ) as service,
        serving(database, other) as elsewhere,
    ):
        assert ticks.asked == [], "nothing is at work, so nobody looks"
        running = await begun(service, "m1", owned)
        waiting = await accepted(service, key="m2")
        for run in (running, waiting.id):
            assert isinstance(await elsewhere.abort(run, "ada"), Aborting)
        assert owned.replies == []
        assert ticks.asked[0] <= 1.0
        ticks.tick()
        async with asyncio.timeout(10):
            await service.wait(running)
            await service.wait(waiting.id)
    assert {run.id for run, _ in owned.replies} == {running, waiting.id}
    for number in (0, 1):
        assert failed(owned, number).reason is StopReason.ABORTED
        assert "ada" in failed(owned, number).detail
    assert other.replies == []


async def test_nobody_looks_any_more_once_all_runs_have_ended(database: Path) -> None:
    ticks, channel = Ticks(), Channel()
    async with serving(database, channel, Lookup(), sleep=ticks) as service:
        await service.wait((await accepted(service)).id)
        looks = len(ticks.asked)
        for _ in range(5):
            ticks.tick()
            await asyncio.sleep(0)
        assert len(ticks.asked) == looks


async def test_a_look_that_fails_is_logged_and_the_next_one_still_hears(database: Path) -> None:
    ticks, owned, other = Ticks(), Channel(), Channel()
    async with (
        serving(database, owned, Lookup(forever), sleep=ticks) as service,
        serving(database, other) as elsewhere,
    ):
        run = await begun(service, "m1", owned)
        assert isinstance(await elsewhere.abort(run, "ada"), Aborting)
        with capture_logs() as logged:
            changed(database, "ALTER TABLE runs RENAME TO hidden")
            await look(ticks)
            changed(database, "ALTER TABLE hidden RENAME TO runs")
        assert [entry["event"] for entry in logged] == ["aborts_unread"]
        assert "no such table" in logged[0]["why"]
        ticks.tick()
        async with asyncio.timeout(10):
            await service.wait(run)
    assert "ada" in failed(owned).detail


async def test_whatever_fails_the_looking_goes_on_ever_less_often(database: Path) -> None:
    ticks, fails = Ticks(), [True]
    heard: list[tuple[str, str]] = []

    def hear(run: str, by: str) -> None:
        heard.append((run, by))
        if fails:
            raise RuntimeError("nobody thought of this")

    async with opened(database) as store:
        run = new_run()
        await store.accept(run, ())
        await store.request_abort(run.id, "ada")
        watch = AbortWatch(store, lambda: True, hear, ticks)
        watch.start()
        with capture_logs() as logged:
            for _ in range(6):
                await look(ticks)
        assert [entry["why"] for entry in logged] == ["nobody thought of this"] * 6
        assert ticks.asked == [0.5, 1.0, 2.0, *[LONGEST_PAUSE] * 4]
        fails.clear()
        await look(ticks)
        assert ticks.asked[-1] == LOOK_SECONDS
        assert heard == [(run.id, "ada")] * 7
        await watch.close()


async def look(ticks: Ticks) -> None:
    """Let one look happen, until the next one waits."""
    async with asyncio.timeout(10):
        while not ticks.asked:
            await asyncio.sleep(0)
        asked = len(ticks.asked)
        ticks.tick()
        while len(ticks.asked) == asked:
            await asyncio.sleep(0.002)


def changed(database: Path, statement: str) -> None:
    with closing(sqlite3.connect(database, timeout=5)) as connection, connection:
        connection.execute(statement)


async def test_a_stop_in_one_process_ends_the_run_of_another_long_before_its_tool_would(
    database: Path, tmp_path: Path
) -> None:
    effects = tmp_path / "effects"
    owner = child(database, effects, "stuck")
    with owner:
        give_up = time.monotonic() + 30
        while "began pears" not in lines(effects):
            assert time.monotonic() < give_up
            await asyncio.sleep(0.02)
        async with serving(database, Channel("elsewhere")) as service:
            run = await service.find("m1")
            assert run is not None
            asked = datetime.now(UTC)
            assert isinstance(await service.abort(run.id, "ada"), Aborting)
            assert await asyncio.to_thread(owner.wait, 30) == 0
            ended = await service.store.run(run.id)
    assert ended is not None
    assert ended.ended_at is not None
    assert isinstance(ended.outcome, Failure)
    assert ended.outcome.reason is StopReason.ABORTED
    # The tool's own limit is 10 s, and a look is due after half a second: room for a slow machine.
    assert (ended.ended_at - asked).total_seconds() < 5
    assert lines(effects)[-1] == "replied m1 failure"
