"""What changed between two commits: files with their counts, patches, and the bare changed lines.

Owns the parsing of git's diff output, the bounds on it, and a small cache. Knows no deploy and no
service. Everything is two-dot: the two trees are compared as they are, so that a rollback shows.
"""

from __future__ import annotations

import asyncio
import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice, takewhile
from typing import Final, Generic, TypeVar

from tools.file_kinds import kind_of, risk
from tools.git import Git, Output, checked_ref, one_line, safe_text
from tools.records import FileChange, FileStatus

_EMPTY_TREES: Final = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
_FULL_SHA: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SUBMODULE: Final = b"160000"
_LINE_SHOWN: Final = 2_000
_RENAMES: Final = ("-M", "-l1000")
_PATHS_A_CALL: Final = 300
_PATH_SHOWN: Final = 400

_QUOTED: Final = re.compile(rb"\\([0-7]{3}|.)", re.DOTALL)
_LETTERS: Final = {
    b"a": b"\a",
    b"b": b"\b",
    b"t": b"\t",
    b"n": b"\n",
    b"v": b"\v",
    b"f": b"\f",
    b"r": b"\r",
}


@dataclass(frozen=True)
class ChangedFile:
    """One changed file as git has it: the exact bytes of its names, and both blobs' ids.

    ``change`` is the same for people; its path is cleaned and may be no name that git knows.
    A blob is ``None`` where there is none to read: added, deleted, or a submodule.
    """

    change: FileChange
    raw_path: bytes
    raw_previous: bytes | None
    before_blob: str | None
    after_blob: str | None

    @property
    def raw_paths(self) -> tuple[bytes, ...]:
        """Both names, so that a limit by path keeps the rename together."""
        return (self.raw_path,) if self.raw_previous is None else (self.raw_path, self.raw_previous)


@dataclass(frozen=True)
class FileDiff:
    """One file's patch. The lines come without their sign; ``cut`` when some of it was left out."""

    change: FileChange
    hunks_text: str
    removed_lines: tuple[str, ...]
    added_lines: tuple[str, ...]
    cut: bool


ValueT = TypeVar("ValueT")


class _Cache(Generic[ValueT]):
    """The last few values by key. Only what full SHAs name is kept: a branch may move."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._values: OrderedDict[tuple[str, ...], ValueT] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> ValueT | None:
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: tuple[str, ...], value: ValueT) -> ValueT:
        if all(_FULL_SHA.fullmatch(ref) for ref in key[1:3]):
            self._values[key] = value
            while len(self._values) > self._size:
                self._values.popitem(last=False)
        return value


_BESIDE: Final = 2
"""Unchanged lines on either side of a change that are read with it."""
_FILES: Final[_Cache[tuple[ChangedFile, ...]]] = _Cache(16)
_LINES: Final[_Cache[tuple[FileDiff, ...]]] = _Cache(48)


def within(change: FileChange, path: str) -> bool:
    """Whether a file lies in a folder, or lay there before; everything lies in ''."""
    folder = path.strip("/")
    names = (change.path, change.previous_path or change.path)
    return not folder or any(n == folder or n.startswith(folder + "/") for n in names)


async def changed_files(
    git: Git, base: str | None, head: str, path: str = ""
) -> tuple[FileChange, ...]:
    """Every changed file, riskiest first, then largest. Without a base: against the empty tree."""
    files = await changed(git, base, head)
    return tuple(file.change for file in files if within(file.change, path))


async def changed(git: Git, base: str | None, head: str) -> tuple[ChangedFile, ...]:
    """Like ``changed_files`` for the whole repository, with the ids that git reads by."""
    old = _tree(base, head)
    key = (str(git.repo), old, head)
    known = _FILES.get(key)
    if known is not None:
        return known
    argv = ("diff-tree", "-r", "--raw", "--numstat", *_RENAMES, "-z", old, checked_ref(head), "--")
    listing = await git.run(*argv)
    return _FILES.put(key, await asyncio.to_thread(_listed, listing))


async def patches(
    git: Git,
    base: str | None,
    head: str,
    paths: Sequence[str],
    *,
    per_file: int = 48_000,
    in_all: int = 400_000,
) -> tuple[FileDiff, ...]:
    """Return the patches of the named files, in that order, within bounds in bytes.

    A file that is longer than ``per_file`` is cut; once ``in_all`` is used up the remaining files
    are left out, so that what is shown is whole. Unknown names are left out as well.
    """
    by_path: dict[str, list[ChangedFile]] = {}
    for file in await changed(git, base, head):
        by_path.setdefault(file.change.path, []).append(file)
    wanted = [file for path in dict.fromkeys(paths) for file in by_path.get(path, ())]
    found: list[FileDiff] = []
    room = in_all
    trees = (_tree(base, head), checked_ref(head))
    cap = max(8 * in_all, 2 * per_file)
    for batch in _batches(wanted, 100):
        names = [name for file in batch for name in file.raw_paths]
        read, _ = await _diff(git, trees, names, context=3, limit=cap)
        for file in batch:
            if room <= 0:
                break
            section = read.get(file.raw_path)
            if section is None or not section.parts:  # the output ended before it
                alone, _ = await _diff(git, trees, file.raw_paths, context=3, limit=cap)
                section = alone.get(file.raw_path, section)
            if section is None:
                continue
            read_out = await asyncio.to_thread(_file_diff, section, min(per_file, room))
            diff = replace(read_out, change=file.change)
            room = 0 if diff.cut and room < per_file else room - len(diff.hunks_text)
            found.append(diff)
        if room <= 0:
            break
    return tuple(found)


async def changed_lines(
    git: Git, base: str | None, head: str, path: str = "", limit: int = 4 * 1024 * 1024
) -> tuple[FileDiff, ...]:
    """Return changed lines with little context, riskiest files first, from one git call.

    When ``limit`` bytes do not suffice, the riskiest of the files that were not reached are read
    by a second call, so that a huge generated file early in the alphabet hides nothing.
    """
    trees = (_tree(base, head), checked_ref(head))
    key = (str(git.repo), *trees, path, str(limit))
    known = _LINES.get(key)
    if known is not None:
        return known
    where = [path.encode()] if path else []
    read, cut = await _diff(git, trees, where, context=_BESIDE, limit=limit)
    if cut:
        files = [one for one in await changed(git, base, head) if within(one.change, path)]
        missed = [one for one in files if one.raw_path not in read or not read[one.raw_path].parts]
        names = [name for one in missed[:_PATHS_A_CALL] for name in one.raw_paths]
        more, _ = await _diff(git, trees, names, context=_BESIDE, limit=limit)
        unread = {one.raw_path: _Section(one, (), cut=True) for one in missed}
        read |= unread | {name: section for name, section in more.items() if section.parts}
    return _LINES.put(key, await asyncio.to_thread(_file_diffs, tuple(read.values()), limit))


@dataclass(frozen=True)
class _Section:
    """A file of the listing with its patch; no ``parts`` if the output ended before it."""

    file: ChangedFile
    parts: tuple[bytes, ...]
    cut: bool


async def _diff(
    git: Git, trees: tuple[str, str], raw_paths: Sequence[bytes], *, context: int, limit: int
) -> tuple[dict[bytes, _Section], bool]:
    """Read patches by exact name, and whether the output was cut at ``limit`` bytes."""
    options = ("-r", "--raw", "-p", f"-U{context}", "--submodule=short", *_RENAMES)
    output = await git.run_cut("diff-tree", *options, *trees, "--", *raw_paths, limit=limit)
    return await asyncio.to_thread(_sections, output), output.cut


def _sections(output: Output) -> dict[bytes, _Section]:
    listing, _, patch = output.out.partition(b"\n\n")
    lines = listing.split(b"\n")
    if output.cut and not patch:
        lines.pop()  # the listing itself was cut inside of this line
    bodies = iter(patch.split(b"\ndiff --git ") if patch else ())
    sections = {}
    last = None
    for line in lines:
        if not line.startswith(b":"):
            continue
        # A file that became a link, or back, is listed once and patched as two.
        count = 2 if line.split(b"\t", 1)[0].endswith(b" T") else 1
        parts = tuple(islice(bodies, count))
        file = _parse_raw_line(line)
        last = file.raw_path if parts else last
        sections[file.raw_path] = _Section(file, parts, cut=False)
    if output.cut and last is not None:
        sections[last] = replace(sections[last], cut=True)
    return sections


def _file_diffs(sections: Iterable[_Section], limit: int) -> tuple[FileDiff, ...]:
    diffs = [_file_diff(section, limit) for section in sections]
    return tuple(sorted(diffs, key=lambda diff: _change_by_risk(diff.change)))


def _file_diff(section: _Section, limit: int) -> FileDiff:
    """Turn a section into text of at most ``limit`` characters with its lines told apart."""
    shown: list[str] = []
    room = limit
    cut = section.cut or not section.parts
    hunks = [part[start:] for part in section.parts if (start := part.find(b"\n@@ ") + 1)]
    for hunk in hunks:
        lines = _shown_lines(hunk)
        kept = _that_fit(lines, room)
        shown += lines[:kept]
        if kept < len(lines):
            cut = True
            break
        room -= sum(map(len, lines)) + len(lines)
    removed = tuple(line[1:] for line in shown if line.startswith("-"))
    added = tuple(line[1:] for line in shown if line.startswith("+"))
    change = section.file.change
    binary = not hunks and any(b"\nBinary files " in part for part in section.parts)
    counted = section.parts and not binary and change.status is not FileStatus.SUBMODULE
    if counted and change.added is None:
        change = change.model_copy(update={"added": len(added), "removed": len(removed)})
    return FileDiff(change, "\n".join(shown), removed, added, cut)


def _shown_lines(hunk: bytes) -> list[str]:
    raw = hunk.split(b"\n")
    if max(map(len, raw)) <= _LINE_SHOWN:
        return safe_text(hunk).split("\n")  # all at once: many times faster than line by line
    return [_shown_line(line) for line in raw]


def _that_fit(lines: Sequence[str], room: int) -> int:
    """How many of the lines, each with its end, have at most ``room`` characters together."""
    if sum(map(len, lines)) + len(lines) <= room:
        return len(lines)
    ends = accumulate(len(line) + 1 for line in lines)
    return sum(1 for _ in takewhile(lambda end: end <= room, ends))


def _shown_line(raw: bytes) -> str:
    if len(raw) <= _LINE_SHOWN:
        return safe_text(raw)
    kept = safe_text(raw[: _LINE_SHOWN * 4])[:_LINE_SHOWN]
    return f"{kept}… (line of {len(raw):,} bytes cut)"


def _listed(out: bytes) -> tuple[ChangedFile, ...]:
    return tuple(sorted(_parse_listing(out), key=_by_risk))


def _parse_listing(out: bytes) -> list[ChangedFile]:
    """Parse ``--raw --numstat -z``: all raw entries come first, then all counts."""
    fields = iter(out.split(b"\0"))
    listed: list[tuple[bytes, bytes | None, bytes]] = []
    counts: dict[bytes, tuple[int | None, int | None]] = {}
    for field in fields:
        if field.startswith(b":"):
            name = next(fields)
            if field[field.rfind(b" ") + 1 :][:1] in (b"R", b"C"):
                listed.append((next(fields), name, field))
            else:
                listed.append((name, None, field))
        elif field:
            added, removed, name = field.split(b"\t", 2)
            if not name:  # a rename: the two names follow
                next(fields)
                name = next(fields)
            counts[name] = (_count(added), _count(removed))
    return [
        _changed_file(name, previous, meta, *counts.get(name, (None, None)))
        for name, previous, meta in listed
    ]


def _parse_raw_line(line: bytes) -> ChangedFile:
    meta, *names = line.split(b"\t")
    last = _unquoted(names[-1])
    return _changed_file(last, _unquoted(names[0]) if len(names) > 1 else None, meta, None, None)


def _changed_file(
    name: bytes, previous: bytes | None, meta: bytes, added: int | None, removed: int | None
) -> ChangedFile:
    old_mode, new_mode, old_sha, new_sha, letter = meta.lstrip(b":").split(b" ")
    submodule = _SUBMODULE in (old_mode, new_mode)
    status = FileStatus.MODIFIED
    if submodule:
        status, added, removed = FileStatus.SUBMODULE, None, None
    elif letter == b"A":
        status = FileStatus.ADDED
    elif letter == b"D":
        status = FileStatus.DELETED
    elif previous is not None:
        status = FileStatus.RENAMED
    elif old_sha == new_sha:
        status = FileStatus.MODE
    path = one_line(name, _PATH_SHOWN)
    return ChangedFile(
        change=FileChange(
            path=path,
            previous_path=None if previous is None else one_line(previous, _PATH_SHOWN),
            status=status,
            kind=kind_of(path),
            added=added,
            removed=removed,
        ),
        raw_path=name,
        raw_previous=previous,
        before_blob=None if submodule or letter == b"A" else old_sha.decode("ascii"),
        after_blob=None if submodule or letter == b"D" else new_sha.decode("ascii"),
    )


def _unquoted(name: bytes) -> bytes:
    """Undo git's C-style quoting, which it uses for quotes, backslashes and control characters."""
    if not name.startswith(b'"'):
        return name

    def plain(match: re.Match[bytes]) -> bytes:
        code = match[1]
        return bytes([int(code, 8) & 255]) if len(code) == 3 else _LETTERS.get(code, code)

    return _QUOTED.sub(plain, name[1:-1])


def _count(field: bytes) -> int | None:
    return None if field == b"-" else int(field)


def _tree(base: str | None, head: str) -> str:
    return _EMPTY_TREES[64 if len(head) == 64 else 40] if base is None else checked_ref(base)


def _by_risk(file: ChangedFile) -> tuple[tuple[int, bool], int, str]:
    return _change_by_risk(file.change)


def _change_by_risk(change: FileChange) -> tuple[tuple[int, bool], int, str]:
    return (
        risk(change.kind, change.path),
        -((change.added or 0) + (change.removed or 0)),
        change.path,
    )


def _batches(files: Sequence[ChangedFile], size: int) -> Iterator[Sequence[ChangedFile]]:
    for at in range(0, len(files), size):
        yield files[at : at + size]


def line_counts(changes: Iterable[FileChange]) -> tuple[int, int]:
    """Sum the added and removed lines of all files; binary ones count nothing."""
    pairs = [(change.added or 0, change.removed or 0) for change in changes]
    return sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
