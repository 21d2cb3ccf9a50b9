"""The short way into the store: it waits for others without standing in the way, and reads what it can."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.loop.journal import JOURNAL_VERSION, RunStarted
from bot.loop.limits import Limits
from bot.loop.replay import NeedsVersion, replay
from bot.loop.toolbox import Toolbox
from bot.redact import Redactor
from bot.runs.errors import StoreError
from bot.runs.journal import StoreJournal
from bot.runs.store import Store
from runs.bench import new_run, opened
from support.scripted import NOW, asked

STARTED = RunStarted(question=asked(), limits=Limits(), model="scripted", prompt="p", tools="t")


async def begun(store: Store) -> StoreJournal:
    """A journal that holds its first event."""
    run = new_run("m1")
    assert await store.accept(run, ())
    taken = await store.claim(run, "me", NOW, NOW)
    assert taken is not None
    journal = StoreJournal(store, taken.id, taken.epoch, lambda: NOW)
    await journal.append([STARTED], {"h": "a blob"})
    return journal


@pytest.mark.alone
async def test_an_append_waits_for_another_process_and_nothing_else_waits_with_it(
    database: Path,
) -> None:
    async with opened(database) as store:
        journal = await begun(store)
        with closing(sqlite3.connect(database)) as other:
            other.execute("BEGIN IMMEDIATE")
            append = asyncio.create_task(journal.append([STARTED], {"h": "a blob", "i": "more"}))
            ticks = 0
            async with asyncio.timeout(1):
                while ticks < 5:
                    await asyncio.sleep(0.005)
                    ticks += 1
            assert not append.done()
            other.rollback()
        await append
        assert await journal.read() == (STARTED, STARTED)
        assert await journal.blob("i") == "more"


async def test_an_append_that_waits_too_long_says_what_holds_it_up(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.runs.writer.BUSY_SECONDS", 0.02)
    async with opened(database) as store:
        journal = await begun(store)
        with closing(sqlite3.connect(database)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="locked by another process: wait"):
                await journal.append([STARTED], {})
        assert await journal.read() == (STARTED,)


async def test_an_append_that_was_cut_while_it_waited_left_nothing(database: Path) -> None:
    async with opened(database) as store:
        journal = await begun(store)
        with closing(sqlite3.connect(database)) as other:
            other.execute("BEGIN IMMEDIATE")
            append = asyncio.create_task(journal.append([STARTED], {"i": "more"}))
            await asyncio.sleep(0.02)
            append.cancel()
            with pytest.raises(asyncio.CancelledError):
                await append
        await journal.append([STARTED], {"i": "more"})
        assert len(await journal.read()) == 2


@pytest.mark.parametrize("body", ['{"kind":"run_started","version":%d,"asks":"x"}', '{"x":1}'])
async def test_a_journal_that_no_longer_parses_says_which_version_it_needs(
    database: Path, body: str
) -> None:
    newer = JOURNAL_VERSION + 6
    told = body % newer if "%d" in body else body
    async with opened(database) as store:
        journal = await begun(store)
        with closing(sqlite3.connect(database)) as other:
            other.execute("UPDATE events SET body = ?", (told,))
            other.commit()
        replayed = await replay(journal, Toolbox([], Redactor()))
        assert replayed == NeedsVersion(newer if "%d" in body else 0)
        with pytest.raises(StoreError, match="recorded by another version"):
            await journal.read()
