"""Every kind of change is listed once, and patches stay within their bounds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tools import diffs
from tools.diffs import changed_files, changed_lines, line_counts, patches
from tools.file_kinds import kind_of
from tools.git import Git
from tools.records import FileKind, FileStatus

HOSTILE = 'a "quoted"\\back\n+++ b/x\ndiff --git a/y b/y\t\u202eend'
LONG = "\n".join(f"line {number}" for number in range(40))


async def test_each_status_is_told_apart(repo: Any, make_repo: Callable[[str], Any]) -> None:
    inner = make_repo("inner")
    inner.commit({"i": "1"})
    base = repo.commit(
        {
            "modified.py": "a\nb\n",
            "deleted.py": "x\n",
            "old/moved.py": LONG,
            "run.sh": "#!/bin/sh\n",
            "image.bin": b"\0\1\2",
        }
    )
    repo.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.path), "sub")
    (repo.path / "run.sh").chmod(0o755)
    (repo.path / "old" / "moved.py").unlink()
    head = repo.commit(
        {
            "modified.py": "a\nc\nd\n",
            "deleted.py": None,
            "new/moved.py": LONG + "\nmore",
            "image.bin": b"\0\1\2\3",
            "added.py": "1\n",
        }
    )
    found = {change.path: change for change in await changed_files(Git(repo.path), base, head)}
    assert {path: change.status for path, change in found.items()} == {
        "modified.py": FileStatus.MODIFIED,
        "deleted.py": FileStatus.DELETED,
        "new/moved.py": FileStatus.RENAMED,
        "run.sh": FileStatus.MODE,
        "image.bin": FileStatus.MODIFIED,
        "added.py": FileStatus.ADDED,
        "sub": FileStatus.SUBMODULE,
        ".gitmodules": FileStatus.ADDED,
    }
    assert (found["modified.py"].added, found["modified.py"].removed) == (2, 1)
    assert (found["image.bin"].added, found["image.bin"].removed) == (None, None)
    assert found["new/moved.py"].previous_path == "old/moved.py"
    assert (found["run.sh"].added, found["run.sh"].removed) == (0, 0)
    assert found["sub"].added is None


async def test_two_dots_show_what_a_rollback_takes_away(repo: Any) -> None:
    old = repo.commit({"a.py": "1\n"})
    new = repo.commit({"a.py": "1\n2\n"})
    (change,) = await changed_files(Git(repo.path), new, old)
    assert (change.added, change.removed) == (0, 1)


async def test_without_a_base_everything_was_added(repo: Any) -> None:
    head = repo.commit({"a.py": "1\n", "b/c.py": "2\n"})
    found = await changed_files(Git(repo.path), None, head)
    assert {(change.path, change.status) for change in found} == {
        ("a.py", FileStatus.ADDED),
        ("b/c.py", FileStatus.ADDED),
    }
    assert line_counts(found) == (2, 0)


async def test_files_come_by_risk_then_by_size(repo: Any) -> None:
    base = repo.commit({"README.md": "x"})
    head = repo.commit(
        {
            "README.md": LONG,
            "small.py": "1\n",
            "large.py": LONG,
            "tests/test_a.py": LONG,
            "config/retry.yaml": "a: 1\n",
            "db/migrations/0001.sql": "select 1;\n",
            "vendor/lib/config.yaml": LONG,
            "data/model.json": LONG,
            "Dockerfile": "FROM a\n",
            "requirements.txt": "a==1\n",
            "flags.yaml": "a: on\n",
        }
    )
    assert [change.path for change in await changed_files(Git(repo.path), base, head)] == [
        "config/retry.yaml",
        "db/migrations/0001.sql",
        "requirements.txt",
        "Dockerfile",
        "flags.yaml",
        "large.py",
        "small.py",
        "data/model.json",
        "tests/test_a.py",
        "README.md",
        "vendor/lib/config.yaml",
    ]


async def test_a_path_keeps_what_moved_into_or_out_of_it(repo: Any) -> None:
    base = repo.commit({"api/a.py": LONG, "web/b.py": LONG + "x", "apiary/c.py": "1"})
    for old, new in (("api/a.py", "web/a.py"), ("web/b.py", "api/b.py")):
        (repo.path / old).rename(repo.path / new)
    head = repo.commit({"apiary/c.py": "2"})
    found = await changed_files(Git(repo.path), base, head, "api/")
    assert {(change.path, change.previous_path) for change in found} == {
        ("web/a.py", "api/a.py"),
        ("api/b.py", "web/b.py"),
    }


async def test_hostile_names_are_listed_patched_and_harmless(repo: Any) -> None:
    base = repo.commit({"z.py": "1\n"})
    head = repo.commit(
        {HOSTILE + ".py": "bad\n", "z.py": "2\n", "-n.py": "3\n", ":(top)x.py": "4\n"}
    )
    git = Git(repo.path)
    names = {change.path for change in await changed_files(git, base, head)}
    clean = 'a "quoted"\\back +++ b/x diff --git a/y b/y end.py'
    assert names == {clean, "z.py", "-n.py", ":(top)x.py"}
    shown = await patches(git, base, head, sorted(names))
    assert {diff.change.path: diff.added_lines for diff in shown} == {
        clean: ("bad",),
        "z.py": ("2",),
        "-n.py": ("3",),
        ":(top)x.py": ("4",),
    }
    lines = await changed_lines(git, base, head)
    assert {diff.change.path: diff.added_lines for diff in lines} == {
        diff.change.path: diff.added_lines for diff in shown
    }


async def test_names_and_content_that_are_not_utf8_are_kept(repo: Any) -> None:
    base = repo.commit({"a.py": "1\n"})
    with open(os.fsencode(repo.path) + b"/caf\xe9.py", "wb") as file:  # noqa: ASYNC230, PTH123
        file.write(b"caf\xe9\n")
    head = repo.commit()
    git = Git(repo.path)
    (change,) = await changed_files(git, base, head)
    assert change.path == "caf\ufffd.py"
    (diff,) = await patches(git, base, head, [change.path])
    assert diff.added_lines == ("caf\ufffd",)


async def test_control_and_direction_characters_leave_the_patch(repo: Any) -> None:
    base = repo.commit({"a.py": "1\n"})
    head = repo.commit({"a.py": "1\nx\x1b[2Jy\u202ez\u200b\x07\tend\n"})
    (diff,) = await patches(Git(repo.path), base, head, ["a.py"])
    assert diff.added_lines == ("x[2Jyz\tend",)


async def test_a_file_that_became_a_link_does_not_shift_the_others(repo: Any) -> None:
    base = repo.commit({"a.py": "1\n", "b.py": "2\n", "c.py": "3\n"})
    (repo.path / "b.py").unlink()
    (repo.path / "b.py").symlink_to("a.py")
    head = repo.commit({"a.py": "10\n", "c.py": "30\n"})
    shown = await changed_lines(Git(repo.path), base, head)
    assert {d.change.path: (d.removed_lines, d.added_lines) for d in shown} == {
        "a.py": (("1",), ("10",)),
        "b.py": (("2",), ("a.py",)),
        "c.py": (("3",), ("30",)),
    }


async def test_long_lines_are_cut_and_said_to_be(repo: Any) -> None:
    base = repo.commit({"a.py": "1\n"})
    head = repo.commit({"a.py": "x" * 1_000_000 + "\n"})
    (diff,) = await patches(Git(repo.path), base, head, ["a.py"])
    assert diff.added_lines[0] == "x" * 1999 + "… (line of 1,000,001 bytes cut)"


async def test_patches_are_bounded_per_file_and_in_all(repo: Any) -> None:
    base = repo.commit({"seed": "1"})
    head = repo.commit({f"f{number}.py": LONG * 20 + "\n" for number in range(5)})
    git = Git(repo.path)
    names = [f"f{number}.py" for number in range(5)]
    per_file = await patches(git, base, head, names, per_file=1_000)
    assert [diff.change.path for diff in per_file] == names
    assert all(diff.cut and len(diff.hunks_text) <= 1_000 for diff in per_file)
    in_all = await patches(git, base, head, names, in_all=10_000)
    assert [(diff.change.path, diff.cut) for diff in in_all] == [("f0.py", False), ("f1.py", True)]
    assert sum(len(diff.hunks_text) for diff in in_all) <= 10_000
    assert all(diff.change.added == 781 for diff in (*per_file, *in_all))


async def test_a_huge_file_early_in_the_alphabet_hides_no_later_one(repo: Any) -> None:
    base = repo.commit({"config.yaml": "timeout: 5s\n"})
    head = repo.commit({"a_generated.min.js": LONG * 2_000, "config.yaml": "timeout: 1s\n"})
    git = Git(repo.path)
    first, *_ = await changed_lines(git, base, head, limit=20_000)
    assert first.change.path == "config.yaml"
    assert (first.removed_lines, first.added_lines) == (("timeout: 5s",), ("timeout: 1s",))
    shown = await patches(git, base, head, ["config.yaml"], in_all=1_000)
    assert shown[0].added_lines == ("timeout: 1s",)


async def test_the_same_commits_are_read_once_and_a_moving_name_each_time(
    repo: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = repo.commit({"a.py": "1\n"})
    head = repo.commit({"a.py": "2\n"})
    git = Git(repo.path)
    assert await changed_lines(git, base, head) is await changed_lines(git, base, head)
    assert len(await changed_files(git, base, "main")) == 1
    repo.commit({"b.py": "3\n"})
    assert len(await changed_files(git, base, "main")) == 2


async def test_ten_thousand_changed_files_are_listed_within_bounds(repo: Any) -> None:
    names = [f"src/p{number % 100}/m{number}.py" for number in range(10_000)]
    base = repo.commit(dict.fromkeys(names, "a = 1\nb = 2\n"))
    head = repo.commit({**dict.fromkeys(names, "a = 1\nb = 3\n"), "config.yaml": "a: 1\n"})
    git = Git(repo.path)
    found = await changed_files(git, base, head)
    assert len(found) == 10_001
    assert found[0].path == "config.yaml"
    lines = await changed_lines(git, base, head, limit=200_000)
    assert len(lines) == 10_001
    assert lines[0].added_lines == ("a: 1",)
    assert sum(len(diff.hunks_text) for diff in lines) < 500_000


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("config/retry.yaml", FileKind.CONFIG),
        (".env.production", FileKind.CONFIG),
        ("src/app/settings.py", FileKind.CONFIG),
        ("src/config/loader.py", FileKind.CODE),
        ("db/migrate/20261129_add.rb", FileKind.MIGRATION),
        ("alembic/versions/1_a.py", FileKind.MIGRATION),
        ("package-lock.json", FileKind.DEPENDENCY),
        ("services/api/go.mod", FileKind.DEPENDENCY),
        ("k8s/deployment.yaml", FileKind.INFRASTRUCTURE),
        (".github/workflows/ci.yml", FileKind.INFRASTRUCTURE),
        ("main.tf", FileKind.INFRASTRUCTURE),
        ("config/feature_flags.yaml", FileKind.FLAG),
        ("src/a.py", FileKind.CODE),
        ("tests/config.yaml", FileKind.TEST),
        ("web/a.test.ts", FileKind.TEST),
        ("docs/config.yaml", FileKind.DOCS),
        ("CHANGELOG", FileKind.DOCS),
        ("node_modules/a/package.json", FileKind.GENERATED),
        ("api/v1_pb2.py", FileKind.GENERATED),
    ],
)
def test_the_kind_of_a_file_follows_from_its_path(path: str, kind: FileKind) -> None:
    assert kind_of(path) is kind


def test_the_empty_tree_of_both_hashes_is_known(tmp_path: Path) -> None:
    assert diffs._tree(None, "a" * 40).startswith("4b825dc")
    assert diffs._tree(None, "a" * 64).startswith("6ef19b4")
