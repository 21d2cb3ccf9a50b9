"""CALL: one model call, raced against the deadline and the abort, tried again on an outage (M8, M14).

Nothing is retried below this. A retry must fit the time that is left; a timeout is not retried with
the same model.
"""

from __future__ import annotations

import asyncio
import json

from bot.loop.journal import ModelCalled, ModelFailed, ModelReturned, WasCut
from bot.loop.limits import Limits
from bot.loop.recorder import Recorder
from bot.loop.state import Phase
from bot.loop.stopping import Cut, Done, Stop, TimedOut, WorkCancelledError
from bot.loop.wire import Model, ModelError, ModelErrorKind, Request, Turn

WAIT_SECONDS = 0.5
"""Before the first retry where the provider names no time; doubled for each later one."""

_AGAIN = frozenset({ModelErrorKind.RATE_LIMIT, ModelErrorKind.OVERLOADED, ModelErrorKind.NETWORK})


async def call(
    model: Model, request: Request, step: int, limits: Limits, stop: Stop, recorder: Recorder
) -> Turn | ModelError | Cut:
    """The model's turn for this step, or why there is none."""
    recorder.note(_called(model, request, step, recorder))
    if past := recorder.reply(step):
        return past
    await recorder.flush()
    attempt = len(recorder.failed_attempts(step))
    while attempt <= limits.model_retries:
        attempt += 1
        failed = await _attempt(model, request, step, limits, stop, recorder)
        if not isinstance(failed, ModelFailed):
            return failed
        wait = _wait(failed, attempt, limits, stop)
        await recorder.write(failed.model_copy(update={"attempt": attempt, "again_in": wait}))
        if wait is None:
            return ModelError(failed.error, failed.message)
        match await stop.race(asyncio.sleep(wait), wait + 1):
            case Cut() as cut:
                await recorder.write(_cut(step, cut))
                return cut
            case _:
                pass
    return ModelError(ModelErrorKind.OVERLOADED, f"{model.name} failed {attempt} times")


def _called(model: Model, request: Request, step: int, recorder: Recorder) -> ModelCalled:
    """The event of the call, with the messages that are new since the last one kept as blobs."""
    new = request.messages[request.kept :]
    texts = [message.model_dump_json() for message in new]
    return ModelCalled(
        step=step,
        model=model.name,
        kept=request.kept,
        added=tuple(recorder.keep(text) for text in texts),
        size=sum(len(text) for text in texts),
    )


async def _attempt(
    model: Model, request: Request, step: int, limits: Limits, stop: Stop, recorder: Recorder
) -> Turn | Cut | ModelFailed:
    began = stop.clock.monotonic()
    try:
        raced = await stop.race(model.complete(request), limits.model_call_seconds)
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
            late = f"{model.name} did not answer within {limits.model_call_seconds:g} s"
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


def _wait(failed: ModelFailed, attempt: int, limits: Limits, stop: Stop) -> float | None:
    """Seconds before the next try, or ``None`` when there is none: wrong kind, no try, no time."""
    if failed.error not in _AGAIN or attempt > limits.model_retries:
        return None
    wait = failed.again_in if failed.again_in is not None else WAIT_SECONDS * 2 ** (attempt - 1)
    left = stop.deadline - stop.clock.monotonic()
    return wait if wait < left else None


def _cut(step: int, cut: Cut) -> WasCut:
    return WasCut(step=step, phase=Phase.CALL, reason=cut.reason, by=cut.by)
