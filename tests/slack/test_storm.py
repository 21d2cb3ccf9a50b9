"""Everything goes wrong at once: each question still gets one reply, and no channel a stray."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path
from typing import Any

from bot.loop.limits import Limits
from bot.playground import Running
from bot.playground.model import ChannelKind
from bot.runs.dispatch import QueueLimits
from support.slack_bench import Bench, Said, bot_in, is_reply, settings_for

CHANNELS = 25
QUESTIONS = 100
SEED = int(os.environ.get("STORM_SEED", "0")) or random.SystemRandom().randrange(1, 10**6)

FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "rate_limited", "retry_after": 2},
    {"kind": "soft_rate_limited", "retry_after": 2},
    {"kind": "server_error"},
    {"kind": "server_error_after"},
    {"kind": "api_error", "error": "internal_error"},
    {"kind": "reset_before"},
    {"kind": "reset_after"},
)


async def test_a_hundred_questions_in_a_storm_of_faults_get_one_reply_each(
    running: Running, tmp_path: Path
) -> None:
    print(f"STORM_SEED={SEED}")
    chance = random.Random(SEED)
    running.playground.faults.reseed(SEED)
    limits = Limits(deadline_seconds=900.0)
    queue = QueueLimits(running=200, waiting=200, waiting_seconds=3_600)
    async with bot_in(
        running,
        tmp_path,
        limits=limits,
        queue=queue,
        settings=settings_for(running, call_seconds=3.0),
    ) as bench:
        create = bench.pg.people.create_channel
        rooms = [
            create("maya", f"inc-{n}", ChannelKind.PUBLIC, ("oncall", "jonas"))[0].id
            for n in range(CHANNELS)
        ]
        for fault in FAULTS:
            bench.fault("*", fault, times=None, probability=0.04)
        asked = [
            bench.say(user=chance.choice(("maya", "jonas")), channel=rooms[n % CHANNELS])
            for n in range(QUESTIONS)
        ]
        await _through(bench, chance, asked)
        bench.pg.faults.clear()
        for one in asked:
            bench.pg.events.replay(one.deliveries[0], new_id=True)
        await bench.hurried()
        await bench.later()
        for one in asked:
            assert len(bench.thread(one.ts, one.message.channel)) == 1, one.ts
        posts = [m for room in rooms for m in bench.posts(room)]
        assert len(posts) == QUESTIONS
        assert all(is_reply(m) and m.thread_ts for m in posts)


async def _through(bench: Bench, chance: random.Random, asked: list[Said]) -> None:
    """Doubles, replays and lost sockets while it is answered, until all replies are there."""
    async with asyncio.timeout(90):
        while any(not bench.thread(one.ts, one.message.channel) for one in asked):
            again = chance.choice(asked).deliveries[0]
            bench.pg.events.replay(again, new_id=chance.random() < 0.5)
            if chance.random() < 0.02:
                for connection in bench.pg.sockets.all():
                    connection.abort()
            await bench.service.resume_unfinished()
            await bench.pg.clock.advance(0.5)
            await asyncio.sleep(0.02)
