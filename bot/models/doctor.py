"""``doctor --model``: one tiny call with one tool, and what it says about the model.

Owns the question that is put and the findings. One call shows tool calls, calls in parallel, the
finish reason, and whether usage and cached tokens are reported.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from bot.loop.question import parse
from bot.loop.stopping import Clock
from bot.loop.wire import (
    Finish,
    Model,
    ModelError,
    ModelErrorKind,
    Request,
    ToolCall,
    ToolSpec,
    Turn,
    UserMessage,
)

SYSTEM = "You test a connection. Call tools exactly as you are told. No prose."
ASKED = 'Call `probe` twice in this one turn: once with word="one", once with word="two".'
PROBE = ToolSpec(
    name="probe",
    description="Does nothing.",
    parameters={
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


class Level(StrEnum):
    """FAIL: the bot cannot use this model. WARN: it can, but something is missing."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """``text`` says what was found, ``fix`` what to do about it, if anything."""

    level: Level
    text: str
    fix: str = ""


async def check_model(model: Model, clock: Clock, seconds: float) -> tuple[Finding, ...]:
    """Ask the model once, for at most ``seconds``. Never raises for what the model does."""
    request = Request(
        system=SYSTEM,
        tools=(PROBE,),
        messages=(UserMessage(text=ASKED),),
        question=parse(ASKED, clock.now(), {}, ()),
        seen=(),
    )
    began = clock.monotonic()
    try:
        async with asyncio.timeout(seconds):
            turn = await model.complete(request)
    except TimeoutError:
        late = f"{model.name} did not answer within {seconds:g} s."
        return (Finding(Level.FAIL, late, _fix(ModelErrorKind.TIMEOUT)),)
    except ModelError as error:
        return (Finding(Level.FAIL, error.message, _fix(error.kind)),)
    took = f"{model.name} answered in {clock.monotonic() - began:.1f} s."
    return (Finding(Level.OK, took), *_findings(turn))


def _findings(turn: Turn) -> Iterator[Finding]:
    good = [call for call in turn.calls if call.name == PROBE.name and _word(call)]
    if not good:
        yield Finding(
            Level.FAIL,
            "It made no usable tool call.",
            'Set mode = "text" in [model] (kind = "openai"), or use a model that calls tools.',
        )
    else:
        yield Finding(Level.OK, "Tool calls work.")
        if len(good) > 1:
            yield Finding(Level.OK, "Parallel calls work.")
        else:
            yield Finding(Level.WARN, "It makes one call a turn: answers take more turns.")
    yield _finish(turn)
    if turn.usage.input_tokens is None or turn.usage.output_tokens is None:
        yield Finding(Level.WARN, "It reports no usage: budgets are estimated, costs are unknown.")
    else:
        used = f"{turn.usage.input_tokens} tokens in, {turn.usage.output_tokens} out"
        yield Finding(Level.OK, f"Usage is reported ({used}).")
    if turn.usage.cached_tokens is None:
        yield Finding(Level.WARN, "Cached tokens are not reported: caching cannot be seen.")
    else:
        yield Finding(Level.OK, "Cached tokens are reported.")


def _finish(turn: Turn) -> Finding:
    match turn.finish:
        case Finish.TOOL_USE | Finish.STOP:
            return Finding(Level.OK, f"The finish reason is known ({turn.finish.value}).")
        case Finish.LENGTH:
            return Finding(
                Level.FAIL, "Its reply was cut off.", "Raise max_output_tokens in [model]."
            )
        case Finish.REFUSAL:
            return Finding(Level.FAIL, "It refused a harmless request.", "Use another model.")
        case Finish.OTHER:
            return Finding(
                Level.WARN, "Its finish reason is not known: a cut-off reply may pass unseen."
            )


def _word(call: ToolCall) -> bool:
    try:
        values = json.loads(call.arguments)
    except ValueError:
        return False
    return isinstance(values, dict) and isinstance(values.get("word"), str)


def _fix(kind: ModelErrorKind) -> str:
    match kind:
        case ModelErrorKind.AUTH:
            return "Set the key: api_key_env in [model] names the variable that holds it."
        case ModelErrorKind.NETWORK | ModelErrorKind.TIMEOUT:
            return "Check base_url in [model], that the server runs, and proxies (HTTPS_PROXY)."
        case ModelErrorKind.BAD_REQUEST | ModelErrorKind.CONTEXT_TOO_LONG:
            return "Check `model`, `mode` and `extra_body` in [model] against the server's docs."
        case ModelErrorKind.RATE_LIMIT | ModelErrorKind.OVERLOADED | ModelErrorKind.REFUSED:
            return "Try again later; add a [[model.then]] for such times."
