"""CALL: one model call, raced against the deadline and the abort, tried again on an outage (M8, M14).

Nothing is retried below this. A retry must fit the time that is left; a timeout is not retried with
the same model. Where another model stands behind it (``Relay``), that one is asked next, and no call
or wait may eat the time that it needs.
"""

from __future__ import annotations

import asyncio
import json
from functools import lru_cache

from bot.loop.journal import ModelCalled, ModelFailed, ModelReturned, WasCut
from bot.loop.limits import Limits
from bot.loop.recorder import Recorder
from bot.loop.state import Phase
from bot.loop.stopping import Cut, Done, Stop, TimedOut, WorkCancelledError
from bot.loop.wire import Model, ModelError, ModelErrorKind, Relay, Request, Turn

WAIT_SECONDS = 0.5
"""Before the first retry where the provider names no time; doubled for each later one."""

SHARE = 0.5
"""Of the time left: the most that one call may take while another model stands behind it."""
PATIENCE = 0.2
"""Of the time left: the longest wait before a retry while another model stands behind it."""

_AGAIN = frozenset({ModelErrorKind.RATE_LIMIT, ModelErrorKind.OVERLOADED, ModelErrorKind.NETWORK})


async def call(
    model: Model,
    request: Request,
    step: int,
    limits: Limits,
    stop: Stop,
    recorder: Recorder,
    *,
    shortened: int = 0,
) -> Turn | ModelError | Cut:
    """The model's turn for this step, or why there is none.

    A request that is too long comes back at once while its context can be cut; ``shortened`` counts
    the observations that were.
    """
    recorder.note(_called(model, request, step, recorder, shortened))
    failures = recorder.failed_attempts(step)
    if too_long := next((f for f in failures if _shrinks(f, request)), None):
        return ModelError(too_long.error, too_long.message)
    if past := recorder.reply(step):
        return past
    await recorder.flush()
    attempt = tries = len(failures)
    while True:
        attempt, tries = attempt + 1, tries + 1
        failed = await _attempt(model, request, step, limits, stop, recorder)
        if not isinstance(failed, ModelFailed):
            return failed
        error = ModelError(failed.error, failed.message, retry_after=failed.again_in)
        wait = _wait(model, failed, tries, limits, stop)
        shrinks = _shrinks(failed, request)
        if wait is None and (shrinks or _hand_over(model, error)):
            wait, tries = 0.0, 0
        await recorder.write(failed.model_copy(update={"attempt": attempt, "again_in": wait}))
        if wait is None or shrinks:
            return error
        match await stop.race(asyncio.sleep(wait), wait + 1):
            case Cut() as cut:
                await recorder.write(_cut(step, cut))
                return cut
            case _:
                pass


def _called(
    model: Model, request: Request, step: int, recorder: Recorder, shortened: int
) -> ModelCalled:
    """The event of the call, with the messages that are new since the last one kept as blobs."""
    new = request.messages[request.kept :]
    texts = [message.model_dump_json() for message in new]
    return ModelCalled(
        step=step,
        model=model.name,
        kept=request.kept,
        added=tuple(recorder.keep(text) for text in texts),
        size=sum(len(text) for text in texts),
        cut=shortened,
    )


async def _attempt(
    model: Model, request: Request, step: int, limits: Limits, stop: Stop, recorder: Recorder
) -> Turn | Cut | ModelFailed:
    began = stop.clock.monotonic()
    most = limits.model_call_seconds
    if _has_next(model):
        most = min(most, (stop.deadline - began) * SHARE)
    try:
        raced = await stop.race(model.complete(request), most)
    except ModelError as error:
        return _failed(step, error, stop.clock.monotonic() - began)
    except WorkCancelledError:
        broke = ModelError(ModelErrorKind.NETWORK, f"the call of {model.name} broke off")
        return _failed(step, broke, stop.clock.monotonic() - began)
    match raced:
        case Done(value=said, seconds=seconds):
            turn = _whole(said)
            recorder.note(ModelReturned(step=step, turn=turn, seconds=seconds))
            return turn
        case TimedOut(seconds=seconds):
            late = f"{model.name} did not answer within {most:.3g} s"
            return _failed(step, ModelError(ModelErrorKind.TIMEOUT, late), seconds)
        case Cut() as cut:
            await recorder.write(_cut(step, cut))
            return cut


def _whole(turn: Turn) -> Turn:
    """The turn without halves of surrogate pairs, which neither a journal nor a provider takes."""
    try:
        turn.model_dump_json()
    except ValueError:
        text = json.dumps(turn.model_dump(mode="python"), ensure_ascii=False)
        return Turn.model_validate_json(text.encode("utf-8", "replace"))
    return turn


def _failed(step: int, error: ModelError, seconds: float) -> ModelFailed:
    return ModelFailed(
        step=step,
        attempt=0,
        error=error.kind,
        message=error.message,
        again_in=error.retry_after,
        seconds=seconds,
    )


def _shrinks(failed: ModelFailed, request: Request) -> bool:
    return failed.error is ModelErrorKind.CONTEXT_TOO_LONG and request.can_shrink


@lru_cache
def _relays(kind: type[Model]) -> bool:
    """Asked of the type and kept: asking it of an object each time costs as much as a small call."""
    return all(hasattr(kind, name) for name in ("has_next", "hand_over"))


def _hand_over(model: Model, error: ModelError) -> bool:
    return isinstance(model, Relay) and model.hand_over(error)


def _has_next(model: Model) -> bool:
    return _relays(type(model)) and isinstance(model, Relay) and model.has_next


def _wait(
    model: Model, failed: ModelFailed, tries: int, limits: Limits, stop: Stop
) -> float | None:
    """Seconds before the next try, or ``None`` when there is none: wrong kind, no try, no time."""
    relay = _has_next(model)
    most = min(limits.model_retries, 1) if relay else limits.model_retries
    if failed.error not in _AGAIN or tries > most:
        return None
    wait = failed.again_in if failed.again_in is not None else WAIT_SECONDS * 2 ** (tries - 1)
    left = stop.deadline - stop.clock.monotonic()
    return wait if wait < left * (PATIENCE if relay else 1) else None


def _cut(step: int, cut: Cut) -> WasCut:
    return WasCut(step=step, phase=Phase.CALL, reason=cut.reason, by=cut.by)
