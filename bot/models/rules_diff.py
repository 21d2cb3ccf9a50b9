"""What the rules model says of a diff: the change to name first, the files, the names, the commits.

Pure. Every sentence is made from the structured diff and cites it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from bot.loop.wire import Seen
from bot.models.rules_words import LONGEST_CODE, Said, is_bump, name_of
from tools.records import DiffShown, Direction, FileKind, FileStatus, Highlight, ToldLine

_SAFE_KINDS = frozenset({FileKind.CODE, FileKind.TEST, FileKind.DOCS, FileKind.GENERATED})
_ENDING = re.compile(r"\.(?:json|ya?ml|toml|xml|html?|css|sql|js|ts|py|md|txt)\b")
"""Of a file's name, which tells of no incident: its JSON is not that of ``package.json``."""
SHOWN = 3
"""Highlights that are told."""


def most_telling(diff: DiffShown, words: frozenset[str]) -> list[Highlight]:
    """The highlights, those that speak the incident's words first, else the riskiest first; what
    changes with every release last.
    """

    def order(one: Highlight) -> tuple[bool, bool, bool]:
        return not speaks(one, words), not said_whole(one), is_bump(one)

    return sorted(diff.highlights, key=order)


def said_whole(highlight: Highlight) -> bool:
    """Whether it is short enough to be said as it is."""
    return len(highlight.text) <= LONGEST_CODE


def tells_code(diff: DiffShown, words: frozenset[str]) -> bool:
    """Whether what is shown of the highlights is in code, and not in how it is built."""
    code = {file.path for file in diff.files if file.kind is FileKind.CODE}
    return any(highlight.path in code for highlight in most_telling(diff, words)[:SHOWN])


def speaks(highlight: Highlight, words: frozenset[str]) -> bool:
    """Whether its text, and not only the path, holds one of the words, from where a word begins."""
    text = _ENDING.sub("", highlight.text.lower())
    return any(re.search(rf"(?<![a-z]){re.escape(word)}", text) for word in words)


def shown(highlight: Highlight) -> str:
    """The change as code; only its name where the whole would drown the sentence."""
    if said_whole(highlight):
        return f"`{highlight.text}`"
    return f"a change of `{highlight.key}`"


def headline_change(diff: DiffShown, words: frozenset[str] = frozenset()) -> str:
    """The one change to name first."""
    if diff.direction is Direction.ROLLBACK:
        return "it is a rollback"
    best = next(iter(most_telling(diff, words)), None)
    return shown(best) if best is not None else ""


def told_change(
    seen: Seen, diff: DiffShown, lines: Sequence[ToldLine], words: frozenset[str], said: Said
) -> str:
    """The first suspect's change to name: a highlight that speaks the incident's words, else the
    line that does, which is then told with the others as a claim.
    """
    best = next(iter(most_telling(diff, words)), None)
    speaking = best is not None and not is_bump(best) and speaks(best, words)
    if not lines or speaking or diff.direction is Direction.ROLLBACK:
        return headline_change(diff, words)
    told = [f"{line.side} `{line.text}` in {line.path}" for line in lines[:2]]
    said.claim(f"It {'; '.join(told)}", seen)
    return f"it {told[0]}"


def diff_claim(
    seen: Seen, diff: DiffShown, said: Said, words: frozenset[str] = frozenset()
) -> None:
    if seen.id in said.diffs:
        return
    said.diffs.add(seen.id)
    size = f"{diff.files_total} {'file' if diff.files_total == 1 else 'files'}"
    lead = f"Deploy {diff.deploy.label}" if diff.deploy.number is not None else name_of(diff.deploy)
    match diff.direction:
        case Direction.FIRST:
            where = f"{diff.deploy.service} to {diff.deploy.environment}"
            said.claim(f"{lead} is the first deploy of {where} on record", seen)
        case Direction.SAME:
            said.claim(f"{lead} shipped the same commit as the deploy before it", seen)
        case Direction.ROLLBACK:
            away = [f"“{c.subject}”" for c in diff.taken_away[:3]]
            said.claim(
                f"{lead} is a rollback: it took away {', '.join(away) or size} ({size})", seen
            )
        case Direction.FORWARD | Direction.DIVERGED:
            tops = [f"{shown(h)} in {h.path}" for h in most_telling(diff, words)[:SHOWN]]
            if not tops:
                kinds = [f for f in diff.files if f.kind is not FileKind.GENERATED]
                tops = [f.path for f in kinds[:3]]
            said.claim(
                f"{lead} changed {size}: {'; '.join(tops)}" if tops else f"{lead} changed {size}",
                seen,
            )


def files_claim(seen: Seen, diff: DiffShown, said: Said) -> None:
    """What is at risk by kind, then the code that was worked on most."""
    if diff.direction is Direction.ROLLBACK:
        return
    code = [f for f in diff.files if f.kind is FileKind.CODE and f.status is not FileStatus.DELETED]
    code.sort(key=lambda file: -((file.added or 0) + (file.removed or 0)))
    shown = [f"{file.path} (code)" for file in code[:4]]
    risky = [f for f in diff.files if f.kind not in _SAFE_KINDS][:2]
    shown += [f"{file.path} ({file.kind.value})" for file in risky]
    if shown:
        said.claim(f"Files: {', '.join(shown)}", seen)


def names_claim(seen: Seen, diff: DiffShown, said: Said) -> None:
    """The names that came and went, for changes in which no setting tells what they are about."""
    lead = name_of(diff.deploy)
    if diff.names_added:
        names = ", ".join(f"`{name}`" for name in diff.names_added[:5])
        said.claim(f"{lead} brings {names}", seen)
    if diff.names_removed:
        names = ", ".join(f"`{name}`" for name in diff.names_removed[:5])
        said.claim(f"{lead} drops {names}", seen)


def commits_claim(seen: Seen, diff: DiffShown, said: Said) -> None:
    """What the authors say of it, as quotations."""
    subjects = [c for c in diff.commits if c.subject and not c.subject.startswith("Merge ")][:3]
    if subjects and diff.direction is Direction.FORWARD:
        words = "; ".join(f"“{c.subject}” ({c.author})" for c in subjects)
        more = (
            f" and {diff.commits_total - len(subjects)} more"
            if diff.commits_total > len(subjects)
            else ""
        )
        said.claim(f"Commits: {words}{more}", seen)
