"""A request's body, read no further than it may be long. Knows no web framework."""

from __future__ import annotations

from collections.abc import AsyncIterable


async def body_within(chunks: AsyncIterable[bytes], most: int) -> bytes | None:
    """The body, or ``None`` if it has more than ``most`` bytes."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            return None
    return bytes(body)
