"""What the store hands out: a run, its reply, and what an accepted question brings along.

Frozen values only. Knows neither SQL nor any surface.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from bot.loop.outcome import Outcome


class RunState(StrEnum):
    """ACCEPTED: committed, nobody works on it yet. ENDED: its outcome is in the journal."""

    ACCEPTED = "accepted"
    RUNNING = "running"
    ENDED = "ended"


class ReplyState(StrEnum):
    """INTENDED: a post may have gone out. GONE: the place to reply to is no longer there."""

    INTENDED = "intended"
    POSTED = "posted"
    GONE = "gone"


@dataclass(frozen=True)
class Reply:
    """The one reply of a run (M23). ``marker`` goes out with the post, so that it can be found.

    ``may_be_out``: the intent is an earlier one, so a post may have gone out already.
    """

    state: ReplyState
    marker: str
    intent_at: datetime
    reference: str | None = None
    may_be_out: bool = True


@dataclass(frozen=True)
class EarlyStop:
    """A stop of what is not there, or not yet: ``key`` names the message or its thread.

    ``at`` is when it was made, on the clock of the surface; ``by`` is who made it, ``name`` how
    people call them. ``of_all``: it counts whoever asks; otherwise for their own question only.
    """

    key: str
    by: str
    name: str
    at: datetime
    of_all: bool


@dataclass(frozen=True)
class Heeds:
    """Which earlier stops are meant for a question: under one of ``keys``, made after it (``since``,
    on the clock of the surface), by somebody who may stop all or by the ``asker``.
    """

    keys: tuple[str, ...]
    asker: str
    since: datetime


@dataclass(frozen=True)
class Notice:
    """What a surface says outside runs, once for the message that ``key`` names.

    ``address`` and ``body`` are where and what, as the surface stores and reads them.
    """

    key: str
    surface: str
    address: Mapping[str, str]
    body: Mapping[str, str]


@dataclass(frozen=True)
class OpenNotice:
    """A notice that is not known to be out: noted at ``at``, and ``owner`` is to post it."""

    notice: Notice
    at: datetime
    owner: str


@dataclass(frozen=True)
class Ask:
    """A question as a surface hands it over.

    ``origin_key`` names the message for all time ("slack:T1:C1:1700000000.000100"), ``seen_keys``
    the deliveries of it (event ids), where it is delivered again by itself. ``address`` is what the
    surface needs to reply after a crash. ``heeds``: stops that may have been heard before it.
    ``if_full`` is told where there is no room for it.
    """

    origin_key: str
    surface: str
    text: str
    asked_at: datetime
    address: Mapping[str, str]
    thread: tuple[str, ...] = ()
    seen_keys: tuple[str, ...] = ()
    heeds: Heeds | None = None
    if_full: Notice | None = None


@dataclass(frozen=True)
class RunRecord:
    """One run as stored. ``epoch`` rises with every new owner (fencing); 0 is nobody yet."""

    id: str
    origin_key: str
    surface: str
    address: Mapping[str, str]
    workspace: str
    question: str
    thread: tuple[str, ...]
    asked_at: datetime
    accepted_at: datetime
    state: RunState
    epoch: int
    owner: str | None = None
    claimed_at: datetime | None = None
    deadline_at: datetime | None = None
    abort_requested_by: str | None = None
    model: str | None = None
    outcome: Outcome | None = None
    ended_at: datetime | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    reply: Reply | None = None

    @property
    def replied(self) -> bool:
        return self.reply is not None and self.reply.state is not ReplyState.INTENDED

    @property
    def seconds(self) -> float | None:
        """From acceptance to the outcome, as the asker felt it."""
        return (self.ended_at - self.accepted_at).total_seconds() if self.ended_at else None
