"""The doctor's look at a workspace: each thing that is missing, with its fix."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, Shop
from tools.checkup import Check, Finding, examine

DAY = timedelta(days=1)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("web", depends_on=["payments"])
    shop.service("payments")
    shop.release("web", 1, DAY, {"a": "1"})
    shop.release("payments", 2, DAY, {"a": "1"})
    shop.incident(services=["web"])
    return shop


async def findings(shop: Shop) -> list[Finding]:
    return [one for one in await examine(shop.open(), NOW) if not one.is_well]


async def test_a_workspace_that_lacks_nothing_has_no_finding_and_says_what_was_looked_at(
    shop: Shop,
) -> None:
    found = await examine(shop.open(), NOW)
    assert all(one.is_well for one in found)
    assert {one.check for one in found} == {Check.SERVICES, Check.SOURCES, Check.REPOSITORIES}


def no_repository(shop: Shop) -> None:
    shutil.rmtree(shop.root / "repos/payments")


def no_git(shop: Shop) -> None:
    shutil.rmtree(shop.root / "repos/payments/.git")


def broken_git(shop: Shop) -> None:
    shutil.rmtree(shop.root / "repos/payments/.git/objects")
    (shop.root / "repos/payments/.git/objects").mkdir()


def shallow(shop: Shop) -> None:
    shop.commit("payments", {"a": "2"})
    shop.release("payments", 3, DAY / 2, {"a": "3"})
    whole, cut = shop.root / "repos/payments", shop.root / "repos/cut"
    subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{whole}", str(cut)], check=True)
    shutil.rmtree(whole)
    cut.rename(whole)


def commit_not_fetched(shop: Shop) -> None:
    shop.release("payments", 3, DAY / 2, sha="b" * 40)


def future(shop: Shop) -> None:
    shop.release("web", 3, -DAY, {"a": "2"})


def stranger(shop: Shop) -> None:
    shop.deploys.append(shop.deploys[0] | {"service": "wbe"})


def no_deploy(shop: Shop) -> None:
    shop.deploys.pop()


def unknown_need(shop: Shop) -> None:
    shop.service("cart", depends_on=["paymnts"])
    shop.release("cart", 4, DAY, {"a": "1"})


@pytest.mark.parametrize(
    ("break_it", "check", "what", "fix"),
    [
        (no_repository, Check.REPOSITORIES, "the repository of payments is missing", "clone it"),
        (no_git, Check.REPOSITORIES, "payments: .* is not a git repository", "clone it there"),
        (broken_git, Check.REPOSITORIES, "payments: git cannot read", "git fsck"),
        (shallow, Check.REPOSITORIES, "payments: .*shallow clone", "fetch --unshallow"),
        (commit_not_fetched, Check.REPOSITORIES, "lacks the commit bbb.*deploy 3", "fetch --all"),
        (future, Check.TIMES, "1 record of deploys.jsonl dated in the future, .*-30", "NTP"),
        (stranger, Check.DEPLOYS, "1 deploy of 'wbe', which is no service", r"\[services.wbe\]"),
        (no_deploy, Check.DEPLOYS, "payments has no deploy", "under the name 'payments'"),
        (unknown_need, Check.DEPENDENCIES, "cart depends on 'paymnts'", "did you mean 'payments'"),
    ],
)
async def test_what_is_missing_is_one_finding_with_its_fix(
    shop: Shop, break_it: Callable[[Shop], None], check: Check, what: str, fix: str
) -> None:
    break_it(shop)
    (found,) = await findings(shop)
    assert found.check is check
    assert re.search(what, found.what), found.what
    assert re.search(fix, found.fix), found.fix


async def test_lines_that_were_skipped_are_named_by_file_and_number(shop: Shop) -> None:
    shop.open()
    for name in ("deploys", "incidents", "changes"):
        with (shop.root / f"{name}.jsonl").open("a") as file:
            file.write("{\n")
    shop.deploys, shop.incidents = [], []
    found = await findings(shop)
    assert [one.what for one in found] == [
        "deploys.jsonl line 3 is not JSON: skipped",
        "changes.jsonl line 1 is not JSON: skipped",
        "incidents.jsonl line 2 is not JSON: skipped",
    ]
    assert found[0].fix == "correct it in deploys.jsonl, or take it out there"


async def test_a_list_that_cannot_be_read_and_no_service_at_all_come_first(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    (tmp_path / "oncall.toml").write_text("")
    found = await findings(shop)
    assert [one.check for one in found] == [Check.SERVICES, Check.SOURCES, Check.SETTINGS]
    assert "no service has a `repo`" in found[1].what
