"""The names of code that a change brings or takes away: what it is about, in a few words.

Pure. Looks only at lines that run in production; a name that stands on both sides is no news.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from tools.diffs import FileDiff
from tools.records import FileKind

MOST = 8
LINES_READ = 20_000
LINE_READ = 400

_INERT = frozenset({FileKind.DOCS, FileKind.TEST, FileKind.GENERATED})
_STRING_OR_COMMENT = re.compile(
    r"^\s*(?:#|//|\*|/\*|\"\"\"|''').*|(?<!\w)[\"'][^\"']{40,}[\"']|[\"'][^\"'\s]{20,}(?:[\"']|$)"
)
# From such a name on a line shows what must not be shown.
_SECRET = re.compile(
    r"(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|credentials?|auth|(?:api|access|private|signing"
    r"|encryption|master|account|shared)[_-]?key)s?[\"'\])]{0,3}\s{0,8}(?::=|=>|=(?!=)|:).*",
    re.IGNORECASE,
)
_RUN = re.compile(r"[\w+/=-]{20,}")
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|\d+")
_NAME = re.compile(
    r"(?<![\w.])_*[A-Za-z][a-z]*(?:_[A-Za-z0-9]+)+|[a-z]{3,}[A-Z]\w+|[A-Z][a-z]+[A-Z]\w+"
)
_SHORTEST = 6


def names_changed(diffs: Sequence[FileDiff]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that only added lines hold, and those that only removed ones do; commonest first.

    Only what looks like a name that a person gave: no pieces of keys, tokens and encoded data.
    """
    running = [diff for diff in diffs if diff.change.kind not in _INERT]
    added = _names(line for diff in running for line in diff.added_lines)
    removed = _names(line for diff in running for line in diff.removed_lines)
    return _first(added, removed), _first(removed, added)


def _names(lines: Iterable[str]) -> Counter[str]:
    found: Counter[str] = Counter()
    in_block = False
    for _, line in zip(range(LINES_READ), lines, strict=False):
        if "-----BEGIN " in line or "-----END " in line:
            in_block = "-----END " not in line
        elif not in_block:
            shown = _SECRET.sub(" ", _STRING_OR_COMMENT.sub(" ", line[:LINE_READ]))
            shown = _RUN.sub(lambda run: " " if _by_chance(run[0]) else run[0], shown)
            names = (name for name in _NAME.findall(shown) if len(name) >= _SHORTEST)
            found.update(name for name in names if not _by_chance(name))
    return found


def _by_chance(text: str) -> bool:
    """Tell encoded data from words: capitals, small letters and digits change too often."""
    pieces = _PIECE.findall(text)
    mixed = any(each.isdigit() for each in pieces) and text.lower() != text != text.upper()
    return mixed and sum(map(len, pieces)) < 2.5 * len(pieces)


def _first(one: Counter[str], other: Counter[str]) -> tuple[str, ...]:
    only = [(name, count) for name, count in one.items() if name not in other]
    only.sort(key=lambda pair: (-pair[1], pair[0]))
    return tuple(name for name, _ in only[:MOST])
