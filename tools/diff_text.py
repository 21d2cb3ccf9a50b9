"""Puts a compared deploy into words: the most useful lines first, one fact a line, all bounded.

Owns the order and the caps of get_diff's text (M13). Reads no repository. Commit subjects and
titles of pull requests are other people's words and stand in quotation marks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tools.diffs import FileDiff
from tools.git import one_line
from tools.records import (
    Commit,
    Deploy,
    DeployStatus,
    DiffShown,
    Direction,
    FileChange,
    FileStatus,
    Highlight,
    PullRequest,
)
from tools.wording import clock, listed, plural

_SUMMARY: Final = 200
_TEXT: Final = 400_000
_FIRST_HIGHLIGHTS: Final = 12
_FIRST_COMMITS: Final = 6
_FIRST_FILES: Final = 14
_SIGNS: Final = {
    FileStatus.ADDED: "A",
    FileStatus.MODIFIED: "M",
    FileStatus.DELETED: "D",
    FileStatus.RENAMED: "R",
    FileStatus.MODE: "mode",
    FileStatus.SUBMODULE: "submodule",
}


@dataclass(frozen=True)
class Shown:
    """A comparison with what the text says beyond its value."""

    value: DiffShown
    head_sha: str
    taken_total: int
    folder: str
    outside: int
    unread: int
    patches: tuple[FileDiff, ...]


class Asked(Protocol):
    @property
    def service(self) -> str | None: ...


def deploy_line(deploy: Deploy, sha: str | None) -> str:
    """Say which deploy it is: label, service, environment, ref, commit, time, actor, status."""
    parts = [f"Deploy {_plain(deploy.label, 80)}: {deploy.service} to {deploy.environment}"]
    if deploy.ref and deploy.ref != deploy.label:
        parts.append(_plain(deploy.ref, 80))
    if sha:
        parts.append(f"commit {sha[:12]}")
    if deploy.finished_at:
        parts.append(f"finished {clock(deploy.finished_at)}")
    elif deploy.started_at:
        parts.append(f"started {clock(deploy.started_at)}")
    if deploy.actor:
        parts.append(f"by {_plain(deploy.actor, 60)}")
    if deploy.status is not DeployStatus.SUCCESS:
        parts.append(f"status {deploy.status.value}")
    return ", ".join(parts)


def missing_text(asked: str, arguments: Asked, nearest: Sequence[str]) -> str:
    """Say that a deploy does not exist, and which ones come closest."""
    of = f" of {arguments.service}" if arguments.service else ""
    lines = [f"Deploy {asked}{of} does not exist in any source."]
    if nearest:
        lines.append(f"The nearest that exist: {', '.join(nearest)}.")
    lines.append("Use search_deploy to list deploys by service or time; do not guess a number.")
    return "\n".join(lines)


def ambiguous_text(asked: str, found: Sequence[Deploy]) -> str:
    """List the deploys of one name and say how to choose."""
    services = sorted({deploy.service for deploy in found})
    lines = [f"{asked} names {len(found)} deploys; no diff is shown until one is chosen."]
    lines += [deploy_line(deploy, deploy.sha) for deploy in found[:50]]
    if len(services) > 1:
        choices = " or ".join(f'service="{name}"' for name in services[:10])
        lines.append(f"Pass {choices} to choose one.")
    else:
        lines.append("Pass the full commit SHA or the tag as deploy= to choose one.")
    return "\n".join(lines)


def summarise(value: DiffShown) -> str:
    """State the outcome in one line, as a person would be told."""
    deploy = f"deploy {_plain(value.deploy.label, 60)} ({value.deploy.service})"
    base = _plain(value.base.label, 60) if value.base else "none"
    match value.direction:
        case Direction.FIRST:
            return _cut(f"{deploy} has no earlier deploy to compare with: {value.base_why}")
        case Direction.SAME:
            return _cut(f"{deploy} is the same commit as deploy {base}: nothing changed")
        case Direction.ROLLBACK:
            taken = plural(len(value.taken_away), "commit")
            what = f"is a rollback from {base}: it took away {taken}, {_files(value)} differ"
        case Direction.DIVERGED:
            what = f"changed {_files(value)} against {base}, from which it diverged"
        case Direction.FORWARD:
            what = f"changed {_files(value)} against {base}"
    if value.path is not None:
        what += f" in {value.path}"
    if value.highlights:
        count = value.highlights_total
        noun = "1 setting" if count == 1 else f"{count} settings and signatures, first"
        what += f"; {noun}: {value.highlights[0].text}"
    return _cut(f"{deploy} {what}")


def render(shown: Shown) -> str:
    """Write the whole text. The head answers what changed; everything else follows in full."""
    value = shown.value
    head = [deploy_line(value.deploy, shown.head_sha), _base_line(value)]
    if value.direction is Direction.SAME:
        return "\n".join([*head, "Both are the same commit (a re-run): no file changed."])
    if value.path is not None and not value.files_total:
        elsewhere = plural(shown.outside, "file")
        head.append(f"No file at {value.path} changed; {elsewhere} changed elsewhere.")
        return "\n".join([*head, "Call get_diff without path= to list them."])
    head += _counts(shown)
    highlights, commits, taken = value.highlights, value.commits, value.taken_away
    marks = [_highlight(one) for one in highlights]
    files = [_file(one) for one in value.files]
    changes = [_commit(one) for one in commits]
    removed = [_commit(one) for one in taken]
    requests = [_request(one) for one in value.pull_requests]
    named = _title("Settings, versions, defaults and signatures", value.highlights_total)
    sections = (
        (named, marks, _FIRST_HIGHLIGHTS, value.highlights_total),
        (_title("Commits taken away", shown.taken_total), removed, 6, shown.taken_total),
        (_title("Commits", value.commits_total), changes, _FIRST_COMMITS, value.commits_total),
        (_title("Pull requests", len(requests)), requests, _FIRST_COMMITS, len(requests)),
    )
    rest: list[str] = []
    for title, lines, first, total in sections:
        if not lines:
            continue
        head += [title, *lines[:first]]
        if total > first:
            head.append(f"… {total - first:,} more, those that fit follow below")
            rest += [f"More of: {title}", *lines[first:]]
        if total > len(lines):
            rest.append(f"… {total - len(lines):,} not listed")
    if value.names_added:
        head.append(f"Names only in added lines: {listed(value.names_added, 8)}")
    if value.names_removed:
        head.append(f"Names only in removed lines: {listed(value.names_removed, 8)}")
    if value.authors:
        head.append(f"Authors: {listed(value.authors, 12)}")
    if not highlights:
        head.append("No changed setting, version, default or signature was recognised.")
    head += [_title("Files by risk", value.files_total), *files[:_FIRST_FILES]]
    if len(files) > _FIRST_FILES:
        head.append(f"… {len(files) - _FIRST_FILES:,} more of this page follow below")
        rest += ["More files by risk:", *files[_FIRST_FILES:]]
    if value.pages > 1:
        head.append(
            f"This is page {value.page} of {value.pages} of the files; pass page= for others."
        )
    body = "\n".join([*head, *rest])
    return body + _patches(shown, _TEXT - len(body))


def _base_line(value: DiffShown) -> str:
    base = value.base
    label = f"deploy {_plain(base.label, 80)}" if base else "nothing"
    extra = f", commit {value.base_sha[:12]}" if value.base_sha else ""
    if base and base.at:
        extra += f", {clock(base.at, value.deploy.at)}"
    return f"Compared with {label}{extra}: {value.base_why}."


def _counts(shown: Shown) -> list[str]:
    value = shown.value
    lines = []
    match value.direction:
        case Direction.ROLLBACK:
            lines.append(
                f"This is a rollback: it goes back to an earlier commit and takes away"
                f" {plural(shown.taken_total, 'commit')}."
            )
        case Direction.DIVERGED:
            lines.append(
                f"The two diverged: {plural(value.commits_total, 'commit')} came in and"
                f" {plural(shown.taken_total, 'commit')} of the base went away."
            )
        case Direction.FORWARD | Direction.SAME | Direction.FIRST:
            pass
    where = f" in {value.path}" if value.path else f" in {shown.folder}/" if shown.folder else ""
    lines.append(f"{_files(value)} changed{where}, +{value.added:,} −{value.removed:,} lines")
    if shown.outside:
        lines.append(
            f"{plural(shown.outside, 'more file')} changed outside of {value.path or shown.folder}"
        )
    if shown.unread:
        lines.append(
            f"{plural(shown.unread, 'file')} could not be searched for settings (size or number)"
        )
    return lines


def _patches(shown: Shown, room: int) -> str:
    parts = ["\n"]
    written = 0
    for diff in shown.patches:
        if not diff.hunks_text:
            continue
        note = " (cut; pass path= for more)" if diff.cut else ""
        part = f"\n=== {_file(diff.change)}{note}\n{diff.hunks_text}\n"
        if len(part) > room:
            break
        room -= len(part)
        written += 1
        parts.append(part)
    expected = sum(1 for one in shown.value.files if one.added or one.removed)
    if written < expected:
        parts.append(f"\nPatches left out: {expected - written:,}. Pass path= for one file's.\n")
    return "".join(parts).rstrip("\n") + "\n"


def _title(name: str, total: int) -> str:
    return f"{name} ({total:,}):"


def _highlight(one: Highlight) -> str:
    return f"- {one.text} in {one.path}"


def _commit(one: Commit) -> str:
    when = clock(one.committed_at)
    return f'- {one.sha[:12]} "{_plain(one.subject, 160)}" by {_plain(one.author, 60)}, {when}'


def _request(one: PullRequest) -> str:
    by = f" by {_plain(one.author, 60)}" if one.author else ""
    return f'- #{one.number} "{_plain(one.title, 160)}"{by}'


def _file(one: FileChange) -> str:
    lines = "binary" if one.added is None else f"+{one.added:,} −{one.removed or 0:,}"
    if one.status in (FileStatus.SUBMODULE, FileStatus.MODE):
        lines = one.status.value
    moved = f" (was {one.previous_path})" if one.previous_path else ""
    return f"{_SIGNS[one.status]} {one.path}{moved} [{one.kind.value}] {lines}"


def _files(value: DiffShown) -> str:
    return plural(value.files_total, "file")


def _plain(text: str, limit: int) -> str:
    return one_line(text.encode("utf-8", "replace"), limit)


def _cut(text: str) -> str:
    return text if len(text) <= _SUMMARY else text[: _SUMMARY - 1] + "…"
