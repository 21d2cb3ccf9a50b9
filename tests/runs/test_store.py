"""The store on a real SQLite file: deduped, fenced, atomic, erasable."""

from __future__ import annotations

import asyncio
import sqlite3
import zlib
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.loop.journal import FencedError, ModelReturned, RunEnded, RunStarted, blob_hash
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Failure
from bot.loop.state import Phase
from bot.loop.wire import Usage
from bot.runs.errors import StoreError
from bot.runs.ids import new_run_id
from bot.runs.journal import StoreJournal
from bot.runs.migrate import prepare
from bot.runs.records import ReplyState, RunRecord, RunState
from bot.runs.seen import SEEN_FOR
from bot.runs.store import Store
from bot.runs.writer import Prepared
from runs.bench import Channel, new_run, opened, serving
from support.scripted import NOW, asked, turn

STARTED = RunStarted(question=asked(), limits=Limits(), model="scripted", prompt="p", tools="t")
FAILED = Failure(
    reason=StopReason.STEP_CAP, phase=Phase.APPEND, next_check="Look.", steps=8, model="scripted"
)
DEADLINE = NOW + timedelta(seconds=60)


def journal(store: Store, run: RunRecord) -> StoreJournal:
    return StoreJournal(store, run.id, run.epoch, lambda: NOW)


async def claimed(store: Store, key: str = "m1") -> RunRecord:
    run = new_run(key)
    assert await store.accept(run, ())
    taken = await store.claim(run, "me", NOW, DEADLINE)
    assert taken is not None
    return taken


def rows(database: Path, table: str) -> int:
    with closing(sqlite3.connect(database)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])  # noqa: S608


async def test_a_message_becomes_one_run_however_often_and_under_whatever_event_id_it_comes(
    database: Path,
) -> None:
    async with opened(database) as store:
        assert await store.accept(new_run("m1"), ("event-1",))
        assert not await store.accept(new_run("m1"), ("event-1",))
        assert not await store.accept(new_run("m1"), ("event-2",))
        assert not await store.accept(new_run("m1-as-another"), ("event-1",))
    async with opened(database) as store:
        much_later = new_run("m1", accepted_at=NOW + timedelta(days=30))
        assert not await store.accept(much_later, ("event-3",))
        assert len(await store.recent(10)) == 1


async def test_what_led_to_no_run_is_remembered_for_an_hour_and_more_and_then_forgotten(
    database: Path,
) -> None:
    async with opened(database) as store:
        assert await store.first_seen(("m1", "event-1"), NOW)
        assert not await store.first_seen(("event-1",), NOW + timedelta(hours=1, minutes=5))
        assert await store.first_seen(("event-9",), NOW + SEEN_FOR + timedelta(seconds=1))
        assert rows(database, "intake") == 1


async def test_a_run_is_found_by_its_message_its_delivery_and_its_debug_thread(
    database: Path,
) -> None:
    async with opened(database) as store:
        run = new_run("m1")
        await store.accept(run, ("event-1",))
        owned = await store.claim(run, "one", NOW, DEADLINE)
        assert owned is not None
        await store.remember(owned, {"debug_root": "1700.2"}, ("debug-root",), NOW)
        for key in ("m1", "event-1", "debug-root"):
            found = await store.find(key)
            assert found is not None
            assert found.id == run.id
        assert await store.find("m2") is None


async def test_a_stored_run_comes_back_as_it_was(database: Path) -> None:
    async with opened(database) as store:
        run = new_run("m1", owner="me", thread=("first", "sec\u00f6nd"))
        await store.accept(run, ())
        assert await store.run(run.id) == run


async def test_of_two_owners_that_saw_the_same_run_one_gets_it(database: Path) -> None:
    async with opened(database) as store:
        run = new_run()
        await store.accept(run, ())
        first = await store.claim(run, "one", NOW, DEADLINE)
        assert first is not None
        assert (first.epoch, first.owner, first.state) == (1, "one", RunState.RUNNING)
        assert await store.claim(run, "two", NOW, DEADLINE) is None


async def test_a_takeover_keeps_the_deadline_of_the_first_claim(database: Path) -> None:
    async with opened(database) as store:
        first = await claimed(store)
        second = await store.claim(
            first, "two", NOW + timedelta(seconds=30), DEADLINE + timedelta(seconds=30)
        )
        assert second is not None
        assert (second.deadline_at, second.epoch) == (DEADLINE, 2)


async def test_a_stale_owner_is_fenced_off_and_leaves_nothing_behind(database: Path) -> None:
    async with opened(database) as store:
        stale = await claimed(store)
        await store.claim(stale, "two", NOW, DEADLINE)
        with pytest.raises(FencedError):
            await journal(store, stale).append([STARTED], {"h": "text"})
        with pytest.raises(FencedError):
            await store.intend_reply(stale, "mark", NOW)
        with pytest.raises(FencedError):
            await store.remember(stale, {"root": "1"}, ("root",), NOW)
        with pytest.raises(FencedError):
            await store.still_owns(stale)
        assert rows(database, "events") == rows(database, "blobs") == rows(database, "replies") == 0


async def test_the_terminal_event_and_the_outcome_are_one_and_nothing_comes_after(
    database: Path,
) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        log = journal(store, run)
        returned = ModelReturned(
            step=1,
            turn=turn().model_copy(update={"usage": Usage(input_tokens=7, output_tokens=3)}),
            seconds=0.1,
        )
        await log.append([STARTED, returned], {})
        await log.append([returned.model_copy(update={"step": 2}), RunEnded(outcome=FAILED)], {})
        ended = await store.run(run.id)
        assert ended is not None
        assert (ended.state, ended.outcome, ended.ended_at) == (RunState.ENDED, FAILED, NOW)
        assert (ended.model, ended.input_tokens, ended.output_tokens) == ("scripted", 14, 6)
        with pytest.raises(FencedError):
            await log.append([RunEnded(outcome=FAILED)], {})
        assert [e.kind for e in await log.read()].count("run_ended") == 1


async def test_appends_at_the_same_time_get_their_own_numbers(database: Path) -> None:
    import asyncio  # noqa: PLC0415

    async with opened(database) as store:
        run = await claimed(store)
        one, two = journal(store, run), journal(store, run)
        returned = ModelReturned(step=1, turn=turn(), seconds=0.1)
        await asyncio.gather(*(log.append([returned], {}) for log in (one, two) * 5))
        assert len(await one.read()) == 10
        with closing(sqlite3.connect(database)) as connection:
            numbers = [n for (n,) in connection.execute("SELECT sequence FROM events ORDER BY 1")]
        assert numbers == list(range(1, 11))


@pytest.mark.alone
async def test_what_is_stored_is_read_while_others_write(database: Path) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        log = journal(store, run)
        await log.append([STARTED], {blob_hash("x"): "x"})
        with closing(sqlite3.connect(database)) as other:
            other.execute("BEGIN IMMEDIATE")
            async with asyncio.timeout(2):
                assert await log.blob(blob_hash("x")) == "x"
                assert await log.read() == (STARTED,)
        async with store.transaction() as connection, asyncio.timeout(2):
            await connection.execute(text("UPDATE runs SET model = 'x'"))
            assert await log.blob(blob_hash("x")) == "x"
            assert set(await log.blobs()) == {blob_hash("x")}
            assert await log.read() == (STARTED,)


async def test_a_blob_is_kept_once_compressed_and_whole(database: Path) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        log = journal(store, run)
        text = "retry.budget: 5s \u2192 1s \ud800\n" * 2_000
        digest = blob_hash(text)
        await log.append([STARTED], {digest: text})
        await log.append([], {digest: text, blob_hash("x"): "x"})
        assert await log.blob(digest) == text
        assert set(await log.blobs()) == {digest, blob_hash("x")}
        with closing(sqlite3.connect(database)) as connection:
            sizes = [n for (n,) in connection.execute("SELECT length(body) FROM blobs")]
        assert max(sizes) < len(text) / 10
        with pytest.raises(KeyError):
            await log.blob("unknown")


@pytest.mark.parametrize("text", ["", "=", "x", "5s \u2192 1s \ud800", "y" * 2_047, "y" * 2_048])
async def test_a_short_blob_comes_back_as_it_was(text: str, database: Path) -> None:
    async with opened(database) as store:
        log = journal(store, await claimed(store))
        await log.append([STARTED], {"d": text})
        assert await log.blob("d") == text
        assert await log.blobs() == {"d": text}


async def test_a_short_blob_that_an_earlier_version_packed_is_still_read(database: Path) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        log = journal(store, run)
        await log.append([STARTED], {"d": "plain"})
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("UPDATE blobs SET body = ?", (zlib.compress(b"packed"),))
        assert await log.blob("d") == "packed"


async def test_erasing_a_run_deletes_all_that_it_has_and_nothing_of_others(database: Path) -> None:
    async with opened(database) as store:
        run, other = await claimed(store, "m1"), await claimed(store, "m2")
        for one in (run, other):
            await journal(store, one).append([STARTED], {"h": "text"})
            await store.intend_reply(one, "mark", NOW)
        assert await store.erase(run.id)
        assert not await store.erase(run.id)
        for table in ("runs", "events", "blobs", "replies", "intake"):
            assert rows(database, table) == 1, table


def in_files(database: Path, words: bytes) -> bool:
    return any(words in file.read_bytes() for file in database.parent.glob(f"{database.name}*"))


async def test_bytes_that_a_reader_holds_are_said_to_be_left_and_go_at_the_next_look(
    database: Path,
) -> None:
    """By whichever process looks next; the one that erased need not live to see it."""
    prepare(database)
    with closing(sqlite3.connect(database, isolation_level=None)) as reader:
        reader.execute("SELECT count(*) FROM runs").fetchall()  # from now on the log stays a file
        async with opened(database) as store:
            run = new_run("m1", question="Was it heliotrope?")
            await store.accept(run, ())
            other = await claimed(store, "m2")
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM runs").fetchall()
            erased = await store.erase(run.id)
            assert erased is not None
            assert not erased.log_emptied
            await journal(store, other).append([STARTED], {})  # nobody waits for the reader
        assert in_files(database, b"heliotrope")
        reader.execute("COMMIT")
        async with serving(database, Channel()) as service:
            assert in_files(database, b"heliotrope")
            await service.resume_unfinished()
            assert not in_files(database, b"heliotrope")
            assert await service.store.empty_log()


async def test_what_is_erased_with_nobody_reading_is_gone_from_the_log_at_once(
    database: Path,
) -> None:
    async with opened(database) as store:
        run = new_run("m1", question="Was it heliotrope?")
        await store.accept(run, ())
        assert in_files(database, b"heliotrope")
        erased = await store.erase(run.id)
        assert erased is not None
        assert erased.log_emptied
        assert not in_files(database, b"heliotrope")


async def test_a_reply_is_intended_once_and_settled(database: Path) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        intended = await store.intend_reply(run, "mark-1", NOW)
        again = await store.intend_reply(run, "mark-2", NOW + timedelta(seconds=9))
        assert intended.reply is not None
        assert again.reply == replace(intended.reply, may_be_out=True)
        assert not intended.reply.may_be_out
        assert not intended.replied
        await store.settle_reply(run.id, ReplyState.POSTED, "1700.1")
        settled = await store.run(run.id)
        assert settled is not None
        assert settled.replied
        assert settled.reply is not None
        assert (settled.reply.marker, settled.reply.reference) == ("mark-1", "1700.1")


async def test_only_runs_without_outcome_or_reply_and_of_known_surfaces_are_unfinished(
    database: Path,
) -> None:
    async with opened(database) as store:
        waiting, unposted, done = [await claimed(store, key) for key in ("m1", "m2", "m3")]
        await store.accept(new_run("m4", surface="elsewhere"), ())
        for run in (unposted, done):
            await journal(store, run).append([RunEnded(outcome=FAILED)], {})
            await store.intend_reply(run, "mark", NOW)
        await store.settle_reply(done.id, ReplyState.GONE, "deleted")
        left = await store.unfinished(("channel",))
        assert {run.id for run in left} == {waiting.id, unposted.id}


async def test_the_first_one_who_stops_a_run_counts_and_nobody_does_after_its_end(
    database: Path,
) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        await store.request_abort(run.id, "ada")
        stopped = await store.request_abort(run.id, "grace")
        assert stopped is not None
        assert stopped.abort_requested_by == "ada"
        other = await claimed(store, "m2")
        await journal(store, other).append([RunEnded(outcome=FAILED)], {})
        late = await store.request_abort(other.id, "ada")
        assert late is not None
        assert late.abort_requested_by is None
        assert await store.request_abort("nothing", "ada") is None


async def test_an_append_hears_of_a_stop_that_another_process_asked_for(database: Path) -> None:
    async with opened(database) as here, opened(database) as there:
        run = await claimed(here)
        heard: list[str] = []
        log = StoreJournal(here, run.id, run.epoch, lambda: NOW, asked=heard.append)
        await log.append([STARTED], {})
        await there.request_abort(run.id, "ada")
        await log.append([ModelReturned(step=1, turn=turn(), seconds=0.1)], {})
        assert heard == ["ada"]


async def test_an_address_can_grow_so_that_the_next_owner_knows_it(database: Path) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        await store.remember(run, {"debug_root": "1700.2"}, ("key",), NOW)
        known = await store.run(run.id)
        assert known is not None
        assert known.address == {"channel": "C1", "debug_root": "1700.2"}


async def test_a_full_disk_is_said_in_words_and_nothing_is_half_written(database: Path) -> None:
    async with opened(database) as store:
        run = await claimed(store)
        full = Prepared(text("PRAGMA max_page_count=1"))
        await store.writer.transaction(lambda cursor: cursor.rows(full, {}))
        with pytest.raises(StoreError, match=r"disk .* is full: free some space"):
            await journal(store, run).append([STARTED], {"h": "".join(map(str, range(200_000)))})
    assert rows(database, "events") == 0


async def test_a_locked_database_is_said_in_words(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bot.runs.store.BUSY_SECONDS", 0.05)
    async with opened(database) as store:
        run = await claimed(store)
        with closing(sqlite3.connect(database)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="locked by another process: wait"):
                await store.request_abort(run.id, "ada")


def test_ids_sort_by_time_and_do_not_repeat() -> None:
    ids = [new_run_id(NOW + timedelta(milliseconds=n)) for n in range(200)]
    assert ids == sorted(ids)
    same = {new_run_id(NOW) for _ in range(1_000)}
    assert len(same) == 1_000
    assert all(len(one) == 26 for one in same)


async def test_an_outcome_that_another_version_stored_hides_no_other_run(database: Path) -> None:
    async with opened(database) as store:
        strange = await claimed(store, "m1")
        await claimed(store, "m2")
        with closing(sqlite3.connect(database)) as file, file:
            file.execute(
                "UPDATE runs SET outcome = ? WHERE id = ?", ('{"kind": "later"}', strange.id)
            )
        assert len(await store.recent(5)) == 2
        found = await store.run(strange.id)
        assert found is not None
        assert isinstance(found.outcome, Failure)
        assert "another version" in found.outcome.detail
