from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, ONSET, Shop, stamp
from tools.history import DeployHistory, as_of, same_environment
from tools.records import DeployStatus
from tools.sources.base import SourceError
from tools.sources.local import LocalDeploys

HOUR = timedelta(hours=1)


def _history(shop: Shop) -> DeployHistory:
    workspace = shop.open()
    return DeployHistory(workspace.deploy_sources, workspace.catalog)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("web", aliases=["frontend"])
    shop.service("payments-api", aliases=["payments"])
    shop.release("web", 4470, HOUR, {"a": "1"}, ref="v5.12.0")
    shop.release(
        "payments-api",
        4471,
        HOUR / 2,
        {"a": "1"},
        ref="v2.3.1",
        id="run-99",
        url="https://ci.shop.test/runs/99",
    )
    return shop


@pytest.mark.parametrize(
    "asked",
    [
        "4471",
        "#4471",
        "deploy 4471",
        "Deploy #4471",
        "deploy-4471",
        "v2.3.1",
        "2.3.1",
        "V2.3.1",
        "run-99",
        "https://ci.shop.test/runs/99/",
        "payments 4471",
        "payments v2.3.1",
    ],
)
async def test_a_deploy_is_found_by_everything_that_people_call_it(shop: Shop, asked: str) -> None:
    (found,) = await _history(shop).resolve(asked)
    assert (found.service, found.number) == ("payments-api", 4471)


async def test_a_commit_is_found_by_its_prefix_and_inside_an_address(shop: Shop) -> None:
    sha = shop.deploys[1]["sha"]
    history = _history(shop)
    for asked in (sha, sha[:7].upper(), f"commit {sha[:10]}", f"https://git.test/r/commit/{sha}"):
        assert [deploy.number for deploy in await history.resolve(asked)] == [4471]


async def test_a_tag_that_only_git_knows_leads_to_the_deploy_of_its_commit(shop: Shop) -> None:
    shop.git("web", "tag", "black-friday", shop.deploys[0]["sha"])
    history = _history(shop)
    assert [deploy.number for deploy in await history.resolve("black-friday")] == [4470]
    assert await history.resolve("no-such-tag") == ()


async def test_every_deploy_of_one_number_is_listed_and_a_service_decides(shop: Shop) -> None:
    shop.release("web", 4471, HOUR / 4, {"a": "2"})
    history = _history(shop)
    assert [one.service for one in await history.resolve("4471")] == ["payments-api", "web"]
    assert [one.service for one in await history.resolve("4471", "frontend")] == ["web"]


async def test_a_number_is_never_a_guess(shop: Shop) -> None:
    history = _history(shop)
    for asked in ("9999", "447", "44710", "", "deploy", "4470 4471"):
        assert await history.resolve(asked) == ()
    assert await history.nearest("deploy 9999") == ("4471", "4470")
    assert await history.nearest("v2.3.2") == ("v2.3.1",)


async def test_the_base_is_the_previous_success_of_service_and_environment(shop: Shop) -> None:
    shop.release("web", 4472, HOUR / 3, {"a": "2"}, environment="staging")
    shop.release("web", 4473, HOUR / 4, {"a": "3"}, status="failure")
    shop.release("web", 4474, HOUR / 5, {"a": "4"})
    history = _history(shop)
    (deploy,) = await history.resolve("4474")
    base = await history.base_of(deploy)
    assert base is not None
    assert base.number == 4470
    assert await history.base_of(base) is None


async def test_order_in_the_file_does_not_matter(shop: Shop) -> None:
    expected = [one.number for one in await _history(shop).all()]
    shop.deploys.reverse()
    assert [one.number for one in await _history(shop).all()] == expected == [4470, 4471]


async def test_services_that_only_deploys_name_are_known_too(shop: Shop) -> None:
    shop.release("cron", 4480, HOUR, sha="b" * 40)
    shop.release("payments", 4481, HOUR, sha="c" * 40)
    history = _history(shop)
    assert await history.services() == ("web", "payments-api", "cron")
    assert [one.service for one in await history.resolve("4481")] == ["payments-api"]
    assert await history.canonical("CRON") == "cron"


async def test_an_unreadable_source_is_said_and_the_others_are_used(shop: Shop) -> None:
    workspace = shop.open()
    gone = LocalDeploys(shop.root / "gone.jsonl")
    history = DeployHistory([*workspace.deploy_sources, gone], workspace.catalog)
    assert len(await history.all()) == 2
    assert "gone.jsonl does not exist" in (await history.notes())[0]
    with pytest.raises(SourceError, match=r"gone\.jsonl does not exist"):
        await DeployHistory([gone], workspace.catalog).all()


async def test_one_deploy_told_twice_counts_once(shop: Shop) -> None:
    workspace = shop.open()
    twice = [workspace.deploy_sources[0], LocalDeploys(shop.root / "deploys.jsonl")]
    assert len(await DeployHistory(twice, workspace.catalog).all()) == 2


async def test_a_deploy_is_seen_as_it_was_when_asked(shop: Shop) -> None:
    (deploy,) = await _history(shop).resolve("4471")
    finished = ONSET - HOUR / 2
    assert as_of(deploy, finished) == deploy
    running = as_of(deploy, finished - timedelta(minutes=1))
    assert running is not None
    assert running.status is DeployStatus.IN_PROGRESS
    assert running.finished_at is None
    assert as_of(deploy, finished - HOUR) is None


async def test_a_change_of_the_file_is_seen_by_the_next_question(shop: Shop) -> None:
    history = _history(shop)
    assert len(await history.all()) == 2
    with (shop.root / "deploys.jsonl").open("a") as file:
        file.write(f'{{"number": 4475, "service": "web", "finished_at": "{stamp(NOW)}"}}\n')
    assert len(await history.all()) == 3


def test_environments_are_compared_as_people_write_them() -> None:
    assert same_environment("prod", "Production")
    assert not same_environment("staging", "production")
    assert not same_environment("p", "production")
