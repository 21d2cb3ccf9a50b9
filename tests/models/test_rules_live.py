"""What is live where, whom to ask, and questions as they are typed at 02:14."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.rules_shop import HOUR, ask, said, shop_of
from support.shop import Shop

THREAD = ("payments deploy 10 most likely caused the checkout incident",)


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return shop_of(tmp_path)


# --- is it live ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        *("is payments v10 live?", "is v10 in prod yet?", "did v10 make it to prod", "v10 live?"),
        *("has payments v10 been rolled out?", "is payments on v10", "are we running v10 now"),
    ],
)
async def test_the_newest_version_is_said_to_be_live_with_since_when(
    shop: Shop, question: str
) -> None:
    answer = await ask(shop, question)
    assert answer.headline.startswith(
        "Yes: payments deploy 10 (v10) is the last successful deploy to production, since "
    )
    assert any("not the machines" in line for line in answer.unknowns)


async def test_it_is_the_deploy_that_the_thread_speaks_of(shop: Shop) -> None:
    assert (await ask(shop, "is it live?", thread=THREAD)).headline.startswith("Yes: payments")


async def test_without_a_deploy_it_is_asked_which(shop: Shop) -> None:
    answer = await ask(shop, "is it live?")
    assert answer.claims == ()
    assert "name the deploy or the version" in answer.unknowns[0]


async def test_an_older_version_is_told_with_what_came_after_it(shop: Shop) -> None:
    answer = await ask(shop, "is payments v3 still live?")
    assert answer.headline.startswith(
        "The last successful deploy to production is payments deploy 10 (v10), since "
    )
    assert answer.headline.endswith("payments deploy 3 (v3) went out before it")


async def test_where_nothing_went_the_answer_is_no_and_says_where_it_went(shop: Shop) -> None:
    answer = await ask(shop, "did deploy 10 make it to staging?")
    assert answer.headline == "No: no deploy of payments to staging is on record"
    assert "Deploy 10 (payments, v10) was a deploy to production" in said(answer)


async def test_another_environment_is_told_with_what_was_deployed_there(shop: Shop) -> None:
    shop.release("payments", 11, HOUR / 2, {"x.py": "x = 1\n"}, ref="v11", environment="staging")
    there = await ask(shop, "is v11 in staging?")
    assert there.headline.startswith("Yes: payments deploy 11 (v11) is the last successful deploy")
    not_yet = await ask(shop, "is v11 in prod?")
    assert not_yet.headline == (
        "The last successful deploy to production is payments deploy 10 (v10); "
        "payments deploy 11 (v11) was a deploy to staging"
    )


async def test_the_same_version_in_another_environment_counts(shop: Shop) -> None:
    shop.release("payments", 11, HOUR / 2, {"x.py": "x = 1\n"}, ref="v10", environment="staging")
    answer = await ask(shop, "is deploy 10 in staging?")
    assert answer.headline.startswith("Yes: payments deploy 11 (v10) is the last successful deploy")


async def test_a_deploy_that_failed_is_not_said_to_be_live(shop: Shop) -> None:
    shop.release("payments", 11, HOUR / 2, {"x.py": "x = 1\n"}, ref="v11", status="failure")
    answer = await ask(shop, "is v11 live?")
    assert answer.headline.startswith("Deploy 11 (payments, v11) was tried")
    assert answer.headline.endswith("and failed")
    assert "Deploy 10 (payments, v10)" in said(answer)


async def test_where_only_failed_deploys_went_it_is_not_said_that_none_did(shop: Shop) -> None:
    shop.release("web", 20, 2 * HOUR, {"x.py": "x = 1\n"}, status="failure", environment="staging")
    answer = await ask(shop, "is web v1 in staging?")
    assert answer.headline == "web deploy 1 (v1) was a deploy to production"
    assert "none of its last deploys succeeded" in answer.unknowns[0]


async def test_a_version_is_not_taken_for_that_of_the_same_name_elsewhere(shop: Shop) -> None:
    dates = {"started_at": None, "actor": None}
    for ref, before, environment in (("v20", 9, "staging"), ("v21", 5, "prod"), ("v20", 7, "prod")):
        more = dates | {"ref": ref, "environment": environment}
        shop.release("web", None, before * HOUR, {"x.py": f"x = {before}\n"}, **more)
    answer = await ask(shop, "is web v20 live?")
    assert answer.headline.endswith("; web v20 went out before it")
    assert answer.claims[0].text.startswith("Deploy v20 (web, prod) went out at 2026-11-28 19:06")


async def test_of_a_version_that_went_out_at_the_second_try_the_first_is_not_told(
    shop: Shop,
) -> None:
    for number, before, ref, status in (
        (20, 9, "v20", "failure"),
        (21, 8, "v20", "success"),
        (22, 7, "v21", "success"),
    ):
        shop.release("web", number, before * HOUR, {"x": ref + status}, ref=ref, status=status)
    answer = await ask(shop, "is web v20 live?")
    assert answer.headline.endswith("; web deploy 21 (v20) went out before it")


async def test_a_deploy_without_a_time_is_live_since_nobody_knows_when(shop: Shop) -> None:
    shop.deploys.append({"service": "ledger", "ref": "v7"})
    answer = await ask(shop, "is v7 live?")
    assert answer.headline == "Yes: ledger v7 is the last successful deploy to production"


async def test_a_deploy_that_does_not_exist_is_not_live(shop: Shop) -> None:
    assert (await ask(shop, "is 9999 live?")).headline.startswith("Deploy 9999 does not exist")


@pytest.mark.parametrize("question", ["who deployed last to staging?", "last rollout to staging?"])
async def test_the_last_deploy_to_an_environment_is_of_no_other(shop: Shop, question: str) -> None:
    assert "payments" not in said(await ask(shop, question))
    shop.release("payments", 11, 3 * HOUR, {"x.py": "x = 1\n"}, environment="staging")
    assert (await ask(shop, question)).headline.startswith("Deploy 11 (payments, staging)")


# --- whom to ask -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "opens"),
    [
        ("who owns payments?", "Owner of payments: team-pay"),
        ("owner of checkout", "Owner of checkout: team-buy"),
        ("who owns deploy 9?", "Owner of checkout: team-buy"),
        ("who deployed deploy 9 and who owns it?", "Deploy 9 (checkout, v9)"),
        ("who should i page?", "Ask team-pay: payments deploy 10 (v10) is the first suspect"),
    ],
)
async def test_the_owner_is_whom_the_catalog_names(shop: Shop, question: str, opens: str) -> None:
    answer = await ask(shop, question)
    assert answer.headline.startswith(opens)


@pytest.mark.parametrize(
    "question", ["who owns deploy 9999?", "what caused the incident and who owns deploy 9999?"]
)
async def test_nobody_owns_a_deploy_that_does_not_exist(shop: Shop, question: str) -> None:
    answer = await ask(shop, question)
    assert "There is no deploy 9999 in any source" in said(answer)
    assert not any("who owns" in line for line in answer.unknowns)


async def test_each_service_is_told_with_its_owner(shop: Shop) -> None:
    text = said(await ask(shop, "who owns payments and checkout?"))
    assert "Owner of payments: team-pay" in text
    assert "Owner of checkout: team-buy" in text


@pytest.mark.parametrize("question", ["who is on call?", "whos oncall for payments"])
async def test_who_is_on_call_is_said_to_stand_in_no_source(shop: Shop, question: str) -> None:
    answer = await ask(shop, question)
    assert "team-pay" in answer.headline
    assert any("no source that I read holds a schedule" in line for line in answer.unknowns)


async def test_a_service_without_an_owner_says_where_one_goes(shop: Shop) -> None:
    answer = await ask(shop, "who owns web?")
    assert "set `owner` under [services.web] in oncall.toml" in answer.unknowns[0]


async def test_the_owner_of_an_unknown_service_is_not_guessed(shop: Shop) -> None:
    answer = await ask(shop, "who owns the billing service?")
    assert answer.claims == ()
    assert "'billing' is no service" in answer.unknowns[0]


# --- as it is typed at night -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "opens"),
    [
        ("waht changed in depoly 10", "Deploy 10 (payments, v10)"),
        ("whcih service broke checkout", "payments deploy 10 most likely caused"),
        ("what happend", "payments deploy 10 most likely caused"),
        ("checkout 500s", "payments deploy 10 most likely caused"),
        ("tl;dr", "payments deploy 10 most likely caused"),
        ("what do i do now", "Next: ask team-pay"),
        ("how bad is it", "INC-1: "),
        ("resolved?", "INC-1 is "),
        ("last rollout?", "Deploy 10 (payments, v10)"),
        ("who deployed last", "Deploy 10 (payments, v10)"),
        ("newest release of checkout", "Deploy 9 (checkout, v9)"),
        ("rollouts last 2h", "1 deploy since"),
        ("anything right before it started?", "I found nothing"),
        ("anything released right before it started?", "Yes: 1 deploy from"),
        ("when was checkout last deployed and what changed", "Deploy 9 (checkout, v9)"),
        ("compare v9 and v10", "Deploy 10 (payments, v10)"),
        ("could be checkout?", "No: checkout deploy 9"),
        ("was anything deployed to staging today?", "No: no deploy to staging is on record"),
        ("deploys to staging today", "Nothing was deployed to staging since"),
    ],
)
async def test_a_tired_question_is_answered(shop: Shop, question: str, opens: str) -> None:
    assert (await ask(shop, question)).headline.startswith(opens)


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("what rolled out after lunch", "'after lunch' was not understood"),
        ("did we deploy anything between 1 and 2", "was not understood"),
        ("did the retry budget change", "'retry budget' is no service"),
        ("who approved deploy 10", "who approved it"),
        ("was ist kaputt?", "asked in English"),
    ],
)
async def test_what_is_not_known_is_said_plainly(shop: Shop, question: str, says: str) -> None:
    answer = await ask(shop, question)
    assert answer.claims == ()
    assert says in " ".join(answer.unknowns)
