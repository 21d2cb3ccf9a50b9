"""The next model when one is down: an ordered list, and a breaker that all runs of a process share.

A dead provider costs one timeout and not one a run: its breaker opens, later runs begin with the next
model, and after a while one run tries it again. Owns order and memory only. When to hand over is the
loop's to say, after its retries; a bad answer never leads here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import structlog

from bot.loop.wire import Model, ModelError, ModelErrorKind, Request, Turn

_log = structlog.get_logger(__name__)

FIRST_SECONDS = 30.0
"""How long a model is left alone after its first failure; doubled for each that follows."""
LONGEST_SECONDS = 300.0
LONGEST_ASKED_SECONDS = 3600.0
"""The most that a provider's own Retry-After may ask for."""
PROBE_SECONDS = 60.0
"""How long one run has to find out whether a model is back before another may try."""


@dataclass(frozen=True)
class _Circuit:
    """``until``: no call before. ``prober`` is the run that tries after it, until ``probe_ends``."""

    failures: int = 0
    until: float = 0.0
    prober: object = None
    probe_ends: float = 0.0


class Breaker:
    """Which models are down, by key. One for the process; ``monotonic`` is in seconds."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._circuits: dict[str, _Circuit] = {}

    def admits(self, key: str, who: object) -> bool:
        """Whether this run may call the model now. After the pause only one run may: the first."""
        circuit = self._circuits.get(key)
        if circuit is None:
            return True
        now = self._monotonic()
        if now < circuit.until:
            return False
        if circuit.prober in {None, who} or now >= circuit.probe_ends:
            self._circuits[key] = replace(circuit, prober=who, probe_ends=now + PROBE_SECONDS)
            return True
        return False

    def succeeded(self, key: str) -> None:
        if self._circuits.pop(key, None) is not None:
            _log.info("model_back", model=key)

    def failed(self, key: str, retry_after: float | None) -> None:
        """Leave it alone: as long as it asked, else twice as long as the last time."""
        before = self._circuits.get(key, _Circuit())
        pause = min(FIRST_SECONDS * 2.0**before.failures, LONGEST_SECONDS)
        if retry_after is not None:
            pause = min(retry_after, LONGEST_ASKED_SECONDS)
        failures = min(before.failures + 1, 16)
        self._circuits[key] = _Circuit(failures, self._monotonic() + pause)
        _log.warning("model_down", model=key, pause_seconds=pause)


class FallbackModel:
    """One run's models, in order. It never goes back to one that it left.

    The last one is asked whatever its breaker says. ``name`` is of the model that is asked next.
    """

    def __init__(self, models: Sequence[Model], breaker: Breaker) -> None:
        if not models:
            raise ValueError("a fallback needs a model")
        self._models = tuple(models)
        self._breaker = breaker
        self._run = object()
        self._at = 0
        self._pass_over()

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def first(self) -> str:
        return self._models[0].name

    @property
    def has_next(self) -> bool:
        """Whether another model stands behind the one that is asked now."""
        return self._at + 1 < len(self._models)

    async def complete(self, request: Request) -> Turn:
        self._pass_over()
        model = self._model
        turn = await model.complete(request)
        self._breaker.succeeded(model.name)
        return turn

    def hand_over(self, error: ModelError) -> bool:
        """Go on with the next model for the rest of the run. ``False``: this failure stands."""
        if not _moves_on(error.kind) or not self.has_next:
            return False
        if _is_outage(error.kind):
            self._breaker.failed(self.name, error.retry_after)
        self._at += 1
        self._pass_over()
        return True

    def go_on_with(self, name: str) -> None:
        """Skip to the model that a resumed run had got to. A name that is not ahead does nothing."""
        ahead = [at for at in range(self._at, len(self._models)) if self._models[at].name == name]
        self._at = ahead[0] if ahead else self._at

    @property
    def _model(self) -> Model:
        return self._models[self._at]

    def _pass_over(self) -> None:
        """Skip what other runs found to be down."""
        while self.has_next and not self._breaker.admits(self.name, self._run):
            self._at += 1


def _moves_on(kind: ModelErrorKind) -> bool:
    """Whether another model may do better. Not after a refusal: that is an answer of a kind."""
    return kind is not ModelErrorKind.REFUSED


def _is_outage(kind: ModelErrorKind) -> bool:
    """Whether other runs would meet the same: it is the model, not this request."""
    match kind:
        case (
            ModelErrorKind.RATE_LIMIT
            | ModelErrorKind.OVERLOADED
            | ModelErrorKind.TIMEOUT
            | ModelErrorKind.NETWORK
            | ModelErrorKind.AUTH
        ):
            return True
        case ModelErrorKind.CONTEXT_TOO_LONG | ModelErrorKind.BAD_REQUEST | ModelErrorKind.REFUSED:
            return False
        case _:
            assert_never(kind)
