"""How whole questions are read: each part with its deploy, service, time, file and what is not understood."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.loop.entities import DeployRef
from bot.loop.part_kinds import kinds_of
from bot.loop.question import MAX_QUESTION, Part, PartKind, parse
from bot.loop.times import OnsetWindow
from support.scripted import CATALOG, NOW, asked


def at(day: int, hour: int, minute: int = 0) -> datetime:
    return datetime(2026, 11, day, hour, minute, tzinfo=UTC)


def part(kind: PartKind, text: str, **fields: Any) -> Part:
    return Part(kind=kind, text=text, **fields)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Whos shipped web?", [part(PartKind.WHO_WHEN, "Who is shipped web?", deploy=DeployRef(service="web"), service="web")]),
        ("WHAT broke INC-42?", [part(PartKind.CAUSE, "WHAT broke INC-42?", incident="INC-42")]),
        ("Where was src/app.py before?", [part(PartKind.MOVED, "Where was src/app.py before?", path="src/app.py")]),
        ("what went out in the 24 hours before it began?", [part(PartKind.LISTING, "what went out in the 24 hours before it began?", around=OnsetWindow(before=timedelta(days=1)))]),
        ("What else went out?", [part(PartKind.LISTING, "What else went out?", around=OnsetWindow(before=timedelta(days=1)))]),
        ("What else did Imani push?", [part(PartKind.LISTING, "What else did Imani push?", person="imani")]),
        ("Was it web?", [part(PartKind.WAS_IT, "Was it web?", service="web")]),
        ("Was ledger deployed to staging since 01:00?", [part(PartKind.SHIPPED, "Was ledger deployed to staging since 01:00?", service="ledger", environment="staging", since=at(29, 1))]),
        ("Was billing deployed since 01:00?", [part(PartKind.SHIPPED, "Was billing deployed since 01:00?", since=at(29, 1), unread="'billing' is no service or deploy that I know")]),
        ("What changed in billing?", [part(PartKind.CHANGES, "What changed in billing?", unread="'billing' is no service or deploy that I know")]),
        ("what was deployed since the party?", [part(PartKind.LISTING, "what was deployed since the party?", unread="the time 'since the party' was not understood: name it like 2026-11-28 22:00")]),
        ("what was deployed of web since Friday?", [part(PartKind.LISTING, "what was deployed of web since Friday?", service="web", since=at(27, 0))]),
        ("What changed since 01:00?", [part(PartKind.LISTING, "What changed since 01:00?", since=at(29, 1))]),
        ("What changed in 4471 since 01:00?", [part(PartKind.CHANGES, "What changed in 4471 since 01:00?", deploy=DeployRef(asked="4471"), since=at(29, 1))]),
        ("What changed in it since 01:00?", [part(PartKind.CAUSE, "What changed in it since 01:00?", since=at(29, 1)), part(PartKind.CHANGES, "What changed in it since 01:00?", since=at(29, 1))]),
        ("How about web?", [part(PartKind.WAS_IT, "How about web?", service="web")]),
        ("Did web 4470 break it?", [part(PartKind.WAS_IT, "Did web 4470 break it?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("Who deployed web before 4470?", [part(PartKind.WHO_WHEN, "Who deployed web before 4470?", deploy=DeployRef(service="web", before="4470"), service="web")]),
        ("Who shipped payments before deploy 4471?", [part(PartKind.WHO_WHEN, "Who shipped payments before deploy 4471?", deploy=DeployRef(service="payments-api", before="4471"), service="payments-api")]),
        ("Who deployed web before 2026-11-28?", [part(PartKind.WHO_WHEN, "Who deployed web before 2026-11-28?", deploy=DeployRef(service="web"), service="web", until=at(28, 0))]),
        ("what changed in 4471", [part(PartKind.CHANGES, "what changed in 4471", deploy=DeployRef(asked="4471"))]),
        ("What did 2.3.1 change?", [part(PartKind.CHANGES, "What did 2.3.1 change?", deploy=DeployRef(asked="2.3.1"))]),
        ("Who shipped v2.3.1 of payments?", [part(PartKind.WHO_WHEN, "Who shipped v2.3.1 of payments?", deploy=DeployRef(asked="v2.3.1", service="payments-api"), service="payments-api")]),
        ("Was it 4470?", [part(PartKind.WAS_IT, "Was it 4470?", deploy=DeployRef(asked="4470"))]),
        ("Was it web 4470 or 4471?", [part(PartKind.WAS_IT, "Was it web 4470 or 4471?", deploy=DeployRef(asked="4470", service="web"), service="web"), part(PartKind.WAS_IT, "Was it web 4470 or 4471?", deploy=DeployRef(asked="4471"), service="web")]),
        ("Did web deploy 4470 break it?", [part(PartKind.WAS_IT, "Did web deploy 4470 break it?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("Did web deploy 4470 cause it?", [part(PartKind.WAS_IT, "Did web deploy 4470 cause it?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("Was it web deploy 4470?", [part(PartKind.WAS_IT, "Was it web deploy 4470?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("Could web deploy 4470 be it?", [part(PartKind.WAS_IT, "Could web deploy 4470 be it?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("Is 4472 related?", [part(PartKind.WAS_IT, "Is 4472 related?", deploy=DeployRef(asked="4472"))]),
        ("is 4472 involved?", [part(PartKind.WAS_IT, "is 4472 involved?", deploy=DeployRef(asked="4472"))]),
        ("who is 4469 by?", [part(PartKind.WHO_WHEN, "who is 4469 by?", deploy=DeployRef(asked="4469"))]),
        ("Is it safe to roll back 104?", [part(PartKind.ROLLBACK, "Is it safe to roll back 104?", deploy=DeployRef(asked="104"))]),
        ("is INC-7 resolved? is INC-8 resolved?", [part(PartKind.INCIDENT, "is INC-7 resolved?", incident="INC-7"), part(PartKind.INCIDENT, "is INC-8 resolved?", incident="INC-8")]),
        ("Was web deployed today? Was web deployed yesterday?", [part(PartKind.SHIPPED, "Was web deployed today?", service="web", since=at(29, 0)), part(PartKind.SHIPPED, "Was web deployed yesterday?", service="web", since=at(28, 0), until=at(29, 0))]),
        ("was web deployed today? was web deployed at all?", [part(PartKind.SHIPPED, "was web deployed today?", service="web", since=at(29, 0))]),
        ("was anything deployed by imani today?", [part(PartKind.LISTING, "was anything deployed by imani today?", person="imani", since=at(29, 0))]),
        ("What caused INC-7? What caused INC-8?", [part(PartKind.CAUSE, "What caused INC-7?", incident="INC-7"), part(PartKind.CAUSE, "What caused INC-8?", incident="INC-8", unread="I rank the suspects of one incident at a time; ask for INC-8 by itself")]),
        ("What is different between staging and production?", [part(PartKind.RUNNING, "What is different between staging and production?", environment="staging"), part(PartKind.RUNNING, "What is different between staging and production?", environment="production")]),
        ("what changed between staging and production?", [part(PartKind.RUNNING, "what changed between staging and production?", environment="staging"), part(PartKind.RUNNING, "what changed between staging and production?", environment="production")]),
        ("What is on staging right now, and is it the same as production?", [part(PartKind.RUNNING, "What is on staging right now", environment="staging"), part(PartKind.RUNNING, "is it the same as production?", environment="production")]),
        ("Who owns web and who deployed the bad version?", [part(PartKind.OWNER, "Who owns web", service="web"), part(PartKind.WHO_WHEN, "who deployed the bad version?", deploy=DeployRef(before_cause=0))]),
        ("who deployed the bad version of web?", [part(PartKind.WHO_WHEN, "who deployed the bad version of web?", deploy=DeployRef(before_cause=0), service="web")]),
        ("Who deployed the version that broke web?", [part(PartKind.CAUSE, "Who deployed the version that broke web?", service="web"), part(PartKind.WHO_WHEN, "Who deployed the version that broke web?", service="web")]),
        ("Which deploy broke web? Compare every deploy since 01:00", [part(PartKind.CAUSE, "Which deploy broke web?", service="web"), part(PartKind.LISTING, "Compare every deploy since 01:00", since=at(29, 1), unread="I compare two deploys that are named, not all of a list")]),
        ("Did payments 2.32.1 or 2.32.2 fix it?", [part(PartKind.FIX, "Did payments 2.32.1 or 2.32.2 fix it?", deploy=DeployRef(asked="2.32.1", service="payments-api"), service="payments-api"), part(PartKind.FIX, "Did payments 2.32.1 or 2.32.2 fix it?", deploy=DeployRef(asked="2.32.2", service="payments-api"), service="payments-api")]),
        ("Did 2.2.1 settle it?", [part(PartKind.FIX, "Did 2.2.1 settle it?", deploy=DeployRef(asked="2.2.1"))]),
        ("What changed in 4471 of payments?", [part(PartKind.CHANGES, "What changed in 4471 of payments?", deploy=DeployRef(asked="4471", service="payments-api"), service="payments-api")]),
        ("What changed in web deploy 4470?", [part(PartKind.CHANGES, "What changed in web deploy 4470?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("What changed in deploy 4470 of the web?", [part(PartKind.CHANGES, "What changed in deploy 4470 of the web?", deploy=DeployRef(asked="4470", service="web"), service="web")]),
        ("What changed in the previous deploy of web?", [part(PartKind.CHANGES, "What changed in the previous deploy of web?", deploy=DeployRef(service="web", ordinal=2), service="web")]),
        ("What changed in the previous release?", [part(PartKind.CHANGES, "What changed in the previous release?", deploy=DeployRef(ordinal=2))]),
        ("Who shipped the deploy before the last of web?", [part(PartKind.WHO_WHEN, "Who shipped the deploy before the last of web?", deploy=DeployRef(service="web", ordinal=2), service="web")]),
        ("When was payments deployed before that?", [part(PartKind.WHO_WHEN, "When was payments deployed before that?", deploy=DeployRef(service="payments-api", ordinal=2, before_cause=1), service="payments-api")]),
        ("Who shipped the payments change?", [part(PartKind.WHO_WHEN, "Who shipped the payments change?", deploy=DeployRef(service="payments-api", before_cause=0), service="payments-api")]),
        ("Who shipped the change?", [part(PartKind.WHO_WHEN, "Who shipped the change?", deploy=DeployRef(before_cause=0))]),
        ("What changed in the last deploy of payments?", [part(PartKind.CHANGES, "What changed in the last deploy of payments?", deploy=DeployRef(service="payments-api"), service="payments-api")]),
        ("Is it safe to roll back web 4470 and payments 4471?", [part(PartKind.ROLLBACK, "Is it safe to roll back web 4470 and payments 4471?", deploy=DeployRef(asked="4470", service="web"), service="web"), part(PartKind.ROLLBACK, "Is it safe to roll back web 4470 and payments 4471?", deploy=DeployRef(asked="4471", service="payments-api"), service="web")]),
        ("Is it safe to roll back?", [part(PartKind.ROLLBACK, "Is it safe to roll back?")]),
        ("checkout is down", [part(PartKind.CAUSE, "checkout is down")]),
        ("INC-9: checkout returns 500", [part(PartKind.CAUSE, "INC-9: checkout returns 500", incident="INC-9")]),
        ("web 4470 went out. Was it that one?", [part(PartKind.WAS_IT, "Was it that one?", deploy=DeployRef(asked="4470", service="web"))]),
        ("What changed?", [part(PartKind.CAUSE, "What changed?"), part(PartKind.CHANGES, "What changed?")]),
        ("What changed in payments?", [part(PartKind.CHANGES, "What changed in payments?", deploy=DeployRef(service="payments-api"), service="payments-api")]),
        ("What changed in the payments deploy?", [part(PartKind.CHANGES, "What changed in the payments deploy?", deploy=DeployRef(service="payments-api"), service="payments-api")]),
        ("What broke web and who shipped it?", [part(PartKind.CAUSE, "What broke web", service="web"), part(PartKind.WHO_WHEN, "who shipped it?")]),
        ("Who shipped it?", [part(PartKind.WHO_WHEN, "Who shipped it?", deploy=DeployRef(before_cause=0))]),
        ("web is slow. Who shipped it?", [part(PartKind.WHO_WHEN, "Who shipped it?", deploy=DeployRef(service="web"))]),
        ("Which setting turns it off in production?", [part(PartKind.SETTING, "Which setting turns it off in production?", environment="production")]),
        ("Was anything deployed to prod that week?", [part(PartKind.SHIPPED, "Was anything deployed to prod that week?", environment="production", around=OnsetWindow(same="week"))]),
        ("Did anyone change the database password?", [part(PartKind.SHIPPED, "Did anyone change the database password?", unread="'database password' is nothing that deploy records say")]),
        ("Did anyone change the web config?", [part(PartKind.SHIPPED, "Did anyone change the web config?", service="web")]),
        ("Which deploys touched src/app.py?", [part(PartKind.LISTING, "Which deploys touched src/app.py?", unread="I cannot list deploys by file (src/app.py)", path="src/app.py")]),
        ("Who approved deploy 4471?", [part(PartKind.WHO_WHEN, "Who approved deploy 4471?", deploy=DeployRef(asked="4471"), unread="who approved it is nothing that deploy records say")]),
        ("Was deploy 4471 released?", [part(PartKind.SHIPPED, "Was deploy 4471 released?", unread="of one deploy I can say what it changed, who shipped it, and whether it was the cause")]),
        ("roll back to 4468", [part(PartKind.ROLLBACK, "roll back to 4468", unread="I can judge undoing a deploy, not going back to one: name the deploy that should go")]),
        ("was nothing deployed?", [part(PartKind.SHIPPED, "was nothing deployed?", unread="a question in the negative: ask it the other way round")]),
        ("list deploys in preprod", [part(PartKind.LISTING, "list deploys in preprod", environment="preprod")]),
        ("how many deploys of web on 2026-11-28?", [part(PartKind.LISTING, "how many deploys of web on 2026-11-28?", service="web", since=at(28, 0), until=at(29, 0))]),
        ("what changed in deploy 4471 and when was it deployed?", [part(PartKind.CHANGES, "what changed in deploy 4471", deploy=DeployRef(asked="4471")), part(PartKind.WHO_WHEN, "when was it deployed?", deploy=DeployRef(asked="4471"))]),
        ("WHEN was it released, what changed in deploy 1", [part(PartKind.WHO_WHEN, "WHEN was it released", deploy=DeployRef(asked="1")), part(PartKind.CHANGES, "what changed in deploy 1", deploy=DeployRef(asked="1"))]),
        ("Where was it before? src/app.py and old.py", [part(PartKind.MOVED, "Where was it before?", path="src/app.py")]),
        ("Was it web? Not ledger?", [part(PartKind.WAS_IT, "Was it web?", service="web"), part(PartKind.WAS_IT, "Not ledger?", service="ledger")]),
        ("Was it deploy 1? And deploy 12?", [part(PartKind.WAS_IT, "Was it deploy 1?", deploy=DeployRef(asked="1")), part(PartKind.WAS_IT, "And deploy 12?", deploy=DeployRef(asked="12"))]),
        ("what was deployed today", [part(PartKind.LISTING, "what was deployed today", since=at(29, 0))]),
    ],
)  # fmt: skip
def test_each_part_of_a_question_is_read_with_all_that_it_names(
    text: str, parts: list[Part]
) -> None:
    assert list(asked(text).parts) == parts


@pytest.mark.parametrize(
    ("clause", "kinds"),
    [
        ("WHO shipped deploy 12, show the diff", [PartKind.CHANGES, PartKind.WHO_WHEN]),
        ("who shipped what was deployed, show the diff", [PartKind.CHANGES, PartKind.WHO_WHEN]),
        ("what changed in what was deployed", [PartKind.CHANGES]),
        ("when did it go out, what was deployed", [PartKind.WHO_WHEN]),
        ("what was deployed", [PartKind.LISTING]),
        ("thanks", []),
    ],
)
def test_one_clause_may_ask_what_and_who_at_once(clause: str, kinds: list[PartKind]) -> None:
    assert kinds_of(clause) == kinds


FORWARD = "I cannot judge whether it is safe to roll forward, only what undoing would do"


@pytest.mark.parametrize(
    ("text", "deploy"),
    [
        ("Is it safe to roll forward to 4473?", "4473"),
        ("is it safe to deploy 104 to production?", "104"),
        ("can we ship 4473 now?", "4473"),
        ("is 4473 safe to release?", "4473"),
        ("ok to push v2.3.1 now?", "v2.3.1"),
        ("should we roll forward?", None),
        ("roll forward", None),
    ],
)
def test_whether_to_go_forward_is_not_read_as_whether_to_go_back(
    text: str, deploy: str | None
) -> None:
    forward, *changes = asked(text).parts
    assert (forward.kind, forward.unread) == (PartKind.FORWARD, FORWARD)
    assert [(one.kind, one.deploy) for one in changes] == (
        [(PartKind.CHANGES, forward.deploy)] if deploy else []
    )
    assert (forward.deploy and forward.deploy.asked) == deploy


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("should we roll forward or back?", [PartKind.ROLLBACK, PartKind.FORWARD]),
        ("is it safe to roll back deploy 4471?", [PartKind.ROLLBACK]),
        ("is it safe to revert deploy 4471?", [PartKind.ROLLBACK]),
        ("can we roll back?", [PartKind.ROLLBACK]),
        ("is it safe?", [PartKind.ROLLBACK]),
        ("is it safe to restart web?", []),
        ("did rolling forward fix it?", [PartKind.FIX]),
    ],
)
def test_going_back_is_still_read_beside_going_forward(text: str, kinds: list[PartKind]) -> None:
    assert kinds_of(text) == kinds


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Who deployed 4471? Where is its dashboard?", ("Where is its dashboard?",)),
        ("Show me the pods of web. Who deployed 4471?", ("Show me the pods of web",)),
        ("Hi! web is down. Who deployed 4471? Can someone help?", ()),
        ("Who deployed 4471? thanks!", ()),
        ("Which deploy broke web and where is the runbook?", ("where is the runbook?",)),
        ("Where is its dashboard?", ()),
    ],
)
def test_what_is_asked_beside_and_not_read_is_kept(text: str, left: tuple[str, ...]) -> None:
    assert asked(text).unread == left


def test_an_unknown_name_is_told_only_where_deploys_are_asked_for() -> None:
    assert asked("Why not the release of billing?").parts[0].unread == ""
    assert asked("What was deployed of the releases of billing?").parts[0].unread == (
        "'billing' is no service or deploy that I know"
    )


# --- the thread and the whole question ------------------------------------------------------------


def test_the_newest_message_of_the_thread_names_the_incident_and_the_deploy() -> None:
    thread = ("INC-7: deploy 4470 went out", "see INC-8", "deploy 4471 is suspected", "ok")
    (one,) = parse("Was it that one?", NOW, CATALOG, thread).parts
    assert one.deploy == DeployRef(asked="4471")
    assert one.incident == "INC-8"


def test_what_the_question_names_counts_before_the_thread() -> None:
    thread = ("INC-7: deploy 4470 went out",)
    (one,) = parse("INC-9 again. Was it deploy 12?", NOW, CATALOG, thread).parts
    assert one.deploy == DeployRef(asked="12")
    assert one.incident == "INC-9"


def test_a_question_is_cut_behind_its_last_character_and_says_so() -> None:
    whole = parse("x" * MAX_QUESTION, NOW, CATALOG)
    assert (whole.cut, len(whole.text)) == (False, MAX_QUESTION)
    assert parse("x" * (MAX_QUESTION + 1), NOW, CATALOG).cut


def test_the_clock_of_a_question_is_told_in_utc() -> None:
    east = NOW.astimezone(datetime.strptime("+0530", "%z").tzinfo)
    question = parse("what was deployed since 01:00?", east, CATALOG)
    assert question.asked_at.utcoffset() == timedelta()
    assert question.parts[0].since == at(29, 1)


def test_a_question_keeps_what_it_names_and_the_catalog_it_was_read_with() -> None:
    question = parse("Is web 4470 or deploy 4471 of payments bad?", NOW, CATALOG, ("hm",))
    assert question.services == ("web", "payments-api")
    assert question.deploys == ("4471",)
    assert question.catalog == CATALOG
    assert question.thread == ("hm",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("What caused INC-1?", "what caused the incident"),
        ("What changed in deploy 12?", "what changed in deploy 12"),
        ("Who deployed web?", "who deployed it and when (last deploy of web)"),
        ("What was deployed today?", "what was deployed"),
        ("What was deployed of web today?", "what was deployed of web"),
        ("Was it deploy 12?", "whether it was deploy 12"),
        ("Was it that one?", "whether it was that deploy"),
        ("Was it fixed?", "whether a later deploy fixed it"),
        ("Did payments 2.3.1 fix it?", "whether deploy 2.3.1 fixed it"),
        ("Was anything deployed that week?", "whether anything was deployed in that time"),
        ("Was web deployed that week?", "whether web was deployed in that time"),
        ("How long before?", "the last deploy before it began"),
        ("Where was app.py before?", "where app.py was before"),
        ("Which setting turns it off?", "which setting brings the old behaviour back"),
        ("Is it safe to roll back?", "whether a rollback is safe"),
        ("What changed in the previous deploy of web?", "what changed in deploy 2 back of web"),
        (
            "Who deployed web before 4470?",
            "who deployed it and when (the deploy of web before 4470)",
        ),
        ("Who shipped the change?", "who deployed it and when (the first suspect)"),
    ],
)
def test_a_part_that_stays_open_is_named_in_words(text: str, words: str) -> None:
    assert asked(text).parts[-1].words == words
