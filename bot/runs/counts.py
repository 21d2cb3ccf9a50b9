"""How many replies are in which state, over all stored runs: for those who watch the bot."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import func, select

from bot.runs.records import ReplyState
from bot.runs.schema import REPLIES
from bot.runs.store import Store


async def reply_counts(store: Store) -> Mapping[ReplyState, int]:
    """Every state, also those that no reply is in. Raises ``StoreError``."""
    query = select(REPLIES.c.state, func.count()).group_by(REPLIES.c.state)
    async with store.reading() as connection:
        rows = await connection.execute(query)
        found = {ReplyState(state): int(number) for state, number in rows}
    return dict.fromkeys(ReplyState, 0) | found
