"""No other question is answered than the one that was asked; what is left of it is said to be unknown."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from bot.loop.question import Question
from bot.models.rules_nothing import say_nothing
from models.rules_shop import HOUR, ask, said, shop_of
from support.shop import NOW, Shop
from tools.records import Confidence


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return shop_of(tmp_path)


@pytest.mark.parametrize(
    "question",
    [
        "Is it safe to roll forward to 9?",
        "is it safe to deploy 9 to production?",
        "can we ship v9?",
    ],
)
async def test_going_forward_is_not_judged_and_what_it_changes_is_told(
    shop: Shop, question: str
) -> None:
    answer = await ask(shop, question.replace(" 9", " deploy 9"))
    assert answer.headline.startswith(
        "Whether it is safe to roll forward stays open; Deploy 9 (checkout, v9): "
    )
    assert "I cannot judge whether it is safe to roll forward" in answer.unknowns[0]
    assert "Deploy 9 changed 1 file" in said(answer)
    assert "payments" not in said(answer)
    assert answer.confidence is Confidence.LOW


async def test_going_forward_to_nothing_named_is_unknown(shop: Shop) -> None:
    answer = await ask(shop, "should we roll forward?")
    assert answer.claims == ()
    assert answer.unknowns[0].startswith("whether rolling forward is safe: ")


async def test_the_first_deploy_to_an_environment_is_said_to_be_no_more_than_that(
    shop: Shop,
) -> None:
    shop.release("payments", 11, HOUR / 2, {"x.py": "x = 1\n"}, ref="v11", environment="staging")
    answer = await ask(shop, "is it safe to roll back deploy 11?")
    assert answer.headline == (
        "Unsafe to roll back payments deploy 11 (v11); "
        "it is the first of payments to staging on record"
    )
    changes = await ask(shop, "what changed in deploy 11?")
    assert "the first deploy of payments to staging on record" in changes.headline


async def test_two_environments_are_told_apart_by_what_runs_in_each(shop: Shop) -> None:
    shop.release("payments", 11, HOUR / 2, {"x.py": "x = 1\n"}, ref="v11", environment="staging")
    answer = await ask(shop, "What is different between staging and production for payments?")
    assert answer.headline == (
        "The last successful deploy to staging: payments deploy 11 (v11); "
        "The last successful deploy to production: payments deploy 10 (v10)"
    )
    assert len(answer.unknowns) == 1


@pytest.mark.parametrize(
    "question",
    [
        "Who owns checkout and who deployed the bad version?",
        "Who deployed the version that broke checkout?",
        "Who deployed it, and who should I call?",
    ],
)
async def test_who_deployed_the_bad_version_is_who_deployed_the_suspect(
    shop: Shop, question: str
) -> None:
    answer = await ask(shop, question)
    assert "Deploy 10 (payments, v10) started" in answer.headline
    assert "dana.li" in answer.headline
    assert "checkout deploy 9" not in answer.headline


async def test_the_owner_is_told_beside_who_deployed(shop: Shop) -> None:
    owner = await ask(shop, "Who owns checkout and who deployed the bad version?")
    assert "Owner of checkout: team-buy" in owner.headline
    assert "Ask team-pay" in (await ask(shop, "Who deployed it, and who should I call?")).headline


async def test_each_incident_that_is_asked_about_is_answered(shop: Shop) -> None:
    shop.incident(id="INC-8", title="Web is slow", summary="pages are slow", services=["web"])
    answer = await ask(shop, "is INC-1 resolved? is INC-8 resolved?")
    assert "INC-1" in answer.headline
    assert "INC-8" in answer.headline


async def test_what_was_deployed_by_somebody_is_not_what_everybody_deployed(shop: Shop) -> None:
    answer = await ask(shop, "was anything deployed by dana today?")
    assert answer.headline == "dana.li deployed payments deploy 10 (v10)"
    nobody = await ask(shop, "was anything deployed by imani today?")
    assert nobody.claims == ()
    assert "by imani" in nobody.unknowns[0]


async def test_a_clause_that_is_not_understood_is_listed_beside_what_is_answered(
    shop: Shop,
) -> None:
    answer = await ask(shop, "Who deployed deploy 10? Where is its dashboard?")
    assert answer.headline.startswith("Deploy 10 (payments, v10) started")
    assert answer.unknowns == (
        "“Where is its dashboard?”: I did not understand this part; ask it by itself, in other words",
    )


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("thanks!", "Nothing was asked, so nothing was looked up."),
        ("ok great, thank you so much", "Nothing was asked, so nothing was looked up."),
        ("help", "Ask me about a deploy or an incident, like "),
        ("what is the weather?", "Without a language model I can say which deploy"),
    ],
)
async def test_where_nothing_is_found_a_question_is_named_that_can_be_asked(
    shop: Shop, text: str, opens: str
) -> None:
    (line,) = (await ask(shop, text)).unknowns
    assert line.startswith(opens)
    assert "“Which deploy broke checkout?”" in line


def test_thanks_that_go_on_for_long_are_read_at_once() -> None:
    text = "thanks" + " for you you" * 24
    for more, opens in (("", "Nothing was asked"), (" zzz", "Without a language")):
        question = Question(text=text + more, asked_at=NOW, parts=())
        began = time.process_time()
        assert say_nothing(question).startswith(opens)
        assert time.process_time() - began < 1.0


async def test_the_question_that_is_named_is_of_the_service_that_was_spoken_of(shop: Shop) -> None:
    (line,) = (await ask(shop, "where is the dashboard of payments?")).unknowns
    assert line.endswith("“Which deploy broke payments?”")
