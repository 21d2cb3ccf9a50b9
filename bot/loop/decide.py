"""DECIDE: one model reply to one decision. Pure, and exhaustive over what a model can return.

A decision is a closed union: act, tell the model something, or stop. Nothing runs here; what may not
run is refused here, and the refusal is an observation that says what to do (M10).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from pydantic import JsonValue

from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import ANSWER, AnswerArguments
from bot.loop.prompt import SILENT, TRUNCATED
from bot.loop.repeats import canonical
from bot.loop.scratchpad import Scratchpad
from bot.loop.stopping import Cut
from bot.loop.toolbox import BadCall, Toolbox, parse_arguments
from bot.loop.wire import Finish, ModelError, ModelErrorKind, ToolCall, Turn
from tools.base import Arguments, Effect, Tool


@dataclass(frozen=True)
class Planned:
    """What every planned call has: the model's call and the id that its observation will have."""

    call: ToolCall
    observation: str
    same_as: str


@dataclass(frozen=True)
class Run(Planned):
    """Run this tool with these checked arguments."""

    tool: Tool[Any]
    arguments: Arguments

    @cached_property
    def given(self) -> dict[str, JsonValue]:
        """The arguments that are not the defaults, as the trace shows them."""
        return self.arguments.model_dump(mode="json", exclude_defaults=True)


@dataclass(frozen=True)
class Point(Planned):
    """The same call succeeded before, or stands earlier in this turn: point to its result."""

    earlier: str


@dataclass(frozen=True)
class Refuse(Planned):
    """Do not run it; say why and what to do."""

    why: str


@dataclass(frozen=True)
class Check(Planned):
    """Hold this answer against the observations (M6)."""

    answer: AnswerArguments

    @cached_property
    def given(self) -> dict[str, JsonValue]:
        """The answer as the trace shows it."""
        return self.answer.model_dump(mode="json")


@dataclass(frozen=True)
class Propose(Planned):
    """A write: never run here, only proposed (M12)."""

    tool: str
    arguments: dict[str, JsonValue]
    reason: str


Plan = Run | Point | Refuse | Check | Propose


@dataclass(frozen=True)
class Act:
    turn: Turn
    plans: tuple[Plan, ...]


@dataclass(frozen=True)
class Notice:
    """No action: tell the model this and let it think again."""

    turn: Turn
    text: str


@dataclass(frozen=True)
class Halt:
    """No further turn: the run ends for this reason. ``detail`` is one plain sentence or empty."""

    reason: StopReason
    detail: str = ""


Decision = Act | Notice | Halt
Reply = Turn | ModelError | Cut


def decide(reply: Reply, pad: Scratchpad, tools: Toolbox, limits: Limits) -> Decision:
    """What to do with the model's reply."""
    match reply:
        case Cut(reason=reason, by=by):
            return Halt(reason, f"Stopped by {by}." if by else "")
        case ModelError(kind=ModelErrorKind.REFUSED, message=message):
            return Halt(StopReason.REFUSED, message)
        case ModelError(message=message):
            return Halt(StopReason.MODEL_UNAVAILABLE, message)
        case Turn(finish=Finish.REFUSAL):
            return Halt(StopReason.REFUSED)
        case Turn(finish=Finish.LENGTH) as turn:
            return Notice(turn, TRUNCATED)
        case Turn(calls=()) as turn:
            return Notice(turn, SILENT)
        case Turn() as turn:
            last = len(pad.steps) + 1 >= limits.max_steps
            return _act(turn, pad, tools, limits, last=last)


def _act(turn: Turn, pad: Scratchpad, tools: Toolbox, limits: Limits, *, last: bool) -> Act | Halt:
    names = [call.name for call in turn.calls]
    if last and ANSWER not in names:
        return Halt(StopReason.STEP_CAP, f"The last step asked for {', '.join(names[:3])}.")
    plans: list[Plan] = []
    for index, call in enumerate(turn.calls):
        observation = f"o{pad.next_observation + index}"
        plan = _plan(call, observation, pad, tools, limits)
        if index >= limits.calls_per_turn:
            plan = _refuse(
                plan, f"Only {limits.calls_per_turn} calls a turn run. Send this one again."
            )
        plans.append(_beside(plan, plans, turn, last=last))
    return Act(turn, tuple(plans))


def _plan(
    call: ToolCall, observation: str, pad: Scratchpad, tools: Toolbox, limits: Limits
) -> Plan:
    """What one call would do if it stood alone."""
    if call.name == ANSWER:
        answer = parse_arguments(call.arguments, AnswerArguments)
        if isinstance(answer, BadCall):
            return Refuse(call, observation, "", answer.message)
        return Check(call, observation, canonical(ANSWER, answer), answer)
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(tools.names)
        return Refuse(call, observation, "", f"There is no such tool. The tools are: {known}.")
    arguments = parse_arguments(call.arguments, tool.arguments)
    if isinstance(arguments, BadCall):
        return Refuse(call, observation, "", arguments.message)
    same_as = canonical(tool.name, arguments, tool.case_insensitive)
    match tool.effect:
        case Effect.WRITE:
            dumped = arguments.model_dump(mode="json")
            return Propose(call, observation, same_as, tool.name, dumped, "")
        case Effect.READ:
            if earlier := pad.succeeded(same_as):
                return Point(call, observation, same_as, earlier.id)
            if pad.failures(same_as) > limits.failed_call_retries:
                return Refuse(
                    call,
                    observation,
                    same_as,
                    "This call failed before, and was tried again as often as makes sense. "
                    "Change the arguments, use another tool, or answer with what is known.",
                )
            return Run(call, observation, same_as, tool, arguments)


def _beside(plan: Plan, before: list[Plan], turn: Turn, *, last: bool) -> Plan:
    """What becomes of a plan among the turn's other calls: no call runs twice, a write runs alone,
    and an answer waits until the reads beside it have been seen. Of several answers the first counts.
    """
    if last and not isinstance(plan, Check | Refuse):
        return _refuse(plan, "Only `answer` counts on the last step. This call was not run.")
    if isinstance(plan, Run):
        twin = next((p for p in before if isinstance(p, Run) and p.same_as == plan.same_as), None)
        if twin is not None:
            return Point(plan.call, plan.observation, plan.same_as, twin.observation)
    if len(turn.calls) == 1:
        return replace(plan, reason=turn.text.strip()) if isinstance(plan, Propose) else plan
    match plan:
        case Check() if not last and any(call.name != ANSWER for call in turn.calls):
            return _refuse(
                plan,
                "`answer` came together with other calls, before their results were seen. "
                "Read them, then call `answer` again, alone.",
            )
        case Check() if any(isinstance(p, Check) for p in before):
            return _refuse(plan, "One answer a run. The first one of this turn was used.")
        case Propose():
            return _refuse(plan, "A change stands alone: call it in a turn of its own.")
        case _:
            return plan


def _refuse(plan: Plan, why: str) -> Refuse:
    return Refuse(plan.call, plan.observation, plan.same_as, why)
