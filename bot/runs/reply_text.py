"""The words of a reply, the same on every surface: what comes first, what is a point, what a note.

Owns order and wording. How bold, links and escapes look is the surface's. Pure.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import assert_never

from bot.loop.limits import StopReason
from bot.loop.outcome import Answer, Failure, Outcome, Proposal, plain
from bot.models.rules import NAME as RULES
from tools.records import Confidence

NOTIFIED = 120
"""Characters of a reply that a phone's notification shows."""


@dataclass(frozen=True)
class Point:
    """One line of the reply and the observations behind it, as their numbers."""

    text: str
    marks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    mark: str
    tool: str


@dataclass(frozen=True)
class ReplyText:
    """``headline`` comes first: a phone's notification shows its first 120 characters."""

    headline: str
    points: tuple[Point, ...]
    notes: tuple[str, ...]
    sources: tuple[Source, ...]
    facts: tuple[str, ...]


def mark(observation: str) -> str:
    """How an observation is cited: ``o2`` as ``2``."""
    return observation.removeprefix("o")


def reply_text(outcome: Outcome, seconds: float | None) -> ReplyText:
    """The reply to a run that took so many seconds."""
    match outcome:
        case Answer():
            return _answer(outcome, _facts(outcome, seconds))
        case Failure():
            return _failure(outcome, _facts(outcome, seconds))
        case Proposal():
            return _proposal(outcome, _facts(outcome, seconds))
        case _:
            assert_never(outcome)


def _facts(outcome: Outcome, seconds: float | None) -> tuple[str, ...]:
    steps = f"{outcome.steps} step{'' if outcome.steps == 1 else 's'}"
    took = () if seconds is None else (f"{seconds:.1f} s",)
    return (steps, *took, *_who(outcome))


def _who(outcome: Outcome) -> tuple[str, ...]:
    """Which model it was, where that is not the one that people expect."""
    answered = isinstance(outcome, Answer)
    if answered and outcome.model == RULES:
        return ("answered by rules, no language model",)
    if outcome.instead_of:
        return (
            f"{'answered by' if answered else 'asked'} {outcome.model} instead of {outcome.instead_of}",
        )
    return ()


def _answer(answer: Answer, facts: tuple[str, ...]) -> ReplyText:
    notes = []
    if answer.unknowns:
        notes.append(f"Not known: {_listed(answer.unknowns)}")
    if answer.not_checked:
        notes.append(f"Not checked: {_listed(answer.not_checked)}")
    return ReplyText(
        headline=_with_confidence(answer.headline, answer.confidence),
        points=tuple(
            Point(claim.text, tuple(mark(o) for o in claim.evidence)) for claim in answer.claims
        ),
        notes=tuple(notes),
        sources=tuple(Source(mark(cited.observation), cited.tool) for cited in answer.cited),
        facts=facts,
    )


def _with_confidence(headline: str, confidence: Confidence) -> str:
    """The headline with the confidence among what a notification shows."""
    if "confidence" in headline.lower():
        return headline
    note = f" (confidence: {confidence})"
    colon = headline.split("`", maxsplit=1)[0].find(": ")
    if 0 < colon <= NOTIFIED - len(note):
        return f"{headline[:colon]}{note}{headline[colon:]}"
    if len(headline) + len(note) <= NOTIFIED:
        return f"{headline}{note}"
    return f"Confidence {confidence}: {headline}"


def _failure(failure: Failure, facts: tuple[str, ...]) -> ReplyText:
    notes = []
    if not failure.established:
        notes.append("Nothing was established.")
    if failure.missing:
        notes.append(f"Missing: {_listed(failure.missing)}")
    notes.append(f"Check next: {failure.next_check}")
    return ReplyText(
        headline=f"No answer. {_why(failure)}",
        points=tuple(
            Point(found.text, (mark(found.observation),)) for found in failure.established
        ),
        notes=tuple(notes),
        sources=tuple(
            Source(mark(found.observation), found.tool)
            for found in failure.established
            if found.tool
        ),
        facts=facts,
    )


def _why(failure: Failure) -> str:
    """The reason in words; a detail that says who or what ended it stands alone."""
    if failure.detail and failure.reason in {StopReason.ABORTED, StopReason.INTERRUPTED}:
        return failure.detail
    return f"{plain(failure.reason)} {failure.detail}".strip()


def _proposal(proposal: Proposal, facts: tuple[str, ...]) -> ReplyText:
    arguments = ", ".join(
        f"{key}={json.dumps(value, ensure_ascii=False)}"
        for key, value in proposal.arguments.items()
    )
    return ReplyText(
        headline=f"Proposed, not done: {proposal.tool}({arguments})",
        points=(Point(proposal.reason),) if proposal.reason else (),
        notes=("A person has to approve it.",),
        sources=(),
        facts=facts,
    )


def _listed(items: tuple[str, ...]) -> str:
    return "; ".join(item.strip().rstrip(".") for item in items) + "."
