"""What people in Slack wait for: the acknowledgement, a sign of life, the end of what they stop.

Real time, over HTTP and a WebSocket, with Slack's rates on; the bot is a process of its own, as it is
before the real Slack. Its tool does not come back, so that all of it stays at work.
"""

from __future__ import annotations

import asyncio
import contextlib
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

from bot.playground import (
    Playground,
    RealClock,
    Running,
    build_world,
    read_seed,
    running_playground,
)
from bot.playground.log import Call, Delivery
from bot.playground.model import ChannelKind, Message
from bot.playground.people import Draft
from bot.runs.store import Store

from .slack_process import bot
from .table import Row, p95

RATE = 200
"""Questions a second of the burst."""
CHANNELS = 100
ASKERS = ("maya", "jonas")
LAST_EYES_SECONDS = 2.0
"""After the last acknowledgement; beyond Slack's rate there are none."""
TEXT = "<@U0ONCALL> What was found?"

T = TypeVar("T")


async def rows(alone: int, burst: int) -> list[Row]:
    """So many questions one after the other, so many at once; at least two of each."""
    return [*await _alone(alone), *await _burst(burst)]


async def _burst(questions: int) -> list[Row]:
    async with _bot() as (running, _, rooms):
        outbox = running.playground.outbox
        for user in ASKERS:  # who they are is known, as on any day but the first
            _ask(running, user, rooms[0])
        await _until(lambda: all(_wait(d) is not None for d in outbox.deliveries()))
        asked = []
        began = time.monotonic()
        for n in range(questions):
            asked.append(_ask(running, ASKERS[n % 2], rooms[n % CHANNELS]))
            await asyncio.sleep(max(0.0, began + (n + 1) / RATE - time.monotonic()))
        ids = {sent.id for _, sent in asked}

        def waits() -> list[float]:
            return [s for d in outbox.deliveries() if d.id in ids and (s := _wait(d)) is not None]

        posted = {message.ts: float(message.ts) for message, _ in asked}

        def eyes() -> list[float]:
            return [
                call.at - posted[str(call.args["timestamp"])]
                for call in running.playground.calls.calls()
                if _is_eyes(call) and call.args["timestamp"] in posted
            ]

        await _until(lambda: len(waits()) == questions)
        with contextlib.suppress(TimeoutError):
            await _until(lambda: len(eyes()) == questions, LAST_EYES_SECONDS)
        seen = eyes()
    told = f"{questions} questions at {RATE} a second"
    return [
        Row(f"{told}: acknowledged, 99th percentile", _p99(waits()) * 1e3, "ms", 100),
        Row(
            f"{told}: eyes, 95th percentile",
            p95(seen) * 1e3,
            "ms",
            500,
            f"the {len(seen)} that Slack's rate lets through",
        ),
    ]


async def _alone(questions: int) -> list[Row]:
    """One question after the other, each stopped once it is at work."""
    seen, cancelled, answered = [], [], []
    async with _bot() as (running, folder, rooms):
        playground = running.playground
        store = Store.open(folder / "oncall.db")
        try:
            for room in rooms[:questions]:
                message, _ = _ask(running, "maya", room)
                await _until(partial(_is_at_work, playground, message))
                seen.append(_first_sign(playground, message))
                began, at = time.time(), playground.clock.now()
                playground.people.react("maya", room, message.ts, "octagonal_sign")
                (reply,) = await _until(
                    partial(playground.world.replies, message.channel, message.ts)
                )
                answered.append(float(reply.ts) - at)
                run = await store.find(f"slack:{playground.world.team.id}:{room}:{message.ts}")
                if run is None or run.ended_at is None:
                    raise RuntimeError("a stopped run is not stored as ended")
                cancelled.append(run.ended_at.timestamp() - began)
        finally:
            await store.close()
    stops = f"{questions} stops"
    return [
        Row(
            "a question to the first sign of life, 95th percentile",
            p95(seen) * 1e3,
            "ms",
            500,
            f"eyes or a status; {questions} questions, one after the other",
        ),
        Row(
            "a stop emoji to the run's end, 95th percentile", p95(cancelled) * 1e3, "ms", 250, stops
        ),
        Row("a stop emoji to the reply, 95th percentile", p95(answered) * 1e3, "ms", 1_000, stops),
    ]


@asynccontextmanager
async def _bot() -> AsyncIterator[tuple[Running, Path, Sequence[str]]]:
    """A local Slack with many channels, and a bot whose tool hangs."""
    seed = read_seed()
    world = Playground(build_world(seed), RealClock(seed.now.timestamp()))
    async with running_playground(world) as running:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "hold").touch()
            async with bot(running, folder):
                yield running, folder, [_room(running, n) for n in range(CHANNELS)]


def _room(running: Running, n: int) -> str:
    people = running.playground.people
    members = ("oncall", "jonas")
    return people.create_channel("maya", f"inc-{n}", ChannelKind.PUBLIC, members)[0].id


def _ask(running: Running, user: str, room: str) -> tuple[Message, Delivery]:
    message, (sent,) = running.playground.people.post(user, room, Draft(text=TEXT))
    return message, sent


def _wait(sent: Delivery) -> float | None:
    """Seconds from the first delivery to its acknowledgement."""
    first = sent.attempts[0] if sent.attempts else None
    return first.ended - first.at if first is not None and first.ended is not None else None


def _is_eyes(call: Call) -> bool:
    is_add = call.method == "reactions.add" and call.args.get("name") == "eyes"
    return is_add and call.error is None


def _first_sign(playground: Playground, message: Message) -> float:
    """Seconds from the question to what its asker sees first of the bot."""
    return min(
        call.at - float(message.ts)
        for call in playground.calls.calls()
        if (_is_eyes(call) and call.args["timestamp"] == message.ts) or _is_status(call, message)
    )


def _is_status(call: Call, message: Message) -> bool:
    is_set = call.method == "assistant.threads.setStatus" and call.error is None
    return is_set and call.args.get("thread_ts") == message.ts


def _is_at_work(playground: Playground, message: Message) -> bool:
    return any(
        _is_status(call, message) and "lookup" in str(call.args.get("status"))
        for call in playground.calls.calls()
    )


def _p99(values: Sequence[float]) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[-1]


async def _until(holds: Callable[[], T], seconds: float = 30.0) -> T:
    async with asyncio.timeout(seconds):
        while not (value := holds()):
            await asyncio.sleep(0.005)
        return value
