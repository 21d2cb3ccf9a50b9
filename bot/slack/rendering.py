"""A reply as Slack shows it: one ``markdown`` block, the ``text`` of its notification, and what is
left of both when Slack refuses blocks.

Owns the looks, the limits and what outsiders do not see. The words are ``bot.runs.reply_text``'s.
Pure: a reply is never over a limit, a fence never open, a mention never live.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from bot.loop.outcome import Outcome
from bot.runs.reply_text import Point, ReplyText, reply_text
from bot.slack.writing import FENCE, clean, cut, for_markdown, for_mrkdwn, one_line, url

MAX_MARKDOWN = 11_500
"""Slack takes 12,000 in a markdown block, and about 13,200 in all."""
MAX_TEXT = 1_400
"""``text`` stands beside the block, so both together stay under 13,000."""
MAX_PLAIN = 3_900
"""Where ``text`` is all there is."""

_MAX_HEADLINE = 700
_MAX_POINT = 3_000
_MAX_NOTE = 1_500
_MAX_SOURCES = 400
_NOTICE_ROOM = 120

_FENCED = re.compile(r"```(?:[A-Za-z]*\n)?(.*?)(?:```|\Z)", re.DOTALL)
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_TICKS = re.compile(r"`{2,}")
_SUBJECT = re.compile(r"\A([A-Za-z0-9][\w.-]{0,60})(?= deploy )")
_BLOCK_MARK = re.compile(r"\A(?=[#+*=|~-])|(?<=\A\d)(?=[.)])")
_PATH = re.compile(r"[\w.-]*(?:/[\w.-]+)+[\W]*")
_ARROWS = ("→", "->")
_MAX_SCRUBBED = 2_000
_HOLDS_NO_CODE = frozenset({"search_incident", "search_deploy"})
_WITHHELD = (
    "People from outside are in this channel: code, diffs and the trace are not shown here. "
    "Ask in an internal channel to see them."
)


@dataclass(frozen=True)
class Message:
    """The same reply in three lengths; ``plain`` and ``brief`` go out alone, without blocks."""

    markdown: str
    text: str
    plain: str
    brief: str


@dataclass(frozen=True)
class _Dialect:
    """How one of Slack's two ways to mark text writes the same thing."""

    escape: Callable[[str], str]
    bold: str
    bullet: str
    link: Callable[[str], str]

    def prose(self, text: str, limit: int) -> str:
        """One line. An unpaired backtick is taken away: it would eat what follows."""
        line = cut(self.escape(_TICKS.sub("`", one_line(text))), limit)
        return line.replace("`", "'") if line.count("`") % 2 else line


def _markdown_escape(text: str) -> str:
    return _BLOCK_MARK.sub(r"\\", for_markdown(text))


_MARKDOWN = _Dialect(_markdown_escape, "**", "- ", lambda to: f"[Trace]({to})")
_MRKDWN = _Dialect(for_mrkdwn, "*", "• ", lambda to: f"<{to}|Trace>")


def render(
    outcome: Outcome, seconds: float | None, trace: str, *, outsiders: bool, note: str = ""
) -> Message:
    """The reply to a run. With ``outsiders`` present there is no code, no diff and no trace link.

    ``note`` is one more line of the bot's own.
    """
    reply = reply_text(outcome, seconds)
    if outsiders:
        reply = _without_code(reply)
    if note:
        reply = replace(reply, notes=(*reply.notes, note))
    link = "" if outsiders else url(trace)
    return Message(
        markdown=_laid_out(reply, link, _MARKDOWN, MAX_MARKDOWN),
        text=_laid_out(reply, link, _MRKDWN, MAX_TEXT),
        plain=_laid_out(reply, link, _MRKDWN, MAX_PLAIN),
        brief=_laid_out(replace(reply, points=(), notes=(), sources=()), link, _MRKDWN, MAX_TEXT),
    )


def notice(words: str) -> Message:
    """A sentence of the bot's own, outside any run."""
    text = _MRKDWN.prose(words, MAX_TEXT)
    return Message(_MARKDOWN.prose(words, MAX_TEXT), text, text, text)


# --- layout --------------------------------------------------------------------------------------


def _laid_out(reply: ReplyText, link: str, dialect: _Dialect, limit: int) -> str:
    """The headline and the footer always, points and notes in their order while there is room."""
    headline = dialect.prose(reply.headline, min(_MAX_HEADLINE, limit // 2))
    headline = _SUBJECT.sub(rf"{dialect.bold}\1{dialect.bold}", headline)
    footer = _footer(reply, link, dialect)
    points = [_bullet(point, dialect, min(_MAX_POINT, limit // 2)) for point in reply.points]
    notes = [dialect.prose(note, min(_MAX_NOTE, limit // 2)) for note in reply.notes]
    room = limit - len(headline) - len(footer) - _NOTICE_ROOM
    fits = _fitting([*points, *notes], room)
    sections = [headline, "\n".join(points[:fits]), *notes[: max(0, fits - len(points))]]
    if left := len(points) + len(notes) - fits:
        sections.append(_cut_notice(left, link))
    return "\n\n".join(section for section in (*sections, footer) if section)


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many of the lines fit, from the first."""
    for index, line in enumerate(lines):
        room -= len(line) + 2
        if room < 0:
            return index
    return len(lines)


def _cut_notice(left: int, link: str) -> str:
    where = "open the trace for the rest" if link else "ask for less to see the rest"
    return f"(Shortened by {left} line{'' if left == 1 else 's'}: {where}.)"


def _footer(reply: ReplyText, link: str, dialect: _Dialect) -> str:
    listed = "  ".join(f"[{source.mark}] {source.tool}" for source in reply.sources)
    facts = " · ".join(reply.facts)
    told = [dialect.prose(text, _MAX_SOURCES) for text in (listed, facts)]
    parts = [*told, dialect.link(link) if link else ""]
    return " · ".join(part for part in parts if part)


def _bullet(point: Point, dialect: _Dialect, limit: int) -> str:
    """One list item. Code that it holds stands in whole fences under it."""
    marks = "".join(f"[{mark}]" for mark in point.marks)
    prose, *code = _pieces(point.text, dialect, limit)
    first = f"{dialect.bullet}{prose} {cut(marks, 100)}".rstrip()
    return "\n".join((first, *code))


def _pieces(text: str, dialect: _Dialect, limit: int) -> Iterator[str]:
    """The prose in one line, then each fenced piece of code, within the limit together."""
    prose = dialect.prose(_FENCED.sub(" ", text), limit)
    yield prose
    room = limit - len(prose)
    for match in _FENCED.finditer(text):
        code = dialect.escape(clean(match[1]).strip("\n").replace("`", "'"))
        room -= len(code) + 2 * len(FENCE) + 2
        if room < 0:
            code = cut(code, max(room + len(code), 0))
        yield f"{FENCE}\n{code}\n{FENCE}"
        if room < 0:
            return


# --- outsiders -----------------------------------------------------------------------------------


def _without_code(reply: ReplyText) -> ReplyText:
    """What people of other organisations may read (M26): no code, no diff, no values of either.

    A point stays only if all that it cites comes from tools whose findings hold no code.
    """
    free = {source.mark for source in reply.sources if source.tool in _HOLDS_NO_CODE}
    kept = tuple(
        replace(point, text=_scrubbed(point.text))
        for point in reply.points
        if point.marks and free.issuperset(point.marks)
    )
    return replace(
        reply,
        headline=_scrubbed(reply.headline),
        points=kept,
        notes=(*(_scrubbed(note) for note in reply.notes), _WITHHELD),
        sources=tuple(source for source in reply.sources if source.mark in free),
    )


def _scrubbed(text: str) -> str:
    """A sentence without its code, its changed values (``a: 1 → 2``) and its paths."""
    words = _CODE.sub("[…]", cut(one_line(text), _MAX_SCRUBBED)).split(" ")
    hidden: set[int] = set()
    for index, word in enumerate(words):
        if any(arrow in word for arrow in _ARROWS):
            beside = (index - 1, index, index + 1) if word in _ARROWS else (index,)
            first = beside[0]
            is_named = 0 < first < len(words) and words[first - 1].endswith(":")
            hidden.update((first - 1, *beside) if is_named else beside)
        elif _PATH.fullmatch(word):
            hidden.add(index)
    shown = ["[…]" if index in hidden else word for index, word in enumerate(words)]
    return " ".join(word for word, _ in itertools.groupby(shown))
