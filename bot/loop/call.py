"""CALL: one model call, raced against the deadline and the abort, tried again on an outage (M8, M14).

Nothing is retried below this. A retry must fit the time that is left; a timeout is not retried with
the same model. Where another model stands behind it (``Relay``), that one is asked next, and no call
or wait may eat the time that it needs.
"""

from __future__ import annotations

import asyncio
import json

from bot.loop.journal import ModelCalled, ModelFailed, ModelReturned, WasCut
from bot.loop.limits import Limits
from bot.loop.recorder import Recorder
from bot.loop.state import Phase
from bot.loop.stopping import Cut, Done, Stop, TimedOut, WorkCancelledError
from bot.loop.wire import Model, ModelError, ModelErrorKind, Request, Turn, is_relay

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
    for handed in filter(None, (failed.handed_to for failed in failures)):
        _go_on_with(model, handed)
    if past := recorder.reply(step):
        if isinstance(past, Turn):
            _go_on_with(model, past.model)
        return past
    await recorder.flush()
    attempt = len(failures)
    tries = attempt - max((at for at, f in enumerate(failures, 1) if f.handed_to), default=0)
    while True:
        attempt, tries = attempt + 1, tries + 1
        failed = await _attempt(model, request, step, limits, stop, recorder)
        if not isinstance(failed, ModelFailed):
            return failed
        error = ModelError(failed.error, failed.message, retry_after=failed.again_in)
        wait = _wait(model, failed, tries, limits, stop)
        shrinks = _shrinks(failed, request)
        handed_to = ""
        if wait is None and (shrinks or _hand_over(model, error)):
            wait, tries, handed_to = 0.0, 0, "" if shrinks else model.name
        news = {"attempt": attempt, "again_in": wait, "handed_to": handed_to}
        await recorder.write(failed.model_copy(update=news))
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
        return _failed(step, model, error, stop.clock.monotonic() - began)
    except WorkCancelledError:
        broke = ModelError(ModelErrorKind.NETWORK, f"the call of {model.name} broke off")
        return _failed(step, model, broke, stop.clock.monotonic() - began)
    match raced:
        case Done(value=said, seconds=seconds):
            turn = _whole(said)
            recorder.note(ModelReturned(step=step, turn=turn, seconds=seconds))
            return turn
        case TimedOut(seconds=seconds):
            late = f"{model.name} did not answer within {most:.3g} s"
            return _failed(step, model, ModelError(ModelErrorKind.TIMEOUT, late), seconds)
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


def _failed(step: int, model: Model, error: ModelError, seconds: float) -> ModelFailed:
    return ModelFailed(
        step=step,
        attempt=0,
        error=error.kind,
        message=error.message,
        again_in=error.retry_after,
        seconds=seconds,
        model=model.name,
    )


def _shrinks(failed: ModelFailed, request: Request) -> bool:
    return failed.error is ModelErrorKind.CONTEXT_TOO_LONG and request.can_shrink


def _hand_over(model: Model, error: ModelError) -> bool:
    return is_relay(model) and model.hand_over(error)


def _go_on_with(model: Model, recorded: str) -> None:
    """A resumed run stays with the model that it had got to."""
    if is_relay(model):
        model.go_on_with(recorded)


def _has_next(model: Model) -> bool:
    return is_relay(model) and model.has_next


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
