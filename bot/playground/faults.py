"""Faults: what can go wrong with one Web API call, and the rules that say when.

Owns the closed union of faults and the seeded book of rules that picks one for a call. How a fault
is carried out on the wire is `webapi.server`'s; this module is pure.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field


class _Fault(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RateLimited(_Fault):
    """HTTP 429; `retry_after` None leaves the header out."""

    kind: Literal["rate_limited"] = "rate_limited"
    retry_after: int | None = 1


class SoftRateLimited(_Fault):
    """HTTP 200 with `ok: false, error: ratelimited`, as Slack has answered at times."""

    kind: Literal["soft_rate_limited"] = "soft_rate_limited"
    retry_after: int | None = 1


class ServerError(_Fault):
    """A 5xx with a body that is not JSON; the call is not processed."""

    kind: Literal["server_error"] = "server_error"
    status: int = Field(default=503, ge=500, le=599)


class ServerErrorAfter(_Fault):
    """The call is processed, and answered with a 5xx all the same."""

    kind: Literal["server_error_after"] = "server_error_after"
    status: int = Field(default=504, ge=500, le=599)


class ApiError(_Fault):
    """HTTP 200 with `ok: false` and this error; the call is not processed."""

    kind: Literal["api_error"] = "api_error"
    error: str = "internal_error"


class ResetBefore(_Fault):
    """The connection is reset before the call is processed."""

    kind: Literal["reset_before"] = "reset_before"


class ResetAfter(_Fault):
    """The call is processed (the message is stored), then the connection is reset."""

    kind: Literal["reset_after"] = "reset_after"


class Slow(_Fault):
    """The call is processed after so many seconds of world time."""

    kind: Literal["slow"] = "slow"
    seconds: float = Field(gt=0)


class HangBefore(_Fault):
    """The call is never processed and never answered; the client has to give up."""

    kind: Literal["hang_before"] = "hang_before"


class HangAfter(_Fault):
    """The call is processed and never answered."""

    kind: Literal["hang_after"] = "hang_after"


Fault: TypeAlias = (
    RateLimited
    | SoftRateLimited
    | ServerError
    | ServerErrorAfter
    | ApiError
    | ResetBefore
    | ResetAfter
    | Slow
    | HangBefore
    | HangAfter
)


class FaultRule(_Fault):
    """When a fault happens. A rule looks at the calls that it matches, in their order."""

    method: str = "*"
    """A method's name or a pattern: `chat.postMessage`, `chat.*`, `*`."""
    channel: str | None = None
    """Only calls whose `channel` argument is this."""
    skip: int = Field(default=0, ge=0)
    """So many matching calls pass first."""
    times: int | None = Field(default=1, ge=1)
    """How often it happens; None is until it is cleared."""
    probability: float = Field(default=1.0, gt=0, le=1)
    fault: Annotated[Fault, Field(discriminator="kind")]


@dataclass(frozen=True)
class _Armed:
    rule: FaultRule
    seen: int = 0
    done: int = 0


class FaultBook:
    """The rules in force. The first rule that fires decides; chances come from the seed."""

    def __init__(self, seed: int = 0) -> None:
        self._random = random.Random(seed)  # noqa: S311  # reproducible chances, not secrets
        self._armed: list[_Armed] = []

    def add(self, rule: FaultRule) -> None:
        self._armed.append(_Armed(rule))

    def clear(self) -> None:
        self._armed.clear()

    def reseed(self, seed: int) -> None:
        self._random.seed(seed)

    def rules(self) -> list[FaultRule]:
        return [armed.rule for armed in self._armed]

    def draw(self, method: str, channel: str | None) -> Fault | None:
        """The fault of this call, if any. Counts the call for every rule that it matches."""
        chosen: Fault | None = None
        for place, armed in enumerate(self._armed):
            rule = armed.rule
            if not fnmatchcase(method, rule.method):
                continue
            if rule.channel is not None and rule.channel != channel:
                continue
            seen = armed.seen + 1
            spent = rule.times is not None and armed.done >= rule.times
            fires = (
                chosen is None
                and not spent
                and seen > rule.skip
                and (rule.probability == 1.0 or self._random.random() < rule.probability)
            )
            if fires:
                chosen = rule.fault
            self._armed[place] = replace(armed, seen=seen, done=armed.done + int(fires))
        return chosen
