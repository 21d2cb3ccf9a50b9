"""What a surface says outside runs, kept from the moment it is decided until it is out (M23).

A notice is noted in the transaction that notes its message, so that a crash in between loses neither:
the next owner finds it and looks, before it posts, whether it is out already. Owns the statements on
one table. What a notice says and where is the surface's own.
"""

from __future__ import annotations

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
    """The notices of this process, and of those that died. Raises ``StoreError``."""

    def __init__(self, store: Store, owner: Owner) -> None:
        self._store = store
        self._owner = owner

    async def note(self, keys: Sequence[str], at: datetime, notice: Notice) -> OpenNotice | None:
        """Note deliveries that lead to a notice, and the notice. ``None`` if one is known already."""
        kept = OpenNotice(notice, at, self._owner.name)
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
        return kept

    async def left(self, surface: str) -> tuple[OpenNotice, ...]:
        """What processes that are no more have left, oldest first. Whoever wants one has to take it."""
        query = select(NOTICES).where(NOTICES.c.surface == surface).order_by(NOTICES.c.at)
        async with self._store.reading() as connection:
            rows = (await connection.execute(query)).all()
        return tuple(
            OpenNotice(Notice(row.key, row.surface, row.address, row.body), row.at, row.owner)
            for row in rows
            if not self._owner.lives(row.owner)
        )

    async def take(self, kept: OpenNotice) -> OpenNotice | None:
        """Make one of those this process's own; ``None`` if another was faster."""
        name = self._owner.name
        same = (NOTICES.c.key == kept.notice.key) & (NOTICES.c.owner == kept.owner)
        async with self._store.transaction() as connection:
            taken = await connection.execute(update(NOTICES).where(same).values(owner=name))
        return replace(kept, owner=name) if taken.rowcount else None

    async def done(self, kept: OpenNotice) -> None:
        """It is out, or never will be: nothing of it is kept."""
        async with self._store.transaction() as connection:
            await connection.execute(delete(NOTICES).where(NOTICES.c.key == kept.notice.key))
