"""The scratchpad: the list of (thought, actions, observations), the run's only memory (M4).

Also ASSEMBLE: scratchpad → request, append-only (M14), and the tally that the stop rules read. All
values are frozen; the scratchpad grows by making a longer one, in OBSERVE only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

from pydantic import JsonValue

from bot.loop.limits import Limits, Tally
from bot.loop.prompt import LAST_STEP, SYSTEM, opening
from bot.loop.question import Question
from bot.loop.repeats import in_cycle
from bot.loop.toolbox import Toolbox
from bot.loop.wire import (
    AssistantMessage,
    Finish,
    Message,
    Request,
    ResultMessage,
    Seen,
    Turn,
    UserMessage,
)
from tools.base import Status, ToolResult, paged

CHARS_A_TOKEN = 3.5
"""A cautious estimate, for models that report no usage."""
_AROUND_A_PAGE = 170
"""Characters kept for a view's head and for the call that shows more."""
CUT_TO = 0.6
"""Of a request's tokens: what a context cut leaves, so that the next cut is steps away."""


class Origin(StrEnum):
    """Where an observation comes from: a tool that ran, an earlier result, the gate, the check."""

    RAN = "ran"
    POINTED = "pointed"
    REFUSED = "refused"
    CHECKED = "checked"


@dataclass(frozen=True)
class Observation:
    """A tool's own return value, never a paraphrase. ``shown`` is the bounded view of it (M13).

    ``call_id`` is the provider's, ``same_as`` the canonical form of the call where there is one.
    """

    id: str
    call_id: str
    tool: str
    arguments: Mapping[str, JsonValue]
    origin: Origin
    result: ToolResult
    shown: str
    same_as: str = ""
    asked: str = "{}"

    @cached_property
    def seen(self) -> Seen:
        """The same as data, beside its rendering."""
        return Seen(
            id=self.id,
            tool=self.tool,
            arguments=self.arguments,
            asked=self.asked,
            status=self.result.status,
            summary=self.result.summary,
            value=self.result.value,
        )

    @property
    def citable(self) -> bool:
        """Only what a tool itself returned, and returned well, supports a claim (M20)."""
        return self.origin is Origin.RAN and self.result.status is not Status.ERROR

    @property
    def one_line(self) -> str:
        """What is left of it after a context cut, or all of it where that is no longer."""
        line = (
            f"[{self.id}] {self.result.status} {self.result.summary}\n"
            f'(shortened; read_result(observation="{self.id}") shows its text again)'
        )
        return line if self.origin is Origin.RAN and len(line) < len(self.shown) else self.shown


@dataclass(frozen=True)
class Step:
    """One turn. ``notice`` is what the loop told the model in place of, or after, observations."""

    number: int
    turn: Turn
    observations: tuple[Observation, ...] = ()
    notice: str = ""
    rejected: bool = False
    sent: int = 0

    @property
    def echoed(self) -> bool:
        """Whether the model's own message is sent back: never a truncated or an empty one."""
        whole = self.turn.finish is not Finish.LENGTH
        return whole and bool(self.turn.text.strip() or self.turn.calls)

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """What it adds to every later request: the same objects, so that they are known again."""
        return messages_of(self, frozenset())

    @property
    def tokens(self) -> int:
        """Input and output tokens of the turn: reported, else estimated from what was sent."""
        usage = self.turn.usage
        sent = usage.input_tokens if usage.input_tokens is not None else self.sent / CHARS_A_TOKEN
        written = sum(len(call.arguments) for call in self.turn.calls) + len(self.turn.text)
        got = usage.output_tokens if usage.output_tokens is not None else written / CHARS_A_TOKEN
        return round(sent + got)

    @property
    def refused(self) -> bool:
        """Whether it asked for something, and none of it ran."""
        return bool(self.observations) and all(
            o.origin is Origin.POINTED or o.origin is Origin.REFUSED for o in self.observations
        )

    @property
    def repeated(self) -> bool:
        """Whether it asked for what an earlier turn had; twice the same in one turn is no repeat."""
        ran = {o.same_as for o in self.observations if o.origin is Origin.RAN}
        return any(o.origin is Origin.POINTED and o.same_as not in ran for o in self.observations)

    @property
    def tool_errors(self) -> int:
        """Calls that failed, or were not fit to be run."""
        return sum(
            o.result.status is Status.ERROR
            and (o.origin is Origin.RAN or (o.origin is Origin.REFUSED and not o.same_as))
            for o in self.observations
        )

    @cached_property
    def refused_calls(self) -> frozenset[str]:
        """Its calls that were fit to be run and were refused, in canonical form."""
        return frozenset(
            o.same_as for o in self.observations if o.origin is Origin.REFUSED and o.same_as
        )

    @cached_property
    def asked_for(self) -> frozenset[str]:
        """Its calls in canonical form."""
        return frozenset(o.same_as for o in self.observations if o.same_as)


@dataclass(frozen=True)
class Scratchpad:
    """``opening`` is the first message of every request. ``cut`` counts the oldest observations that
    are shown by their one line only (a context cut); ``cut_now`` says that it grew since the last
    request.
    """

    question: Question
    model: str
    opening: UserMessage
    steps: tuple[Step, ...] = ()
    cut: int = 0
    cut_now: bool = False
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def begin(cls, question: Question, model: str, notice: str = "") -> Scratchpad:
        """An empty one. ``notice`` stands below the question."""
        text = f"{opening(question)}\n\n{notice}" if notice else opening(question)
        return cls(question, model, UserMessage(text=text))

    def with_step(self, step: Step) -> Scratchpad:
        steps = (*self.steps, step)
        return replace(self, steps=steps, cut_now=False, tally=_counted(self.tally, steps))

    def with_cut(self, cut: int) -> Scratchpad:
        return self if cut <= self.cut else replace(self, cut=cut, cut_now=True)

    @property
    def most_cut(self) -> int:
        """The observations that a cut may shorten: all but those of the newest step."""
        return len(self.observations) - sum(len(step.observations) for step in self.steps[-1:])

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        return tuple(o for step in self.steps for o in step.observations)

    @cached_property
    def evidence(self) -> Mapping[str, Observation]:
        """What a claim may cite, by id."""
        return {o.id: o for o in self.observations if o.citable}

    @cached_property
    def earlier(self) -> Mapping[str, str]:
        """The whole text of what tools returned, for ``read_result``."""
        return {o.id: o.result.text for o in self.observations if o.origin is Origin.RAN}

    @property
    def next_observation(self) -> int:
        return len(self.observations) + 1

    def succeeded(self, same_as: str) -> Observation | None:
        """The observation of this very call, if it ran and did not fail (M9)."""
        return next(
            (o for o in self.observations if o.same_as == same_as and o.citable),
            None,
        )

    def failures(self, same_as: str) -> int:
        """How often this very call ran and failed."""
        return sum(
            o.same_as == same_as and o.origin is Origin.RAN and not o.citable
            for o in self.observations
        )


def _counted(before: Tally, steps: tuple[Step, ...]) -> Tally:
    """What the stop rules look at (M7), with the newest step."""
    newest = steps[-1]
    cut_off = newest.turn.finish is Finish.LENGTH
    return Tally(
        tool_errors=before.tool_errors + newest.tool_errors,
        repeated_turns=before.repeated_turns + newest.repeated,
        refusals_in_a_row=before.refusals_in_a_row + 1 if newest.refused else 0,
        refused_again=before.refused_again + _refused_again(steps),
        cycle=in_cycle([step.asked_for for step in steps]),
        silent_turns=before.silent_turns + (not newest.observations and not cut_off),
        truncated_turns=before.truncated_turns + cut_off,
        rejected_answers=before.rejected_answers + newest.rejected,
        tokens=before.tokens + newest.tokens,
    )


def _refused_again(steps: tuple[Step, ...]) -> bool:
    """Whether the newest turn asks for what was refused before, whatever else it asks for."""
    before = {call for step in steps[:-1] for call in step.refused_calls}
    return not before.isdisjoint(steps[-1].refused_calls)


def messages_of(step: Step, cut: frozenset[str]) -> tuple[Message, ...]:
    """What one step adds to every later request. Every echoed call gets a result."""
    messages: list[Message] = []
    if step.echoed:
        messages.append(AssistantMessage(turn=step.turn))
    results = [
        ResultMessage(call_id=o.call_id, text=o.one_line if o.id in cut else o.shown)
        for o in step.observations
    ]
    if step.notice and results:
        newest = results[-1]
        results[-1] = newest.model_copy(update={"text": f"{newest.text}\n\n{step.notice}"})
    elif step.notice:
        messages.append(UserMessage(text=step.notice))
    return (*messages, *results)


def first_notice(limits: Limits) -> str:
    """The last step's notice, when the first step is the last one."""
    return LAST_STEP if limits.max_steps == 1 else ""


def assemble(pad: Scratchpad, tools: Toolbox, limits: Limits) -> Request:
    """The next request: everything so far, in the same bytes as before, and what is new (M14)."""
    cut = frozenset(o.id for o in pad.observations[: pad.cut])
    steps = [messages_of(step, cut) if cut else step.messages for step in pad.steps]
    before = [message for step in steps[:-1] for message in step]
    newest = [message for step in steps[-1:] for message in step]
    return Request(
        system=SYSTEM,
        tools=tools.specs,
        messages=(pad.opening, *before, *newest),
        kept=_kept(pad, len(before)),
        can_shrink=pad.cut < pad.most_cut,
        question=pad.question,
        seen=tuple(o.seen for o in pad.observations if o.origin is not Origin.CHECKED),
        last=len(pad.steps) + 1 >= limits.max_steps,
    )


def _kept(pad: Scratchpad, before: int) -> int:
    if not pad.steps:
        return 0
    return 1 if pad.cut_now else 1 + before


def fitted(pad: Scratchpad, tools: Toolbox, limits: Limits) -> tuple[Scratchpad, Request]:
    """ASSEMBLE within a request's limit: the oldest observations are cut first, if need be.

    Nothing is forgotten: results stay evidence, and repeats are still found.
    """
    request = assemble(pad, tools, limits)
    if request.size / CHARS_A_TOKEN <= limits.request_tokens:
        return pad, request
    for cut in range(pad.cut + 1, pad.most_cut + 1):
        pad = pad.with_cut(cut)
        request = assemble(pad, tools, limits)
        if request.size / CHARS_A_TOKEN <= limits.request_tokens * CUT_TO:
            break
    return pad, request


def page_characters(cap: int) -> int:
    """What of a view of ``cap`` characters is the result's own: the rest says where it goes on."""
    return cap - _AROUND_A_PAGE


def show(observation: str, result: ToolResult, cap: int) -> str:
    """The bounded view of a result: whole lines up to ``cap`` characters, what was left out, and the
    exact call that shows it (M13).
    """
    head = f"[{observation}] {result.status}"
    text = result.text.rstrip() or result.summary
    if len(head) + 1 + len(text) <= cap:
        return f"{head}\n{text}"
    body = paged(text, page_characters(cap))[0].removesuffix("\n")
    more = f'read_result(observation="{observation}", page=2)'
    return (
        f"{head}\n{body}\n… {len(text) - len(body):,} of {len(text):,} characters left out: "
        f"{more} shows more."
    )
