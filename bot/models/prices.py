"""What a run costs: from the tokens that providers report and the prices that the settings name.

A price that nobody named and a usage that nobody reported are said, never guessed. Owns the daily
budget too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pydantic import BaseModel, ConfigDict, Field

from bot.loop.wire import Turn, Usage

PER = 1_000_000
FREE = frozenset({"rules"})
"""Models that no provider bills."""


WRITTEN = 1.25
"""Times the price of input, for input that was put into a cache: Anthropic's list price for the
five minutes that the bot asks for. Who bills nothing extra reports no such tokens."""


class Price(BaseModel):
    """Of one million tokens. Where it is not named, input that came from a cache (``cached``) costs
    as much as other input, and input that was put into one (``cache_write``) ``WRITTEN`` times that.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)

    def of(self, tokens: Tokens) -> float:
        """Money for these tokens."""
        cached = self.input if self.cached is None else self.cached
        written = self.input * WRITTEN if self.cache_write is None else self.cache_write
        return (
            tokens.input * self.input
            + tokens.cached * cached
            + tokens.cache_write * written
            + tokens.output * self.output
        ) / PER


@dataclass(frozen=True)
class Tokens:
    """Of one call, each counted once: ``input`` is what neither came from nor went to a cache."""

    input: int
    cached: int
    cache_write: int
    output: int


def tokens_of(usage: Usage) -> Tokens | None:
    """``None`` where the provider did not report them."""
    read, output = usage.input_tokens, usage.output_tokens
    if read is None or output is None:
        return None
    cached = min(usage.cached_tokens or 0, read)
    written = min(usage.cache_written_tokens or 0, read - cached)
    return Tokens(read - cached - written, cached, written, output)


@dataclass(frozen=True)
class Cost:
    """``amount`` is a lower bound while ``unpriced`` or ``unreported`` names a model."""

    amount: float = 0.0
    unpriced: tuple[str, ...] = ()
    unreported: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return not self.unpriced and not self.unreported

    def text(self, currency: str) -> str:
        """For people: ``0.0123 USD``, and what is not in it."""
        amount = f"{self.amount:.4f} {currency}"
        if self.whole:
            return amount
        gaps = [f"no price for {name}" for name in self.unpriced]
        gaps += [f"{name} reports no usage" for name in self.unreported]
        known = f"at least {amount}" if self.amount else "unknown"
        return f"{known} ({'; '.join(gaps)})"

    def of_one_call(self, currency: str) -> str:
        """The same in few words, beside the model's name."""
        if self.unpriced:
            return "price unknown"
        return "cost unknown, no usage reported" if self.unreported else self.text(currency)


def cost_of(turns: Iterable[Turn], prices: Mapping[str, Price]) -> Cost:
    """The cost of these turns, by the names of the models that answered."""
    amount = 0.0
    unpriced: dict[str, None] = {}
    unreported: dict[str, None] = {}
    for turn in turns:
        if turn.model in FREE:
            continue
        price, tokens = prices.get(turn.model), tokens_of(turn.usage)
        if price is None:
            unpriced[turn.model] = None
        elif tokens is None:
            unreported[turn.model] = None
        else:
            amount += price.of(tokens)
    return Cost(amount, tuple(unpriced), tuple(unreported))


def paid_for(turns: Sequence[Turn], prices: Mapping[str, Price]) -> Cost | None:
    """The cost of these turns; ``None`` where no model was asked that is paid for."""
    return None if all(turn.model in FREE for turn in turns) else cost_of(turns, prices)


class Spending:
    """The money of the current day (UTC), from turns as they come. One for the process.

    It forgets when the process ends: ``already`` is what is known to be spent today from before.
    """

    def __init__(
        self, prices: Mapping[str, Price], now: Callable[[], datetime], already: float = 0.0
    ) -> None:
        self._prices = prices
        self._now = now
        self._day = self._utc_day()
        self._amount = already

    def add(self, turn: Turn) -> None:
        self._amount = self.today + cost_of((turn,), self._prices).amount

    @property
    def today(self) -> float:
        day = self._utc_day()
        if day != self._day:
            self._day, self._amount = day, 0.0
        return self._amount

    def _utc_day(self) -> date:
        return self._now().astimezone(UTC).date()


def budget_spent(daily_budget: float | None, spent_today: float) -> bool:
    """Whether only the rules model may answer until midnight UTC."""
    return daily_budget is not None and spent_today >= daily_budget
