"""Reads a git repository through the ``git`` command, and trusts nothing that it finds there.

Owns the subprocess (its own process group, killed as a whole), the sanitised environment and the
questions that need no diff: commits, tags, ancestry. Knows no deploy and no tool. Bytes come out of
``run``; everything else is text with the unsafe characters taken out.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
from collections.abc import Container
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from tools.records import Commit
from tools.wording import without_escapes
from tools.years import LAST

_MB: Final = 1024 * 1024
_STDERR_KEPT: Final = 16 * 1024
_LAST_SECOND: Final = int(LAST.timestamp())

# Settings on the command line win over the repository's own, so that its config runs nothing.
_SETTINGS: Final = (
    "core.quotepath=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.pager=cat",
    "log.showSignature=false",
    "protocol.allow=never",
    "safe.directory=*",
    "color.ui=false",
    "gc.auto=0",
)
_DIFFING: Final = frozenset({"diff", "diff-tree", "log", "show"})

_CONTROLS: Final = bytes(code for code in (*range(32), 127) if code not in b"\t\n")
# C1 controls, zero-width and bidirectional formatting, variation selectors, tags.
_UNSAFE: Final = re.compile(
    "[\x80-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_REFUSED_IN_REF: Final = re.compile(r"\.\.|[:{\\?*\[\s\x00-\x1f\x7f]")


class GitError(Exception):
    """git cannot answer. The message is plain and says which repository and what to do."""


@dataclass(frozen=True)
class Tag:
    """A tag that leads to a commit. ``at`` is the tagger's date, else the commit's, in UTC."""

    name: str
    sha: str
    at: datetime
    by: str | None
    annotated: bool


def safe_text(raw: bytes) -> str:
    """Decode bytes of a repository, keeping lines and tabs and dropping what could deceive."""
    text = raw.translate(None, _CONTROLS).decode("utf-8", "replace")
    return text if text.isascii() else _UNSAFE.sub("", text)


def one_line(raw: bytes, limit: int = 300) -> str:
    """Decode a name or a subject to one line of at most ``limit`` characters."""
    raw = raw[: limit * 16]
    if b"\x1b" in raw:
        raw = without_escapes(raw.decode("utf-8", "replace")).encode()
    text = " ".join(safe_text(raw).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def utc_seconds(raw: bytes) -> datetime:
    """Read a commit's or tag's time in seconds; absurd ones are moved into range."""
    return datetime.fromtimestamp(min(max(int(raw), 0), _LAST_SECOND), UTC)


def checked_ref(ref: str) -> str:
    """Refuse what git would read as an option, a range or a path. Raises ``GitError``."""
    if not ref or ref.startswith("-") or len(ref) > 250 or _REFUSED_IN_REF.search(ref):
        shown = one_line(ref.encode("utf-8", "replace"), 60)
        raise GitError(f"{shown!r} is no commit name: pass a full SHA, a tag or a branch.")
    return ref


class _Collector(asyncio.SubprocessProtocol):
    """Gathers a process's output up to ``limit`` bytes; ``done`` is set at its end or when full."""

    def __init__(self, limit: int) -> None:
        loop = asyncio.get_running_loop()
        self.done: asyncio.Future[None] = loop.create_future()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.out = bytearray()
        self.err = bytearray()
        self.full = False
        self.closed = False
        self._limit = limit

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != 1:
            self.err += data[: _STDERR_KEPT - len(self.err)]
            return
        room = self._limit - len(self.out)
        self.out += data[:room]
        if len(data) > room:
            self.full = True
            self._end(self.done)

    def process_exited(self) -> None:
        self._end(self.exited)

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self.closed = True
        self._end(self.done)

    @staticmethod
    def _end(future: asyncio.Future[None]) -> None:
        if not future.done():
            future.set_result(None)


@dataclass(frozen=True)
class Output:
    """What git wrote; ``cut`` when it was stopped at the limit."""

    out: bytes
    cut: bool


class Git:
    """One repository: a work tree's folder or a bare one. Never fetches and never writes."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo

    async def run(
        self,
        *argv: str | bytes,
        timeout: float = 8.0,  # noqa: ASYNC109 - part of the interface; asyncio.timeout is used inside
        limit: int = 64 * _MB,
        ok_codes: Container[int] = (0,),
        stdin: bytes = b"",
    ) -> bytes:
        """Run ``git ARGV`` and return its output. Raises ``GitError``.

        ``timeout`` is in seconds, ``limit`` in bytes of output. A timeout, a cancellation or too
        much output kills the whole process group.
        """
        output = await self.run_cut(
            *argv, timeout=timeout, limit=limit, ok_codes=ok_codes, stdin=stdin
        )
        if output.cut:
            raise GitError(
                f"git {argv[0]!s} in {self.repo} wrote more than {limit // _MB} MB and was stopped:"
                " ask for one file with path=."
            )
        return output.out

    async def run_cut(
        self,
        *argv: str | bytes,
        timeout: float = 8.0,  # noqa: ASYNC109 - as in run
        limit: int = 64 * _MB,
        ok_codes: Container[int] = (0,),
        stdin: bytes = b"",
    ) -> Output:
        """Like ``run``, but output beyond ``limit`` is cut off instead of refused."""
        code, collector = await self._spawn(self._command(argv), timeout, limit, stdin)
        if not collector.full and code not in ok_codes:
            raise self._failure(bytes(collector.err))
        return Output(bytes(collector.out), collector.full)

    async def commit(self, ref: str) -> str | None:
        """Return the full SHA of a commit-ish, ``None`` if the repository has none by that name.

        Raises ``GitError`` for what is no name at all, and for an ambiguous short SHA.
        """
        name = checked_ref(ref)
        argv = ("rev-parse", "--verify", "--end-of-options", name + "^{commit}")
        code, collector = await self._spawn(self._command(argv), 8.0, _MB, b"")
        if code == 0:
            return collector.out.split()[-1].decode("ascii")
        complaint = bytes(collector.err)
        if b"is ambiguous" in complaint:
            raise GitError(
                f"{ref!r} is ambiguous in {self.repo}: several commits begin with it."
                " Pass more characters of the SHA."
            )
        if any(word in complaint for word in (b"Needed a single", b"expected commit", b"bad obj")):
            return None
        raise self._failure(complaint)

    async def tags(self) -> tuple[Tag, ...]:
        """All tags that lead to a commit, by name. One git call, whatever their number."""
        fields = (
            "%(refname:strip=2)%00%(objecttype)%00%(objectname)%00%(*objecttype)%00%(*objectname)"
            "%00%(taggerdate:unix)%00%(committerdate:unix)%00%(*committerdate:unix)%00%(taggername)"
        )
        raw = await self.run("for-each-ref", f"--format={fields}", "refs/tags")
        found = []
        for line in raw.split(b"\n"):
            values = line.split(b"\0")
            if len(values) != 9:
                continue
            name, kind, sha, peeled_kind, peeled, tagged, committed, peeled_at, by = values
            if kind == b"commit":
                found.append(_tag(name, sha, committed, b"", annotated=False))
            elif kind == b"tag" and peeled_kind == b"commit":
                found.append(_tag(name, peeled, tagged or peeled_at, by, annotated=True))
            elif kind == b"tag" and peeled_kind == b"tag":  # a tag of a tag
                deepest = await self.commit(sha.decode("ascii"))
                if deepest is not None and tagged:
                    found.append(_tag(name, deepest.encode(), tagged, by, annotated=True))
        return tuple(found)

    async def commits(
        self, base: str | None, head: str, path: str = "", limit: int = 250
    ) -> tuple[tuple[Commit, ...], int]:
        """Return the newest ``limit`` commits of ``base..head`` and the count of all.

        Those of merged branches are among them. The range is chosen first and filtered by ``path``
        then, so that the commit which a tag names may be outside of the path. Without a
        base: everything up to ``head``.
        """
        revisions = [checked_ref(head)] if base is None else [f"{checked_ref(base)}..{head}"]
        paths = ["--full-history", "--", path] if path else ["--"]
        form = "--format=tformat:%H%x00%<(120,trunc)%an%x00%ct%x00%<(320,trunc)%s"
        count = f"-n{limit}"
        raw = await self.run("log", "-z", count, "--encoding=UTF-8", form, *revisions, *paths)
        values = raw.split(b"\0")
        found = tuple(
            Commit(
                sha=values[at].decode("ascii"),
                author=one_line(values[at + 1], 100),
                committed_at=utc_seconds(values[at + 2]),
                subject=one_line(values[at + 3]),
            )
            for at in range(0, len(values) - 3, 4)
        )
        if len(found) < limit:
            return found, len(found)
        return found, int(await self.run("rev-list", "--count", *revisions, *paths))

    async def is_ancestor(self, a: str, b: str) -> bool:
        """Whether commit ``a`` is reachable from ``b``; a commit is its own ancestor."""
        argv = ("merge-base", "--is-ancestor", checked_ref(a), checked_ref(b))
        code, collector = await self._spawn(self._command(argv), 8.0, _MB, b"")
        if code not in (0, 1):
            raise self._failure(bytes(collector.err))
        return code == 0

    async def is_shallow(self) -> bool:
        """Whether history was cut off when the repository was cloned."""
        return (await self.run("rev-parse", "--is-shallow-repository")).strip() == b"true"

    def _command(self, argv: tuple[str | bytes, ...]) -> list[str | bytes]:
        command: list[str | bytes] = ["git", "--no-pager", "--literal-pathspecs"]
        command.append("--no-replace-objects")
        for setting in _SETTINGS:
            command += ["-c", setting]
        command.append(argv[0])
        if argv[0] in _DIFFING:
            command += ["--no-ext-diff", "--no-textconv"]
        return [*command, *argv[1:]]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",  # wins over any protocol.*.allow of the repository
            "GIT_CEILING_DIRECTORIES": str(self.repo.resolve().parent),  # no parent's repository
        }

    async def _spawn(
        self, command: list[str | bytes], seconds: float, limit: int, stdin: bytes
    ) -> tuple[int, _Collector]:
        if not self.repo.is_dir():
            raise GitError(
                f"There is no repository at {self.repo}: clone it there, or correct repo= of the"
                " service in oncall.toml."
            )
        starting = asyncio.ensure_future(self._start(command, limit, piped=bool(stdin)))
        cancelled = False
        while not starting.done():
            try:
                await asyncio.shield(starting)
            except asyncio.CancelledError:
                # Half started, asyncio could lose the process (and wait for ever): it takes a few
                # milliseconds to start it, so that it can be killed as a whole.
                cancelled = True
        transport, collector = starting.result()
        try:
            if cancelled:
                raise asyncio.CancelledError
            async with asyncio.timeout(seconds):
                if stdin:
                    pipe = transport.get_pipe_transport(0)
                    if isinstance(pipe, asyncio.WriteTransport):
                        pipe.write(stdin)
                        pipe.close()
                await collector.done
        except TimeoutError as error:
            raise GitError(
                f"git took longer than {seconds:g} s in {self.repo} and was stopped: try again, or"
                " ask for one file with path=."
            ) from error
        finally:
            if not collector.closed:
                _kill_group(transport.get_pid())
            try:
                await collector.exited  # first, so that the loop reaps it and not the transport
            finally:
                transport.close()
        return transport.get_returncode() or 0, collector

    async def _start(
        self, command: list[str | bytes], limit: int, *, piped: bool
    ) -> tuple[asyncio.SubprocessTransport, _Collector]:
        try:
            return await asyncio.get_running_loop().subprocess_exec(
                lambda: _Collector(limit),
                *command,
                stdin=asyncio.subprocess.PIPE if piped else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=self.repo,
                env=self._environment(),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise GitError(f"git could not be started in {self.repo}: {error}.") from error

    def _failure(self, complaint: bytes) -> GitError:
        if b"not a git repository" in complaint:
            return GitError(
                f"{self.repo} is not a git repository: clone it there, or correct repo= of the"
                " service in oncall.toml."
            )
        lines = [line for line in complaint.split(b"\n") if line.startswith((b"fatal", b"error"))]
        said = one_line(lines[0] if lines else complaint, 200) or "it gave no reason"
        return GitError(
            f"git cannot read {self.repo}: {said}. Run `git fsck` there, or fetch it again."
        )


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        return  # all of it ended by itself in between


def _tag(name: bytes, sha: bytes, at: bytes, by: bytes, *, annotated: bool) -> Tag:
    return Tag(
        name=one_line(name, 250),
        sha=sha.decode("ascii"),
        at=utc_seconds(at or b"0"),
        by=one_line(by, 100) or None,
        annotated=annotated,
    )
