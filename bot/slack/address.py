"""Where a question was asked, as it is stored with the run and found again after a crash."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.runs.records import RunRecord

SURFACE = "slack"
_YES = "yes"

DEBUG_CHANNEL = "debug_channel"
DEBUG_TS = "debug_ts"
"""Added to the address once the debug thread has a root."""


@dataclass(frozen=True)
class Address:
    """``ts`` is the question's message, ``thread_ts`` the thread that the reply belongs to.

    ``asked_ts`` is when it was asked: the message's ts, or that of the click of somebody who pointed
    at the message. ``name`` is what the channel was called then; empty where that is unknown.
    """

    channel: str
    ts: str
    thread_ts: str
    asked_ts: str
    user: str
    shared: bool
    direct: bool
    name: str = ""

    def stored(self) -> Mapping[str, str]:
        return {
            "channel": self.channel,
            "ts": self.ts,
            "thread_ts": self.thread_ts,
            "asked_ts": self.asked_ts,
            "user": self.user,
            "shared": _YES if self.shared else "",
            "direct": _YES if self.direct else "",
            "name": self.name,
        }

    @classmethod
    def of(cls, run: RunRecord) -> Address:
        kept = run.address
        return cls(
            channel=kept["channel"],
            ts=kept["ts"],
            thread_ts=kept["thread_ts"],
            asked_ts=kept.get("asked_ts", kept["ts"]),
            user=kept["user"],
            shared=kept["shared"] == _YES,
            direct=kept["direct"] == _YES,
            name=kept.get("name", ""),
        )
