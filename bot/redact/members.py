"""Secrets in what a name holds several of, and below one: ``tokens: [x, y]``, ``secret: {value: x}``.

Lists and mappings on one line or over several, in JSON, YAML, TOML and code, plainly or in a diff. A
member counts if it looks issued by a machine, whatever its own name, unless that name says that it only
points at the secret. Knows nothing of the name above but what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from enum import Enum

from bot.redact.names import Secrecy
from bot.redact.spans import Span
from bot.redact.syntax import Syntax
from bot.redact.values import is_issued


class Holds(Enum):
    """What stands below a name. SEVERAL: secrets under names of their own, or in a list. ONE: one
    secret, under a name that only says so.
    """

    SEVERAL = "several"
    ONE = "one"


OPENINGS = frozenset({"[", "{", "\n", "\r"})
"""What a list or a mapping begins with, behind a name and its sign."""
_VALUES = frozenset(
    {"value", "default", "content", "plaintext", "literal", "raw", "data", "string"}
)
# Names of what points at a secret, or tells of it.
_POINTS = re.compile(
    r"(?:\A|[^A-Za-z]|(?<=[a-z])(?=[A-Z]))(?i:name|id|path|file|key|ref|arn|type|kind|version|image|tag|sha"
    r"|commit|digest|checksum|hash|url|uri|host|engine|store|backend|user|username|email|description|color"
    r"|mac|from)\Z"
)
_LONGEST = 2_000
_PART = re.compile(
    r"(?P<open>[\[{])|(?P<close>[\]}])"
    r"|(?:\\{0,3}(?P<quote>[\"'])(?P<quoted>[^\"'\\\n]{0,512}+)\\{0,3}(?P=quote)"
    r"|(?P<bare>[^\s,{}\[\]\"'`:=()\\]{1,512}+))(?P<is>[ \t]{0,8}(?:=>|[:=]))?"
)
_LINE = re.compile(
    r"\r?\n(?P<lead>[-+ ]?[ \t]*+)(?P<item>(?:-[ \t])?)"
    r"(?:[\"']?(?P<name>[\w.-]{1,100})[\"']?:(?:[ \t]+|(?=\r?\n|\Z)))?"
    r"(?:[\"']?(?P<value>[\w+/=.~-]++)[\"']?(?:[ \t]*+,)?"
    r"(?:[ \t]++#[^\r\n]*+)?[ \t]*+(?=\r?\n|\Z)|(?P<rest>[^\n]*+))"
)
_TOKEN = re.compile(r"[\w+/=.~-]{12,}", re.ASCII)


def find(
    text: str, start: int, at: int, found: Secrecy, holds: Holds, syntax: Syntax
) -> Generator[Span, None, int]:
    """Yield the secrets of what begins at ``at`` for the name at ``start``; return where it ends."""
    if text[at : at + 1] in ("[", "{"):
        return (yield from _within_brackets(text, at, found, holds, syntax))
    if syntax is Syntax.CODE:
        return at
    return (yield from _below(text, start, at, found, holds, syntax))


def _within_brackets(
    text: str, at: int, found: Secrecy, holds: Holds, syntax: Syntax
) -> Generator[Span, None, int]:
    name, depth, end = "", 0, min(len(text), at + _LONGEST)
    for part in _PART.finditer(text, at, end):
        if part["open"]:
            depth += 1
        elif part["close"]:
            depth -= 1
            if depth <= 0:
                return part.end()
        else:
            group = "quoted" if part["quote"] else "bare"
            literal = group == "quoted" or syntax is not Syntax.CODE
            if part["is"]:
                name = part[group]
            elif literal and _is_secret(name, part[group], holds):
                yield Span(*part.span(group), found.kind)
    return end


def _below(
    text: str, start: int, at: int, found: Secrecy, holds: Holds, syntax: Syntax
) -> Generator[Span, None, int]:
    """Yield the values of the lines that are indented deeper than the name, or list items beside it."""
    depth = start - text.rfind("\n", 0, start) - 1
    end = min(len(text), at + _LONGEST)
    while line := _LINE.match(text, at, end):
        deeper = len(line["lead"]) > depth or (line["item"] and len(line["lead"]) == depth)
        if line.end() > line.end("lead") and not deeper:
            break
        if line["value"] and _is_secret(line["name"] or "", line["value"], holds):
            yield Span(*line.span("value"), found.kind)
        at = line.end()
        if (line["rest"] or "").startswith(("[", "{")):
            inner = line.start("rest")
            at = max(at, (yield from _within_brackets(text, inner, found, holds, syntax)))
    return at


def _is_secret(name: str, value: str, holds: Holds) -> bool:
    if not _TOKEN.fullmatch(value) or not is_issued(value):
        return False
    match holds:
        case Holds.ONE:
            return not name or name.lower() in _VALUES
        case Holds.SEVERAL:
            return not _POINTS.search(name)
