"""Pull requests are found by what merges and subjects say, also behind a path."""

from __future__ import annotations

from typing import Any

import pytest

from tools.git import Git
from tools.pull_requests import pull_requests


@pytest.mark.parametrize(
    ("message", "number", "title"),
    [
        ("Merge pull request #12 from a/b\n\nCut the budget\n\nmore", 12, "Cut the budget"),
        ("Cut the budget (#13)", 13, "Cut the budget"),
        ("Merged in topic (pull request #14)\n\nx", 14, "Merged in topic"),
        ("Merge branch 'x' into 'main'\n\nCut it\n\nSee merge request a/b!15", 15, "Cut it"),
        ("Ignore\u202e this\x1b[31m (#16)", 16, "Ignore this"),
    ],
)
async def test_each_platform_names_them_its_own_way(
    repo: Any, message: str, number: int, title: str
) -> None:
    base = repo.commit({"a": "1"})
    head = repo.commit({"a": "2"}, message)
    (found,) = await pull_requests(Git(repo.path), base, head)
    assert (found.number, found.title) == (number, title)


async def test_a_mention_of_an_issue_is_no_pull_request(repo: Any) -> None:
    base = repo.commit({"a": "1"})
    head = repo.commit({"a": "2"}, "Fix #12, see (#x) and issue 13")
    assert await pull_requests(Git(repo.path), base, head) == ()


async def test_with_a_path_only_those_count_that_touch_it(repo: Any) -> None:
    base = repo.commit({"api/a": "1", "web/b": "1"})
    for number, name in ((1, "api/a"), (2, "web/b")):
        repo.git("checkout", "-q", "-b", f"topic{number}")
        repo.commit({name: "2"}, "work")
        repo.git("checkout", "-q", "main")
        repo.commit({f"other{number}": "1"}, "meanwhile")
        head = repo.merge(f"topic{number}", f"Merge pull request #{number} from x\n\nTitle")
    git = Git(repo.path)
    assert [one.number for one in await pull_requests(git, base, head)] == [2, 1]
    assert [one.number for one in await pull_requests(git, base, head, "api")] == [1]
    assert [one.number for one in await pull_requests(git, base, head, "web")] == [2]
