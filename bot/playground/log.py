"""What was asked of the playground and what it sent: the call log and the delivery records.

Owns the records that tests read (`/_control/state`). Values are frozen; a delivery's record is
replaced as its attempts are made.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import StrEnum

from bot.playground.model import Json

KEPT_CALLS = 5_000


@dataclass(frozen=True)
class Call:
    """One Web API call. `fault` names the injected fault, `error` is Slack's word or None."""

    at: float
    method: str
    app: str | None
    args: Json
    status: int
    error: str | None
    fault: str | None = None


class CallLog:
    """The latest calls, oldest first."""

    def __init__(self) -> None:
        self._calls: deque[Call] = deque(maxlen=KEPT_CALLS)

    def add(self, call: Call) -> None:
        self._calls.append(call)

    def calls(self) -> list[Call]:
        return list(self._calls)


class Outcome(StrEnum):
    """How one attempt to deliver ended."""

    WAITING = "waiting"
    ACKED = "acked"
    TIMEOUT = "timeout"
    LOST = "connection_lost"
    REFUSED = "http_error"
    NO_RETRY = "no_retry"
    UNREACHABLE = "connection_failed"
    NOBODY = "no_connection"


@dataclass(frozen=True)
class Attempt:
    at: float
    envelope_id: str
    via: str
    """A connection's id, or the request URL."""
    retry_attempt: int
    retry_reason: str
    outcome: Outcome
    answer: Json | None = None
    """The payload of the acknowledgement, if it had one."""
    ended: float | None = None


class DeliveryState(StrEnum):
    PENDING = "pending"
    ACKED = "acked"
    GAVE_UP = "gave_up"


class PayloadKind(StrEnum):
    """What an envelope carries, in Socket Mode's words."""

    EVENT = "events_api"
    INTERACTIVE = "interactive"
    COMMAND = "slash_commands"


@dataclass(frozen=True)
class Delivery:
    """One payload on its way to an app."""

    id: str
    app: str
    kind: PayloadKind
    payload: Json
    state: DeliveryState = DeliveryState.PENDING
    attempts: tuple[Attempt, ...] = ()
