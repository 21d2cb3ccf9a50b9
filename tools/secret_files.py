"""Which files hold a Kubernetes Secret, whose values only the whole document tells from settings.

A few lines of such a file show values under names of any kind, and nothing in them says that they are
secret. So their text is withheld where it would be shown in part (M19); what changed in them is named
by the highlights, whose values are masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from tools.diffs import ChangedFile, FileDiff
from tools.git import Git, safe_text

WITHHELD: Final = "(holds a Kubernetes Secret: its text is not shown)"
_MANIFEST: Final = re.compile(r"\.(?:ya?ml|json|tpl|te?mpl|j2|gotmpl)$", re.IGNORECASE)
_KIND: Final = r"""kind["']?[[:space:]]*:[[:space:]]*["']?Secret(["',}]|[[:space:]]|$)"""
_DATA: Final = r"""(^|[[:space:]{,"'])(data|stringData)["']?[[:space:]]*:"""
_KIND_HERE: Final = re.compile(r"""kind["']?\s*:\s*["']?Secret(?:["',}\s]|$)""", re.MULTILINE)
_DATA_HERE: Final = re.compile(r"""(?:^|[\s{,"'])(?:data|stringData)["']?\s*:""", re.MULTILINE)


def may_hold_secret(path: str) -> bool:
    """Whether a file of this name can be a manifest, or a template of one."""
    return _MANIFEST.search(path) is not None


def holds_secret(path: str, text: str) -> bool:
    """Whether a file of this name and whole text holds one."""
    return may_hold_secret(path) and bool(_KIND_HERE.search(text) and _DATA_HERE.search(text))


async def holding_secrets(
    git: Git, commits: Iterable[str], raw_paths: Iterable[bytes]
) -> frozenset[bytes]:
    """Those of the files that hold one in any of the commits. Raises ``GitError``."""
    names = sorted({path for path in raw_paths if may_hold_secret(safe_text(path))})
    if not names:
        return frozenset()
    shas = tuple(commits)
    kinds = await _holding(git, shas, names, "-e", _KIND)
    if not kinds:
        return kinds
    # Only then for both: the second takes git four times as long, and hardly a file gets so far.
    return await _holding(git, shas, sorted(kinds), "--all-match", "-e", _KIND, "-e", _DATA)


async def _holding(
    git: Git, commits: Sequence[str], names: Sequence[bytes], *patterns: str
) -> frozenset[bytes]:
    argv = ("grep", "-l", "-z", "-a", "-E", *patterns)
    output = await git.run_cut(*argv, *commits, "--", *names, ok_codes=(0, 1))
    if output.cut:
        return frozenset(names)
    return frozenset(found.partition(b":")[2] for found in output.out.split(b"\0") if found)


async def withheld(
    git: Git, commits: Iterable[str], files: Sequence[ChangedFile], diffs: Sequence[FileDiff]
) -> tuple[FileDiff, ...]:
    """The patches of ``files`` without the text of those that hold one. Raises ``GitError``."""
    shown = {diff.change.path for diff in diffs}
    asked = [file for file in files if file.change.path in shown]
    sealed = await holding_secrets(git, commits, {raw for file in asked for raw in file.raw_paths})
    paths = {file.change.path for file in asked if sealed.intersection(file.raw_paths)}
    return tuple(
        replace(diff, hunks_text=WITHHELD, removed_lines=(), added_lines=())
        if diff.change.path in paths
        else diff
        for diff in diffs
    )
