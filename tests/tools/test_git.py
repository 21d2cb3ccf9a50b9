"""git is run safely, stopped for certain, and its answers hold for unusual repositories."""

from __future__ import annotations

import asyncio
import os
import select
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tools.git import Git, GitError, one_line

START_MINUTE = datetime(2026, 11, 29, 1, 1, tzinfo=UTC)


def _fake_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program named git in front of the real one."""
    folder.mkdir()
    program = folder / "git"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def _children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()


class _Watched:
    """The processes that a stand-in for git writes down; ``ended`` waits for their end."""

    def __init__(self, folder: Path) -> None:
        self.fifo = folder / "pids"
        os.mkfifo(self.fifo)
        self.pids: list[int] = []
        self._handles: list[int] = []
        self._reading = os.open(self.fifo, os.O_RDWR | os.O_NONBLOCK)

    async def started(self) -> None:
        loop = asyncio.get_running_loop()
        written: asyncio.Future[None] = loop.create_future()
        loop.add_reader(self._reading, written.set_result, None)
        try:
            async with asyncio.timeout(20):
                await written
        finally:
            loop.remove_reader(self._reading)
        self.pids = [int(pid) for pid in os.read(self._reading, 100).split()]
        os.close(self._reading)
        self._handles = [os.pidfd_open(pid) for pid in self.pids]

    def ended(self) -> bool:
        """Whether all have exited within 5 s; a handle turns readable at that moment."""
        found = [bool(select.select([handle], [], [], 5)[0]) for handle in self._handles]
        for handle in self._handles:
            os.close(handle)
        return bool(found) and all(found)


async def test_a_timeout_kills_git_and_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = _Watched(tmp_path)
    _fake_git(tmp_path / "bin", f"sleep 600 & echo $$ $! > {watched.fifo}; wait", monkeypatch)
    running = asyncio.create_task(Git(tmp_path).run("log", timeout=2.0))
    await watched.started()
    with pytest.raises(GitError, match="took longer than 2 s"):
        await running
    assert len(watched.pids) == 2
    assert watched.ended()


async def test_a_cancellation_kills_git_and_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = _Watched(tmp_path)
    _fake_git(tmp_path / "bin", f"sleep 600 & echo $$ $! > {watched.fifo}; wait", monkeypatch)
    running = asyncio.create_task(Git(tmp_path).run("log", timeout=60))
    await watched.started()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(watched.pids) == 2
    assert watched.ended()


@pytest.mark.parametrize("steps", range(12))
async def test_a_cancellation_at_any_moment_of_the_start_leaves_nothing_running(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    done = tmp_path / "done"
    _fake_git(tmp_path / "bin", f"sleep 5; touch {done}", monkeypatch)
    running = asyncio.create_task(Git(tmp_path).run("log"))
    for _ in range(steps):
        await asyncio.sleep(0)
    running.cancel()
    running.cancel()
    async with asyncio.timeout(4):
        with pytest.raises(asyncio.CancelledError):
            await running
    assert _children() == []
    assert not done.exists()


async def test_a_child_that_outlives_git_and_holds_the_output_is_killed_at_the_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = _Watched(tmp_path)
    _fake_git(tmp_path / "bin", f"sleep 600 & echo $! > {watched.fifo}", monkeypatch)
    running = asyncio.create_task(Git(tmp_path).run("log", timeout=2.0))
    await watched.started()
    with pytest.raises(GitError, match="took longer"):
        await running
    assert len(watched.pids) == 1
    assert watched.ended()


async def test_too_much_output_stops_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    watched = _Watched(tmp_path)
    _fake_git(tmp_path / "bin", f"echo $$ > {watched.fifo}; exec yes", monkeypatch)
    git = Git(tmp_path)
    running = asyncio.create_task(git.run("log", limit=1024 * 1024))
    await watched.started()
    with pytest.raises(GitError, match="wrote more than 1 MB"):
        await running
    assert watched.ended()


async def test_output_can_be_cut_instead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _fake_git(tmp_path / "bin", "exec yes", monkeypatch)
    cut = await Git(tmp_path).run_cut("log", limit=1000)
    assert cut.cut
    assert cut.out == b"y\n" * 500


async def test_the_environment_of_the_caller_does_not_reach_git(
    repo: Any, make_repo: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    sha = repo.commit({"a": "1"})
    other = make_repo("other")
    other.commit({"b": "2"})
    monkeypatch.setenv("GIT_DIR", str(other.path / ".git"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.bare")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "nonsense")
    assert await Git(repo.path).commit("HEAD") == sha


async def test_a_hostile_repository_runs_nothing(repo: Any, tmp_path: Path) -> None:
    base = repo.commit({"a.txt": "1", ".gitattributes": "* diff=evil\n"})
    head = repo.commit({"a.txt": "2"})
    proof = tmp_path / "ran"
    command = f"touch {proof} #"
    for key in (
        "diff.external",
        "diff.evil.command",
        "diff.evil.textconv",
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "gpg.program",
    ):
        repo.git("config", key, command)
    repo.git("config", "log.showSignature", "true")
    repo.git("config", "protocol.ext.allow", "always")
    repo.git("config", "remote.origin.url", f"ext::sh -c touch% {proof}")
    repo.git("config", "remote.origin.promisor", "true")
    git = Git(repo.path)
    await git.run("diff", base, head)
    await git.run("log", "-p")
    await git.tags()
    await git.commits(base, head)
    assert await git.commit("0" * 40) is None
    assert not proof.exists()


async def test_a_folder_inside_another_repository_is_not_taken_for_one(repo: Any) -> None:
    repo.commit({"inner/file": "1"})
    with pytest.raises(GitError, match="is not a git repository: clone it there"):
        await Git(repo.path / "inner").tags()


async def test_a_missing_repository_is_named_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        GitError, match=r"no repository at .*gone: clone it there, or correct repo="
    ):
        await Git(tmp_path / "gone").commit("HEAD")


async def test_a_corrupt_repository_is_named_with_what_to_do(repo: Any) -> None:
    sha = repo.commit({"a": "1"})
    broken = repo.path / ".git" / "objects" / sha[:2] / sha[2:]
    broken.chmod(0o644)
    broken.write_bytes(b"garbage")
    with pytest.raises(GitError, match=r"git cannot read .*/repo: .*git fsck"):
        await Git(repo.path).commits(None, sha)


async def test_a_lock_does_not_stop_reading(repo: Any) -> None:
    sha = repo.commit({"a": "1"})
    (repo.path / ".git" / "index.lock").write_text("")
    assert await Git(repo.path).commit("main") == sha


@pytest.mark.parametrize(
    "ref",
    [
        "-n1",
        "--output=/tmp/x",
        "a..b",
        "HEAD:a",
        "HEAD@{1}",
        "a b",
        "",
        "HEAD^{/x}",
        "a\nb",
        "x" * 300,
    ],
)
async def test_what_is_no_commit_name_is_refused(repo: Any, ref: str) -> None:
    repo.commit({"a": "1"})
    with pytest.raises(GitError, match="is no commit name"):
        await Git(repo.path).commit(ref)


async def test_commit_peels_tags_and_knows_what_leads_to_no_commit(repo: Any) -> None:
    sha = repo.commit({"a": "1"})
    repo.git("tag", "light")
    repo.git("tag", "-a", "annotated", "-m", "x")
    repo.git("tag", "-a", "nested", "annotated", "-m", "y")
    repo.git("tag", "tree", repo.git("rev-parse", "HEAD^{tree}"))
    git = Git(repo.path)
    for name in ("light", "annotated", "nested", sha[:10], "main", "HEAD"):
        assert await git.commit(name) == sha
    assert await git.commit("tree") is None
    assert await git.commit("unknown") is None
    assert await git.commit("deadbeef") is None


async def test_an_ambiguous_short_sha_is_said_to_be_ambiguous(repo: Any) -> None:
    shas: dict[str, str] = {}
    tree = repo.git("mktree")
    for number in range(1000):
        sha = repo.git("commit-tree", tree, "-m", str(number))
        if sha[:4] in shas and shas[sha[:4]] != sha:
            with pytest.raises(GitError, match="is ambiguous"):
                await Git(repo.path).commit(sha[:4])
            return
        shas[sha[:4]] = sha
    pytest.fail("no two commits share four characters")


async def test_tags_give_the_tagger_or_the_committer(repo: Any) -> None:
    sha = repo.commit({"a": "1"})
    repo.git("tag", "light")
    repo.commit({"a": "2"})
    repo.git("tag", "-a", "annotated", sha, "-m", "x")
    repo.git("tag", "-a", "nested", "annotated", "-m", "y")
    repo.git("tag", "tree", repo.git("rev-parse", "HEAD^{tree}"))
    annotated, light, nested = await Git(repo.path).tags()
    assert (light.name, light.sha, light.at, light.by, light.annotated) == (
        "light",
        sha,
        START_MINUTE,
        None,
        False,
    )
    assert (annotated.sha, annotated.by, annotated.annotated) == (sha, "Grace", True)
    assert annotated.at == datetime(2026, 11, 29, 1, 2, tzinfo=UTC)
    assert (nested.name, nested.sha) == ("nested", sha)


async def test_commits_see_through_merges_and_use_the_committer_date(repo: Any) -> None:
    base = repo.commit({"a": "1"})
    repo.git("checkout", "-q", "-b", "topic")
    inner = repo.commit({"b": "1"}, "on the branch")
    repo.git("checkout", "-q", "main")
    merge = repo.merge("topic", "Merge pull request #7 from topic")
    commits, total = await Git(repo.path).commits(base, merge)
    assert [commit.sha for commit in commits] == [merge, inner]
    assert total == 2
    assert commits[1].author == "Ada"
    assert commits[1].committed_at == datetime(2026, 11, 29, 1, 2, tzinfo=UTC)


async def test_the_range_is_chosen_before_the_path(repo: Any) -> None:
    base = repo.commit({"api/a": "1"})
    wanted = repo.commit({"api/a": "2"}, "in the folder")
    tagged = repo.commit({"web/a": "2"}, "the tagged commit, elsewhere")
    commits, total = await Git(repo.path).commits(base, tagged, "api")
    assert ([commit.sha for commit in commits], total) == ([wanted], 1)


async def test_more_commits_than_the_limit_are_counted(repo: Any) -> None:
    base = repo.commit({"a": "0"})
    for number in range(5):
        head = repo.commit({"a": f"{number}x"}, f"number {number}")
    commits, total = await Git(repo.path).commits(base, head, limit=2)
    assert [commit.subject for commit in commits] == ["number 4", "number 3"]
    assert total == 5


async def test_hostile_subjects_are_one_harmless_line(repo: Any) -> None:
    base = repo.commit({"a": "1"})
    head = repo.commit({"a": "2"}, "in\u202evisible\u200b \x1b[31mred\x07 " + "long " * 200_000)
    (commit,) = (await Git(repo.path).commits(base, head))[0]
    assert commit.subject.startswith("invisible red long long")
    assert len(commit.subject) <= 300


async def test_a_subject_that_is_not_utf8_is_kept_with_replacements(repo: Any) -> None:
    base = repo.commit({"a": "1"})
    tree = repo.git("rev-parse", "HEAD^{tree}")
    head = repo.git("commit-tree", tree, "-p", base, stdin=b"caf\xe9 broken")
    (commit,) = (await Git(repo.path).commits(base, head))[0]
    assert commit.subject.startswith("caf")
    assert commit.subject.endswith("broken")


async def test_ancestry(repo: Any) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.git("checkout", "-q", "--orphan", "other")
    alien = repo.commit({"z": "1"})
    git = Git(repo.path)
    assert await git.is_ancestor(first, second)
    assert not await git.is_ancestor(second, first)
    assert not await git.is_ancestor(first, alien)
    with pytest.raises(GitError):
        await git.is_ancestor("0" * 40, first)


async def test_bare_and_shallow_repositories_are_read(repo: Any, tmp_path: Path) -> None:
    first = repo.commit({"a": "1"})
    second = repo.commit({"a": "2"})
    repo.git("clone", "-q", "--bare", str(repo.path), str(tmp_path / "bare.git"))
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(tmp_path / "shallow"))
    bare, shallow = Git(tmp_path / "bare.git"), Git(tmp_path / "shallow")
    assert [c.sha for c in (await bare.commits(first, second))[0]] == [second]
    assert (await bare.is_shallow(), await shallow.is_shallow()) == (False, True)
    assert await shallow.commit(second) == second
    assert await shallow.commit(first) is None


def test_one_line_caps_and_cleans() -> None:
    assert one_line(b"a\r\n\tb\x00\xff", 10) == "a b\ufffd"
    assert one_line("x\u2066y\ufeffz".encode(), 10) == "xyz"
    assert one_line(b"abcdef", 4) == "abc…"
