"""The loop. One screen: think, act, observe, at most ``max_steps`` times, then one outcome.

``run`` is the whole of it. Each turn has five phases: ASSEMBLE the request, CALL the model, DECIDE
what to do, EXECUTE the tools, APPEND what they returned. The parts live beside this file: what a
reply means in ``decide.py``, how calls run in ``execute.py``, when to stop in ``limits.py``, what
makes an answer true in ``grounding.py``, what is remembered in ``scratchpad.py``.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from bot.loop.call import call
from bot.loop.decide import Act, Decision, Halt, Notice, decide
from bot.loop.execute import Executed, Hands, execute
from bot.loop.journal import (
    Appended,
    CallShown,
    Decided,
    Journal,
    RunEnded,
    RunStarted,
    blob_hash,
)
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Outcome
from bot.loop.prompt import BUDGET_LOW, LAST_STEP, SYSTEM
from bot.loop.question import Question
from bot.loop.recorder import Recorder
from bot.loop.scratchpad import Scratchpad, Step, assemble, first_notice, fitted
from bot.loop.settle import failure, settled
from bot.loop.state import Phase, State, move
from bot.loop.stopping import Cut, Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model, ModelError, ModelErrorKind, Request, Turn, is_relay

BUDGET_LOW_SHARE = 0.85
"""Of the token budget: beyond it the model is told to answer now."""
PROMPT = blob_hash(SYSTEM)
"""What the journal keeps of the system prompt."""


async def run(
    question: Question,
    model: Model,
    tools: Toolbox,
    limits: Limits,
    journal: Journal,
    stop: Stop,
) -> Outcome:
    """Answer one question, within its limits, in exactly one outcome (M3, M7).

    What the journal already holds is not done again: this is also how a run is resumed and replayed
    (M17). Raises ``FencedError`` when another owner has the run, and nothing else.
    """
    recorder = await Recorder.open(journal)
    if recorder.ended is not None:
        return recorder.ended
    first = recorder.begin(_started(question, model, tools, limits)).model
    pad = Scratchpad.begin(question, first, first_notice(limits))
    state = State.THINK
    for number in range(1, limits.max_steps + 1):
        pad, request = fitted(pad, tools, limits)
        reply = await call(model, request, number, limits, stop, recorder, shortened=pad.cut)
        if _too_long(reply) and request.can_shrink:
            pad = pad.with_cut(pad.most_cut)
            request = assemble(pad, tools, limits)
            reply = await call(model, request, number, limits, stop, recorder, shortened=pad.cut)
        if isinstance(reply, Turn) and reply.model != pad.model:
            pad = replace(pad, model=reply.model)
        decision = decide(reply, pad, tools, limits)
        recorder.note(_decided(number, reply, decision))
        match decision:
            case Halt(reason=reason, detail=detail):
                state = move(state, State.STOPPED)
                phase = Phase.DECIDE if isinstance(reply, Turn) else Phase.CALL
                return await _end(failure(reason, phase, pad, detail), first, recorder)
            case Notice(turn=turn, text=text):
                state = move(state, State.OBSERVE)
                done, step = Executed(), Step(number, turn, notice=text, sent=request.size)
            case Act(turn=turn, plans=plans):
                state = move(state, State.ACT)
                slots = asyncio.Semaphore(limits.parallel_reads)
                hands = Hands(number, pad, tools, limits, stop, recorder, slots)
                done = await execute(plans, hands)
                state = move(state, State.OBSERVE)
                step = _step(number, turn, done, request)
        pad = pad.with_step(_closing(step, pad, limits))
        recorder.note(_appended(pad.steps[-1]))
        if outcome := settled(pad, done, limits):
            state = move(state, State.STOPPED)
            return await _end(outcome, first, recorder)
        state = move(state, State.THINK)
    move(state, State.STOPPED)
    return await _end(failure(StopReason.STEP_CAP, Phase.APPEND, pad), first, recorder)


def _too_long(reply: Turn | ModelError | Cut) -> bool:
    return isinstance(reply, ModelError) and reply.kind is ModelErrorKind.CONTEXT_TOO_LONG


def _started(question: Question, model: Model, tools: Toolbox, limits: Limits) -> RunStarted:
    return RunStarted(
        question=question,
        limits=limits,
        model=model.first if is_relay(model) else model.name,
        prompt=PROMPT,
        tools=blob_hash(tools.told),
    )


def _decided(number: int, reply: Turn | ModelError | Cut, decision: Decision) -> Decided:
    thought = reply.text.strip() if isinstance(reply, Turn) else ""
    finish = reply.finish if isinstance(reply, Turn) else None
    match decision:
        case Act(plans=plans):
            text = ", ".join(f"{plan.call.name} ({plan.observation})" for plan in plans)
            return Decided(step=number, decision="act", text=text, thought=thought, finish=finish)
        case Notice(text=text):
            return Decided(
                step=number, decision="notice", text=text, thought=thought, finish=finish
            )
        case Halt(reason=reason, detail=detail):
            return Decided(
                step=number,
                decision="stop",
                text=detail,
                thought=thought,
                finish=finish,
                stop=reason,
            )


def _step(number: int, turn: Turn, done: Executed, request: Request) -> Step:
    rejected = done.verdict is not None and done.verdict.accepted is None
    return Step(number, turn, done.observations, rejected=rejected, sent=request.size)


def _closing(step: Step, pad: Scratchpad, limits: Limits) -> Step:
    """The step with the notice of the last step, or of a budget that is nearly spent (M15)."""
    if step.number + 1 == limits.max_steps:
        return replace(step, notice=f"{step.notice}\n\n{LAST_STEP}".strip())
    if pad.tally.tokens + step.tokens >= limits.run_tokens * BUDGET_LOW_SHARE:
        return replace(step, notice=f"{step.notice}\n\n{BUDGET_LOW}".strip())
    return step


def _appended(step: Step) -> Appended:
    return Appended(
        step=step.number,
        observations=tuple(
            CallShown(
                observation=o.id,
                tool=o.tool,
                status=o.result.status,
                summary=o.result.summary,
                shown=min(len(o.shown), len(o.result.text)),
                of=len(o.result.text),
            )
            for o in step.observations
        ),
        notice=step.notice,
    )


async def _end(outcome: Outcome, first: str, recorder: Recorder) -> Outcome:
    """The terminal event; ``first`` is the model that should have been asked."""
    if outcome.model != first:
        outcome = outcome.model_copy(update={"instead_of": first})
    await recorder.write(RunEnded(outcome=outcome))
    return outcome
