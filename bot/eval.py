"""Scores answers on a case file: every question and follow-up on its built workspace.

Owns the format of a case, the rules by which an answer counts, and the table. An answer is judged
by its headline and claims, at most ``JUDGED`` characters of them, not by what it lists as unknown.
Runs need no store and no surface: the journal is in memory.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal, ModelReturned, ToolReturned
from bot.loop.limits import Limits
from bot.loop.outcome import ANSWER, Answer, Failure, Outcome
from bot.loop.question import parse
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import Toolbox
from bot.loop.wire import Model
from bot.redact import Redactor
from tools.base import ToolResult
from tools.records import Confidence, SuspectsRanked
from tools.workspace import Workspace, WorkspaceError, open_workspace, read_tools

JUDGED = 900
"""Characters of an answer that are judged."""


class EvalError(Exception):
    """The cases cannot be run. The message says which file or folder, and what to do."""


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Expected(_Value):
    """Regular expressions, without regard to case, where a dot matches a newline too."""

    facts: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


class Truth(Expected):
    """What the first question is about: a deploy, or that none explains the incident."""

    kind: Literal["deploy", "none"]
    service: str | None = None
    deploy: str | int | None = None


class FollowUp(Expected):
    question: str


class Case(_Value):
    id: str
    asked_at: AwareDatetime
    question: str
    truth: Truth
    followups: tuple[FollowUp, ...] = ()


class CaseFile(_Value):
    cases: tuple[Case, ...] = Field(min_length=1)


class Scored(_Value):
    """One question's result. ``rank`` is the right deploy's place in the last ranking of the run,
    ``None`` where it was not ranked or none is right. ``lacks`` and ``says`` hold the patterns.
    """

    case: str
    question: str
    followup: bool
    outcome: str
    right: bool
    wants: Literal["deploy", "none"] | None
    rank: int | None
    facts: int
    facts_total: int
    lacks: tuple[str, ...]
    says: tuple[str, ...]
    confidence: Confidence | None
    steps: int
    tokens: int
    seconds: float
    judged: str


class Totals(_Value):
    """Counts over all questions; the pairs are (met, of)."""

    right: tuple[int, int]
    rank_1: tuple[int, int]
    rank_3: tuple[int, int]
    none: tuple[int, int]
    facts: tuple[int, int]
    forbidden: int
    high: tuple[int, int]
    answered: tuple[int, int]
    steps: int
    tokens: int
    seconds: float


class Evaluation(_Value):
    """What a whole case file gave."""

    model: str
    scored: tuple[Scored, ...]
    totals: Totals


def read_cases(path: Path) -> CaseFile:
    """The cases of a file. Raises ``EvalError``."""
    try:
        book = CaseFile.model_validate_json(path.read_bytes())
    except OSError as error:
        raise EvalError(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise EvalError(f"{path}: {where}: {first['msg']}") from error
    for case in book.cases:
        for expected in (case.truth, *case.followups):
            _check_patterns(case.id, expected, path)
    return book


def _check_patterns(case: str, expected: Expected, path: Path) -> None:
    for pattern in (*expected.facts, *expected.forbidden):
        try:
            re.compile(pattern)
        except re.error as error:
            raise EvalError(f"{path}: {case}: {pattern!r} is no pattern: {error}") from error


async def evaluate(
    cases: Path,
    workspaces: Path,
    make_model: Callable[[], Model],
    *,
    limits: Limits | None = None,
    watch: Callable[[Scored], None] | None = None,
) -> Evaluation:
    """Ask every question, one after the other. ``watch`` sees each result. Raises ``EvalError``."""
    book = read_cases(cases)
    opened = {case.id: _open(workspaces / case.id) for case in book.cases}
    scored: list[Scored] = []
    name = ""
    for case in book.cases:
        asked: list[tuple[str, Expected]] = [(case.question, case.truth)]
        asked += [(one.question, one) for one in case.followups]
        for text, expected in asked:
            model = make_model()
            name = model.name
            one = await _ask(case, text, expected, opened[case.id], model, limits or Limits())
            scored.append(one)
            if watch is not None:
                watch(one)
    return Evaluation(model=name, scored=tuple(scored), totals=totals(scored))


def _open(root: Path) -> Workspace:
    try:
        return open_workspace(root)
    except WorkspaceError as error:
        raise EvalError(f"{error} (each case needs a built workspace of its id)") from error


async def _ask(
    case: Case, text: str, expected: Expected, workspace: Workspace, model: Model, limits: Limits
) -> Scored:
    clock = Clock()
    journal = MemoryJournal()
    question = parse(text, case.asked_at, workspace.catalog.words())
    tools = Toolbox(read_tools(workspace), Redactor())
    began = time.monotonic()
    stop = Stop(clock, clock.monotonic() + limits.deadline_seconds)
    outcome = await run(question, model, tools, limits, journal, stop)
    return score(case, text, expected, outcome, journal, time.monotonic() - began)


def score(
    case: Case,
    text: str,
    expected: Expected,
    outcome: Outcome,
    journal: MemoryJournal,
    seconds: float,
) -> Scored:
    """Hold one outcome against what was expected of it."""
    judged = judged_text(outcome)
    lacks = tuple(p for p in expected.facts if not _found(p, judged))
    says = tuple(p for p in expected.forbidden if _found(p, judged))
    truth = expected if isinstance(expected, Truth) else None
    tokens = sum(
        (event.turn.usage.input_tokens or 0) + (event.turn.usage.output_tokens or 0)
        for event in journal.events
        if isinstance(event, ModelReturned)
    )
    return Scored(
        case=case.id,
        question=text,
        followup=truth is None,
        outcome=_kind(outcome),
        right=isinstance(outcome, Answer) and not lacks and not says,
        wants=truth.kind if truth else None,
        rank=_rank(truth, journal) if truth else None,
        facts=len(expected.facts) - len(lacks),
        facts_total=len(expected.facts),
        lacks=lacks,
        says=says,
        confidence=outcome.confidence if isinstance(outcome, Answer) else None,
        steps=outcome.steps,
        tokens=tokens,
        seconds=round(seconds, 3),
        judged=judged,
    )


def judged_text(outcome: Outcome) -> str:
    """The headline and the claims, cut; nothing of a failure or a proposal."""
    if not isinstance(outcome, Answer):
        return ""
    return "\n".join([outcome.headline, *(claim.text for claim in outcome.claims)])[:JUDGED]


def _kind(outcome: Outcome) -> str:
    return f"failure: {outcome.reason}" if isinstance(outcome, Failure) else outcome.kind


def _found(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE | re.DOTALL) is not None


def _rank(truth: Truth, journal: MemoryJournal) -> int | None:
    if truth.deploy is None:
        return None
    values = (
        ToolResult.model_validate_json(journal.blobs[event.result]).value
        for event in journal.events
        if isinstance(event, ToolReturned) and event.tool != ANSWER
    )
    rankings = [value for value in values if isinstance(value, SuspectsRanked)]
    labels = [suspect.deploy.label for suspect in rankings[-1].suspects] if rankings else []
    wanted = str(truth.deploy)
    return labels.index(wanted) + 1 if wanted in labels else None


def totals(scored: Sequence[Scored]) -> Totals:
    """The sums. ``high`` counts answers that name a deploy with high confidence."""
    caused = [one for one in scored if one.wants == "deploy"]
    none = [one for one in scored if one.wants == "none"]
    high = [one for one in caused if one.confidence is Confidence.HIGH]
    return Totals(
        right=(sum(one.right for one in scored), len(scored)),
        rank_1=(sum(one.rank == 1 for one in caused), len(caused)),
        rank_3=(sum(one.rank is not None and one.rank <= 3 for one in caused), len(caused)),
        none=(sum(one.right for one in none), len(none)),
        facts=(sum(one.facts for one in scored), sum(one.facts_total for one in scored)),
        forbidden=sum(len(one.says) for one in scored),
        high=(sum(one.rank == 1 for one in high), len(high)),
        answered=(sum(one.outcome == "answer" for one in scored), len(scored)),
        steps=sum(one.steps for one in scored),
        tokens=sum(one.tokens for one in scored),
        seconds=round(sum(one.seconds for one in scored), 3),
    )


# --- the table -----------------------------------------------------------------------------------

_HEAD = ("case", "question", "right", "rank", "facts", "forbidden", "confidence", "outcome")
_TAIL = ("steps", "tokens", "s")
_WIDE = 44


def table(evaluation: Evaluation) -> str:
    """The results as aligned text, one question a line, misses explained, totals last."""
    rows: list[tuple[str, ...]] = [(*_HEAD, *_TAIL)]
    rows += [_row(one) for one in evaluation.scored]
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for one in evaluation.scored:
        lines += [f"{one.case}: {_short(one.question)}: lacks {p!r}" for p in one.lacks]
        lines += [f"{one.case}: {_short(one.question)}: must not say {p!r}" for p in one.says]
    return "\n".join([*lines, *_total_lines(evaluation)])


def _row(one: Scored) -> tuple[str, ...]:
    rank = "-" if one.wants != "deploy" else str(one.rank or "none")
    return (
        one.case,
        ("  " if one.followup else "") + _short(one.question),
        "yes" if one.right else "NO",
        rank,
        f"{one.facts}/{one.facts_total}",
        str(len(one.says)),
        one.confidence.value if one.confidence else "-",
        one.outcome,
        str(one.steps),
        f"{one.tokens:,}",
        f"{one.seconds:.2f}",
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _WIDE else f"{line[: _WIDE - 1]}…"


def _total_lines(evaluation: Evaluation) -> list[str]:
    all_of = evaluation.totals
    pairs = (
        ("right", all_of.right),
        ("right suspect at rank 1", all_of.rank_1),
        ("at rank 3", all_of.rank_3),
        ('"none" said as none', all_of.none),
        ("facts", all_of.facts),
        ("high confidence and right", all_of.high),
        ("answered", all_of.answered),
    )
    told = [f"{name} {met}/{of}" for name, (met, of) in pairs if of]
    told.append(f"forbidden {all_of.forbidden}")
    cost = f"{all_of.steps} steps, {all_of.tokens:,} tokens, {all_of.seconds:.1f} s"
    return ["", f"total ({evaluation.model}): {', '.join(told)}", f"cost: {cost}"]
