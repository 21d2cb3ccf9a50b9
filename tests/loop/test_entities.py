"""What a text names: services, deploys and an environment."""

from __future__ import annotations

import pytest

from bot.loop.entities import (
    find_deploys,
    find_environment,
    find_services,
    find_versions,
    joined_services,
)
from support.scripted import CATALOG


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("deploy #4471", ("4471",)),
        ("deploys 4470, 4471 and 4472", ("4470", "4471", "4472")),
        ("release 12 and deploys 13, 14", ("12", "13", "14")),
        ("commit 1234567", ("1234567",)),
        ("sha DEADBEEF", ("deadbeef",)),
        ("3F2A9BC", ("3f2a9bc",)),
        ("v2.3.1", ("v2.3.1",)),
        ("deploy-17 and release_2026-01-02", ("deploy-17", "release_2026-01-02")),
        ("#12 before deploy 11", ("12", "11")),
        ("deploy 4471 is 3F2A9BC", ("4471", "3f2a9bc")),
        ("at 02:10 on 2026-11-28", ()),
        ("deploy 12:30", ()),
    ],
)
def test_deploys_are_named_by_number_commit_and_tag_in_their_order(
    text: str, found: tuple[str, ...]
) -> None:
    assert find_deploys(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("web 4470", [("4470", "web")]),
        ("web #4470", [("4470", "web")]),
        ("payments 2.3.1", [("2.3.1", "payments-api")]),
        ("web and ledger 4470", [("4470", "ledger")]),
        ("web is at 4470", []),
        ("the web 500", []),
        ("web, 4470", []),
        ("nobody 4470", []),
    ],
)
def test_a_deploy_is_named_by_its_service_and_what_stands_right_behind_it(
    text: str, found: list[tuple[str, str]]
) -> None:
    assert [(ref.asked, ref.service) for ref in find_versions(text, CATALOG)] == found


@pytest.mark.parametrize(
    ("text", "environment"),
    [
        ("in PROD", "production"),
        ("on production", "production"),
        ("the stage cluster", "staging"),
        ("dev environment", "development"),
        ("canary", "canary"),
        ("the products", None),
    ],
)
def test_an_environment_is_read_by_any_of_its_names(text: str, environment: str | None) -> None:
    assert find_environment(text) == environment


def test_the_longest_name_of_a_service_wins_wherever_it_stands_in_the_catalog() -> None:
    words = {"api": "api", "z": "z", "payments-api": "payments-api"}
    assert find_services("payments api is down", {**words, "payments": "pay"}) == ("payments-api",)
    assert find_services("The Payments API and z", words) == ("payments-api", "z")
    assert find_services("z, api, payments_api", words) == ("z", "api", "payments-api")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("web and ledger", ("web", "ledger")),
        ("web, the ledger or checkout", ("web", "ledger", "checkout")),
        ("web/ledger", ("web", "ledger")),
        ("web in the ledger incident", ("web",)),
        ("web and then ledger", ("web",)),
        ("android ledger", ("ledger",)),
        ("nothing", ()),
    ],
)
def test_services_that_are_named_together_are_told_from_those_that_are_not(
    text: str, found: tuple[str, ...]
) -> None:
    assert joined_services(text, CATALOG) == found
