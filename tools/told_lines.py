"""The few changed lines of one deploy that speak the incident's words.

Owns choosing them; which words are telling comes from the corpus of all candidates. They say what a
change does where no setting or signature does. Knows no ranking.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from tools.corpus import Found
from tools.evidence import ChangeText
from tools.records import FileKind, ToldLine
from tools.secret_files import may_hold_secret
from tools.symptoms import Haystack
from tools.wording import clean

MOST = 3
LINES_READ = 30_000
TERMS_SOUGHT = 10
LONGEST = 160
"""Characters; a longer line is left out: one that is cut says half, and may hide half a secret."""
_COMMENT = re.compile(r"^\s*(?:#(?!define|include)|//|/?\*|--|;|<!--|\"\"\")")
_SETTINGS = frozenset({FileKind.CONFIG, FileKind.FLAG, FileKind.INFRASTRUCTURE})
_COMMENT_WORTH = 0.6
"""A comment says what it is about, code what it does."""


def told_lines(text: ChangeText | None, found: Sequence[Found]) -> tuple[ToldLine, ...]:
    """The lines that hold the most of what was found, the most telling first; no two the same."""
    if text is None:
        return ()
    # A pair's words are sought on their own: a line must not count the same words twice.
    alone = (one for one in found if not one.term.beside)
    sought = [one for one in alone if text.changes(one.term)][:TERMS_SOUGHT]
    scored = [
        (score, path, side, line)
        for path, side, line in islice(_lines(text), LINES_READ)
        if (score := _score(line, sought)) > 0
    ]
    scored.sort(key=lambda one: -one[0])
    shown: dict[str, ToldLine] = {}
    for _, path, side, line in scored:
        said = clean(line.replace("`", "'"), LONGEST)
        shown.setdefault(said, ToldLine(path=path, side=side, text=said))
        if len(shown) == MOST:
            break
    return tuple(shown.values())


def _lines(text: ChangeText) -> Iterator[tuple[str, Literal["adds", "removes"], str]]:
    """Not those of settings: one alone does not show that it stands in a Secret (M19), and what
    changed in settings is said by key.
    """
    for diff in text.diffs:
        if diff.change.kind in _SETTINGS or may_hold_secret(diff.change.path):
            continue
        for line in diff.added_lines:
            if bare := _bare(line):
                yield diff.change.path, "adds", bare
        for line in diff.removed_lines:
            if bare := _bare(line):
                yield diff.change.path, "removes", bare


def _bare(line: str) -> str:
    bare = line.strip()
    return bare if len(bare) <= LONGEST else ""


def _score(line: str, sought: Sequence[Found]) -> float:
    lower = line.lower()
    inside = [one for one in sought if one.term.needle in lower]
    if not inside:
        return 0.0
    stack = Haystack.of(line)
    worth = sum(one.worth for one in inside if stack.count(one.term))
    return worth * (_COMMENT_WORTH if _COMMENT.match(line) else 1.0)
