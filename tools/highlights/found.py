"""What a finder reports, and how a change is put into words.

Owns the weights: one table says how much each sort of change matters, and one expression says
which words make a setting dangerous. Knows no file format.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from tools.git import one_line
from tools.records import FileKind, Highlight

_VALUE_SHOWN: Final = 140
_KEY_SHOWN: Final = 160


class Sort(Enum):
    """What sort of change it is."""

    SETTING_CHANGED = auto()
    SETTING_REMOVED = auto()
    SETTING_ADDED = auto()
    DEPENDENCY_CHANGED = auto()
    DEPENDENCY_ADDED = auto()
    DEPENDENCY_REMOVED = auto()
    LOCKED_CHANGED = auto()
    TOOL_CHANGED = auto()
    DEFAULT_CHANGED = auto()
    PARAMETER_REMOVED = auto()
    PARAMETER_ADDED = auto()
    RAISE_ADDED = auto()
    RAISE_REMOVED = auto()
    DECORATOR_CHANGED = auto()
    CONSTANT_CHANGED = auto()
    CONSTANT_REMOVED = auto()
    CONSTANT_ADDED = auto()
    ARGUMENT_CHANGED = auto()
    ARGUMENT_REMOVED = auto()
    CALL_CHANGED = auto()
    ARGUMENT_ADDED = auto()
    DEFINITION_REMOVED = auto()
    DEFINITION_ADDED = auto()


# How much each sort matters, before names are looked at.
_WEIGHTS: Final = {
    Sort.SETTING_CHANGED: 60,
    Sort.SETTING_REMOVED: 45,
    Sort.SETTING_ADDED: 40,
    Sort.DEPENDENCY_CHANGED: 58,
    Sort.DEPENDENCY_ADDED: 38,
    Sort.DEPENDENCY_REMOVED: 39,
    Sort.LOCKED_CHANGED: 34,
    Sort.TOOL_CHANGED: 20,
    Sort.DEFAULT_CHANGED: 61,
    Sort.PARAMETER_REMOVED: 62,
    Sort.PARAMETER_ADDED: 26,
    Sort.RAISE_ADDED: 54,
    Sort.RAISE_REMOVED: 24,
    Sort.DECORATOR_CHANGED: 47,
    Sort.CONSTANT_CHANGED: 48,
    Sort.CONSTANT_REMOVED: 30,
    Sort.CONSTANT_ADDED: 28,
    Sort.ARGUMENT_CHANGED: 46,
    Sort.ARGUMENT_REMOVED: 40,
    Sort.CALL_CHANGED: 42,
    Sort.ARGUMENT_ADDED: 29,
    Sort.DEFINITION_REMOVED: 44,
    Sort.DEFINITION_ADDED: 14,
}
_ADDED: Final = frozenset({Sort.DEFINITION_ADDED, Sort.PARAMETER_ADDED, Sort.CONSTANT_ADDED})
_RISKY: Final = re.compile(
    r"time_?out|deadline|ttl|expir|keep_?alive|interval|delay|back_?off|retr(y|ies)|attempts|budget"
    r"|pool|concurren|parallel|workers?\b|threads?\b|replicas|connections?|conns?\b|queue|buffer"
    r"|limit|quota|rate\b|burst|max[_A-Z-]|[_.-]max\b|min[_A-Z-]|memory|cpu|heap|cache|flag|feature"
    r"|enable|disable|toggle|rollout|percent|ratio|threshold|circuit|breaker|probe|health"
    r"|ssl|tls|verify|cert|cipher|auth|checksum|strict|proxy|proxies|port\b|host\b|endpoint|url\b"
    r"|exports|module|compat|default|image|version|requires.python|engines",
    re.IGNORECASE,
)
_RISK_ADDS: Final = 24
_OWN_VERSION_WEIGHT: Final = 5
_KIND_ADDS: Final = {
    FileKind.CONFIG: 8,
    FileKind.FLAG: 8,
    FileKind.INFRASTRUCTURE: 6,
    FileKind.DEPENDENCY: 2,
}
_TOOLING: Final = re.compile(
    r"^(tool\.(?!poetry\b|uv\b|pdm\b|hatch\b|setuptools\b)|(tool:)?(flake8|pytest|mypy|isort|coverage"
    r"|pycodestyle|pylint|tox|ruff)\b|scripts\.(test|lint)|eslint|prettier|jest)"
)
_TOOLING_WEIGHT: Final = 8
_OWN_VERSION: Final = re.compile(r"(^|\.)(__)?version(__)?$|_version$", re.IGNORECASE)
_VERSION: Final = re.compile(r"\d+(\.\d+)*")


@dataclass(frozen=True)
class Found:
    """One change that a finder saw. ``name`` is a definition's bare name, to notice moves by."""

    sort: Sort
    key: str
    before: str | None
    after: str | None
    name: str = ""

    def weight(self, kind: FileKind) -> int:
        """How much it matters; more first."""
        if _is_own_version(self):
            return _OWN_VERSION_WEIGHT
        if kind is FileKind.DEPENDENCY and _TOOLING.search(self.key):
            return _TOOLING_WEIGHT
        weight = _WEIGHTS[self.sort] + _KIND_ADDS.get(kind, 0)
        if _RISKY.search(self.key):
            weight += _RISK_ADDS // 2 if self.sort in _ADDED else _RISK_ADDS
        elif _RISKY.search(f"{self.before} {self.after}"):
            weight += _RISK_ADDS // 3
        if self.sort is Sort.DEPENDENCY_CHANGED and _first_number_differs(self.before, self.after):
            weight += 8
        private = any(
            part.startswith("_") and not part.startswith("__")
            for part in self.key.split("(")[0].split(".")
        )
        return weight - (12 if private else 0)

    def highlight(self, path: str) -> Highlight:
        """Put it into words."""
        key = _plain(self.key, _KEY_SHOWN) or "(empty key)"
        before = None if self.before is None else _plain(self.before, _VALUE_SHOWN)
        after = None if self.after is None else _plain(self.after, _VALUE_SHOWN)
        text = _words(self.sort, key, before, after)
        return Highlight(path=path, key=key, before=before, after=after, text=text)


def _words(sort: Sort, key: str, before: str | None, after: str | None) -> str:
    dependency = sort.name.startswith(("DEPENDENCY", "LOCKED", "TOOL"))
    if before is not None and after is not None:
        return f"{key} {before} → {after}" if dependency else f"{key}: {before} → {after}"
    if sort is Sort.ARGUMENT_REMOVED:
        return f"{key}: no longer passed"
    if sort is Sort.ARGUMENT_ADDED:
        return f"{key}: now passed"
    if dependency:
        return f"{key} {after} added" if after is not None else f"{key} removed (was {before})"
    what = "parameter " if sort in (Sort.PARAMETER_ADDED, Sort.PARAMETER_REMOVED) else ""
    if after is not None:
        return f"{key}: {what}added {after}".rstrip()
    return f"{key}: {what}removed (was {before})" if before else f"{key}: {what}removed"


def _plain(text: str, limit: int) -> str:
    """One line, without the mark that a reply sets around code (JavaScript's templates have it)."""
    return one_line(text.replace("`", "'").encode("utf-8", "replace"), limit)


def _is_own_version(found: Found) -> bool:
    return found.sort.name.startswith(("SETTING", "CONSTANT")) and (
        _OWN_VERSION.search(found.key) is not None
    )


def _first_number_differs(before: str | None, after: str | None) -> bool:
    first, second = _VERSION.search(before or ""), _VERSION.search(after or "")
    if first is None or second is None:
        return False
    return first[0].split(".", 1)[0] != second[0].split(".", 1)[0]
