"""Stops that come before their question: few, for an hour, and each for what it is meant for."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from bot.runs import early
from bot.runs.early import EARLY_FOR
from bot.runs.records import EarlyStop, Heeds
from runs.bench import new_run, opened
from support.scripted import NOW


def stop(key: str = "m1", by: str = "U1", *, of_all: bool = True, at: datetime = NOW) -> EarlyStop:
    return EarlyStop(key, by, f"name of {by}", at, of_all=of_all)


def heeds(*keys: str, asker: str = "U9", since: datetime = NOW) -> Heeds:
    return Heeds(keys or ("m1",), asker, since)


def kept(database: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute("SELECT key, by FROM early_stops ORDER BY at, key").fetchall()


@pytest.mark.parametrize(
    ("stopped", "heeded", "by"),
    [
        (stop(), heeds(), "name of U1"),
        (stop("thread"), heeds("m1", "thread"), "name of U1"),
        (stop("m2"), heeds(), None),
        (stop(of_all=False), heeds(), None),
        (stop(of_all=False), heeds(asker="U1"), "name of U1"),
        (stop(at=NOW - timedelta(microseconds=100)), heeds(), None),
    ],
)
async def test_a_question_is_stopped_from_the_first_by_what_was_meant_for_it(
    database: Path, stopped: EarlyStop, heeded: Heeds, by: str | None
) -> None:
    async with opened(database) as store:
        await store.stop_early(stopped, NOW)
        run = new_run()
        assert await store.accept(run, (), heeded)
        found = await store.run(run.id)
        assert found is not None
        assert found.abort_requested_by == by


async def test_of_several_stops_the_first_one_counts(database: Path) -> None:
    async with opened(database) as store:
        for number, by in enumerate(("U2", "U1")):
            await store.stop_early(stop(by=by, at=NOW + timedelta(seconds=number)), NOW)
        run = new_run()
        await store.accept(run, (), heeds())
        assert list((await store.aborts()).values()) == ["name of U2"]


async def test_few_are_kept_and_none_longer_than_needed(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(early, "MOST_KEPT", 3)
    async with opened(database) as store:
        for number in range(5):
            at = NOW + timedelta(seconds=number)
            await store.stop_early(stop(f"m{number}", at=at), at)
            await store.stop_early(stop(f"m{number}", at=at), at)  # delivered again
        assert [key for key, _ in kept(database)] == ["m2", "m3", "m4"]
        later = NOW + EARLY_FOR + timedelta(seconds=3.5)
        await store.stop_early(stop("m9", at=later), later)
        assert [key for key, _ in kept(database)] == ["m4", "m9"]


async def test_one_that_is_too_old_goes_with_the_next_message_and_stops_nothing_any_more(
    database: Path,
) -> None:
    async with opened(database) as store:
        await store.stop_early(stop(), NOW)
        await store.stop_early(stop("m2"), NOW)
        later = NOW + EARLY_FOR + timedelta(seconds=1)
        run = new_run(accepted_at=later)
        assert await store.accept(run, (), heeds())
        assert await store.aborts() == {}
        assert kept(database) == []


async def test_the_latest_stop_of_a_person_counts_in_whatever_order_they_come(
    database: Path,
) -> None:
    second = timedelta(seconds=1)
    async with opened(database) as store:
        await store.stop_early(stop(at=NOW + second), NOW)
        await store.stop_early(stop(at=NOW - second), NOW)
        await store.accept(new_run(), (), heeds())
        assert list((await store.aborts()).values()) == ["name of U1"]


async def test_whichever_of_stop_and_question_is_stored_first_the_other_one_sees_it(
    database: Path,
) -> None:
    """Two replicas at the same moment, many times."""
    async with opened(database) as here, opened(database) as there:

        async def stops(key: str) -> bool:
            await there.stop_early(stop(key), NOW)
            return await there.find(key) is not None

        for number in range(30):
            key = f"m{number}"
            seen, _ = await asyncio.gather(stops(key), here.accept(new_run(key), (), heeds(key)))
            run = await here.find(key)
            assert run is not None
            assert seen or run.abort_requested_by == "name of U1"
