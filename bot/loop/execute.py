"""EXECUTE: run what was planned, reads in parallel, and never let a tool raise into the loop (M10).

Each finished call is durable as it finishes; observations come back in the order of the calls (M12).
One of the three places where any exception is caught: a tool is somebody else's code.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from bot.loop.decide import Check, Plan, Point, Propose, Refuse, Run
from bot.loop.grounding import Verdict, check
from bot.loop.journal import ToolCalled, ToolReturned, WasCut
from bot.loop.limits import Limits
from bot.loop.outcome import Proposal
from bot.loop.recorder import Recorder
from bot.loop.scratchpad import Observation, Origin, Scratchpad, page_characters, show
from bot.loop.state import Phase
from bot.loop.stopping import Cut, Done, Stop, TimedOut
from bot.loop.toolbox import Toolbox
from tools.base import CallContext, Status, ToolError, ToolResult


@dataclass(frozen=True)
class Executed:
    """A turn's observations in call order, and what the answer's check or a write came to."""

    observations: tuple[Observation, ...] = ()
    verdict: Verdict | None = None
    proposal: Proposal | None = None
    cut: Cut | None = None


@dataclass(frozen=True)
class Hands:
    """What running a call needs, for one step."""

    step: int
    pad: Scratchpad
    tools: Toolbox
    limits: Limits
    stop: Stop
    recorder: Recorder
    slots: asyncio.Semaphore


async def execute(plans: tuple[Plan, ...], hands: Hands) -> Executed:
    """Carry out one turn's plans."""
    for plan in plans:
        if isinstance(plan, Run | Check):
            hands.recorder.note(_called(plan, hands.step))
    reads = [plan for plan in plans if isinstance(plan, Run)]
    if reads:
        await hands.recorder.flush()
    read, cut = await _reads(reads, hands)
    results = _together(plans, read)
    verdict = next((check(p.answer, hands.pad) for p in plans if isinstance(p, Check)), None)
    proposal = next((_proposal(p, hands) for p in plans if isinstance(p, Propose)), None)
    observations = [_observe(plan, results, verdict, hands) for plan in plans]
    for plan, observation in zip(plans, observations, strict=True):
        if isinstance(plan, Check):
            result = observation.result
            _returned(result, result.model_dump_json(), plan, 0.0, hands)
    return Executed(tuple(observations), verdict, proposal, cut)


def _together(plans: tuple[Plan, ...], results: dict[str, ToolResult]) -> dict[str, ToolResult]:
    """The results, where calls that are needed together fail together (M12)."""
    whole = [p for p in plans if isinstance(p, Run) and p.tool.together]
    failed = {p.tool.name for p in whole if results[p.observation].status is Status.ERROR}
    for plan in whole:
        if plan.tool.name in failed and results[plan.observation].status is not Status.ERROR:
            results[plan.observation] = _error(
                f"Another {plan.tool.name} call of this turn failed, and they only make sense "
                "together. Send all of them again."
            )
    return results


def _called(plan: Run | Check, step: int) -> ToolCalled:
    name = plan.call.name
    return ToolCalled(step=step, observation=plan.observation, tool=name, arguments=plan.given)


async def _reads(plans: Sequence[Run], hands: Hands) -> tuple[dict[str, ToolResult], Cut | None]:
    """The results by observation: those recorded, and the rest live. Also what cut them, if so.

    A recorded cut is met again: nothing that it left unfinished starts.
    """
    cut = hands.recorder.cut(hands.step, Phase.EXECUTE)
    if cut is not None:
        hands.stop.abort(cut.by, cut.reason)
    results: dict[str, ToolResult] = {}
    for plan in plans:
        recorded = await hands.recorder.result(hands.step, plan.observation)
        if recorded is not None:
            results[plan.observation] = recorded
    left = [plan for plan in plans if plan.observation not in results]
    match left:
        case [only]:  # what it returns is durable before anything else happens: no need to wait
            results[only.observation] = await _run(only, hands)
        case _:
            results |= await _in_parallel(left, hands)
    if left and cut is None and (cut := hands.stop.cut):
        hands.recorder.note(_cut(hands, cut))
    return results, cut


async def _in_parallel(plans: Sequence[Run], hands: Hands) -> dict[str, ToolResult]:
    """Reads at once, each durable as it finishes. A new owner of the run stops them all."""

    async def one(plan: Run) -> ToolResult:
        async with hands.slots:
            result = await _run(plan, hands)
        await hands.recorder.flush()
        return result

    try:
        async with asyncio.TaskGroup() as group:
            running = {plan.observation: group.create_task(one(plan)) for plan in plans}
    except BaseExceptionGroup as broken:  # the journal's: tools raise nothing
        raise broken.exceptions[0] from None
    return {observation: task.result() for observation, task in running.items()}


async def _run(plan: Run, hands: Hands) -> ToolResult:
    """One read, live, within its time; redacted before anything else sees it."""
    began = hands.stop.clock.monotonic()
    try:
        result = await _live(plan, hands)
        whole = result.model_dump_json()
    except Exception:  # noqa: BLE001 - the boundary around other people's code (M10)
        _tell_log(plan.tool.name)
        result = _error(
            f"{plan.tool.name} failed inside. Its log has the reason. Try another way, or "
            "answer with what is known."
        )
        whole = result.model_dump_json()
    _returned(result, whole, plan, hands.stop.clock.monotonic() - began, hands)
    return result


def _tell_log(tool: str) -> None:
    """Within the handling of what the tool raised."""
    import structlog  # noqa: PLC0415 - a fifth of the loop's import, and seldom needed

    structlog.get_logger(__name__).exception("tool_raised", tool=tool)


async def _redacted(plan: Run, context: CallContext, tools: Toolbox) -> ToolResult:
    """What the tool returns, masked: raced as a whole, for a long text takes its time (M8, M19)."""
    return await tools.redacted(await plan.tool.run(plan.arguments, context))


async def _live(plan: Run, hands: Hands) -> ToolResult:
    seconds = min(plan.tool.timeout, hands.limits.tool_call_seconds)
    context = CallContext(
        now=hands.pad.question.asked_at,
        earlier=hands.pad.earlier,
        page_characters=page_characters(hands.limits.observation_chars),
    )
    try:
        raced = await hands.stop.race(_redacted(plan, context, hands.tools), seconds)
    except ToolError as error:
        return hands.tools.redactor.result(_error(str(error)))
    match raced:
        case Done(value=result):
            return result
        case TimedOut():
            return _error(
                f"{plan.tool.name} did not finish within {seconds:g} s and was stopped. "
                "Ask for less (a narrower window, one service), or try once more."
            )
        case Cut() as cut:
            hands.recorder.note(_cut(hands, cut))
            return _error("The run was stopped before this call finished.")


def _cut(hands: Hands, cut: Cut) -> WasCut:
    return WasCut(step=hands.step, phase=Phase.EXECUTE, reason=cut.reason, by=cut.by)


def _error(message: str) -> ToolResult:
    return ToolResult(status=Status.ERROR, summary=message[:200], text=message)


def _returned(
    result: ToolResult, whole: str, plan: Run | Check, seconds: float, hands: Hands
) -> None:
    hands.recorder.note(
        ToolReturned(
            step=hands.step,
            observation=plan.observation,
            tool=plan.call.name,
            status=result.status,
            summary=result.summary,
            result=hands.recorder.keep(whole),
            size=len(result.text),
            seconds=seconds,
        )
    )


def _observe(
    plan: Plan, results: Mapping[str, ToolResult], verdict: Verdict | None, hands: Hands
) -> Observation:
    """The observation of one plan, as it is appended."""
    match plan:
        case Run(given=arguments):
            result, origin = results[plan.observation], Origin.RAN
        case Point(earlier=earlier) if earlier in results and _failed(results[earlier]):
            result = _error(f"It is the same call as {earlier}, which failed. It ran once.")
            arguments, origin = {}, Origin.POINTED
        case Point(earlier=earlier):
            text = f"You have this already: it is {earlier}. The call was not run again."
            result = ToolResult(status=Status.OK, summary=f"same as {earlier}", text=text)
            arguments, origin = {}, Origin.POINTED
        case Refuse(why=why):
            result, arguments, origin = _error(why), {}, Origin.REFUSED
        case Check(given=arguments):
            result, origin = _checked(verdict), Origin.CHECKED
        case Propose(arguments=proposed):
            text = "Proposed to a person; nothing was changed."
            result = ToolResult(status=Status.OK, summary=text, text=text)
            arguments, origin = proposed, Origin.REFUSED
        case _:
            assert_never(plan)
    return Observation(
        id=plan.observation,
        call_id=plan.call.id,
        tool=plan.call.name,
        arguments=arguments,
        origin=origin,
        result=result,
        shown=show(plan.observation, result, hands.limits.observation_chars),
        same_as=plan.same_as,
        asked=plan.call.arguments,
    )


def _failed(result: ToolResult) -> bool:
    return result.status is Status.ERROR


def _checked(verdict: Verdict | None) -> ToolResult:
    if verdict is None or verdict.accepted is not None:
        return ToolResult(status=Status.OK, summary="the answer holds", text="Accepted.")
    lines = "\n".join(f"- {problem}" for problem in verdict.problems)
    return ToolResult(
        status=Status.ERROR,
        summary=f"the answer was rejected: {verdict.problems[0]}"[:200],
        text=f"The answer was rejected and reached nobody:\n{lines}\n"
        "Mend it from the observations, or leave out what they do not show.",
    )


def _proposal(plan: Propose, hands: Hands) -> Proposal:
    asked = hands.pad.question
    key = json.dumps([asked.asked_at.isoformat(), asked.text, plan.same_as], ensure_ascii=False)
    return Proposal(
        tool=plan.tool,
        arguments=plan.arguments,
        reason=plan.reason,
        key=hands.recorder.keep(key),
        steps=len(hands.pad.steps) + 1,
        model=hands.pad.model,
    )
