"""An abort and the deadline close the connection to the model at once."""

from __future__ import annotations

import asyncio
import time

import pytest

from bot.loop.limits import StopReason
from bot.loop.outcome import Failure
from models.model_server import Drips, Hangs, Play, model_server
from models.wires import Alone, Wire, ask
from support.scripted import stop_after


@pytest.mark.alone
@pytest.mark.parametrize("play", [Hangs(), Drips()], ids=["hang", "drip"])
async def test_an_abort_is_seen_by_the_server_within_250_ms(
    play: Play, wire: Wire, alone: Alone
) -> None:
    async def aborted() -> float:
        stop = stop_after()
        async with model_server(play) as server:
            running = asyncio.create_task(ask(alone(wire, server), stop=stop))
            await server.waiting.wait()
            began = time.monotonic()
            stop.abort("mara")
            outcome = await running
            returned = time.monotonic()
            await asyncio.wait_for(server.left.wait(), 10)
        assert isinstance(outcome, Failure)
        assert outcome.reason is StopReason.ABORTED
        return max(returned, *server.left_at) - began

    tries = [await aborted() for _ in range(3)]  # one may meet a machine that stands still
    assert min(tries) < 0.25, tries


async def test_the_deadline_closes_the_connection_too(wire: Wire, alone: Alone) -> None:
    for seconds in (0.2, 2.0, 10.0):  # on a busy machine it may pass before the server is reached
        async with model_server(Hangs()) as server:
            outcome = await ask(alone(wire, server), stop=stop_after(seconds))
            if server.waiting.is_set():
                await asyncio.wait_for(server.left.wait(), 10)
                break
    else:
        pytest.fail("no request reached the server")
    assert isinstance(outcome, Failure)
    assert outcome.reason is StopReason.DEADLINE
