"""What a run costs: from the tokens that providers report and the prices that the settings name.

A price that nobody named and a usage that nobody reported are said, never guessed. Owns the daily
budget too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime

from pydantic import BaseModel, ConfigDict, Field

from bot.loop.wire import Turn

PER = 1_000_000
FREE = frozenset({"rules"})
"""Models that no provider bills."""


class Price(BaseModel):
    """Of one million tokens. Cached input costs as much as other input unless it is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


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
        return f"at least {amount} ({'; '.join(gaps)})"


def cost_of(turns: Iterable[Turn], prices: Mapping[str, Price]) -> Cost:
    """The cost of these turns, by the names of the models that answered."""
    amount = 0.0
    unpriced: dict[str, None] = {}
    unreported: dict[str, None] = {}
    for turn in turns:
        if turn.model in FREE:
            continue
        price = prices.get(turn.model)
        read, written = turn.usage.input_tokens, turn.usage.output_tokens
        if price is None:
            unpriced[turn.model] = None
        elif read is None or written is None:
            unreported[turn.model] = None
        else:
            cached = min(turn.usage.cached_tokens or 0, read)
            again = price.input if price.cached is None else price.cached
            amount += ((read - cached) * price.input + cached * again) / PER
            amount += written * price.output / PER
    return Cost(amount, tuple(unpriced), tuple(unreported))


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
