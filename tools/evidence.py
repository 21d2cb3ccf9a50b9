"""What a candidate's diff holds, in the form that ranking looks at.

Owns splitting changed lines into what runs (code, settings) and what does not (documents, tests),
risky settings, and how much of one change another one takes back. Knows no incident and no weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tools.diffs import FileDiff
from tools.records import FileKind
from tools.symptoms import Haystack, Term

CHARACTERS_KEPT = 600_000
"""Of each side of a diff; what lies beyond it is not searched for words."""
NEAR_SHARE = 0.5
"""What a precise term beside a changed line is worth: an error is often raised next to the cause."""
SHORTEST_LINE = 8
"""Shorter lines (brackets, ``else:``) are the same everywhere and prove nothing."""

_INERT = frozenset({FileKind.DOCS, FileKind.TEST, FileKind.GENERATED})
_RISKY_KINDS = {
    FileKind.MIGRATION: "holds a migration",
    FileKind.FLAG: "changes a flag",
    FileKind.CONFIG: "changes settings",
    FileKind.DEPENDENCY: "changes dependencies",
    FileKind.INFRASTRUCTURE: "changes how it is run",
}
_RISKY_KEY = re.compile(
    r"\b[\w.-]*(?:time_?outs?|retr(?:y|ies)|back_?off|budget|pool|limit|quota|max_?\w+|ttl|workers"
    r"|replicas|concurrency|threshold|deadline|buffer|interval|maxsize)[\w.-]*[\"']?\s*[:=]",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"[A-Za-z]\w*(?:_\w+)+|_\w*[a-z]\w{4,}|[a-z]+(?:[A-Z]\w*)+|[A-Z]\w+[a-z][A-Z]\w*"
)
_LONG_WORD = re.compile(r"\w{8,}")
_PACKAGING = re.compile(
    r"^__|_requires?$|version|^(?:sys_platform|package_data|package_dir|entry_points|packages)$",
    re.IGNORECASE,
)
"""Names that every package holds, whatever it does."""
_VERSION_LINE = re.compile(r"^\W*_*version_*\b", re.IGNORECASE)


@dataclass(frozen=True)
class ChangeText:
    """The changed lines of one deploy. ``inert`` is what does not run in production, ``near`` the
    lines beside the changed ones that do, ``diffs`` the files that do.
    """

    added: Haystack
    removed: Haystack
    inert: Haystack
    near: Haystack
    paths: Haystack
    files: int
    lines: int
    runs: bool
    risks: tuple[str, ...]
    added_lines: frozenset[str]
    removed_lines: frozenset[str]
    diffs: tuple[FileDiff, ...]
    cut: bool

    @property
    def length(self) -> int:
        """Characters that run, the measure of how easily a word is in it by chance."""
        return len(self.added.text) + len(self.removed.text) + len(self.paths.text)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of code in it: with an underscore or a capital inside, not those of packaging."""
        lines = (*self.added_lines, *self.removed_lines)
        text = "\n".join(lines)
        if len(text) > CHARACTERS_KEPT:  # what is kept must not hang on the order within a set
            text = "\n".join(sorted(lines))[:CHARACTERS_KEPT]
        # Each word once: a name does not reach beyond its word, and a file says few words often.
        words = set(_LONG_WORD.findall(text))
        found = {name for word in words for name in _NAME.findall(word)}
        return frozenset(name for name in found if len(name) > 7 and not _PACKAGING.search(name))

    def hits(self, term: Term) -> float:
        """How often the term is in the change; inert text and paths at their own worth."""
        return (
            self.added.count(term)
            + self.removed.count(term)
            + 2.0 * self.paths.count(term)
            + 0.4 * self.inert.count(term)
            + (NEAR_SHARE * self.near.count(term) if term.precise else 0.0)
        )

    def changes(self, term: Term) -> bool:
        """Whether a changed line or a path holds the term, and not only a line beside them."""
        sides = (self.added, self.removed, self.paths, self.inert)
        return any(side.count(term) for side in sides)

    def takes_away(self, term: Term) -> int:
        """How many more lines with the term it removes from what runs than it adds."""
        return max(0, self.removed.count(term) - self.added.count(term))

    def brings(self, term: Term) -> bool:
        """Whether what runs holds the term since this change, as far as its lines show."""
        return bool(self.added.count(term)) and not (
            self.removed.count(term) or self.near.count(term)
        )


def change_text(diffs: Sequence[FileDiff]) -> ChangeText:
    """Gather a deploy's file diffs."""
    running = [diff for diff in diffs if diff.change.kind not in _INERT]
    inert = [diff for diff in diffs if diff.change.kind in _INERT]
    added = [line for diff in running for line in diff.added_lines]
    removed = [line for diff in running for line in diff.removed_lines]
    came, gone = _significant(added), _significant(removed)
    return ChangeText(
        added=_haystack(added),
        removed=_haystack(removed),
        inert=_haystack(line for d in inert for line in (*d.added_lines, *d.removed_lines)),
        near=_haystack(line for diff in running for line in _beside(diff)),
        paths=Haystack.of("\n".join(diff.change.path for diff in running)[:CHARACTERS_KEPT]),
        files=len(diffs),
        lines=len(added) + len(removed),
        runs=bool(running),
        risks=_risks(running),
        added_lines=came - gone,
        removed_lines=gone - came,
        diffs=tuple(running),
        cut=any(diff.cut for diff in diffs),
    )


def names_of(text: ChangeText | None) -> frozenset[str]:
    return text.names if text else frozenset()


def share_undone(change: ChangeText, later: ChangeText) -> float:
    """How much of the smaller change the later one takes back, 0 to 1; one line of many is chance."""
    undone = len(change.added_lines & later.removed_lines)
    undone += len(change.removed_lines & later.added_lines)
    size = len(change.added_lines) + len(change.removed_lines)
    later_size = len(later.added_lines) + len(later.removed_lines)
    smaller = min(size, later_size)
    if not smaller or (undone == 1 and smaller > 1):
        return 0.0
    return undone / smaller


def _beside(diff: FileDiff) -> Iterable[str]:
    """The unchanged lines of a patch, and the names of the functions that its hunks stand in."""
    for line in diff.hunks_text.split("\n"):
        if line.startswith(" "):
            yield line[1:]
        elif line.startswith("@@ "):
            yield line.rpartition("@@")[2]


def _haystack(lines: Iterable[str]) -> Haystack:
    return Haystack.of("\n".join(lines)[:CHARACTERS_KEPT])


def _significant(lines: Iterable[str]) -> frozenset[str]:
    stripped = set(map(str.strip, lines))
    return frozenset(
        line for line in stripped if len(line) >= SHORTEST_LINE and not _VERSION_LINE.match(line)
    )


def _risks(diffs: Sequence[FileDiff]) -> tuple[str, ...]:
    """What in it is risky by kind, in words, riskiest first, each kind once."""
    risks: dict[str, str] = {}
    for diff in diffs:
        path = diff.change.path
        risky = _RISKY_KINDS.get(diff.change.kind)
        if risky:
            risks.setdefault(risky, f"{risky} ({path})")
        if "limits" in risks:  # one is told; looking for more takes most of the time
            continue
        key = next((m for line in diff.added_lines if (m := _RISKY_KEY.search(line))), None)
        if key:
            name = key.group().strip(" :=\"'")[:40]
            risks["limits"] = f"sets `{name}` ({path})"
    return tuple(risks.values())
