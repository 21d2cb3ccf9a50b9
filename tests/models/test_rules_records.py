"""The rules model on the records themselves, and on deploys beside the suspect: the real loop and goal
check on a real workspace.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from models.rules_shop import DAY, HOUR, ask, said, shop_of
from support.shop import NOW, ONSET, Shop, stamp


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return shop_of(tmp_path)


# --- several at once, and "it" --------------------------------------------------------------------


async def test_each_service_that_is_asked_about_is_answered_and_opens_the_reply(shop: Shop) -> None:
    answer = await ask(shop, "Who deployed payments and checkout last?")
    assert answer.headline.startswith("Deploy 10 (payments, v10) started")
    assert "; Deploy 9 (checkout, v9) started" in answer.headline
    assert len(answer.claims) == 2


async def test_a_listing_of_two_services_says_how_many_of_each(shop: Shop) -> None:
    answer = await ask(shop, "What was deployed of payments and web since yesterday?")
    assert answer.headline.startswith(
        "1 deploy of payments since 2026-11-28 00:00 UTC; Nothing was"
    )
    assert "Deploy 10" in said(answer)


LISTED = (
    "mara: what else went out?",
    "oncall: 2 deploys\n• Deploy 10 (payments, v10) went out\n• Deploy 9 (checkout, v9) went out",
)


async def test_it_after_a_list_is_answered_for_each_of_the_list(shop: Shop) -> None:
    answer = await ask(shop, "when did it go out?", thread=LISTED)
    assert "Deploy 10 (payments, v10) started" in answer.headline
    assert "Deploy 9 (checkout, v9) started" in answer.headline


async def test_it_after_a_reply_about_one_deploy_is_that_one(shop: Shop) -> None:
    thread = ("oncall: payments deploy 10 (v10) most likely caused it\n• Runner-up: deploy 9",)
    answer = await ask(shop, "when did it go out?", thread=thread)
    assert answer.headline.startswith("Deploy 10 (payments, v10)")
    assert "Deploy 9" not in said(answer)


async def test_it_after_a_long_list_is_asked_back(shop: Shop) -> None:
    thread = ("oncall: 4 deploys\n• Deploy 1\n• Deploy 2\n• Deploy 3\n• Deploy 9",)
    answer = await ask(shop, "when did it go out?", thread=thread)
    assert answer.claims == ()
    assert "which one do you mean: deploy 1, deploy 2, deploy 3, deploy 9?" in answer.unknowns[0]


@pytest.mark.parametrize(
    ("thread", "else_"),
    [
        ((), "checkout deploy 9 (v9)"),
        (("deploy 9 looks odd",), "web deploy 12 (v12)"),
    ],
)
async def test_what_else_leaves_out_the_deploy_that_is_spoken_of(
    shop: Shop, thread: tuple[str, ...], else_: str
) -> None:
    if thread:
        shop.release("web", 12, 2 * HOUR, {"a.html": "<p>a</p>\n"}, ref="v12")
    answer = await ask(shop, "What else went out?", thread=thread)
    assert answer.headline.startswith(else_)
    assert "Deploy 10" not in said(answer)


async def test_what_else_in_a_window_leaves_out_the_suspect_too(shop: Shop) -> None:
    answer = await ask(shop, "What else went out since 2026-11-28 20:00?")
    assert answer.headline.startswith("checkout deploy 9 (v9), since 2026-11-28 20:00 UTC")


async def test_what_else_without_anything_else_says_so(shop: Shop) -> None:
    answer = await ask(shop, "What else went out since 2026-11-29 00:30?")
    assert answer.headline.startswith("Only payments deploy 10 (v10) is on record since")


# --- the way back of a deploy beside the suspect ---------------------------------------------------


async def test_a_rollback_of_another_deploy_is_judged_by_its_own_diff(shop: Shop) -> None:
    answer = await ask(shop, "Is it safe to roll back deploy 9?")
    assert answer.headline.startswith(
        "As far as its diff shows, checkout deploy 9 (v9) can be rolled"
    )
    assert "payments deploy 10 (v10) ranks first for the checkout incident" in said(answer)
    assert "The version before it is checkout deploy 2 (v2)" in said(answer)
    assert answer.unknowns == (
        "whether that would help: checkout deploy 9 (v9) is not known to have caused anything",
    )


@pytest.mark.parametrize("question", ["can I roll back checkout?", "rollback checkout"])
async def test_a_rollback_of_a_service_is_that_of_its_last_deploy(
    shop: Shop, question: str
) -> None:
    answer = await ask(shop, question)
    assert answer.headline.startswith("As far as its diff shows, checkout deploy 9 (v9)")


async def test_a_deploy_that_others_came_after_is_unsafe_to_roll_back(shop: Shop) -> None:
    answer = await ask(shop, "is it safe to roll back deploy 2?")
    assert answer.headline == (
        "Unsafe to roll back checkout deploy 2 (v2); checkout deploy 9 (v9) came after it and would "
        "go as well"
    )


async def test_a_migration_makes_a_rollback_unsafe(shop: Shop) -> None:
    shop.release("web", 12, 2 * HOUR, {"migrations/0002_add.sql": "ALTER TABLE a\n"}, ref="v12")
    answer = await ask(shop, "is it safe to roll back deploy 12?")
    assert answer.headline.startswith(
        "Unsafe to roll back web deploy 12 (v12); it changed a migration"
    )
    assert "migrations/0002_add.sql" in said(answer)


async def test_the_first_deploy_of_a_service_has_nothing_to_go_back_to(shop: Shop) -> None:
    answer = await ask(shop, "is it safe to roll back deploy 1?")
    assert (
        answer.headline
        == "Unsafe to roll back web deploy 1 (v1); it is the first of web to production on record"
    )


async def test_a_deploy_that_does_not_exist_cannot_be_rolled_back(shop: Shop) -> None:
    answer = await ask(shop, "is it safe to roll back deploy 777?")
    assert answer.headline == "Deploy 777 does not exist: no source has it"


@pytest.mark.parametrize(
    ("order", "opens"),
    [
        ("rollback deploy 10", "Next: ask team-pay; to roll back"),
        ("please revert deploy 9", "As far as its diff shows, checkout deploy 9"),
    ],
)
async def test_an_order_to_roll_back_is_answered_with_how_and_not_carried_out(
    shop: Shop, order: str, opens: str
) -> None:
    answer = await ask(shop, order)
    assert answer.headline.startswith(opens)
    assert "running the rollback: I only read, a person has to run it" in answer.unknowns


async def test_a_deploy_named_as_rolled_back_is_looked_for_among_the_later_ones(
    shop: Shop,
) -> None:
    answer = await ask(shop, "has deploy 10 been rolled back?")
    assert answer.headline.startswith("No: no later deploy on record takes back what payments")


# --- commits, people, what runs -------------------------------------------------------------------


@pytest.mark.parametrize("question", ["what commit is deploy 9?", "what is the sha of deploy 9?"])
async def test_a_deploys_commit_is_told(shop: Shop, question: str) -> None:
    answer = await ask(shop, question)
    sha = next(one["sha"] for one in shop.deploys if one["number"] == 9)
    assert answer.headline == f"Deploy 9 (checkout, v9) is commit {sha[:12]}"


async def test_a_deploy_without_a_commit_on_record_leaves_it_unknown(shop: Shop) -> None:
    shop.release("web", 12, HOUR, sha="x", ref="v12")
    shop.deploys[-1]["sha"] = None
    answer = await ask(shop, "what commit is deploy 12?")
    assert answer.unknowns == ("which commit deploy 12 is: its record names no commit",)


async def test_what_a_person_deployed_is_told_by_a_part_of_the_name(shop: Shop) -> None:
    answer = await ask(shop, "what did dana deploy?")
    assert answer.headline == "dana.li deployed payments deploy 10 (v10)"
    assert "Deploy 9" not in said(answer)


async def test_a_person_whom_no_record_names_is_unknown(shop: Shop) -> None:
    answer = await ask(shop, "what did zoe deploy?")
    assert answer.claims == ()
    assert answer.unknowns == (
        "what was deployed by zoe: none of the 5 deploys on record names such a person",
    )


async def test_what_runs_is_said_as_the_last_successful_deploy(shop: Shop) -> None:
    shop.release("payments", 11, HOUR / 2, {"b.py": "b = 1\n"}, ref="v11", status="failure")
    answer = await ask(shop, "which version of payments is running?")
    assert answer.headline == "The last successful deploy to production: payments deploy 10 (v10)"
    assert "Deploy 11 (payments, v11) was tried" in said(answer)
    assert any("I read deploy records, not the machines" in line for line in answer.unknowns)


async def test_what_runs_in_production_names_every_service(shop: Shop) -> None:
    answer = await ask(shop, "what is running in production?")
    assert answer.headline == (
        "The last successful deploys to production: payments deploy 10 (v10), checkout deploy 9 (v9), "
        "web deploy 1 (v1)"
    )


async def test_what_runs_where_nothing_was_deployed_is_said(shop: Shop) -> None:
    answer = await ask(shop, "what version of web is live in staging?")
    assert answer.headline == "No deploy of web to staging is on record"


async def test_a_service_whose_deploys_all_failed_is_left_unknown(shop: Shop) -> None:
    shop.deploys[0]["status"] = "failure"
    answer = await ask(shop, "which version of web is running?")
    assert answer.claims == ()
    assert "none of its last deploys succeeded" in answer.unknowns[0]


async def test_an_outcome_that_is_not_recorded_is_not_called_a_success(shop: Shop) -> None:
    shop.deploys[0]["status"] = "odd"
    answer = await ask(shop, "which version of web is running?")
    assert "whether web deploy 1 succeeded: its outcome is not recorded" in answer.unknowns


# --- incidents ------------------------------------------------------------------------------------


def resolved(shop: Shop) -> None:
    shop.incident(
        id="INC-0",
        title="Web was slow",
        services=["web"],
        severity="sev3",
        status="resolved",
        started_at=stamp(ONSET - 9 * DAY),
        detected_at=stamp(ONSET - 9 * DAY + HOUR / 4),
        resolved_at=stamp(ONSET - 9 * DAY + HOUR),
    )


async def test_open_incidents_are_listed_and_the_others_are_not(shop: Shop) -> None:
    resolved(shop)
    answer = await ask(shop, "what incidents are open?")
    assert answer.headline == "Open: INC-1 “Checkout fails” (sev1, checkout)"
    assert "INC-0" not in said(answer)


async def test_where_every_incident_is_over_that_is_said(shop: Shop) -> None:
    shop.incidents.clear()
    resolved(shop)
    answer = await ask(shop, "any open incidents?")
    assert answer.headline == "Every incident on record is resolved"
    assert "INC-0 “Web was slow” (sev3, web): it was resolved 2026-11-20 03:06 UTC" in said(answer)


async def test_a_list_of_incidents_tells_how_each_stands(shop: Shop) -> None:
    resolved(shop)
    answer = await ask(shop, "list the incidents")
    assert answer.headline == "INC-1 (open), INC-0 (resolved)"


async def test_a_window_without_incidents_is_named(shop: Shop) -> None:
    answer = await ask(shop, "were there any incidents on 2026-11-03?")
    assert answer.headline == (
        "No incident is on record from 2026-11-03 00:00 UTC to 2026-11-04 00:00 UTC"
    )


@pytest.mark.parametrize(
    ("question", "headline"),
    [
        ("when did the checkout incident start?", "INC-1 began 2026-11-29 02:06 UTC; it is open"),
        ("when did it start?", "INC-1 began 2026-11-29 02:06 UTC; it is open"),
        ("is checkout still down?", "INC-1 is open; it began 2026-11-29 02:06 UTC"),
        ("is it over?", "INC-1 is open; it began 2026-11-29 02:06 UTC"),
        ("is INC-0 resolved?", "INC-0 was resolved 2026-11-20 03:06 UTC; it began 2026-11-20 02:06 UTC"),
        ("how long did INC-0 last?", "INC-0 was resolved 2026-11-20 03:06 UTC; it began 2026-11-20 02:06 UTC"),
        ("what's the status of INC-1?", "INC-1 is open; it began 2026-11-29 02:06 UTC"),
    ],
)  # fmt: skip
async def test_an_incident_is_told_by_its_own_times_and_no_length_is_computed(
    shop: Shop, question: str, headline: str
) -> None:
    resolved(shop)
    answer = await ask(shop, question)
    assert answer.headline == headline


async def test_what_an_incidents_record_leaves_out_is_unknown(shop: Shop) -> None:
    shop.incidents[0] |= {"status": "odd", "started_at": None, "detected_at": stamp(ONSET)}
    answer = await ask(shop, "when did INC-1 start?")
    assert answer.headline == "INC-1 was detected 2026-11-29 02:06 UTC"
    assert answer.unknowns == ("whether the incident INC-1 is over: no status is recorded",)


async def test_an_incident_that_nothing_names_is_asked_back(shop: Shop) -> None:
    shop.incident(id="INC-2", title="Web is down", services=["web"])
    answer = await ask(shop, "when did it start?")
    assert answer.headline == "Which incident do you mean: INC-1, INC-2?"


# --- URLs -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "question",
    [
        "https://graphs.test/d/web?orgId=1&from=9 what broke checkout?",
        "what broke checkout? see <https://graphs.test/web|https://graphs.test/web>",
        "what caused https://pager.test/incidents/INC-1 ?",
    ],
)
async def test_a_url_is_no_word_of_the_incident(shop: Shop, question: str) -> None:
    shop.incident(id="INC-2", title="https certificate of web is invalid", services=["web"])
    answer = await ask(shop, question)
    assert answer.headline.startswith("payments deploy 10 most likely caused the checkout incident")


async def test_a_url_of_a_commit_names_its_deploy(shop: Shop) -> None:
    sha = next(one["sha"] for one in shop.deploys if one["number"] == 9)
    answer = await ask(shop, f"what changed in https://git.test/shop/commit/{sha[:12]}?")
    assert answer.headline.startswith("Deploy 9 (checkout, v9)")


async def test_questions_about_records_hold_at_any_clock(shop: Shop) -> None:
    """An hour before the incident nothing of it is known."""
    answer = await ask(shop, "what incidents are open?", NOW - 2 * HOUR)
    assert answer.headline == "No incident is on record"
