r"""Secrets that a block of another name holds: ``variable "db_password" { default = "x" }``.

HCL, as Terraform has it, plainly or in a diff, on one line or several, and with the head of the
block only in the line of a hunk that git shows for context.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.redact.names import secrecy
from bot.redact.settings import is_secret
from bot.redact.spans import Span

_HEAD = re.compile(
    r"(?:variable|output|resource|data|module|param)(?:[ \t]{1,4}\"[\w-]{1,120}\")?"
    r"[ \t]{1,4}\"?(?P<name>[\w-]{1,120})\"?[ \t]{0,4}(?:\{|(?=\n))"
)
_VALUE = re.compile(
    r"\b(?:default|value|secret_string|secret_data|content|plaintext)[ \t]{0,32}=[ \t]{0,8}"
    r"(?:\"(?P<quoted>(?:[^\"\\\n]|\\[^\n])*+)"
    r"|<<[-~]?(?P<mark>\w{1,40})[ \t]*\n(?P<heredoc>(?:[^\n]*\n){1,200}?)[-+ ]?[ \t]*(?P=mark)\b)"
)
_CLOSE = re.compile(r"\n[-+ ]?\}|\ndiff --git |\n=== |\n@@ ")
_LONGEST = 4_000


def find(text: str) -> Iterator[Span]:
    """Yield what blocks with secret-like names are given."""
    for head in _HEAD.finditer(text):
        found = secrecy(head["name"])
        if found is None:
            continue
        limit = head.end() + _LONGEST
        close = _CLOSE.search(text, head.end(), limit)
        end = close.start() if close else limit
        for value in _VALUE.finditer(text, head.end(), end):
            group = "quoted" if value["quoted"] is not None else "heredoc"
            if is_secret(value[group], found):
                start, stop = value.span(group)
                yield Span(start, stop - (group == "heredoc"), found.kind)
