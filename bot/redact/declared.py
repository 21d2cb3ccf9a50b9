r"""Secrets that a block of another name holds: ``variable "db_password" { default = "x" }``.

HCL, as Terraform has it, plainly or in a diff, on one line or several, and with the head of the
block only in the line of a hunk that git shows for context.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from bot.redact.names import Trust, secrecy
from bot.redact.settings import is_secret
from bot.redact.spans import Span

_HEAD = re.compile(
    r"(?:variable|output|resource|data|module|param)(?:[ \t]{1,4}\"[\w-]{1,120}\")?"
    r"[ \t]{1,4}\"?(?P<name>[\w-]{1,120})\"?[ \t]{0,4}(?:\{|(?=\n))"
)
_VALUE = re.compile(
    r"\b(?:default|value|secret_string|secret_data|content|plaintext)[ \t]{0,32}=[ \t]{0,8}"
    r"(?:\"(?P<quoted>(?:[^\"\\\n]|\\[^\n])*+)|<<[-~]?(?P<mark>\w{1,40})[ \t]*+\n)"
)
_MARK = re.compile(r"(?<=\n)[-+ ]?[ \t]*+(?P<mark>\w{1,40})\b")
_CLOSE = re.compile(r"\n[-+ ]?\}|\ndiff --git |\n=== |\n@@ ")
_LONGEST = 4_000
_LONGEST_HEREDOC = 16_384


def find(text: str) -> Iterator[Span]:
    """Yield what blocks with secret-like names are given."""
    heads = [
        (head.end(), found) for head in _HEAD.finditer(text) if (found := secrecy(head["name"]))
    ]
    if not heads:
        return
    values = list(_values(text))
    starts = [at for at, _, _ in values]
    closes = [close.start() for close in _CLOSE.finditer(text)]
    # The windows of heads overlap: each value is judged once for each way to judge it.
    judged: dict[Trust, int] = {}
    for begin, found in heads:
        close = bisect_left(closes, begin)
        end = min(begin + _LONGEST, closes[close] if close < len(closes) else len(text))
        first = max(bisect_left(starts, begin), judged.get(found.trust, 0))
        judged[found.trust] = last = max(first, bisect_left(starts, end))
        for _, start, stop in values[first:last]:
            if is_secret(text[start:stop], found):
                yield Span(start, stop, found.kind)


def _values(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield where each assignment begins, and from where to where its value stands."""
    marks: dict[str, list[int]] | None = None
    at = 0
    while value := _VALUE.search(text, at):
        at = value.start() + 1
        if value["mark"] is None:
            yield value.start(), *value.span("quoted")
            continue
        if marks is None:
            marks = {}
            for line in _MARK.finditer(text):
                marks.setdefault(line["mark"], []).append(line.start())
        closings = marks.get(value["mark"], [])
        closing = bisect_right(closings, value.end())
        if closing < len(closings) and closings[closing] - value.end() <= _LONGEST_HEREDOC:
            yield value.start(), value.end(), closings[closing] - 1
