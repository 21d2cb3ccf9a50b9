"""Two runs side by side, to their first difference (M17).

Pure: aligns events by step and phase, and says in plain words what differs first. A thought seldom
comes out twice in the same words, so the first difference in what was *done* is found as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest

from bot.loop.journal import (
    Appended,
    Decided,
    Event,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    RunEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.outcome import Answer, Failure, Outcome, Proposal
from bot.loop.state import Phase


class Subject(StrEnum):
    """What differs."""

    QUESTION = "question"
    PROMPT = "prompt"
    THOUGHT = "thought"
    FINISH = "finish reason"
    TOOL = "tool"
    ARGUMENTS = "arguments"
    FAILURE = "model failure"
    CUT = "stop"
    DECISION = "decision"
    RESULT = "result"
    NOTICE = "notice"
    OUTCOME = "outcome"
    MODEL = "model"


@dataclass(frozen=True)
class Difference:
    """``a`` and ``b`` are what the two runs have there, "nothing" where one has none.

    ``step`` 0 is before the first step or after the last one.
    """

    step: int
    phase: Phase | None
    subject: Subject
    a: str
    b: str


@dataclass(frozen=True)
class Compared:
    """``first`` of all differences, and the first one ``in_action``: not in a thought, the prompt or
    the model's name. ``None`` where there is none.
    """

    first: Difference | None
    in_action: Difference | None
    steps: tuple[int, int]


_WORDS_ONLY = frozenset({Subject.THOUGHT, Subject.PROMPT, Subject.MODEL})


def compare(a: Sequence[Event], b: Sequence[Event]) -> Compared:
    """Align two runs by step and phase. Times and tokens are not compared."""
    differences = tuple(_differences(a, b))
    return Compared(
        first=next(iter(differences), None),
        in_action=next((d for d in differences if d.subject not in _WORDS_ONLY), None),
        steps=(_steps(a), _steps(b)),
    )


def told(compared: Compared) -> list[str]:
    """The comparison as plain lines for a terminal."""
    if compared.first is None:
        return [f"the two runs are the same, step by step ({compared.steps[0]} steps)"]
    lines = ["first difference", *_lines(compared.first)]
    if compared.in_action is None:
        return [*lines, "both did the same: they differ in words only"]
    if compared.in_action != compared.first:
        lines += ["first difference in what was done", *_lines(compared.in_action)]
    return lines


def _lines(difference: Difference) -> list[str]:
    at = f"step {difference.step}, " if difference.step else ""
    phase = f"{difference.phase.value}, " if difference.phase else ""
    return [
        f"  {at}{phase}{difference.subject.value}",
        f"  A: {_short(difference.a)}",
        f"  B: {_short(difference.b)}",
    ]


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else f"{line[:299]}…"


# --- alignment ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Point:
    """One thing that a run holds at one place; ``key`` decides whether two are the same."""

    subject: Subject
    text: str
    key: str


_Place = tuple[int, int]
"""Step, and the place of the phase within it."""
_PHASES = (Phase.ASSEMBLE, Phase.CALL, Phase.DECIDE, Phase.EXECUTE, Phase.APPEND)


def _differences(a: Sequence[Event], b: Sequence[Event]) -> Iterator[Difference]:
    """Yield what differs, in the order of steps and phases."""
    left, right = _placed(a), _placed(b)
    for place in sorted(left.keys() | right.keys()):
        for one, other in zip_longest(left.get(place, ()), right.get(place, ())):
            if one is None or other is None or (one.subject, one.key) != (other.subject, other.key):
                yield _difference(place, one, other)


def _difference(place: _Place, one: _Point | None, other: _Point | None) -> Difference:
    step, phase = place
    known = one or other
    subject = known.subject if known else Subject.DECISION
    return Difference(
        step=0 if step == _AFTER else step,
        phase=_PHASES[phase] if 0 < step < _AFTER else None,
        subject=subject,
        a=one.text if one else "nothing",
        b=other.text if other else "nothing",
    )


_AFTER = 1_000
"""Sorts the end of a run behind its last step."""


def _placed(events: Sequence[Event]) -> dict[_Place, list[_Point]]:
    """A run's points by place; what ran in parallel in the order of its observations."""
    placed: dict[_Place, list[_Point]] = {}
    for event in sorted(events, key=_order):
        match event:
            case RunStarted():
                place = (0, 0)
            case RunEnded():
                place = (_AFTER, 0)
            case _:
                place = (event.step, _PHASES.index(_phase(event)))
        placed.setdefault(place, []).extend(_points(event))
    return placed


def _order(event: Event) -> tuple[int, str]:
    """Tools finish in any order: their observations decide."""
    match event:
        case ToolReturned(observation=observation):
            return (len(observation), observation)
        case _:
            return (0, "")


def _phase(
    event: ModelCalled
    | ModelReturned
    | ModelFailed
    | Decided
    | ToolCalled
    | ToolReturned
    | Appended
    | WasCut,
) -> Phase:
    """ModelCalled ends ASSEMBLE: what it holds is the request."""
    return Phase.ASSEMBLE if isinstance(event, ModelCalled) else event.phase


def _points(event: Event) -> Iterator[_Point]:
    match event:
        case RunStarted(question=question, model=model, prompt=prompt, tools=tools):
            yield _same(Subject.QUESTION, question.text)
            yield _same(Subject.MODEL, model)
            yield _Point(
                Subject.PROMPT, f"prompt {prompt[:12]}, tools {tools[:12]}", prompt + tools
            )
        case ModelCalled(added=added, size=size):
            yield _Point(Subject.PROMPT, f"{len(added)} new messages, {size} bytes", str(added))
        case ModelReturned(turn=turn):
            yield _same(Subject.TOOL, ", ".join(call.name for call in turn.calls) or "no call")
            yield _same(Subject.ARGUMENTS, ", ".join(call.arguments for call in turn.calls))
            yield _same(Subject.FINISH, turn.finish.value)
            yield _same(Subject.THOUGHT, turn.text.strip())
        case ModelFailed(error=error, message=message):
            yield _Point(Subject.FAILURE, f"{error.value}: {message}", error.value)
        case WasCut(reason=reason, by=by):
            yield _Point(Subject.CUT, f"{reason.value} {by}".strip(), reason.value)
        case Decided(decision=decision, text=text):
            yield _same(Subject.DECISION, f"{decision}: {text}")
        case ToolCalled(tool=tool, arguments=arguments):
            yield _same(Subject.ARGUMENTS, f"{tool} {arguments}")
        case ToolReturned(observation=observation, summary=summary, result=digest):
            yield _Point(Subject.RESULT, f"{observation}: {summary}", f"{observation} {digest}")
        case Appended(observations=observations, notice=notice):
            shown = ", ".join(f"{o.observation} {o.status.value}" for o in observations)
            yield _same(Subject.RESULT, shown or "no observation")
            yield _same(Subject.NOTICE, notice)
        case RunEnded(outcome=outcome):
            yield _Point(
                Subject.OUTCOME, _outcome(outcome), outcome.model_dump_json(exclude=_NAMES)
            )


_NAMES = {"model"}


def _same(subject: Subject, text: str) -> _Point:
    return _Point(subject, text, text)


def _outcome(outcome: Outcome) -> str:
    match outcome:
        case Answer(headline=headline, steps=steps):
            return f"answer after {steps} steps: {headline}"
        case Failure(reason=reason, detail=detail, steps=steps):
            return f"failure after {steps} steps: {reason.value} {detail}".strip()
        case Proposal(tool=tool, arguments=arguments, steps=steps):
            return f"proposal after {steps} steps: {tool} {arguments}"


def _steps(events: Sequence[Event]) -> int:
    return sum(isinstance(event, ModelCalled) for event in events)
