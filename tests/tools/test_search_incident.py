from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from support.shop import NOW, ONSET, Shop, stamp
from tools.base import CallContext, Status, ToolError, ToolResult
from tools.incidents import IncidentIndex
from tools.records import IncidentsFound
from tools.search_incident import SearchIncident, SearchIncidentArguments


async def _search(shop: Shop, **arguments: Any) -> ToolResult:
    workspace = shop.open()
    tool = SearchIncident(IncidentIndex(workspace.incident_sources, workspace.catalog))
    return await tool.run(SearchIncidentArguments(**arguments), CallContext(NOW, {}))


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("checkout")
    shop.incident(summary="Payment\nis \u202edown")
    shop.incident(
        id="INC-0",
        title="Checkout is slow",
        status="resolved",
        started_at=stamp(ONSET - timedelta(days=2)),
        resolved_at=stamp(ONSET - timedelta(days=2, hours=-3)),
    )
    return shop


async def test_an_incident_reads_with_onset_age_and_length(shop: Shop) -> None:
    result = await _search(shop, query="checkout")
    older = (
        "INC-0 sev1 resolved: Checkout is slow (checkout); began 2026-11-27 02:06 UTC, 2 d ago; "
        "resolved 2026-11-27 05:06 UTC after 3 h"
    )
    assert result.text.splitlines() == [
        "INC-1 sev1 open: Checkout fails (checkout); began 02:06 UTC, 8 min ago",
        "  Payment is down",
        older,
    ]
    assert result.summary == "INC-1: Checkout fails"


async def test_a_window_is_read_against_the_clock_of_the_run(shop: Shop) -> None:
    value = (await _search(shop, since="yesterday")).value
    assert isinstance(value, IncidentsFound)
    assert [incident.id for incident in value.incidents] == ["INC-1"]
    value = (await _search(shop, until="2026-11-28T00:00:00Z")).value
    assert isinstance(value, IncidentsFound)
    assert [incident.id for incident in value.incidents] == ["INC-0"]


async def test_a_tie_is_said_first(shop: Shop) -> None:
    shop.incident(id="INC-2")
    result = await _search(shop, query="checkout fails")
    assert result.text.startswith("The words fit 2 incidents equally well (INC-1, INC-2): ask")
    assert result.summary == "2 incidents fit equally well: INC-1, INC-2"


async def test_nothing_found_says_what_was_searched(shop: Shop) -> None:
    result = await _search(shop, query="kafka", since="3d")
    assert result.status is Status.EMPTY
    assert result.text.startswith("No incident matches 'kafka' since 3d. 2 incidents searched.")
    assert "Latest: INC-1" in result.text


async def test_what_is_beyond_the_limit_is_counted(shop: Shop) -> None:
    result = await _search(shop, limit=1)
    assert "1 more not shown" in result.text
    assert isinstance(result.value, IncidentsFound)
    assert result.value.total == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"since": "1h", "until": "2h"}, "is after until"),
        ({"since": "soon"}, "since='soon' is no time"),
    ],
)
async def test_a_window_that_makes_no_sense_is_refused(
    shop: Shop, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(ToolError, match=message):
        await _search(shop, **arguments)


async def test_a_missing_file_is_a_plain_error(shop: Shop) -> None:
    workspace = shop.open()
    (shop.root / "incidents.jsonl").unlink()
    tool = SearchIncident(IncidentIndex(workspace.incident_sources, workspace.catalog))
    with pytest.raises(ToolError, match=r"incidents\.jsonl does not exist"):
        await tool.run(SearchIncidentArguments(), CallContext(NOW, {}))


def test_a_limit_of_a_million_is_refused() -> None:
    with pytest.raises(ValidationError):
        SearchIncidentArguments(limit=1_000_000)
