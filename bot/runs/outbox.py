"""What a surface says outside runs, kept from the moment it is decided until it is out (M23).

A notice is noted in the transaction that notes its message, so that a crash in between loses neither:
the next owner finds it and looks, before it posts, whether it is out already. Owns the statements on
one table, and which notices this process has in hand. What one says and where is the surface's own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from bot.runs.owner import Owner
from bot.runs.records import Notice, OpenNotice
from bot.runs.schema import NOTICES
from bot.runs.seen import note
from bot.runs.store import Store


class Outbox:
    """The notices of this process, and of those that died. Raises ``StoreError``.

    What is noted or taken is in hand, so that nobody else posts it, until it is put back.
    """

    def __init__(self, store: Store, owner: Owner) -> None:
        self._store = store
        self._owner = owner
        self._in_hand: set[str] = set()
        self._turn = asyncio.Lock()
        """So that nobody sees what is stored and not yet in hand."""

    async def note(self, keys: Sequence[str], at: datetime, notice: Notice) -> OpenNotice | None:
        """Note deliveries that lead to a notice, and the notice. ``None`` if one is known already."""
        kept = OpenNotice(notice, at, self._owner.name)
        async with self._turn:
            try:
                async with self._store.transaction() as connection:
                    await note(connection, keys, at, None)
                    await connection.execute(
                        insert(NOTICES).values(
                            key=notice.key,
                            surface=notice.surface,
                            address=dict(notice.address),
                            body=dict(notice.body),
                            owner=kept.owner,
                            at=at,
                        )
                    )
            except IntegrityError:
                return None
            self._in_hand.add(notice.key)
        return kept

    async def left(self, surface: str) -> tuple[OpenNotice, ...]:
        """What nobody has in hand, oldest first: it was put back, or its process is no more.

        Whoever wants one has to take it.
        """
        query = select(NOTICES).where(NOTICES.c.surface == surface).order_by(NOTICES.c.at)
        async with self._turn:
            async with self._store.reading() as connection:
                rows = (await connection.execute(query)).all()
            free = [row for row in rows if row.key not in self._in_hand]
        others = {row.owner for row in free} - {self._owner.name}
        at_work = {owner for owner in others if self._owner.lives(owner)}
        return tuple(
            OpenNotice(Notice(row.key, row.surface, row.address, row.body), row.at, row.owner)
            for row in free
            if row.owner not in at_work
        )

    async def take(self, kept: OpenNotice) -> OpenNotice | None:
        """Make one of those this process's own; ``None`` if another was faster."""
        name, key = self._owner.name, kept.notice.key
        same = (NOTICES.c.key == key) & (NOTICES.c.owner == kept.owner)
        async with self._turn:
            if key in self._in_hand:
                return None
            async with self._store.transaction() as connection:
                taken = await connection.execute(update(NOTICES).where(same).values(owner=name))
            if taken.rowcount == 0:
                return None
            self._in_hand.add(key)
        return replace(kept, owner=name)

    def put_back(self, kept: OpenNotice) -> None:
        """Nobody works on it any more; if it is not done, ``left`` has it again."""
        self._in_hand.discard(kept.notice.key)

    async def done(self, kept: OpenNotice) -> None:
        """It is out, or never will be: nothing of it is kept."""
        async with self._store.transaction() as connection:
            await connection.execute(delete(NOTICES).where(NOTICES.c.key == kept.notice.key))
