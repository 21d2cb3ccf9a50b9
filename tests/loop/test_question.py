from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.loop.entities import find_services
from bot.loop.question import MAX_QUESTION, DeployRef, PartKind, parse
from support.scripted import CATALOG, NOW, asked


def parts(text: str) -> list[tuple[str, str | None]]:
    return [(p.kind.value, p.deploy.words if p.deploy else None) for p in asked(text).parts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Which service caused the checkout incident, and what changed in deploy 4471?",
            [("cause", None), ("changes", "deploy 4471")],
        ),
        ("What changed in deploy #9999?", [("changes", "deploy 9999")]),
        ("What did deploy 5223 change?", [("changes", "deploy 5223")]),
        ("Who deployed web last, and when?", [("who_when", "last deploy of web")]),
        ("When was ledger last deployed?", [("who_when", "last deploy of ledger")]),
        ("what was deployed since 01:00?", [("listing", None)]),
        ("what went out between 00:30 and 02:00?", [("listing", None)]),
        ("list deploys of checkout in the last 2 hours", [("listing", None)]),
        ("What changed in the last deploy of payments?", [("changes", "last deploy of payments-api")]),
        ("What changed in v2.3.1 and who shipped it?", [("changes", "deploy v2.3.1"), ("who_when", "deploy v2.3.1")]),
        ("Who deployed 3f2a9bc?", [("who_when", "deploy 3f2a9bc")]),
        ("deploys 4470 and 4471: what changed?", [("changes", "deploy 4470"), ("changes", "deploy 4471")]),
        ("What caused INC-1?", [("cause", None)]),
        ("Checkout is down since 02:06. Which deploy is it and what changed?", [("cause", None), ("changes", None)]),
        ("web 9.0.0 went out. What changed in it?", [("changes", "deploy 9.0.0")]),
        ("Checkout broke. What changed, in which deploy?", [("cause", None), ("changes", None)]),
        ("hello there", []),
        ("thanks!", []),
    ],
)  # fmt: skip
def test_a_question_is_taken_apart_into_what_it_asks(
    text: str, expected: list[tuple[str, str | None]]
) -> None:
    assert sorted(parts(text), key=str) == sorted(expected, key=str)


def test_the_incident_and_the_service_are_found() -> None:
    question = asked("What caused INC-42 in the payments api?")
    assert question.parts[0].incident == "INC-42"
    assert question.services == ("payments-api",)


def test_times_and_dates_are_not_deploy_numbers() -> None:
    assert asked("What was deployed since 2026-11-28 and before 02:10 UTC?").deploys == ()


def test_a_longer_service_name_wins_over_one_inside_it() -> None:
    words = {"web": "web", "web-admin": "web-admin"}
    assert find_services("web-admin is slow", words) == ("web-admin",)
    assert find_services("the web admin and web", words) == ("web-admin", "web")


def test_a_window_is_read_against_the_clock() -> None:
    part = asked("what was deployed between 00:30 and 02:00?").parts[0]
    assert part.since == datetime(2026, 11, 29, 0, 30, tzinfo=UTC)
    assert part.until == datetime(2026, 11, 29, 2, 0, tzinfo=UTC)


def test_a_long_question_is_cut_and_says_so() -> None:
    question = parse("x" * 20_000, NOW, CATALOG)
    assert question.cut
    assert len(question.text) == MAX_QUESTION


def test_every_part_has_words_for_people() -> None:
    question = asked(
        "What caused the outage? What changed in deploy 1? Who deployed web? What was deployed today?"
        " Was it that one? Was it fixed? Was web deployed that week? How long before?"
        " Where was app.py before? Which setting turns it off? Is it safe to roll back?"
        " What incidents are open? Is it over? What is running? What commit is deploy 1?"
        " Is deploy 1 live? Is it safe to roll forward?"
        " Is deploy 4471 live? Who owns web?"
    )
    assert {p.kind for p in question.parts} == set(PartKind)
    assert all(p.words for p in question.parts)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Was it that one?", PartKind.WAS_IT),
        ("Why not that one?", PartKind.WAS_IT),
        ("Was it deploy 12?", PartKind.WAS_IT),
        ("did payments break it", PartKind.WAS_IT),
        ("is payments to blame", PartKind.WAS_IT),
        ("and payments?", PartKind.WAS_IT),
        ("Did we break it?", PartKind.CAUSE),
        ("is this ours?", PartKind.CAUSE),
        ("Whose deploy is it?", PartKind.CAUSE),
        ("Which of last night's deploys?", PartKind.CAUSE),
        ("Cause?", PartKind.CAUSE),
        ("payments is down, did we ship something?", PartKind.CAUSE),
        ("payments cannot reach the bank", PartKind.CAUSE),
        ("What is deploy 12?", PartKind.CHANGES),
        ("whats the rollback? ", PartKind.ROLLBACK),
        ("who rolled that out", PartKind.WHO_WHEN),
        ("whats the version before that", PartKind.WHO_WHEN),
        ("Did deploy 12 cause it?", PartKind.WAS_IT),
        ("Which later deploy made it work again, and how?", PartKind.FIX),
        ("Has it been rolled back?", PartKind.FIX),
        ("Is a fix already deployed?", PartKind.FIX),
        ("Did 2.2.1 settle it?", PartKind.FIX),
        ("Which deploy brought the old entry point back?", PartKind.FIX),
        ("Was anything deployed in the 24 hours before it began?", PartKind.SHIPPED),
        ("Did payments change in September?", PartKind.SHIPPED),
        ("What was the last deploy before it began?", PartKind.BEFORE_ONSET),
        ("How long before?", PartKind.BEFORE_ONSET),
        ("Where was src/app.py before?", PartKind.MOVED),
        ("Which setting brings the old behaviour back?", PartKind.SETTING),
        ("Is it safe to roll back?", PartKind.ROLLBACK),
        ("What would a rollback take away?", PartKind.ROLLBACK),
        ("Which deploy do I roll back?", PartKind.CAUSE),
        ("Why is checkout down?", PartKind.CAUSE),
        ("What changed in deploy 12?", PartKind.CHANGES),
        ("When was payments deployed before that?", PartKind.WHO_WHEN),
        ("What else went out?", PartKind.LISTING),
        ("rollback 4471", PartKind.ROLLBACK),
        ("please revert it now", PartKind.ROLLBACK),
        ("rollback payments", PartKind.ROLLBACK),
        ("what incidents are open?", PartKind.INCIDENTS),
        ("any open incidents", PartKind.INCIDENTS),
        ("is there an ongoing outage?", PartKind.INCIDENTS),
        ("which incidents did deploy 4471 cause?", PartKind.WAS_IT),
        ("when did the checkout incident start?", PartKind.INCIDENT),
        ("when was INC-7 resolved?", PartKind.INCIDENT),
        ("how long did it last?", PartKind.INCIDENT),
        ("how long has this been going on?", PartKind.INCIDENT),
        ("is it over yet?", PartKind.INCIDENT),
        ("is payments still down?", PartKind.INCIDENT),
        ("when did the errors start?", PartKind.INCIDENT),
        ("what's the status of deploy 4471?", PartKind.WHO_WHEN),
        ("how do I revert deploy 4471?", PartKind.ROLLBACK),
        ("is INC-7 fixed?", PartKind.INCIDENT),
        ("status?", PartKind.INCIDENT),
        ("what's the severity of INC-7?", PartKind.INCIDENT),
        ("is it fixed?", PartKind.FIX),
        ("what commit is deploy 4471?", PartKind.COMMIT),
        ("what's the sha of 4471", PartKind.COMMIT),
        ("from which commit was 4471 built?", PartKind.COMMIT),
        ("which commit of deploy 4471 broke it?", PartKind.CAUSE),
        ("what commits are in deploy 4471?", PartKind.CHANGES),
        ("what is running in production?", PartKind.RUNNING),
        ("whats in prod", PartKind.RUNNING),
        ("what is in staging?", PartKind.RUNNING),
        ("which release is active?", PartKind.RUNNING),
        ("which tag is on?", PartKind.RUNNING),
        ("which version of payments is live?", PartKind.RUNNING),
        ("what is payments running?", PartKind.RUNNING),
        ("current version of payments", PartKind.RUNNING),
        ("which version was running before?", PartKind.WHO_WHEN),
        ("what did imani ship?", PartKind.LISTING),
    ],
)
def test_what_a_question_asks_for(text: str, kind: PartKind) -> None:
    assert {part.kind for part in asked(text).parts} == {kind}


def test_that_one_is_the_deploy_of_the_sentence_before() -> None:
    part = asked("payments 1.2.3 went out the evening before. Was it that one?").parts[0]
    assert part.deploy is not None
    assert (part.deploy.asked, part.deploy.service) == ("1.2.3", "payments-api")


def test_each_version_that_may_have_fixed_it_is_a_part_of_its_own() -> None:
    parts = asked("Did payments 2.32.1 or 2.32.2 fix it?").parts
    assert [part.deploy.asked for part in parts if part.deploy] == ["2.32.1", "2.32.2"]


def test_the_thread_names_the_incident_and_the_deploy() -> None:
    question = parse(
        "Was it that one?", NOW, CATALOG, ("deploy 4470 is next", "see INC-7 about checkout")
    )
    assert question.parts[0].incident == "INC-7"
    assert question.parts[0].deploy is not None
    assert question.parts[0].deploy.asked == "4470"


def test_before_that_and_the_change_are_counted_from_the_suspect() -> None:
    before = asked("When was payments deployed before that?").parts[0].deploy
    itself = asked("Who shipped the payments change, and when?").parts[0].deploy
    assert before is not None
    assert itself is not None
    assert (before.before_cause, itself.before_cause) == (1, 0)


def test_the_file_of_another_sentence_is_the_one_that_is_asked_about() -> None:
    assert asked("src/app.py is new there. Where was it before?").parts[0].path == "src/app.py"


@pytest.mark.parametrize(
    ("text", "kind", "deploys"),
    [
        ("Who deployed 4471?", PartKind.WHO_WHEN, ["4471"]),
        ("when did #4471 go out", PartKind.WHO_WHEN, ["4471"]),
        ("was 4470 deployed yesterday?", PartKind.WHO_WHEN, ["4470"]),
        ("did 4470 break checkout?", PartKind.WAS_IT, ["4470"]),
        ("could 4473 be the cause?", PartKind.WAS_IT, ["4473"]),
        ("is it safe to roll back 4470?", PartKind.ROLLBACK, ["4470"]),
        ("4471?", PartKind.CHANGES, ["4471"]),
        ("show me 4471", PartKind.CHANGES, ["4471"]),
        ("what's in 4471", PartKind.CHANGES, ["4471"]),
        ("What's the difference between 4467 and 4471?", PartKind.CHANGES, ["4467", "4471"]),
    ],
)
def test_a_deploy_is_understood_by_its_bare_number(
    text: str, kind: PartKind, deploys: list[str]
) -> None:
    parts = parse(text, NOW, {"checkout": "checkout"}).parts
    assert [(part.kind, part.deploy and part.deploy.asked) for part in parts] == [
        (kind, deploy) for deploy in deploys
    ]


@pytest.mark.parametrize(
    "text", ["did 5000 requests fail?", "who deployed 4500 pods?", "It is down. (299900)"]
)
def test_a_count_of_things_is_no_deploy(text: str) -> None:
    assert all(part.deploy is None for part in parse(text, NOW, {}).parts)


def test_a_number_after_another_service_is_a_deploy_of_that_one() -> None:
    words = {"web": "web", "ledger": "ledger"}
    parts = parse("What changed in web 4470? And ledger 12?", NOW, words).parts
    assert [(p.deploy.service, p.deploy.asked) for p in parts if p.deploy] == [
        ("web", "4470"),
        ("ledger", "12"),
    ]


def test_two_services_that_are_asked_about_are_two_parts() -> None:
    words = {"web": "web", "ledger": "ledger"}
    parts = parse("Was it web, and what about ledger?", NOW, words).parts
    assert [(p.kind, p.service) for p in parts] == [
        (PartKind.WAS_IT, "web"),
        (PartKind.WAS_IT, "ledger"),
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("which deploys failed?", "how they ended"),
        ("was web deployed before 4468?", "name a time in place of the deploy"),
        ("what did Mara change?", "'Mara' is no service or deploy"),
        ("roll back to 4468", "not going back to one"),
        ("can we revert to v2.3.0?", "not going back to one"),
    ],
)
def test_what_is_not_understood_is_said_and_not_dropped(text: str, why: str) -> None:
    (part,) = parse(text, NOW, {"web": "web"}).parts
    assert why in part.unread


def test_what_did_a_service_change_asks_about_its_last_deploy() -> None:
    (part,) = parse("what did web change?", NOW, {"web": "web"}).parts
    assert part.deploy is not None
    assert (part.deploy.service, part.deploy.ordinal) == ("web", 1)


# --- several at once ------------------------------------------------------------------------------

BOTH = {"web": "web", "ledger": "ledger", "checkout": "checkout"}


@pytest.mark.parametrize(
    ("text", "kind", "services"),
    [
        ("who deployed web and ledger last?", PartKind.WHO_WHEN, ["web", "ledger"]),
        ("who deployed web, ledger, and checkout?", PartKind.WHO_WHEN, ["web", "ledger", "checkout"]),
        ("who deployed web during the checkout incident?", PartKind.WHO_WHEN, ["web"]),
        ("what was deployed of web and the ledger today?", PartKind.LISTING, ["web", "ledger"]),
        ("was web or ledger deployed today?", PartKind.SHIPPED, ["web", "ledger"]),
        ("was it web or ledger?", PartKind.WAS_IT, ["web", "ledger"]),
        ("did web break checkout?", PartKind.WAS_IT, ["web"]),
        ("which version of web and ledger is running?", PartKind.RUNNING, ["web", "ledger"]),
        ("is it safe to roll back web and ledger?", PartKind.ROLLBACK, ["web", "ledger"]),
        ("what changed in the last deploys of web and ledger?", PartKind.CHANGES, ["web", "ledger"]),
    ],
)  # fmt: skip
def test_each_of_the_services_that_are_asked_about_together_is_a_part(
    text: str, kind: PartKind, services: list[str]
) -> None:
    parts = parse(text, NOW, BOTH).parts
    assert [(part.kind, part.service) for part in parts] == [(kind, name) for name in services]


def test_bare_numbers_that_are_asked_about_together_are_deploys_each() -> None:
    parts = parse("who deployed 4470, 4471 and 4472?", NOW, {}).parts
    assert [p.deploy.asked for p in parts if p.deploy] == ["4470", "4471", "4472"]


# --- what "it" is ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thread", "deploys"),
    [
        (("oncall: payments-api deploy 4471 (v2.3.1) caused it\n• Runner-up: web deploy 4470",), ["4471"]),
        (("oncall: 2 deploys today\n• Deploy 4470 (web, v9.0.0)\n• Deploy 4471 (payments-api)",), ["4470", "4471"]),
        (("see deploy 12", "oncall: No: web deploy 4470 did not; payments-api deploy 4471 ranks first"), ["4470", "4471"]),
        (("oncall: web (v9.0.0) is out",), ["v9.0.0"]),
    ],
)  # fmt: skip
def test_it_is_what_the_newest_message_is_about_and_each_where_that_is_several(
    thread: tuple[str, ...], deploys: list[str]
) -> None:
    for text in (
        "when did it go out?",
        "what changed in it?",
        "was it that one?",
        "which commit is it?",
    ):
        parts = parse(text, NOW, BOTH, thread).parts
        assert [part.deploy and part.deploy.asked for part in parts] == deploys, text


def test_that_one_is_what_the_sentence_before_names_and_not_the_first_of_all() -> None:
    text = "Did deploy 4473 cause it? deploy 9 is older. Why not that one?"
    parts = parse(text, NOW, BOTH).parts
    assert [part.deploy and part.deploy.asked for part in parts] == ["4473", "9"]


def test_it_may_be_too_many_to_answer_each() -> None:
    thread = ("deploys 4470, 4471, 4472 and 4473 went out",)
    (part,) = parse("when did it go out?", NOW, BOTH, thread).parts
    assert part.deploy is None
    assert part.unread == (
        "which one do you mean: deploy 4470, deploy 4471, deploy 4472, deploy 4473?"
    )


def test_what_else_asks_beside_the_deploy_that_is_spoken_of() -> None:
    (part,) = parse("what else went out?", NOW, BOTH, ("deploy 4470 looks odd",)).parts
    assert part.deploy is not None
    assert part.deploy.asked == "4470"


def test_what_changed_in_what_runs_is_about_its_last_deploy() -> None:
    _, changes = parse("which version of web is live, and what changed in it?", NOW, BOTH).parts
    assert changes.deploy == DeployRef(service="web")


def test_a_deploy_that_was_rolled_back_is_not_taken_for_the_one_that_fixed_it() -> None:
    (undone,) = parse("has deploy 4471 been rolled back?", NOW, BOTH).parts
    (mends,) = parse("has it been rolled back by deploy 4475?", NOW, BOTH).parts
    assert (undone.kind, undone.deploy) == (PartKind.FIX, None)
    assert mends.deploy == DeployRef(asked="4475")


# --- URLs and people ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("https://graphs.test/d/web?from=now what broke?", [("cause", None, None)]),
        ("What broke? (see https://wiki.test/what/changed/in/deploy.)", [("cause", None, None)]),
        ("what changed in https://git.test/shop/commit/3f2a9bc?", [("changes", "deploy 3f2a9bc", None)]),
        ("what changed in https://git.test/shop/releases/tag/v2.3.1", [("changes", "deploy v2.3.1", None)]),
        ("who shipped https://ship.test/deploys/4471?", [("who_when", "deploy 4471", None)]),
        ("what caused https://pager.test/INC-42 ?", [("cause", None, "INC-42")]),
    ],
)  # fmt: skip
def test_of_a_url_only_what_it_leads_to_is_read(
    text: str, parts: list[tuple[str, str | None, str | None]]
) -> None:
    question = parse(text, NOW, {"web": "web"})
    assert [
        (p.kind.value, p.deploy.words if p.deploy else None, p.incident) for p in question.parts
    ] == parts
    assert question.services == ()
    assert question.text == text


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("what did Imani deploy?", "imani"),
        ("what has @imani.okafor shipped today?", "imani.okafor"),
        ("what else did imani push?", "imani"),
        ("deploys by release-bot since 01:00", "release-bot"),
        ("what did we deploy?", None),
        ("what did web deploy?", None),
        ("what was deployed by hand?", None),
    ],
)
def test_whose_deploys_are_asked_for(text: str, person: str | None) -> None:
    (part,) = parse(text, NOW, BOTH).parts
    assert part.kind is PartKind.LISTING
    assert (part.person, part.unread) == (person, "")
