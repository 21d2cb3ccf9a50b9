"""Real git repositories with fixed dates, for the tests of what reads them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

START = datetime(2026, 11, 29, 1, 0, tzinfo=UTC)


class Repo:
    """A repository under test. Every commit is a minute later than the one before."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._minutes = 0
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", "--template=")

    def git(self, *argv: str | bytes, stdin: bytes = b"") -> str:
        at = f"{int((START + timedelta(minutes=self._minutes)).timestamp())} +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_AUTHOR_NAME": "Ada",
            "GIT_AUTHOR_EMAIL": "ada@example.test",
            "GIT_AUTHOR_DATE": "1000000000 +0000",
            "GIT_COMMITTER_NAME": "Grace",
            "GIT_COMMITTER_EMAIL": "grace@example.test",
            "GIT_COMMITTER_DATE": at,
        }
        done = subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "-c", "maintenance.auto=false", *argv],
            cwd=self.path,
            env=environment,
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode("utf-8", "replace").strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        for name, content in files.items():
            path = self.path / name
            if content is None:
                path.unlink()
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(
        self, files: Mapping[str, str | bytes | None] | None = None, subject: str = "change"
    ) -> str:
        """Write the files (``None`` deletes), commit everything and return the SHA."""
        self.write(files or {})
        self._minutes += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-F", "-", stdin=subject.encode())
        return self.git("rev-parse", "HEAD")

    def merge(self, branch: str, message: str) -> str:
        self._minutes += 1
        self.git("merge", "--quiet", "--no-ff", branch, "-m", message)
        return self.git("rev-parse", "HEAD")


@pytest.fixture
def make_repo(tmp_path: Path) -> Callable[[str], Repo]:
    return lambda name: Repo(tmp_path / name)


@pytest.fixture
def repo(make_repo: Callable[[str], Repo]) -> Repo:
    return make_repo("repo")
