"""A stop that another process asked for reaches the run while it is inside a slow call."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from pathlib import Path

from bot.loop.limits import StopReason
from bot.loop.outcome import Failure
from bot.runs.dispatch import QueueLimits
from bot.runs.service import Aborting, RunService
from runs.bench import Channel, accepted, failed, serving
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
