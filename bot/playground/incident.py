"""Makes the demo workspace: real git repositories, deploys, incidents and oncall.toml in a folder.

Owns the writing; what is written is ``incident_story``. Every run makes the same bytes and the same
commit ids, since authors and dates are fixed and the user's git settings are kept out. Imports
nothing else of the bot.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from bot.playground.incident_parts import Release, StoryCommit
from bot.playground.incident_story import (
    ASKED_AT,
    INCIDENTS,
    ONCALL_TOML,
    QUESTION,
    RELEASES,
)

_MARK = "# The demo workspace of oncall-bot, story 2: the checkout incident of 2026-11-29.\n"
_MARK_START = "# The demo workspace of oncall-bot"
_KEPT = ".oncall"
_PATH_SHOWN = 200
_MADE = ("deploys.jsonl", "incidents.jsonl", "oncall.toml")


class DemoError(Exception):
    """The demo workspace cannot be made there. The message says what to do."""


@dataclass(frozen=True)
class DemoIncident:
    """A demo workspace, the clock to ask at and the question that it is made for."""

    root: Path
    asked_at: datetime
    question: str


def make_demo_workspace(target: Path) -> DemoIncident:
    """Make the demo workspace in ``target``, or reuse the one that is there.

    An earlier one is made anew when it is of an older story or incomplete; ``.oncall/`` in it, where
    the bot keeps its runs, stays. Raises ``DemoError`` when the folder holds anything else.
    """
    root = target.absolute()
    incident = DemoIncident(root, ASKED_AT, QUESTION)
    try:
        if _is_complete(root):
            return incident
        _clear(root)
        root.mkdir(parents=True, exist_ok=True)
        commits = {name: _make_repo(root / "repos" / name, RELEASES[name]) for name in RELEASES}
        _write_lines(root / "deploys.jsonl", _deploy_lines(commits))
        _write_lines(root / "incidents.jsonl", iter(INCIDENTS))
        (root / "oncall.toml").write_text(_MARK + ONCALL_TOML, encoding="utf-8")
    except OSError as error:
        raise DemoError(f"{str(root)[:_PATH_SHOWN]} cannot be used: {error.strerror}") from error
    return incident


def _is_complete(root: Path) -> bool:
    """Whether it is a demo workspace of this story: oncall.toml is the last thing written."""
    config = root / "oncall.toml"
    return (
        config.is_file()
        and config.read_text(encoding="utf-8", errors="replace").startswith(_MARK)
        and all((root / name).is_file() for name in _MADE)
        and all((root / "repos" / name / ".git").is_dir() for name in RELEASES)
    )


def _clear(root: Path) -> None:
    """Remove an earlier demo workspace, and nothing else. Raises ``DemoError``."""
    if not root.exists():
        return
    if not root.is_dir():
        raise DemoError(f"{root} is a file: name a folder that is new or empty")
    there = {path.name for path in root.iterdir()} - {_KEPT}
    if not there:
        return
    config = root / "oncall.toml"
    ours = config.is_file() and config.read_text(encoding="utf-8", errors="replace").startswith(
        _MARK_START
    )
    if not ours:
        raise DemoError(f"{root} is not empty: name a folder that is new or empty")
    for name in RELEASES:
        shutil.rmtree(root / "repos" / name, ignore_errors=True)
    for name in _MADE:
        (root / name).unlink(missing_ok=True)


def _deploy_lines(commits: Mapping[str, Mapping[str, str]]) -> Iterator[dict[str, object]]:
    pairs = [(release, name) for name, releases in RELEASES.items() for release in releases]
    for release, name in sorted(pairs, key=lambda pair: pair[0].number):
        yield {
            "number": release.number,
            "service": name,
            "environment": "production",
            "sha": commits[name][release.ref],
            "ref": release.ref,
            "status": "success",
            "actor": release.actor,
            "started_at": release.started_at,
            "finished_at": release.finished_at,
            "url": None,
        }


def _write_lines(path: Path, lines: Iterator[Mapping[str, object]]) -> None:
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    path.write_text(text, encoding="utf-8")


# --- git ---------------------------------------------------------------------------------------


def _make_repo(folder: Path, releases: tuple[Release, ...]) -> dict[str, str]:
    """Write the repository and return the commit of each release's tag."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _git(folder, "init", "--quiet", "--initial-branch=main")
    _git(folder, "fast-import", "--quiet", stdin="".join(_stream(releases)).encode())
    _git(folder, "reset", "--quiet", "--hard", "main")
    listed = _git(folder, "for-each-ref", "--format=%(refname:strip=2) %(*objectname)", "refs/tags")
    return dict(line.split(" ", 1) for line in listed.decode().splitlines())


def _stream(releases: tuple[Release, ...]) -> Iterator[str]:
    """What ``git fast-import`` reads: commits on main, merged branches, one tag a release."""
    mark = 0
    for release in releases:
        for commit in release.commits:
            before, mark = mark, mark + 1
            branch = "refs/heads/main" if commit.merged is None else "refs/heads/topic"
            yield _commit(commit, branch, mark, before, commit.subject)
            if commit.merged is not None:
                mark += 1
                yield _merge(commit, mark, before, mark - 1)
                yield "reset refs/heads/topic\nfrom 0000000000000000000000000000000000000000\n\n"
        yield _tag(release, mark)


def _commit(commit: StoryCommit, branch: str, mark: int, before: int, message: str) -> str:
    head = f"commit {branch}\nmark :{mark}\n{_people(commit)}{_data(message)}"
    parent = f"from :{before}\n" if before else ""
    files = "".join(
        f"M 100644 inline {path}\n{_data(text)}" for path, text in sorted(commit.files.items())
    )
    return f"{head}{parent}{files}\n"


def _merge(commit: StoryCommit, mark: int, before: int, merged: int) -> str:
    """A merge commit: its first parent is main, its files are the branch's."""
    files = "".join(
        f"M 100644 inline {path}\n{_data(text)}" for path, text in sorted(commit.files.items())
    )
    message = f"{commit.merged}\n\n{commit.subject}"
    return (
        f"commit refs/heads/main\nmark :{mark}\n{_people(commit)}{_data(message)}"
        f"from :{before}\nmerge :{merged}\n{files}\n"
    )


def _tag(release: Release, mark: int) -> str:
    seconds = _seconds(release.started_at)
    tagger = f"tagger release-bot <release-bot@shop.example> {seconds} +0000\n"
    return f"tag {release.ref}\nfrom :{mark}\n{tagger}{_data(f'Release {release.ref}')}"


def _people(commit: StoryCommit) -> str:
    email = commit.author.lower().replace(" ", ".") + "@shop.example"
    who = f"{commit.author} <{email}> {_seconds(commit.at)} +0000"
    return f"author {who}\ncommitter {who}\n"


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _seconds(when: str) -> int:
    return int(datetime.fromisoformat(when).timestamp())


def _git(folder: Path, *argv: str, stdin: bytes = b"") -> bytes:
    settings = ("-c", "core.autocrlf=false", "-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0")
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TEMPLATE_DIR": "",
    }
    try:
        done = subprocess.run(
            ["git", *settings, "-C", str(folder), *argv],
            input=stdin,
            capture_output=True,
            check=True,
            env=environment,
            timeout=30,
        )
    except FileNotFoundError:
        raise DemoError(
            "git was not found: install it (apt install git, brew install git)"
        ) from None
    except subprocess.CalledProcessError as error:
        said = error.stderr.decode("utf-8", "replace").strip()
        raise DemoError(f"git {argv[0]} failed in {folder}: {said}") from error
    except subprocess.TimeoutExpired as error:
        raise DemoError(f"git {argv[0]} took longer than 30 s in {folder}") from error
    return done.stdout
