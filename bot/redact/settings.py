"""Values of secret-like names, in whatever syntax gives a name a value.

Covers env files, properties, INI, TOML, YAML with block scalars, JSON (also escaped within JSON),
XML, code, diffs of all of them, command-line options, and pairs of ``name:`` and ``value:``. In
code only string literals are values: what is not quoted there is a reference. Where the text is a
diff its headers tell code from configuration; elsewhere an unquoted value must look like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from bot.redact import issued, members
from bot.redact.gate import Gate
from bot.redact.members import Holds
from bot.redact.names import STEMS, Secrecy, Trust, secrecy, secrecy_of_many
from bot.redact.pairs import VALUE_BEHIND, is_value, value_before
from bot.redact.runs import Line, Next, Run
from bot.redact.sentences import TOLD, given, key_in_words
from bot.redact.spans import Span
from bot.redact.syntax import Files, Syntax
from bot.redact.values import MASKED, is_coined, is_issued, is_literal, is_number, is_opaque

_NAME = re.compile(r"[\w.\-]{0,96}+")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_LONGEST_NAME = 96

# What may stand between a name and its value; "typed" comes behind a type, before a default.
_SEPARATOR = re.compile(
    r"\\{0,3}[\"'`]?\]?\)?[?!]?"
    r"(?:(?:[ \t]{0,8}:[ \t]{0,4}[A-Za-z_][\w.\[\], |?<>&*]{0,60}?"
    r"|[ \t]{1,4}(?:\*?string|\[\]byte))[ \t]{0,4}(?P<typed>=)[ \t]{0,4}(?=[rbuf]?[\"'`])"
    r"|(?P<before>[ \t]{0,32})(?P<plain>:=|=>|->|::|\?=|\+=|\|\|=|[=!]==?|[:=]|→|>(?!=))"
    r"(?P<after>[ \t]{0,32})(?:(?<=>)<!\[CDATA\[)?)"
)
_SPACE = re.compile(r"[\"']?[ \t]{1,8}(?=[^\s=:])")
_SETTER = re.compile(r"\([ \t]*(?=[\"'])")
# getenv("NAME", "value") and process.env.NAME || "value".
_ALTERNATIVE = re.compile(
    r"(?:[\"'],|[\"']?\]?\)?[ \t]{0,4}(?:\|\||\?\?|or\b))[ \t]{0,4}(?=[\"'`])"
)
_QUOTE = re.compile(r"(?:[rRbBuUfF]{0,2}|@|\$)(?P<escape>\\{0,7})(?P<quote>\"\"\"|'''|[\"'`])")
_INSIDE = {
    '"': re.compile(r"(?:[^\"\\\n]|\\[^\n])*+"),
    "'": re.compile(r"(?:[^'\\\n]|\\[^\n])*+"),
    "`": re.compile(r"(?:[^`\\\n]|\\[^\n])*+"),
}
_LONGEST_MULTILINE = 16_384
# Of a longer value the beginning tells what it is.
_LONGEST_JUDGED = 4_096
_BARE = re.compile(r"(?:[^\s\"'`,;&|<>(){}\[\]\\]|,(?![\s\"'}\])]|[\w.-]{1,40}[=:]|$))++")
_ARGUMENT = re.compile(r"[^\s\"'`;&|<>(){}\[\]\\,]++")
_SHELL_WORD = re.compile(r"[^\s\"'`;&|<>]++")
# Commands that set a variable without a sign between its name and its value.
_SETS = re.compile(
    r"(?:(?P<docker>ENV)|setenv|setx|set(?:[ \t]{1,4}-{1,2}\w{1,9}){1,4})[ \t]{1,8}\Z"
)
_COMMENT = re.compile(r"(?<![ \t])[ \t]++(?:#|//)[^\n]*$|\\?\r$")
_BLOCK = re.compile(r"[|>][-+]?\d?[ \t]*+(?=#|\r?$)", re.MULTILINE)
_INDENT = re.compile(r"(?:[-+](?=[ \t]|\Z))?[ \t]*+")
_BLANK_LINES = re.compile(r"[-+ \t\r\n]*+")
_ARROW = re.compile(r"[\"'`]?[ \t]{0,4}(?:→|->|=>)[ \t]{0,4}")
_LINE_LEAD = re.compile(
    r"[-+ \t>|*]*(?:(?:export|set|setx|ENV|ARG|declare -x|local|readonly|env|-e|--env)[ \t]+)*"
    r"[\"']?\Z"
)
_CALL = re.compile(r"[A-Za-z_$][\w.$]*[(\[].*[)\]][,;]?")
_NEXT_WORD = re.compile(r" [A-Za-z]+(?![\w=:])")
_TAKES_MEMBERS = frozenset({":", "=", "=>", ":="})
_NEVER_BARE = frozenset({"->", "::", "==", "!=", "===", "!=="})
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)*[;,)]*")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Value:
    """Where a value stands."""

    start: int
    end: int


SIGNS = tuple("(?i:" + stem.replace("i", "[iİ]") + ")" for stem in STEMS)
"""Patterns of gates: a text in which something is found has one of them.

Rust folds what Python folds, but for one capital with a dot.
"""
_GATE = Gate(SIGNS)


def find(text: str) -> Iterator[Span]:
    """Yield the values of secret-like names in ``text``."""
    return _Reader(text).named() if _GATE.opens(text) else iter(())


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        # Only this capital grows when folded.
        self._folded = text.replace("İ", "I").lower()
        self._files = Files(text)
        self._bares = Run(_BARE, text)
        self._arguments = Run(_ARGUMENT, text)
        self._shell_words = Run(_SHELL_WORD, text)
        self._blank_lines = Run(_BLANK_LINES, text)
        self._line = Line(text)
        self._masks = Next(MASKED, text)
        self._triples = {quote: Next(quote, text) for quote in ('"""', "'''")}
        # Where the lists and mappings end that were read, for what they may hold.
        self._read = dict.fromkeys(Holds, 0)
        # Blocks by the line of their name, and steps from value to value, that were taken before.
        self._blocks: set[int] = set()
        self._steps: set[tuple[object, ...]] = set()

    def named(self) -> Iterator[Span]:
        """Yield the values of all names."""
        done = 0
        for hit, stem in self._hits():
            if hit < done:
                continue
            start = self._start_of_name(hit)
            name_end = end_of(_NAME, self._text, hit + stem)
            done = name_end
            for span in self._of(start, name_end):
                done = max(done, span.end)
                yield span

    def _of(self, start: int, end: int) -> Iterator[Span]:
        """Yield the values of the name that stands from ``start`` to ``end``."""
        issued_value = issued.after(self._text, self._folded[start:end], end)
        if issued_value:
            yield issued_value
        found = secrecy(self._text[start:end])
        if found is None:
            last = self._folded[end - 1]
            if last == "s" or (last == "y" and self._text[start - 2 : start - 1].isalpha()):
                yield from self._several(start, end)
            return
        separator = _SEPARATOR.match(self._text, end)
        pair = None if separator else VALUE_BEHIND.match(self._text, end)
        if separator:
            yield from self._values(start, separator, found)
        elif pair and is_value(self._text, start):
            yield from self._paired(pair.end(), found)
        elif is_value(self._text, start) and (before := value_before(self._text, start)):
            value = _Value(*before)
            if self._is_secret(value, found):
                yield Span(value.start, value.end, found.kind)
        else:
            yield from self._without_separator(start, end, found)

    def _several(self, start: int, end: int) -> Iterator[Span]:
        """Yield what a name of several secrets holds, or what is called an "API key" in words."""
        text, name = self._text, self._text[start:end]
        if several := secrecy_of_many(name):
            separator = _SEPARATOR.match(text, end)
            if separator and text[separator.end() : separator.end() + 1] in members.OPENINGS:
                yield from self._members(start, separator, several, Holds.SEVERAL)
        elif name in {"key", "Key", "KEY"} and (spoken := key_in_words(text, start)):
            separator = _SEPARATOR.match(text, end)
            yield from (
                self._values(start, separator, spoken)
                if separator
                else self._without_separator(start, end, spoken)
            )

    def _members(
        self, start: int, separator: re.Match[str], found: Secrecy, holds: Holds
    ) -> Iterator[Span]:
        at, syntax = separator.end(), self._files.syntax(start)
        if at >= self._read[holds] and (separator["plain"] or separator["typed"]) in _TAKES_MEMBERS:
            ends = yield from members.find(self._text, start, at, found, holds, syntax)
            self._read[holds] = ends

    def _hits(self) -> list[tuple[int, int]]:
        hits: dict[int, int] = {}
        for stem in STEMS:
            at = self._folded.find(stem)
            while at != -1:
                hits[at] = max(len(stem), hits.get(at, 0))
                at = self._folded.find(stem, at + len(stem))
        return sorted(hits.items())

    def _start_of_name(self, hit: int) -> int:
        start, least = hit, max(0, hit - _LONGEST_NAME)
        while start > least and self._folded[start - 1] in _NAME_CHARACTERS:
            start -= 1
        # The sign of a diff is no part of a name, the dashes of an option are.
        signed = self._folded[start] == "-" and (start == 0 or self._folded[start - 1] == "\n")
        return start + 1 if signed and self._folded[start + 1 : start + 2] != "-" else start

    # --- from the name to its value ---

    def _values(self, start: int, separator: re.Match[str], found: Secrecy) -> Iterator[Span]:
        text, at = self._text, separator.end()
        sign = separator["plain"] or separator["typed"]
        before = text[start - 1 : start] if start else ""
        if sign == ">" and before != "<" and not is_value(self._text, start):
            return
        # A part of an address, as in arn:aws:secretsmanager:eu-west-1:123456789012:secret:name, or of
        # an image, as in registry.example/auth:9f8e7d6.
        if before in {":", "/"} and sign == ":" and not separator["after"]:
            return
        if sign in {":", "="} and _BLOCK.match(text, at):
            yield from self._block(start, at, found)
            return
        if text[at : at + 1] in members.OPENINGS:
            yield from self._members(start, separator, found, Holds.ONE)
        while value := self._quoted(at) or self._bare(start, at, separator):
            secret = self._is_secret(value, found)
            if not secret and self._is_env(start, separator):
                # In a shell a command may follow.
                value = _from(at, self._shell_words.end(at)) or value
                secret = self._is_secret(value, found)
            if secret:
                yield Span(value.start, value.end, found.kind)
            arrow = _ARROW.match(text, value.end)
            if arrow is None or self._is_known_step(start, arrow.end(), separator, found):
                return
            at = arrow.end()

    def _is_known_step(self, start: int, at: int, separator: re.Match[str], found: Secrecy) -> bool:
        """Tell whether what stands from ``at`` on was read before, in the same way."""
        how = self._files.syntax(start), self._has_line(start), self._is_env(start, separator)
        step = (at, found.trust, separator["plain"] or separator["typed"], *how)
        known = step in self._steps
        self._steps.add(step)
        return known

    def _without_separator(self, start: int, end: int, found: Secrecy) -> Iterator[Span]:
        """Yield values by their syntax: options, calls, alternatives, sentences."""
        text, name = self._text, self._text[start:end]
        sets = _SETS.search(text, max(0, start - 32), start)
        option = sets or name.startswith("--")
        setter = name.rpartition(".")[2].startswith(("set", "with"))
        value: _Value | None = None
        if space := _SPACE.match(text, end) if option else None:
            at = space.end()
            value = self._quoted(at) or self._set(at, sets)
        elif call := _SETTER.match(text, end) if setter else None:
            value = self._quoted(call.end())
        if value and self._is_secret(value, found):
            yield Span(value.start, value.end, found.kind)
        elif other := _ALTERNATIVE.match(text, end):
            value = self._quoted(other.end())
        elif told := TOLD.match(text, end):
            value = self._argument(told.end())
        elif span := given(text, end, found):
            yield span
        if value and is_opaque(self._written(value)):
            yield Span(value.start, value.end, found.kind)

    def _set(self, at: int, sets: re.Match[str] | None) -> _Value | None:
        """Return what an option, or else a command that sets a variable, is given."""
        if sets is None:
            return self._argument(at)
        return _from(at, self._line.end(at) if sets["docker"] else self._shell_words.end(at))

    def _argument(self, at: int) -> _Value | None:
        return None if self._text.startswith("-", at) else _from(at, self._arguments.end(at))

    def _quoted(self, at: int) -> _Value | None:
        text = self._text
        opening = _QUOTE.match(text, at)
        if opening is None:
            return None
        start, quote = opening.end(), opening["quote"]
        if len(quote) == 3:
            end = self._triples[quote].after(start)
            closed = end < len(text) and end + len(quote) <= start + _LONGEST_MULTILINE
            return _Value(start, end) if closed else None
        if opening["escape"]:
            close = text.find(opening["escape"] + quote, start)
            end = len(text) if close == -1 else close
            line_end = text.find("\n", start, end)
            return _Value(start, end if line_end == -1 else line_end)
        return _Value(start, end_of(_INSIDE[quote], text, start))

    def _bare(self, start: int, at: int, separator: re.Match[str]) -> _Value | None:
        """Return an unquoted value if the file, or else its look, says that it is no expression."""
        text, sign = self._text, separator["plain"] or separator["typed"]
        syntax = self._files.syntax(start)
        if syntax is Syntax.CODE or sign in _NEVER_BARE:
            return None
        if self._has_line(start) and (
            syntax in (Syntax.CONFIG, Syntax.SHELL) or self._is_env(start, separator)
        ):
            if syntax is Syntax.SHELL and sign == "=":
                return _from(at, self._shell_words.end(at))
            return self._rest_of_line(at) if sign in {":", "="} else None
        end = self._bares.end(at)
        value, following = text[at : min(end, at + _LONGEST_JUDGED)], text[end : end + 1]
        if following in {"(", "["} or (following == "{" and text.endswith("$", at, end)):
            return None
        if end - at > _LONGEST_JUDGED:
            return _Value(at, end)
        if value.isalpha() and _NEXT_WORD.match(text, end):
            return None
        plain = _IDENTIFIER.fullmatch(value) is not None and syntax is Syntax.UNKNOWN
        shown = text.startswith(" →", end) or text.startswith("→ ", at - 2)
        closed = following in {")", ","} and not is_issued(value)
        if plain and not shown and (value.isalpha() or "." in value or closed):
            return None
        return _from(at, end)

    def _rest_of_line(self, at: int) -> _Value | None:
        end = self._line.end(at)
        whole = self._text[at : min(end, at + _LONGEST_JUDGED)]
        value = _COMMENT.sub("", whole).rstrip()
        if len(whole) < end - at and len(value) == len(whole):
            return _Value(at, end)
        return _from(at, at + len(value)) if not _CALL.fullmatch(value) else None

    def _is_env(self, start: int, separator: re.Match[str]) -> bool:
        """Tell ``NAME=value`` in the form of a shell."""
        tight = separator["plain"] == "=" and not separator["before"] and not separator["after"]
        return tight and bool(_ENV_NAME.match(self._text, start))

    def _has_line(self, start: int) -> bool:
        """Tell whether the name is the first on its line."""
        begin = self._text.rfind("\n", max(0, start - 80), start) + 1
        return (begin > 0 or start <= 80) and bool(_LINE_LEAD.match(self._text[begin:start]))

    def _is_secret(self, value: _Value, found: Secrecy) -> bool:
        return is_secret(self._written(value), found)

    def _written(self, value: _Value) -> str:
        """Return as much of ``value`` as is judged; nothing of a long one that holds a mask."""
        if value.end - value.start <= _LONGEST_JUDGED:
            return self._text[value.start : value.end]
        masked = self._masks.after(value.start) < value.end
        return "" if masked else self._text[value.start : value.start + _LONGEST_JUDGED]

    # --- several lines ---

    def _block(self, start: int, at: int, found: Secrecy) -> Iterator[Span]:
        """Yield the lines of a YAML block scalar: those indented deeper than its name."""
        text, line = self._text, self._line.begin(start)
        if line in self._blocks:
            return
        self._blocks.add(line)
        depth = end_of(_INDENT, text[line:start], 0)
        first = last = 0
        at = self._line.end(at)
        while (filled := self._blank_lines.end(at)) < len(text):
            begin = text.rfind("\n", at, filled) + 1
            inner = end_of(_INDENT, text, begin)
            if inner - begin <= depth:
                break
            at = text.find("\n", filled)
            at = len(text) if at == -1 else at
            first = first or inner
            last = filled + len(text[filled:at].rstrip())
        if first and is_literal(self._written(_Value(first, last))):
            yield Span(first, last, found.kind)

    def _paired(self, at: int, found: Secrecy) -> Iterator[Span]:
        """Yield ``value:`` behind a ``name:`` that is secret-like."""
        # A diff shows two: what was there and what is.
        for _ in range(2):
            value = self._quoted(at) or self._rest_of_line(at)
            if value is None:
                return
            if self._is_secret(value, found):
                yield Span(value.start, value.end, found.kind)
            again = VALUE_BEHIND.match(self._text, value.end)
            if again is None:
                return
            at = again.end()


def is_secret(written: str, found: Secrecy) -> bool:
    """Tell whether ``written`` is a secret where its name says that it may be one."""
    match found.trust:
        case Trust.CHOSEN:
            number = is_number(written)
            return is_literal(written) and (not number or (written.isdigit() and len(written) >= 4))
        case Trust.KEPT:
            return is_opaque(written) or is_coined(written)
        case Trust.ISSUED:
            return is_opaque(written)


def _from(start: int, end: int) -> _Value | None:
    return _Value(start, end) if end > start else None


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at
