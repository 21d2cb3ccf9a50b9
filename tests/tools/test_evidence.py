from __future__ import annotations

import os
import subprocess
import sys

from tools.diffs import FileDiff
from tools.evidence import change_text, share_undone
from tools.records import FileChange, FileKind, FileStatus
from tools.symptoms import Term, TermKind


def _diff(
    path: str, removed: tuple[str, ...], added: tuple[str, ...], kind: FileKind = FileKind.CODE
) -> FileDiff:
    change = FileChange(path=path, status=FileStatus.MODIFIED, kind=kind)
    return FileDiff(change, "", removed, added, cut=False)


def _term(text: str) -> Term:
    return Term(text, text, TermKind.IDENTIFIER, whole=True)


def test_what_does_not_run_counts_less() -> None:
    code = change_text([_diff("a.py", (), ("url_decode(text)",))])
    docs = change_text([_diff("a.md", (), ("url_decode(text)",), FileKind.DOCS)])
    assert code.runs
    assert not docs.runs
    assert code.hits(_term("url_decode")) > docs.hits(_term("url_decode")) > 0


def test_a_name_that_is_gone_is_told_from_one_that_moved() -> None:
    moved = change_text([_diff("a.py", ("def url_decode(s):",), ("def url_decode(s, *, sep):",))])
    gone = change_text([_diff("a.py", ("def url_decode(s):",), ())])
    assert moved.takes_away(_term("url_decode")) == 0
    assert gone.takes_away(_term("url_decode")) == 1


def test_risky_settings_are_named_with_their_file() -> None:
    text = change_text(
        [
            _diff("config/retry.yaml", ("  budget: 5s",), ("  budget: 1s",), FileKind.CONFIG),
            _diff("db/1.sql", (), ("alter table t",), FileKind.MIGRATION),
        ]
    )
    assert "sets `budget` (config/retry.yaml)" in text.risks
    assert "holds a migration (db/1.sql)" in text.risks


def test_a_revert_takes_back_everything_and_other_work_nothing() -> None:
    change = change_text([_diff("a.py", ("timeout = 5.0",), ("timeout = 1.0", "}"))])
    revert = change_text([_diff("a.py", ("timeout = 1.0", "}"), ("timeout = 5.0",))])
    other = change_text([_diff("b.py", ("colour = 'red'",), ("colour = 'blue'",))])
    nothing = change_text([])
    assert share_undone(change, revert) == 1.0
    assert share_undone(change, other) == 0.0
    assert share_undone(change, nothing) == 0.0


def test_a_new_version_number_is_no_trace_of_a_revert() -> None:
    change = change_text([_diff("a.py", ("__version__ = '1.0'",), ("__version__ = '1.1'",))])
    back = change_text([_diff("a.py", ("__version__ = '1.1'",), ("__version__ = '1.0'",))])
    assert share_undone(change, back) == 0.0


def test_the_names_of_a_huge_change_are_the_same_in_every_process() -> None:
    program = """
from tools.diffs import FileDiff
from tools.evidence import change_text
from tools.records import FileChange, FileKind, FileStatus
lines = tuple(f"handle_number_{at}(request) " + "x " * 40 for at in range(9_000))
change = FileChange(path="a.py", status=FileStatus.MODIFIED, kind=FileKind.CODE)
print(sorted(change_text([FileDiff(change, "", (), lines, cut=False)]).names))
"""
    told = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }

    assert len(told) == 1
