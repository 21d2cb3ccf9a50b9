"""The settings, versions, defaults and signatures that changed between two commits, by risk.

Owns the choice of the files that are read, the bounds on that, and the ranking of what the finders
see. Each finder compares two texts of one format and knows nothing of git.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from tools.diffs import ChangedFile
from tools.file_kinds import risk
from tools.git import Git, safe_text
from tools.highlights.code import compare_code
from tools.highlights.dependencies import compare_dependencies
from tools.highlights.found import Found, Sort
from tools.highlights.python import compare_python
from tools.highlights.settings import read_settings
from tools.highlights.trees import compare
from tools.records import FileChange, FileKind, FileStatus, Highlight

_MOST_FILES: Final = 120
_MOST_SHOWN: Final = 40
_MOST_A_FILE: Final = 200
_BLOB_LIMIT: Final = 1024 * 1024
_ALL_BLOBS: Final = 12 * 1024 * 1024
_CHARACTERS: Final = 3_000_000
"""Of both versions together; half a second's work, and the same files on every machine."""
_CPU_SECONDS: Final = 1.5
"""For what is slower to read than files are."""
_UNREAD_KINDS: Final = frozenset({FileKind.GENERATED, FileKind.TEST, FileKind.DOCS})
_SETTINGS_KINDS: Final = frozenset({FileKind.CONFIG, FileKind.FLAG, FileKind.INFRASTRUCTURE})
_CODE: Final = re.compile(
    r"\.(m?js|cjs|jsx|tsx?|go|java|kt|scala|rb|rs|cs|php|c|h|cc|cpp|hpp|swift|exs?|lua|dart|vue"
    r"|groovy|sh)$"
)
_NAMES_JOINED: Final = 130  # characters


@dataclass(frozen=True)
class Highlights:
    """The weightiest changes, how many there were, and how many files were not looked into."""

    shown: tuple[Highlight, ...]
    total: int
    unread: int


_Key = tuple[str, int, tuple[tuple[bytes, str | None, str | None], ...]]
_KNOWN: Final[dict[_Key, Highlights]] = {}
_KEPT: Final = 32


async def find_highlights(git: Git, files: Sequence[ChangedFile]) -> Highlights:
    """Look into the riskiest of the changed files. Bounded in files, bytes and CPU time."""
    wanted = [file for file in files if _is_read(file.change)]
    chosen = wanted[:_MOST_FILES]
    blobs = tuple((file.raw_path, file.before_blob, file.after_blob) for file in chosen)
    key = (str(git.repo), len(wanted), blobs)
    known = _KNOWN.get(key)
    if known is None:
        known = await _look(git, chosen, len(wanted))
        if len(_KNOWN) >= _KEPT:
            _KNOWN.pop(next(iter(_KNOWN)))
        _KNOWN[key] = known
    return known


async def _look(git: Git, files: Sequence[ChangedFile], wanted: int) -> Highlights:
    texts = await _read_texts(git, files)
    spent = 0.0  # of this one's own work: what it finds must not hang on how busy the machine is
    found: list[tuple[FileChange, Found]] = []
    read = characters = 0
    for file in files:
        if spent > _CPU_SECONDS or characters > _CHARACTERS:
            break
        before, after = texts.get(file.before_blob or ""), texts.get(file.after_blob or "")
        if file.before_blob is None:
            before = ""
        if before is None or after is None:
            continue
        read += 1
        characters += len(before) + len(after)
        # One call a file: a stop gets through meanwhile, and ends the work with the file.
        seen, took = await asyncio.to_thread(_seen, file.change, before, after)
        found += [(file.change, one) for one in seen]
        spent += took
    return await asyncio.to_thread(_weightiest, found, wanted - read)


def _seen(change: FileChange, before: str, after: str) -> tuple[tuple[Found, ...], float]:
    """What changed in one file, and the CPU seconds that it took to see."""
    began = time.thread_time()
    seen = tuple(islice(compare_texts(change.path, change.kind, before, after), _MOST_A_FILE))
    return seen, time.thread_time() - began


def _weightiest(found: Iterable[tuple[FileChange, Found]], unread: int) -> Highlights:
    ranked = sorted(_joined(_without_moves(found)), key=_by_weight)
    shown = dict.fromkeys(one.highlight(change.path) for change, one in ranked)
    return Highlights(tuple(shown)[:_MOST_SHOWN], len(shown), unread)


def compare_texts(path: str, kind: FileKind, before: str, after: str) -> Iterator[Found]:
    """Compare two versions of one file with the finder of its format."""
    name = path.rsplit("/", 1)[-1].lower()
    if name.endswith((".py", ".pyi")):
        yield from compare_python(path, before, after)
    elif kind is FileKind.DEPENDENCY:
        yield from compare_dependencies(path, before, after)
    elif _CODE.search(name):
        yield from compare_code(before, after)
    else:
        old, new = read_settings(path, before), read_settings(path, after)
        if new is not None and old is not None:
            yield from compare(old or {}, new or {})


def _is_read(change: FileChange) -> bool:
    _, data = risk(change.kind, change.path)
    if change.kind in _UNREAD_KINDS or data:
        return False
    if change.status is FileStatus.ADDED:
        return change.kind in _SETTINGS_KINDS
    return change.status in (FileStatus.MODIFIED, FileStatus.RENAMED)


def _without_moves(
    found: Iterable[tuple[FileChange, Found]],
) -> list[tuple[FileChange, Found]]:
    """Drop a definition that left one file and appeared in another: it was moved."""
    pairs = list(found)
    gone = {one.name for _, one in pairs if one.sort is Sort.DEFINITION_REMOVED}
    come = {one.name for _, one in pairs if one.sort is Sort.DEFINITION_ADDED}
    moved = (gone & come) - {""}
    return [(change, one) for change, one in pairs if one.name not in moved]


def _joined(found: Iterable[tuple[FileChange, Found]]) -> Iterator[tuple[FileChange, Found]]:
    """Name several public functions and classes that left one file together."""
    gone: dict[str, list[tuple[FileChange, Found]]] = {}
    for change, one in found:
        if one.sort is Sort.DEFINITION_REMOVED:
            gone.setdefault(change.path, []).append((change, one))
        else:
            yield change, one
    for pairs in gone.values():
        for part in _lines(pairs):
            change, first = part[0]
            names = ", ".join(one.key for _, one in part)
            yield change, first if len(part) == 1 else replace(first, key=names, before="")


def _lines(pairs: list[tuple[FileChange, Found]]) -> Iterator[list[tuple[FileChange, Found]]]:
    """Fill lines with names, none so long that a name would be cut."""
    part: list[tuple[FileChange, Found]] = []
    for pair in pairs:
        if part and sum(len(one.key) + 2 for _, one in (*part, pair)) > _NAMES_JOINED:
            yield part
            part = []
        part.append(pair)
    yield part


def _by_weight(pair: tuple[FileChange, Found]) -> tuple[int, str, str]:
    change, found = pair
    return -found.weight(change.kind), change.path, found.key


async def _read_texts(git: Git, files: Sequence[ChangedFile]) -> Mapping[str, str]:
    """Read the blobs of the files through one process, after one that asks for their sizes."""
    wanted = dict.fromkeys(
        blob for file in files for blob in (file.before_blob, file.after_blob) if blob is not None
    )
    if not wanted:
        return {}
    listed = "".join(f"{blob}\n" for blob in wanted).encode("ascii")
    sizes = await git.run(
        "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=listed
    )
    chosen = []
    room = _ALL_BLOBS
    for line in sizes.decode("ascii").split("\n"):
        parts = line.split(" ")
        if len(parts) == 3 and parts[1] == "blob" and int(parts[2]) <= min(_BLOB_LIMIT, room):
            chosen.append(parts[0])
            room -= int(parts[2])
    if not chosen:
        return {}
    raw = await git.run("cat-file", "--batch", stdin="".join(f"{b}\n" for b in chosen).encode())
    return await asyncio.to_thread(lambda: dict(_blobs(raw)))


def _blobs(raw: bytes) -> Iterator[tuple[str, str]]:
    at = 0
    while (end := raw.find(b"\n", at)) > 0:
        name, _, size = raw[at:end].decode("ascii").split(" ")
        at = end + 1 + int(size)
        content = raw[end + 1 : at]
        at += 1
        if b"\0" not in content[:8000]:
            yield name, safe_text(content)
