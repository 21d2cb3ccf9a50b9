"""Notices in the store: noted with their message, left by the dead, taken by one, then gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

from bot.runs.outbox import Outbox
from bot.runs.owner import Owner
from bot.runs.records import Notice, OpenNotice
from runs.bench import new_run, opened
from support.scripted import NOW

TOLD = Notice("m1", "channel", {"channel": "C1"}, {"text": "You are a guest."})


async def test_a_notice_is_noted_once_and_with_its_message(database: Path) -> None:
    async with opened(database) as store:
        with Owner(database.parent / "owners") as owner:
            outbox = Outbox(store, owner)
            noted = await outbox.note(("m1", "event-1"), NOW, TOLD)
            assert noted is not None
            assert (noted.notice, noted.at, noted.owner) == (TOLD, NOW, owner.name)
            assert await outbox.note(("m1", "event-2"), NOW, TOLD) is None
            assert await store.is_seen(("event-0", "event-1"))
            assert not await store.is_seen(("event-2",))
            assert not await store.accept(new_run("m1"), ("event-3",))


async def test_what_a_living_process_is_about_to_post_is_left_to_it(database: Path) -> None:
    async with opened(database) as store:
        folder = database.parent / "owners"
        with Owner(folder) as owner, Owner(folder) as other:
            outbox = Outbox(store, owner)
            await outbox.note(("m1",), NOW, TOLD)
            assert await outbox.left("channel") == ()
            assert await Outbox(store, other).left("channel") == ()


async def test_what_was_put_back_is_left_to_its_own_process_until_it_is_out(database: Path) -> None:
    folder = database.parent / "owners"
    async with opened(database) as store:
        with Owner(folder) as owner, Owner(folder) as other:
            outbox = Outbox(store, owner)
            noted = await outbox.note(("m1",), NOW, TOLD)
            assert noted is not None
            assert await outbox.take(noted) is None
            outbox.put_back(noted)
            assert await outbox.left("channel") == (noted,)
            assert await Outbox(store, other).left("channel") == ()
            taken = await asyncio.gather(outbox.take(noted), outbox.take(noted))
            assert [one for one in taken if one] == [noted]
            assert await outbox.left("channel") == ()
            await outbox.done(noted)
            outbox.put_back(noted)
            assert await outbox.left("channel") == ()


async def test_nobody_else_here_sees_a_notice_before_its_author_has_it_in_hand(
    database: Path,
) -> None:
    notices = [Notice(f"m{n}", "channel", {"channel": "C1"}, {"text": "Hm."}) for n in range(20)]
    async with opened(database) as store:
        with Owner(database.parent / "owners") as owner:
            outbox = Outbox(store, owner)
            seen: list[OpenNotice] = []

            async def look() -> None:
                while len(outbox._in_hand) < len(notices):
                    seen.extend(await outbox.left("channel"))

            looks = [asyncio.create_task(look()) for _ in range(3)]
            for one in notices:
                await outbox.note((one.key,), NOW, one)
            await asyncio.gather(*looks)
            assert seen == []


async def test_what_a_dead_process_left_is_taken_by_one_and_kept_until_it_is_out(
    database: Path,
) -> None:
    folder = database.parent / "owners"
    async with opened(database) as store, opened(database) as there:
        with Owner(folder) as dead:
            noted = await Outbox(store, dead).note(("m1",), NOW, TOLD)
        assert noted is not None
        with Owner(folder) as one, Owner(folder) as two:
            here, elsewhere = Outbox(store, one), Outbox(there, two)
            assert await here.left("another") == ()
            assert await here.left("channel") == await elsewhere.left("channel") == (noted,)
            taken = await asyncio.gather(here.take(noted), elsewhere.take(noted))
            assert sum(mine is not None for mine in taken) == 1
        with Owner(folder) as three:
            last = Outbox(store, three)
            (left,) = await last.left("channel")
            assert left.notice == TOLD
            mine = await last.take(left)
            assert mine is not None
            await last.done(mine)
            assert await last.left("channel") == ()
            assert await last.take(left) is None
