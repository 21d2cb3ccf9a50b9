from __future__ import annotations

from pathlib import Path

import pytest

from support.shop import Shop
from tools.sources.base import SourceError
from tools.sources.git_tags import GitTags, tag_pattern


def _tag(shop: Shop, *names: str, service: str = "web") -> None:
    for name in names:
        shop.commit(service, {"page.html": name})
        shop.git(service, "tag", "-a", "-m", name, name)


async def _labels(shop: Shop, *patterns: str) -> list[tuple[str, int | None, str | None]]:
    workspace = shop.open()
    source = GitTags(workspace.catalog.services, [tag_pattern(text) for text in patterns])
    return [(one.service, one.number, one.ref) for one in (await source.deploys()).records]


@pytest.mark.parametrize(
    ("tag", "number"),
    [("deploy-7", 7), ("release_8", 8), ("release-2026-11-29", None), ("v1.2.3", None)],
)
async def test_a_tag_of_a_usual_form_is_a_deploy(
    tmp_path: Path, tag: str, number: int | None
) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    _tag(shop, tag, "nightly", "v1.2.3-rc.1")
    assert await _labels(shop) == [("web", number, tag)]


async def test_numbered_tags_win_over_versions_which_then_name_the_deploy(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    _tag(shop, "v1.0.0", "v1.1.0")
    shop.git("web", "tag", "-a", "-m", "out", "deploy-12", "v1.0.0^{}")
    assert await _labels(shop) == [("web", 12, "v1.0.0")]


async def test_in_a_shared_repository_a_prefix_names_the_service(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web", path="apps/web", aliases=["frontend"])
    shop.service("api", repo="repos/web", path="apps/api")
    _tag(shop, "web-v1.0.0", "api/v2.0.0", "frontend@3.0.0", "other-v9.0.0")
    assert sorted(await _labels(shop)) == [
        ("api", None, "api/v2.0.0"),
        ("web", None, "frontend@3.0.0"),
        ("web", None, "web-v1.0.0"),
    ]


async def test_a_bare_tag_of_a_shared_repository_deploys_every_service(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web", path="web")
    shop.service("api", repo="repos/web", path="api")
    _tag(shop, "deploy-5")
    assert [name for name, _, _ in await _labels(shop)] == ["web", "api"]


async def test_a_configured_pattern_counts_alone(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    _tag(shop, "v1.0.0", "live/production/31")
    assert await _labels(shop, "live/{environment}/{number}") == [("web", 31, "live/production/31")]


def test_a_pattern_with_an_unknown_placeholder_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\{build\} is unknown"):
        tag_pattern("v{build}")
    assert tag_pattern("v*.x").fullmatch("v1.2.x")
    assert not tag_pattern("v*.x").fullmatch("v1.2-x")


async def test_lightweight_tags_are_used_and_their_weaker_time_is_said(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.commit("web", {"a": "1"})
    shop.git("web", "tag", "deploy-1")
    fetched = await GitTags(shop.open().catalog.services).deploys()
    assert len(fetched.records) == 1
    assert fetched.notes == ("some tags of web are lightweight: their time is the commit's",)


async def test_a_workspace_without_any_source_of_deploys_says_so(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no service has a `repo`"):
        await GitTags([]).deploys()
    shop = Shop(tmp_path)
    shop.service("web", repo="elsewhere")
    with pytest.raises(SourceError, match="There is no repository at"):
        await GitTags(shop.open().catalog.services).deploys()
