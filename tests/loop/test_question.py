from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.loop.question import MAX_QUESTION, PartKind, find_services, parse
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
    )
    assert {p.kind for p in question.parts} == set(PartKind)
    assert all(p.words for p in question.parts)
