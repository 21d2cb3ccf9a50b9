"""Slack's rate limits: how often an app may call a method, and how long it has to wait.

Owns the limits and the counting, on times given to it; there is no way to switch it off. Two forms:
`PerMinute` counts the calls of the last 60 seconds, an app and a method (Slack's tiers, read as
exact although Slack says "50+"); `PerChannel` is chat.postMessage's one message a second and
channel, with the short burst that Slack allows and does not promise. Bursts of 25 have been
measured on slack.com; the playground allows 3, so that a bot which leans on bursts shows it here.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, assert_never

WINDOW_SECONDS = 60.0


@dataclass(frozen=True)
class PerMinute:
    """At most so many calls in any 60 seconds."""

    calls: int


@dataclass(frozen=True)
class PerChannel:
    """So many calls a second and channel, after a burst of at most `burst`."""

    per_second: float
    burst: int


Rate: TypeAlias = PerMinute | PerChannel

TIER_2 = PerMinute(20)
TIER_3 = PerMinute(50)
TIER_4 = PerMinute(100)
SPECIAL = PerMinute(600)
MESSAGES = PerChannel(per_second=1.0, burst=3)
CONNECTIONS = PerMinute(60)
"""apps.connections.open is tier 1 ("1+ a minute"), but slack.com lets ten sockets reconnect at
once; the number is ours."""
DISTRIBUTED_HISTORY = PerMinute(1)
"""conversations.history and .replies of apps distributed outside the Marketplace."""


@dataclass(frozen=True)
class _Key:
    app: str
    method: str
    channel: str


@dataclass
class _Bucket:
    level: float
    at: float


@dataclass
class Rates:
    """What every app has used. Times are world time in seconds."""

    _windows: dict[_Key, deque[float]] = field(default_factory=dict)
    _buckets: dict[_Key, _Bucket] = field(default_factory=dict)

    def take(self, rate: Rate, *, app: str, method: str, channel: str, now: float) -> int | None:
        """Count a call. None if it may pass, else the whole seconds to wait (at least 1)."""
        match rate:
            case PerMinute(calls):
                return self._take_window(_Key(app, method, ""), calls, now)
            case PerChannel(per_second, burst):
                return self._take_bucket(_Key(app, method, channel), per_second, burst, now)
            case _:
                assert_never(rate)

    def usage(self, now: float) -> Mapping[str, int]:
        """Calls in the last minute by method, for the state page."""
        counts: dict[str, int] = {}
        for key, window in self._windows.items():
            counts[key.method] = sum(1 for at in window if at > now - WINDOW_SECONDS)
        return counts

    def _take_window(self, key: _Key, calls: int, now: float) -> int | None:
        window = self._windows.setdefault(key, deque())
        while window and window[0] <= now - WINDOW_SECONDS:
            window.popleft()
        if len(window) >= calls:
            return max(1, math.ceil(window[0] + WINDOW_SECONDS - now))
        window.append(now)
        return None

    def _take_bucket(self, key: _Key, per_second: float, burst: int, now: float) -> int | None:
        bucket = self._buckets.setdefault(key, _Bucket(float(burst), now))
        bucket.level = min(float(burst), bucket.level + (now - bucket.at) * per_second)
        bucket.at = now
        if bucket.level < 1 - 1e-6:
            return max(1, math.ceil((1 - bucket.level) / per_second))
        bucket.level -= 1
        return None
