"""Where a thought or a claim says something else than its observation: "believe the trace" (M18).

Pure. Finds two plain kinds: "nothing was found" of a result that has rows, and a count that the
result contradicts. It flags, it decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.base import Status, ToolResult
from tools.records import DeploysFound, DiffShown, IncidentsFound, SuspectsRanked

_NOUNS = r"(deploys?|deployments?|incidents?|suspects?|candidates?|files?|commits?|highlights?)"
_NOTHING = re.compile(
    rf"\b(?:no|zero)\s+(?:matching\s+|such\s+|other\s+)?(?:{_NOUNS}|results?|matches|rows?|changes?)\b"
    r"|\b(?:found|returned|shows?|has)\s+nothing\b|\bnothing\s+(?:was\s+)?(?:found|returned|matched)\b"
    r"|\b(?:came back|is|was|returned)\s+empty\b",
    re.IGNORECASE,
)
_COUNT = re.compile(
    rf"(?<![\w.:#-])(\d{{1,6}})\s+(?:changed\s+|matching\s+)?{_NOUNS}\b", re.IGNORECASE
)
_NAMED = re.compile(r"\bo\d+\b")
_SAME = {"deployment": "deploy", "candidate": "suspect"}


@dataclass(frozen=True)
class Contradiction:
    """``said`` are the words in question, ``shows`` what the observation holds instead."""

    observation: str
    said: str
    shows: str


def contradictions(
    said: str, results: Sequence[tuple[str, ToolResult]]
) -> tuple[Contradiction, ...]:
    """What the text gets wrong about these results (id and result), the newest of them last.

    A text that names an observation ("o2") is held against that one, else against all given.
    """
    named = set(_NAMED.findall(said))
    about = [(name, result) for name, result in results if not named or name in named]
    found = [*_nothing(said, about), *_counts(said, about)]
    return tuple(dict.fromkeys(found))


def counts_of(result: ToolResult) -> Mapping[str, frozenset[int]]:
    """How many of what a result holds: the total, and what is shown."""
    match result.value:
        case DeploysFound(deploys=deploys, total=total):
            return {"deploy": frozenset({total, len(deploys)})}
        case IncidentsFound(incidents=incidents, total=total):
            return {"incident": frozenset({total, len(incidents)})}
        case SuspectsRanked(suspects=suspects, considered=considered):
            shown = frozenset({len(suspects), considered})
            return {"suspect": shown, "deploy": shown}
        case DiffShown() as diff:
            return {
                "file": frozenset({diff.files_total, len(diff.files)}),
                "commit": frozenset({diff.commits_total, len(diff.commits)}),
                "highlight": frozenset({diff.highlights_total, len(diff.highlights)}),
            }
        case _:
            return {}


def _noun(word: str) -> str:
    single = word.lower().rstrip("s")
    return _SAME.get(single, single)


def _nothing(said: str, about: Sequence[tuple[str, ToolResult]]) -> list[Contradiction]:
    found = []
    for match in _NOTHING.finditer(said):
        noun = _noun(match[1]) if match[1] else None
        full = [
            (name, result)
            for name, result in about
            if result.status is Status.OK
            and (noun is None or max(counts_of(result).get(noun, {0})))
        ]
        if about and len(full) == len(about):
            name, result = full[-1]
            found.append(Contradiction(name, match[0], result.summary))
    return found


def _counts(said: str, about: Sequence[tuple[str, ToolResult]]) -> list[Contradiction]:
    found = []
    for match in _COUNT.finditer(said):
        noun = _noun(match[2])
        counted = [(n, r, counts_of(r)[noun]) for n, r in about if noun in counts_of(r)]
        if counted and not any(int(match[1]) in counts for _, _, counts in counted):
            name, result, _ = counted[-1]
            found.append(Contradiction(name, match[0], result.summary))
    return found
