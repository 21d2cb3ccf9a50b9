from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, ONSET, Shop, stamp
from tools.incidents import IncidentIndex, Matches
from tools.records import IncidentStatus

DAY = timedelta(days=1)


async def _search(shop: Shop, query: str) -> Matches:
    workspace = shop.open()
    return await IncidentIndex(workspace.incident_sources, workspace.catalog).search(query, NOW)


def _ids(matches: Matches) -> list[str]:
    return [incident.id for incident in matches.incidents]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("checkout", aliases=["orders"], depends_on=["ledger"])
    shop.service("web")
    shop.service("ledger")
    shop.incident()
    shop.incident(
        id="INC-2", title="Images load slowly", services=["web"], started_at=stamp(ONSET - DAY)
    )
    return shop


async def test_an_exact_id_wins_over_all_words(shop: Shop) -> None:
    assert _ids(await _search(shop, "is inc-2 the checkout incident?")) == ["INC-2"]
    assert _ids(await _search(shop, "INC-22 checkout")) == ["INC-1"]


@pytest.mark.parametrize("query", ["checkout incident", "orders are broken", "ORDERS", "fails"])
async def test_a_service_alias_or_word_finds_the_incident(shop: Shop, query: str) -> None:
    matches = await _search(shop, query)
    assert _ids(matches)[0] == "INC-1"
    assert matches.tied == ()


async def test_a_word_of_the_title_beats_one_of_the_summary(shop: Shop) -> None:
    shop.incident(id="INC-3", title="Login", summary="No images", services=[])
    assert _ids(await _search(shop, "images"))[0] == "INC-2"


async def test_an_incident_of_what_a_service_depends_on_is_a_weaker_match(shop: Shop) -> None:
    assert _ids(await _search(shop, "ledger")) == ["INC-1"]


async def test_words_of_no_incident_match_nothing(shop: Shop) -> None:
    assert _ids(await _search(shop, "kafka rebalancing")) == []


async def test_without_words_the_newest_comes_first(shop: Shop) -> None:
    assert _ids(await _search(shop, "the latest incident")) == ["INC-1", "INC-2"]


async def test_two_that_the_words_cannot_tell_apart_are_tied(shop: Shop) -> None:
    shop.incident(id="INC-4", started_at=stamp(ONSET - timedelta(minutes=20)))
    matches = await _search(shop, "checkout incident")
    assert matches.tied == ("INC-1", "INC-4")


async def test_an_old_resolved_one_does_not_tie_with_an_open_one(shop: Shop) -> None:
    shop.incident(
        id="INC-4",
        started_at=stamp(ONSET - 20 * DAY),
        resolved_at=stamp(ONSET - 19 * DAY),
        status="resolved",
    )
    matches = await _search(shop, "checkout incident")
    assert _ids(matches) == ["INC-1", "INC-4"]
    assert matches.tied == ()


async def test_what_began_after_the_question_is_unknown_to_it(shop: Shop) -> None:
    shop.incident(id="INC-5", started_at=stamp(NOW + DAY))
    assert "INC-5" not in _ids(await _search(shop, "checkout"))
    assert _ids(await _search(shop, "INC-5")) == []


async def test_one_that_was_resolved_later_is_still_open(shop: Shop) -> None:
    shop.incident(id="INC-6", status="resolved", resolved_at=stamp(NOW + DAY))
    (incident,) = (await _search(shop, "INC-6")).incidents
    assert incident.status is IncidentStatus.OPEN
    assert incident.resolved_at is None


@pytest.mark.parametrize(
    "said", ["#inc-20261129-checkout", "sev1_orders", "incident-2026-checkout"]
)
async def test_a_channel_is_named_for_its_incident(shop: Shop, said: str) -> None:
    shop.incident(id="INC-3", title="Images fail", services=["web"], started_at=stamp(ONSET))
    assert _ids(await _search(shop, said))[0] == "INC-1"
