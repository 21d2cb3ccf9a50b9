"""Replies that did not go out, and runs that another process left: taken up, ended, told once."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bot.loop.limits import StopReason
from bot.loop.outcome import Answer
from bot.loop.stopping import Clock
from bot.runs.errors import StoreError
from bot.runs.migrate import prepare
from bot.runs.owner import Owner
from bot.runs.records import ReplyState, RunRecord
from runs.bench import Channel, accepted, failed, new_run, opened, serving
from support.scripted import NOW, Lookup, ScriptedModel, called, forever, turn

# --- replies that do not go out -----------------------------------------------------------------


async def test_a_reply_that_could_not_be_posted_is_tried_again_and_posted_once(
    database: Path,
) -> None:
    async def lost(run: RunRecord) -> None:
        raise ConnectionError("connection lost while posting")

    channel = Channel(before_reply=lost)
    async with serving(database, channel, Lookup()) as service:
        run = await accepted(service)
        await service.wait(run.id)
        assert channel.replies == []
        channel.before_reply = None
        for _ in range(3):
            for left in await service.resume_unfinished():
                await service.wait(left.id)
    assert len(channel.replies) == 1
    told = channel.replies[0][0].reply
    assert told is not None
    assert told.state is ReplyState.INTENDED


async def test_a_place_that_is_gone_is_not_tried_again(database: Path) -> None:
    channel = Channel(gone=True)
    async with serving(database, channel, Lookup()) as service:
        await service.wait((await accepted(service)).id)
        assert await service.resume_unfinished() == ()
        stored = await service.find("m1")
    assert stored is not None
    assert stored.reply is not None
    assert stored.reply.state is ReplyState.GONE


# --- runs of other processes --------------------------------------------------------------------


async def test_a_run_of_a_living_process_is_left_alone(database: Path) -> None:
    channel = Channel()
    with Owner(database.parent / "owners") as other:
        async with serving(database, channel, Lookup()) as service:
            await service.store.accept(new_run(owner=other.name), ())
            assert await service.resume_unfinished() == ()


async def test_a_run_of_a_dead_process_is_taken_over_and_answered(database: Path) -> None:
    channel = Channel()
    clock = Clock(now=lambda: NOW + timedelta(seconds=5))
    async with serving(database, channel, Lookup(), clock=clock) as service:
        run = new_run(owner="somewhere_1_dead")
        await service.store.accept(run, ())
        taken = await service.resume_unfinished()
        assert [one.id for one in taken] == [run.id]
        await service.wait(run.id)
    assert isinstance(channel.replies[0][1], Answer)


async def test_a_log_that_cannot_be_emptied_keeps_no_run_from_going_on_and_is_emptied_later(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite itself refuses to empty it, until the disk is well again."""
    well = asyncio.Event()
    connect = sqlite3.connect

    def connected(*args: Any, **more: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **more)
        connection.set_authorizer(
            lambda _, what, *rest: (
                sqlite3.SQLITE_DENY
                if what == "wal_checkpoint" and not well.is_set()
                else sqlite3.SQLITE_OK
            )
        )
        return connection

    def left_in_log() -> int:
        with closing(connect(database)) as file:
            return int(file.execute("PRAGMA user_version").fetchone()[0])

    prepare(database)
    with closing(connect(database)) as file:
        file.execute("PRAGMA user_version=1")  # a run was erased while somebody read
    monkeypatch.setattr(sqlite3, "connect", connected)
    channel = Channel()
    clock = Clock(now=lambda: NOW + timedelta(seconds=5))
    async with serving(database, channel, Lookup(), clock=clock) as service:
        with pytest.raises(StoreError):
            await service.store.empty_log()
        run = new_run(owner="somewhere_1_dead")
        await service.store.accept(run, ())
        assert [one.id for one in await service.resume_unfinished()] == [run.id]
        await service.wait(run.id)
        assert isinstance(channel.replies[0][1], Answer)
        assert left_in_log() == 1
        well.set()
        await service.resume_unfinished()
        assert left_in_log() == 0


async def test_a_run_whose_time_is_over_is_closed_and_lists_what_was_established(
    database: Path,
) -> None:
    first, tool = Channel(), Lookup()
    second_call = asyncio.Event()

    async def stuck(request: object) -> Any:
        second_call.set()
        await forever()

    script = (turn(called("lookup", {"what": "apples"})), stuck)
    async with serving(
        database, first, tool, model=lambda: ScriptedModel(*script), clock=Clock(now=lambda: NOW)
    ) as service:
        run = await accepted(service)
        await second_call.wait()
        await service._dispatcher.cancel()  # as a killed process leaves it
    channel = Channel()
    clock = Clock(now=lambda: NOW + timedelta(minutes=10))
    async with serving(
        database, channel, tool, model=lambda: ScriptedModel(script[0]), clock=clock
    ) as service:
        await service.resume_unfinished()
        await service.wait(run.id)
    outcome = failed(channel)
    assert outcome.reason is StopReason.INTERRUPTED
    assert [one.text for one in outcome.established] == ["apples was found"]
    assert tool.ran == ["apples"]


async def test_a_stop_asked_for_before_the_crash_holds_after_it(database: Path) -> None:
    channel, tool = Channel(), Lookup()
    async with opened(database) as store:
        run = new_run(owner="somewhere_1_dead")
        await store.accept(run, ())
        await store.request_abort(run.id, "ada")
    async with serving(
        database, channel, tool, clock=Clock(now=lambda: NOW + timedelta(seconds=5))
    ) as service:
        await service.resume_unfinished()
        await service.wait(run.id)
    assert failed(channel).reason is StopReason.ABORTED
    assert tool.ran == []
