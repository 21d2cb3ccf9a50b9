from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import Shop, searched
from tools.records import DeploysFound
from tools.sources.git_tags import GitTags
from tools.workspace import WorkspaceError, open_workspace, read_tools


def _open(folder: Path, text: str) -> None:
    (folder / "oncall.toml").write_text(text)
    open_workspace(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[services.web]\nrepository = 'x'", r"unknown key `repository` in \[services\.web\]"),
        ("[services.web]\nalias = ['x']", "did you mean `aliases`"),
        ("[sources.deploy]\nkind = 'local'", "did you mean `deploys`"),
        ("[sources.deploys]\nkind = 'local'\nfiel = 'x'", "did you mean `file`"),
        ("[sources.deploys]\nkind = 'github'", 'needs kind = "local" or kind = "git-tags"'),
        ("[services.web]\ndepends_on = 'db'", r"`depends_on` in \[services\.web\]: input should"),
        ("[services.web]\npath = 1", r"`path` in \[services\.web\]"),
        ("[services.web\n", r"not valid TOML: .*line 1"),
        ("[sources.deploys]\nkind = 'git-tags'\ntags = ['{x}']", "{x} is unknown"),
        (
            "[services.web]\nrepo = '~nobody-here/x'",
            "'~nobody-here/x' leads nowhere",
        ),
        ("[sources.deploys]\nkind = 'local'\nfile = '~nobody-here/x'", "leads nowhere"),
    ],
)
def test_a_mistake_in_the_file_is_named_with_file_and_key(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(WorkspaceError, match=message) as caught:
        _open(tmp_path, text)
    assert str(tmp_path / "oncall.toml") in str(caught.value)


def test_an_unknown_key_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="Known keys: repo, path, aliases, depends_on, owner"):
        _open(tmp_path, "[services.web]\nzzz = 1")


def test_a_folder_without_the_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"oncall\.toml does not exist"):
        open_workspace(tmp_path)


def test_sections_of_the_bot_are_not_looked_at(tmp_path: Path) -> None:
    _open(tmp_path, "[limits]\nmax_steps = 8\n[slack]\nanything = true\n")


async def test_a_missing_repository_leaves_the_service_searchable(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web", repo="repos/gone", aliases=["shop"])
    shop.release("web", 1, timedelta(hours=1), sha="a" * 40)
    workspace = shop.open()
    assert workspace.notes[0] == (
        f"the repository of web is missing: looked for it in {tmp_path / 'repos/gone'}"
    )
    value = (await searched(workspace, service="shop")).value
    assert isinstance(value, DeploysFound)
    assert value.total == 1


async def test_without_a_list_of_deploys_git_tags_are_read(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    shop.commit("web", {"a": "1"})
    shop.git("web", "tag", "-a", "-m", "x", "deploy-3")
    workspace = shop.open()
    assert isinstance(workspace.deploy_sources[0], GitTags)
    assert any("no incidents are known" in note for note in workspace.notes)
    value = (await searched(workspace, deploy="3")).value
    assert isinstance(value, DeploysFound)
    assert [deploy.service for deploy in value.deploys] == ["web"]


async def test_a_scope_hides_other_services_and_their_deploys(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    for place, name in enumerate(("web", "ledger"), start=1):
        shop.service(name)
        shop.release(name, place, timedelta(hours=place), {"a": "1"})
    shop.incident(services=["ledger"])
    scoped = shop.open().scoped({"web"})
    assert [service.name for service in scoped.catalog.services] == ["web"]
    value = (await searched(scoped)).value
    assert isinstance(value, DeploysFound)
    assert [deploy.number for deploy in value.deploys] == [1]
    assert (await scoped.incident_sources[0].incidents()).records == ()
    first = await scoped.deploy_sources[0].deploys()
    assert await scoped.deploy_sources[0].deploys() is first


def test_the_read_tools_come_in_a_fixed_order(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("web")
    names = [tool.name for tool in read_tools(shop.open())]
    assert names == [
        "search_incident",
        "search_deploy",
        "get_diff",
        "get_commit",
        "read_file",
        "search_code",
        "read_result",
    ]
