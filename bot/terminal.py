"""How a reply and a run look in a terminal, and the terminal as a surface.

Owns plain text and the little bold there is. All text of others is cleaned of control characters
first: a commit message must not move the cursor. Knows no command.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from typing import TextIO
from urllib.parse import urlsplit

from bot.loop.journal import Event, RunEnded
from bot.loop.outcome import Answer, Failure, Outcome, Proposal
from bot.runs.records import RunRecord, RunState
from bot.runs.reply_text import Point, ReplyText
from bot.runs.surface import Gone, Posted
from bot.telemetry import TurnLines, stop_reason_of

SURFACE = "terminal"

_BREAKS = re.compile(r"[\t\n\r\v\f\x85\u2028\u2029]+")
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]"
)
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_CONNECT_SECONDS = 0.1


def clean(text: str) -> str:
    """One line that cannot drive a terminal, forge a second line or turn letters around."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", _BREAKS.sub(" ", text))


def styled(stream: TextIO) -> Callable[[str], str]:
    """How to make text bold on this stream: ANSI in a terminal, nothing elsewhere."""
    if stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb":
        return lambda text: f"\x1b[1m{text}\x1b[0m"
    return lambda text: text


def reply_lines(reply: ReplyText, bold: Callable[[str], str]) -> Iterator[str]:
    """The reply, a line each, without its link."""
    yield bold(clean(reply.headline))
    for point in reply.points:
        yield f"• {_point(point)}"
    for note in reply.notes:
        yield clean(note)
    sources = "  ".join(f"[{source.mark}] {clean(source.tool)}" for source in reply.sources)
    yield " · ".join(part for part in (sources, *reply.facts) if part)


def _point(point: Point) -> str:
    marks = "".join(f"[{mark}]" for mark in point.marks)
    return f"{clean(point.text)} {marks}".rstrip()


def answers_at(url: str) -> bool:
    """Whether something listens there; taken for granted where it is not this machine."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK:
        return True
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname, port), timeout=_CONNECT_SECONDS):
            return True
    except OSError:
        return False


def how_it_ended(run: RunRecord) -> str:
    """One word or two for a list of runs."""
    match run.outcome:
        case None:
            return "waiting" if run.state is RunState.ACCEPTED else "running"
        case Answer(claims=()):
            return "nothing found"
        case Answer():
            return "answered"
        case Failure() as failure:
            return f"failed: {failure.reason}"
        case Proposal():
            return "proposed"


def exit_code(outcome: Outcome) -> int:
    """0 answered or proposed, 1 a failure or an answer that holds nothing."""
    match outcome:
        case Failure() | Answer(claims=()):
            return 1
        case Answer() | Proposal():
            return 0


class LiveLog:
    """A serving bot's log for people: each run's lines, marked with the end of the run's id."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._lines: dict[str, TurnLines] = {}

    def __call__(self, run: str, event: Event) -> None:
        for line in self._lines.setdefault(run, TurnLines()).of(event):
            say(f"{run[-4:]}  {clean(line)}", self._stream)
        if isinstance(event, RunEnded):
            del self._lines[run]
            say(f"{run[-4:]}  ended: {stop_reason_of(event.outcome)}", self._stream)


class TerminalSurface:
    """The terminal of one ``ask``: shows its own run, and says that it ended an older one.

    ``on_reply`` prints; it is called once, before the reply counts as posted.
    """

    def __init__(
        self,
        own: str,
        on_reply: Callable[[RunRecord, Outcome], None],
        on_older: Callable[[RunRecord, Outcome], None],
        debug: TextIO | None,
    ) -> None:
        self._own = own
        self._on_reply = on_reply
        self._on_older = on_older
        self._debug = debug
        self._lines = TurnLines()

    @property
    def name(self) -> str:
        return SURFACE

    async def started(self, run: RunRecord) -> None:
        del run

    async def saw(self, run: RunRecord, event: Event) -> None:
        if self._debug is not None and run.origin_key == self._own:
            for line in self._lines.of(event):
                say(clean(line), self._debug)

    async def reply(self, run: RunRecord, outcome: Outcome) -> Posted | Gone:
        if run.origin_key == self._own:
            self._on_reply(run, outcome)
        else:
            self._on_older(run, outcome)
        return Posted("terminal")


class ClosedTerminal:
    """Stands in for terminals that are gone: their runs are ended and stay in the trace."""

    @property
    def name(self) -> str:
        return SURFACE

    async def started(self, run: RunRecord) -> None:
        del run

    async def saw(self, run: RunRecord, event: Event) -> None:
        del run, event

    async def reply(self, run: RunRecord, outcome: Outcome) -> Posted | Gone:
        del run
        return Gone(f"the terminal was closed; it ended as {stop_reason_of(outcome)}")


def say(line: str = "", stream: TextIO | None = None) -> None:
    """One line of output, at once. The text is clean already."""
    out = stream or sys.stdout
    out.write(f"{line}\n")
    out.flush()


def warn(message: str) -> None:
    """A line for the person at the terminal, beside the output."""
    say(f"oncall-bot: {clean(message)}", sys.stderr)
