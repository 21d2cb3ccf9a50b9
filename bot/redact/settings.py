"""Values of secret-like names, in whatever syntax gives a name a value.

Covers env files, properties, INI, TOML, YAML with block scalars, JSON (also escaped within JSON),
XML, code, diffs of all of them, command-line options, and pairs of ``name:`` and ``value:``. In
code only string literals are values: what is not quoted there is a reference. Where the text is a
diff its headers tell code from configuration; elsewhere an unquoted value must look like one.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from bot.redact import issued
from bot.redact.gate import Gate
from bot.redact.names import STEMS, Secrecy, Trust, secrecy
from bot.redact.spans import Span
from bot.redact.values import is_coined, is_literal, is_number, is_opaque

_NAME = re.compile(r"[\w.\-]{0,96}+")
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-.")
_LONGEST_NAME = 96

# What may stand between a name and its value; "typed" comes behind a type, before a default.
_SEPARATOR = re.compile(
    r"\\{0,3}[\"'`]?\]?\)?[?!]?"
    r"(?:(?:[ \t]{0,8}:[ \t]{0,4}[A-Za-z_][\w.\[\], |?<>&*]{0,60}?"
    r"|[ \t]{1,4}(?:\*?string|\[\]byte))[ \t]{0,4}(?P<typed>=)[ \t]{0,4}(?=[rbuf]?[\"'`])"
    r"|(?P<before>[ \t]{0,32})(?P<plain>:=|=>|->|::|\?=|\+=|\|\|=|[=!]==?|[:=]|→|>(?!=))"
    r"(?P<after>[ \t]{0,32}))"
)
_SPACE = re.compile(r"[\"']?[ \t]{1,8}(?=[^\s=:])")
_SETTER = re.compile(r"\([ \t]*(?=[\"'])")
# getenv("NAME", "value"), process.env.NAME || "value", and "the password is value".
_ALTERNATIVE = re.compile(
    r"(?:[\"'],|[\"']?\]?\)?[ \t]{0,4}(?:\|\||\?\?|or\b))[ \t]{0,4}(?=[\"'`])"
)
_TOLD = re.compile(r"[ \t]{1,4}(?:is|was)[ \t]{1,4}")
_QUOTE = re.compile(r"(?:[rRbBuUfF]{0,2}|@|\$)(?P<escape>\\{0,7})(?P<quote>\"\"\"|'''|[\"'`])")
_INSIDE = {
    '"': re.compile(r"(?:[^\"\\\n]|\\[^\n])*+"),
    "'": re.compile(r"(?:[^'\\\n]|\\[^\n])*+"),
    "`": re.compile(r"(?:[^`\\\n]|\\[^\n])*+"),
}
_LONGEST_MULTILINE = 16_384
_BARE = re.compile(r"(?:[^\s\"'`,;&|<>(){}\[\]\\]|,(?![\s\"'}\])]|[\w.-]{1,40}[=:]|$))++")
_ARGUMENT = re.compile(r"[^\s\"'`;&|<>(){}\[\]\\,-][^\s\"'`;&|<>(){}\[\]\\,]*+")
_SHELL_WORD = re.compile(r"[^\s\"'`;&|<>]++")
# Commands that set a variable without a sign between its name and its value.
_SETS = re.compile(
    r"(?:(?P<docker>ENV)|setenv|setx|set(?:[ \t]{1,4}-{1,2}\w{1,9}){1,4})[ \t]{1,8}\Z"
)
_REST_OF_LINE = re.compile(r"[^\n]*+")
_COMMENT = re.compile(r"[ \t]+(?:#|//)[^\n]*$|\\?\r$")
_BLOCK = re.compile(r"[|>][-+]?\d?[ \t]*(?:#[^\n]*)?\r?$", re.MULTILINE)
_ARROW = re.compile(r"[\"'`]?[ \t]{0,4}(?:→|->|=>)[ \t]{0,4}")
_LINE_LEAD = re.compile(
    r"[-+ \t>|*]*(?:(?:export|set|setx|ENV|ARG|declare -x|local|readonly|env|-e|--env)[ \t]+)*"
    r"[\"']?\Z"
)
_PAIR_NAME = re.compile(
    r"(?:name|Name|key|Key)\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}[\"']?\Z"
)
_PAIR = re.compile(
    r"\\{0,3}[\"']?[ \t]{0,4},?[ \t]{0,4}(?:\r?\n[-+ ]?[ \t]{0,40})?\\{0,3}[\"']?"
    r"(?:[A-Z][a-z]{1,20})?[vV]alue\\{0,3}[\"']?[ \t]{0,4}[:=][ \t]{0,4}"
)
_CALL = re.compile(r"[A-Za-z_$][\w.$]*[(\[].*[)\]][,;]?")
_NEXT_WORD = re.compile(r" [A-Za-z]+(?![\w=:])")
_NEVER_BARE = frozenset({"->", "::", "==", "!=", "===", "!=="})
_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_]\w*)*[;,)]*")
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]*")


class Syntax(Enum):
    """What a file's name says about its unquoted values."""

    CODE = "code"
    CONFIG = "config"
    SHELL = "shell"
    UNKNOWN = "unknown"


_CODE = re.compile(
    r"pyi?|[cm]?jsx?|[cm]?tsx?|vue|svelte|html|s?css|go|java|kts?|scala|groovy|gradle|rb|rs|c|h|cc|[ch]pp"
    r"|cs|php|swift|m|exs?|erl|clj|lua|p[lm]|r|dart|sql|graphql|proto|json|jsonnet|tf|hcl|nix"
)
_CONFIG = re.compile(r"env|envrc|properties|ini|cfg|conf|cnf|ya?ml|toml|service|npmrc|pypirc|netrc")
_SHELL = re.compile(r"(?:ba|z|k|c|tc)?sh|fish|bats|mk|dockerfile")
# Headers of files: git's, and those of this product's own text.
_FILE = re.compile(
    r"(?:\A|\n)(?:diff --git a/[^\n]{1,400} b/|(?:\+\+\+|---) (?:[ab]/)?|=== (?:[A-Za-z]{1,9} )?"
    r"|#{2,4} )(?P<path>[\w./@+-]{1,400})"
)


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
            return
        separator = _SEPARATOR.match(self._text, end)
        pair = None if separator else _PAIR.match(self._text, end)
        if separator:
            yield from self._values(start, separator, found)
        elif pair:
            yield from self._paired(start, pair.end(), found)
        else:
            yield from self._without_separator(start, end, found)

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
        if sign == ">" and before != "<":
            return
        # A part of an address, as in arn:aws:secretsmanager:eu-west-1:123456789012:secret:name.
        if before == sign == ":" and not separator["after"]:
            return
        if sign in {":", "="} and _BLOCK.match(text, at):
            yield from self._block(start, at, found)
            return
        while value := self._quoted(at) or self._bare(start, at, separator):
            if not self._is_secret(value, found) and self._is_env(start, separator):
                # In a shell a command may follow.
                value = _argument(text, at, _SHELL_WORD) or value
            if self._is_secret(value, found):
                yield Span(value.start, value.end, found.kind)
            arrow = _ARROW.match(text, value.end)
            if arrow is None:
                return
            at = arrow.end()

    def _without_separator(self, start: int, end: int, found: Secrecy) -> Iterator[Span]:
        """Yield values by their syntax: options, calls, alternatives, sentences."""
        text, name = self._text, self._text[start:end]
        sets = _SETS.search(text, max(0, start - 32), start)
        option = sets or name.startswith("--")
        setter = name.rpartition(".")[2].startswith(("set", "with"))
        value: _Value | None = None
        if space := _SPACE.match(text, end) if option else None:
            at = space.end()
            bare = _ARGUMENT if sets is None else _REST_OF_LINE if sets["docker"] else _SHELL_WORD
            value = self._quoted(at) or _argument(text, at, bare)
        elif call := _SETTER.match(text, end) if setter else None:
            value = self._quoted(call.end())
        if value and self._is_secret(value, found):
            yield Span(value.start, value.end, found.kind)
        elif other := _ALTERNATIVE.match(text, end):
            value = self._quoted(other.end())
        elif told := _TOLD.match(text, end):
            value = _argument(text, told.end())
        if value and is_opaque(text[value.start : value.end]):
            yield Span(value.start, value.end, found.kind)

    def _quoted(self, at: int) -> _Value | None:
        text = self._text
        opening = _QUOTE.match(text, at)
        if opening is None:
            return None
        start, quote = opening.end(), opening["quote"]
        if len(quote) == 3:
            end = text.find(quote, start, start + _LONGEST_MULTILINE)
            return _Value(start, end) if end != -1 else None
        if opening["escape"]:
            close = text.find(opening["escape"] + quote, start)
            end = len(text) if close == -1 else close
            line_end = text.find("\n", start, end)
            return _Value(start, end if line_end == -1 else line_end)
        return _Value(start, end_of(_INSIDE[quote], text, start))

    def _bare(self, start: int, at: int, separator: re.Match[str]) -> _Value | None:
        """Return an unquoted value if the file, or else its look, says that it is no expression."""
        text, sign = self._text, separator["plain"] or separator["typed"]
        syntax = self._syntax(start)
        if syntax is Syntax.CODE or sign in _NEVER_BARE:
            return None
        if self._has_line(start) and (
            syntax in (Syntax.CONFIG, Syntax.SHELL) or self._is_env(start, separator)
        ):
            if syntax is Syntax.SHELL and sign == "=":
                return _argument(text, at, _SHELL_WORD)
            return self._rest_of_line(at) if sign in {":", "="} else None
        bare = _BARE.match(text, at)
        if bare is None:
            return None
        value, following = bare[0], text[bare.end() : bare.end() + 1]
        if following in {"(", "["} or (following == "{" and value.endswith("$")):
            return None
        if value.isalpha() and _NEXT_WORD.match(text, bare.end()):
            return None
        plain = _IDENTIFIER.fullmatch(value) is not None and syntax is Syntax.UNKNOWN
        shown = text.startswith(" →", bare.end()) or text.startswith("→ ", at - 2)
        if plain and not shown and (value.isalpha() or "." in value or following in {")", ","}):
            return None
        return _Value(at, bare.end())

    def _rest_of_line(self, at: int) -> _Value | None:
        whole = _REST_OF_LINE.match(self._text, at)
        value = _COMMENT.sub("", whole[0]).rstrip() if whole else ""
        return _Value(at, at + len(value)) if value and not _CALL.fullmatch(value) else None

    def _is_env(self, start: int, separator: re.Match[str]) -> bool:
        """Tell ``NAME=value`` in the form of a shell."""
        tight = separator["plain"] == "=" and not separator["before"] and not separator["after"]
        return tight and bool(_ENV_NAME.match(self._text, start))

    def _has_line(self, start: int) -> bool:
        """Tell whether the name is the first on its line."""
        begin = self._text.rfind("\n", max(0, start - 80), start) + 1
        return (begin > 0 or start <= 80) and bool(_LINE_LEAD.match(self._text[begin:start]))

    def _is_secret(self, value: _Value, found: Secrecy) -> bool:
        return is_secret(self._text[value.start : value.end], found)

    # --- several lines ---

    def _block(self, start: int, at: int, found: Secrecy) -> Iterator[Span]:
        """Yield the lines of a YAML block scalar: those indented deeper than its name."""
        text = self._text
        line_start = text.rfind("\n", 0, start) + 1
        depth = len(_indent(text[line_start:start]))
        first = last = 0
        at = text.find("\n", at) + 1
        while at:
            stop = text.find("\n", at)
            end = len(text) if stop == -1 else stop
            line = text[at:end]
            indent = _indent(line)
            if line.strip("+- \t\r"):
                if len(indent) <= depth:
                    break
                first = first or at + len(indent)
                last = at + len(line.rstrip())
            at = stop + 1
        if first and is_literal(text[first:last]):
            yield Span(first, last, found.kind)

    def _paired(self, start: int, at: int, found: Secrecy) -> Iterator[Span]:
        """Yield ``value:`` behind a ``name:`` that is secret-like, as Kubernetes and ECS have it."""
        if not _PAIR_NAME.search(self._text[max(0, start - 40) : start]):
            return
        # A diff shows two: what was there and what is.
        for _ in range(2):
            value = self._quoted(at) or self._rest_of_line(at)
            if value is None:
                return
            if self._is_secret(value, found):
                yield Span(value.start, value.end, found.kind)
            again = _PAIR.match(self._text, value.end)
            if again is None:
                return
            at = again.end()

    # --- what the text is ---

    @cached_property
    def _files(self) -> tuple[list[int], list[Syntax]]:
        starts: list[int] = []
        kinds: list[Syntax] = []
        for header in _FILE.finditer(self._text):
            starts.append(header.start())
            kinds.append(_syntax_of(header["path"]))
        return starts, kinds

    def _syntax(self, at: int) -> Syntax:
        starts, kinds = self._files
        index = bisect.bisect_right(starts, at) - 1
        return kinds[index] if index >= 0 else Syntax.UNKNOWN


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


def _argument(text: str, at: int, pattern: re.Pattern[str] = _ARGUMENT) -> _Value | None:
    found = pattern.match(text, at)
    return _Value(at, found.end()) if found else None


def _indent(line: str) -> str:
    """Return the sign of a diff and the white space that a line begins with."""
    sign = line[:1] if line[:1] in ("+", "-") and line[1:2] in ("", " ", "\t") else ""
    rest = line[len(sign) :]
    return sign + rest[: len(rest) - len(rest.lstrip(" \t"))]


def end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _syntax_of(path: str) -> Syntax:
    name = path.rpartition("/")[2]
    extension = name.rpartition(".")[2].lower() if "." in name else ""
    if _SHELL.fullmatch(extension) or name.startswith(("Dockerfile", "Containerfile", "Makefile")):
        return Syntax.SHELL
    if _CONFIG.fullmatch(extension) or name.startswith(".env"):
        return Syntax.CONFIG
    return Syntax.CODE if _CODE.fullmatch(extension) else Syntax.UNKNOWN
