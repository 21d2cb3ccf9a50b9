"""What a surface (Slack, the terminal, the web) is to a run: where it shows, where it replies.

Owns the protocol and the two ways a reply can go. Knows no surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from bot.loop.journal import Event
from bot.loop.outcome import Outcome
from bot.runs.records import RunRecord


@dataclass(frozen=True)
class Posted:
    """The reply is out. ``reference`` finds it again (a message's ts)."""

    reference: str


@dataclass(frozen=True)
class Gone:
    """The place to reply to is no longer there; nothing of ours is left behind."""

    why: str


class NotPostedError(Exception):
    """The reply did not go out and may later. The message says what to change."""


class Surface(Protocol):
    """Called by the service, one run's calls in order. What it raises is logged."""

    @property
    def name(self) -> str:
        """As stored with each run: unique, and the same after a restart."""
        ...

    async def started(self, run: RunRecord) -> None:
        """Work begins, or begins again after a crash."""
        ...

    async def saw(self, run: RunRecord, event: Event) -> None:
        """One event, after it is durable. The run does not wait for this."""
        ...

    async def reply(self, run: RunRecord, outcome: Outcome) -> Posted | Gone:
        """Post the one reply (M23).

        The intent is recorded before. When an earlier try recorded it (``run.reply.may_be_out``), a
        post may be out already: look for ``run.reply.marker`` first. Raising leaves the reply open:
        it is tried again later, and ever more seldom. ``NotPostedError`` says why in words for the
        log.
        """
        ...
