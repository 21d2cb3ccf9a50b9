"""What later deploys do to the suspect, on real git repositories."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, ONSET, Shop, ranked, stamp
from tools.records import Mending, SuspectsRanked

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
LATER = NOW + 12 * HOUR
BASE = "\n".join(f"step_{at} = prepare_order({at})" for at in range(12)) + "\n"
SLOW = BASE + "def pay(order):\n    return post('/charges', timeout=5.0)\n"
FAST = (
    SLOW.replace("timeout=5.0", "timeout=0.5, retry_budget=1")
    .replace("step_3 = prepare_order(3)", "step_3 = prepare_later(3)")
    .replace("step_5 = prepare_order(5)", "step_5 = prepare_later(5)")
)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    shop = Shop(tmp_path)
    shop.service("checkout", depends_on=["payments"])
    shop.service("payments")
    shop.release("checkout", 1, 100 * DAY, {"app.py": "def start():\n    return 'checkout'\n"})
    shop.release("payments", 2, 100 * DAY, {"app.py": SLOW})
    shop.release("payments", 10, HOUR, {"app.py": FAST})
    shop.incident(title="Checkout fails", summary="'/charges' runs into its timeout")
    return shop


def _ended(shop: Shop, after: timedelta) -> None:
    shop.incidents[0] |= {"status": "resolved", "resolved_at": stamp(ONSET + after)}


def _later(result: SuspectsRanked) -> dict[int | None, tuple[Mending, bool]]:
    assert result.suspects[0].deploy.number == 10
    return {one.deploy.number: (one.mending, one.mended) for one in result.later}


async def test_the_former_commit_put_back_is_a_rollback(shop: Shop) -> None:
    shop.release("payments", 11, -HOUR, sha=shop.deploys[1]["sha"])
    result = await ranked(shop.open(), LATER)
    assert _later(result) == {11: (Mending.ROLLED_BACK, False)}
    assert result.later[0].text == "payments deploy 11 puts back what ran before payments deploy 10"
    assert result.none_mends is None


async def test_the_same_lines_as_before_are_taken_back(shop: Shop) -> None:
    shop.release("payments", 11, -HOUR, {"app.py": SLOW, "b.py": "one_more = 'line of code'\n"})
    result = await ranked(shop.open(), LATER)
    assert _later(result)[11] == (Mending.TAKES_BACK, False)
    assert "takes back 6 of the 6 lines that payments deploy 10 changed" in result.later[0].text


async def test_a_part_is_said_to_be_a_part_and_what_is_still_there(shop: Shop) -> None:
    half = FAST.replace("prepare_later(3)", "prepare_order(3)")
    extra = "".join(f"other_setting_{at} = load({at})\n" for at in range(5))
    shop.release("payments", 11, -HOUR, {"app.py": half, "b.py": extra})
    result = await ranked(shop.open(), LATER)
    assert _later(result)[11][0] is Mending.PARTLY
    assert "does not take back all" in result.later[0].text
    assert "still there: `return post" in result.later[0].text
    assert (
        result.none_mends == "no later deploy on record takes back what payments deploy 10 changed"
    )


async def test_other_lines_mend_nothing_unless_the_incident_ended_with_them(shop: Shop) -> None:
    shop.release("payments", 11, -HOUR, {"b.py": "something = 'else entirely'\n"})
    open_still = await ranked(shop.open(), LATER)
    assert _later(open_still)[11] == (Mending.NOTHING, False)
    assert "does not take back what payments deploy 10 changed" in open_still.later[0].text
    _ended(shop, HOUR + 10 * MINUTE)
    ended = await ranked(shop.open(), LATER)
    assert _later(ended)[11] == (Mending.NOTHING, True)
    assert ended.later[0].text.endswith("the incident ended 10 min after payments deploy 11")


async def test_the_service_that_adapts_to_the_change_is_found_by_its_names(shop: Shop) -> None:
    shop.release("checkout", 11, -HOUR, {"app.py": "def start():\n    return retry_budget_of(1)\n"})
    shop.release("checkout", 12, -2 * HOUR, {"app.py": "x = prepare_later\npost('/charges')\n"})
    _ended(shop, 2 * HOUR + 5 * MINUTE)
    result = await ranked(shop.open(), LATER)
    assert _later(result) == {12: (Mending.TOUCHES, True), 11: (Mending.NOTHING, False)}
    assert "`/charges`" in result.later[0].text
    assert "resolved 5 min after checkout deploy 12" in " ".join(
        reason.text for reason in result.suspects[0].reasons
    )


async def test_of_two_deploys_before_the_end_the_last_one_ended_it(shop: Shop) -> None:
    shop.release("payments", 11, -HOUR, {"b.py": "first = 'attempt'\n"})
    shop.release("payments", 12, -HOUR - 10 * MINUTE, {"app.py": SLOW})
    _ended(shop, HOUR + 20 * MINUTE)
    result = await ranked(shop.open(), LATER)
    assert _later(result) == {12: (Mending.TAKES_BACK, True), 11: (Mending.NOTHING, False)}


async def test_what_came_after_the_question_is_not_known(shop: Shop) -> None:
    shop.release("payments", 11, -HOUR, sha=shop.deploys[1]["sha"])
    assert (await ranked(shop.open(), NOW)).later == ()
