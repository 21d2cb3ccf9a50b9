"""What a person is told to do next: the owner, the version before, the filled command, what is unsafe."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, Shop, ranked
from tools.records import NextAction

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
COMMAND = "shipctl rollback {service} --to {ref} --env {environment}"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("checkout", owner="team-buy <@U1>", rollback=COMMAND)
    shop.incident(summary="'/charges' runs into its timeout")
    shop.release("checkout", 1, 9 * DAY, {"a.py": "post('/charges', timeout=5.0)\n"}, ref="v1.0.0")
    shop.release("checkout", 2, HOUR, {"a.py": "post('/charges', timeout=0.5)\n"}, ref="v1.1.0")
    return shop


async def action(shop: Shop, after: timedelta = timedelta()) -> NextAction:
    found = (await ranked(shop.open(), NOW + after)).next_action
    assert found is not None
    return found


async def test_the_owner_the_version_before_and_the_filled_command(shop: Shop) -> None:
    found = await action(shop)
    assert found.command == "shipctl rollback checkout --to v1.0.0 --env production"
    assert found.previous is not None
    assert found.previous.number == 1
    assert found.unsafe == ()
    assert found.text == (
        "Next: ask team-buy <@U1>; to roll back, the version before is checkout deploy 1 (v1.0.0):"
        " `shipctl rollback checkout --to v1.0.0 --env production`"
    )


async def test_a_migration_makes_it_unsafe_and_is_named(shop: Shop) -> None:
    files = {"db/migrations/0007_drop_charges.sql": "ALTER TABLE charges DROP COLUMN timeout;\n"}
    shop.commit("checkout", files)
    shop.deploys[1]["sha"] = shop.git("checkout", "rev-parse", "HEAD")
    found = await action(shop)
    assert found.unsafe == ("rollback unsafe: migration in db/migrations/0007_drop_charges.sql",)
    assert found.text.endswith(found.unsafe[0])


async def test_a_later_deploy_that_builds_on_it_would_go_as_well(shop: Shop) -> None:
    shop.release("checkout", 3, -HOUR, {"b.py": "another = 'feature'\n"}, ref="v1.2.0")
    found = await action(shop, 2 * HOUR)
    assert found.unsafe == (
        "rollback unsafe: checkout deploy 3 (v1.2.0) builds on it and would go as well",
    )


async def test_after_a_rollback_one_is_asked_whether_it_holds(shop: Shop) -> None:
    shop.release("checkout", 3, -HOUR, sha=shop.deploys[0]["sha"], ref="v1.0.0")
    found = await action(shop, 2 * HOUR)
    assert found.unsafe == ()
    assert found.text == "Next: ask team-buy <@U1> whether checkout deploy 3 (v1.0.0) holds"


@pytest.mark.parametrize("ref", ["v1; rm -rf /", "$(id)", "a b", "`x`", "v1\nv2"])
async def test_a_ref_that_a_shell_would_read_fills_no_command(shop: Shop, ref: str) -> None:
    shop.deploys[0]["ref"] = ref
    found = await action(shop)
    assert found.command is None
    assert "shipctl" not in found.text


async def test_a_command_with_an_unknown_place_is_not_shown_half_filled(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("checkout", rollback="undo {cluster} {ref}")
    shop.incident(summary="'/charges' fails")
    shop.release("checkout", 1, DAY * 3, {"a.py": "post('/charges', 1)\n"}, ref="v1")
    shop.release("checkout", 2, HOUR, {"a.py": "post('/charges', 2)\n"}, ref="v2")
    found = await action(shop)
    assert found.command is None
    assert found.owner is None
    assert found.text.startswith("Next: ask who owns checkout; ")
