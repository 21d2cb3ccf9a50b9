"""What a sentence states, by value: the same fact in any spelling, and nothing that is none."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.loop.facts import facts_in
from support.scripted import CATALOG


def stated(text: str) -> list[tuple[str, str, str]]:
    return [(fact.kind.value, fact.value, fact.said) for fact in facts_in(text, CATALOG)]


def values(text: str) -> list[tuple[str, str]]:
    return [(kind, value) for kind, value, _ in stated(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It said “No  Route to Host” twice", [("quotation", "no route to host")]),
        ('It said "No Route" twice', [("quotation", "no route")]),
        ("See https://a.example/x?y=1.", [("URL", "https://a.example/x?y=1")]),
        ("See https://a.example/X, then", [("URL", "https://a.example/X")]),
        ("It is INC-42.", [("incident id", "inc-42")]),
        ("Deployed by Maya Lund", [("person", "maya lund")]),
        ("shipped by release-bot", [("person", "release-bot")]),
        ("by default", []),
        ("On 2026-11-29", [("date", "2026-11-29")]),
        ("at 01:44", [("time", "01:44")]),
        ("at 1:44 UTC", [("time", "01:44")]),
        ("at 02:44+01:00", [("time", "01:44")]),
        ("at 00:14 +01:00", [("time", "23:14")]),
        ("at 23:44 -02:30", [("time", "02:14")]),
        ("at 2026-11-29T02:44:10+01:00", [("date", "2026-11-29"), ("time", "01:44")]),
        ("at 2026-11-29 00:14:10+01:00", [("date", "2026-11-28"), ("time", "23:14")]),
        ("at 2026-11-29T01:44Z", [("date", "2026-11-29"), ("time", "01:44")]),
        ("at 2026-11-29T01:44 UTC", [("date", "2026-11-29"), ("time", "01:44")]),
        ("for 5s", [("duration", "5")]),
        ("for 5 s", [("duration", "5")]),
        ("for 5000ms", [("duration", "5")]),
        ("for 5000 milliseconds", [("duration", "5")]),
        ("for 1.5 minutes", [("duration", "90")]),
        ("for 2 h", [("duration", "7200")]),
        ("for 3 days", [("duration", "259200")]),
        ("for 1 week", [("duration", "604800")]),
        ("for 1 h 22 min", [("duration", "4920")]),
        ("for 2m 5s", [("duration", "125")]),
        ("14 % of calls", [("percentage", "14")]),
        ("99.50% of calls", [("percentage", "99.5")]),
        ("in config/retry.yaml", [("file", "config/retry.yaml")]),
        ("in retry.yaml", [("file", "retry.yaml")]),
        ("of payments", [("service", "payments-api")]),
        ("of payments api and the web", [("service", "payments-api"), ("service", "web")]),
        ("for \N{ARABIC-INDIC DIGIT FIVE} s", [("duration", "5")]),
        ("at \N{FULLWIDTH DIGIT ONE}:44", [("time", "01:44")]),
        ("tried 007 times", [("number", "7")]),
        ("tried 0 times", [("number", "0")]),
        ("12 files", [("count", "files 12")]),
        ("1 changed file", [("count", "files 1")]),
        ("1,204 commits", [("count", "commits 1204")]),
        ("80 lines added", [("count", "added 80")]),
        ("31 lines were deleted", [("count", "removed 31")]),
        ("1,080 additions, 31 deletions", [("count", "added 1080"), ("count", "removed 31")]),
        ("removed 31 lines", [("count", "removed 31")]),
        ("+80 −31", [("count", "added 80"), ("count", "removed 31")]),
        ("commit DEADBEEF9", [("SHA", "deadbeef9")]),
        ("at 3F2A9BC", [("SHA", "3f2a9bc")]),
        ("commit 7050494d", [("SHA", "7050494d")]),
        ("deploy 4471", [("deploy number", "4471")]),
        ("Deploy #4471", [("deploy number", "4471")]),
        ("#4471", [("deploy number", "4471")]),
        ("v2.3.1-RC1", [("version", "2.3.1-rc1")]),
        ("2.3.1", [("version", "2.3.1")]),
        ("it has 13 owners", [("number", "13")]),
        ("1,234,567 rows", [("number", "1234567")]),
        ("Orders deploy 12", [("name", "orders"), ("deploy number", "12")]),
        ("Orders depends on ledger", [("service", "ledger"), ("name", "orders")]),
        ("Payments deploy 12", [("service", "payments-api"), ("deploy number", "12")]),
        ("nothing at all", []),
    ],
)
def test_a_fact_is_found_by_its_value(text: str, expected: list[tuple[str, str]]) -> None:
    assert values(text) == expected


def test_a_fact_is_told_as_it_stood() -> None:
    assert stated(
        "On 2026-11-29 01:44 UTC `retry.budget: 5s` went to Deploy #4471, 1,204 files"
    ) == [
        ("quoted code", "retry.budget: 5s", "`retry.budget: 5s`"),
        ("date", "2026-11-29", "2026-11-29 01:44 UTC"),
        ("time", "01:44", "2026-11-29 01:44 UTC"),
        ("count", "files 1204", "1,204 files"),
        ("deploy number", "4471", "Deploy #4471"),
    ]


def test_a_fact_is_stated_once_however_often_it_is_said() -> None:
    assert stated("deploy 4471, deploy 4471") == [("deploy number", "4471", "deploy 4471")]


def test_what_one_kind_took_no_other_takes() -> None:
    assert values("“deploy 12 at 01:44”") == [("quotation", "deploy 12 at 01:44")]
    assert values("at 2026-11-29T01:44:59Z") == [("date", "2026-11-29"), ("time", "01:44")]
    assert values("https://a.example/deploys/4471") == [("URL", "https://a.example/deploys/4471")]


def test_what_stands_on_both_sides_of_a_fact_does_not_grow_together() -> None:
    assert values("4“x y”5") == [("quotation", "x y"), ("number", "4"), ("number", "5")]
    assert values("4.2026-11-29T01:44Z5")[2:] == [("number", "4"), ("number", "5")]
    assert values("4`x y`5") == [("quoted code", "x y"), ("number", "4"), ("number", "5")]
    assert values("v2.3 2026-11-29T01:44Z 4") == [
        ("date", "2026-11-29"),
        ("time", "01:44"),
        ("version", "2.3"),
        ("number", "4"),
    ]


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("`4471` is it", ("number", "4471")),
        ("`v2.3.1` is it", ("version", "2.3.1")),
        ("`payments-api` is it", ("service", "payments-api")),
        ("deploy `4471`", ("deploy number", "4471")),
        ("`#4471`", ("deploy number", "4471")),
    ],
)
def test_a_name_in_backticks_is_read_like_plain_text(text: str, inside: tuple[str, str]) -> None:
    assert inside in values(text)


def test_longer_code_stands_for_itself_alone() -> None:
    assert values("`sleep 5s`") == [("quoted code", "sleep 5s")]


def test_a_time_that_does_not_exist_is_no_time() -> None:
    assert values("at 2026-13-45T01:44Z") == []


def test_a_number_of_any_length_is_compared_to_its_last_digit() -> None:
    digits = "7" * 5_000
    (fact,) = facts_in(digits, CATALOG)
    assert fact.value == digits
    assert facts_in("007 1,234,567,890,123,456", CATALOG)[-1].value == "1234567890123456"


def test_a_moment_before_or_after_all_calendars_is_no_time() -> None:
    assert values("at 0001-01-01T00:00+01:00 and 9999-12-31T23:59-01:00") == []


PIECES = (
    *("“no way”", '"no way"', "https://a.example/x", "www.a.example", "INC-42", "by Maya", "@bob"),
    *("commit 3f2a9bc1", "sha deadbeef", "2026-11-29", "2026-11-29T01:44Z", "01:44", "1 h 22 min"),
    *(
        "2 days 5h",
        "5 s",
        "5000ms",
        "3 weeks",
        "12 %",
        "a/b.py",
        "x.yaml",
        "a.html",
        "10k",
        "5 GiB",
    ),
    *("3×", "2x", "1,204 commits", "3 files", "−31", "+80", "removed 3 lines", "4 additions"),
    *(
        "9 deletions",
        "3f2a9bc",
        "abcdef1",
        "deploy #12",
        "releases 4",
        "#44",
        "v2.3.1",
        "1.2",
        "13",
    ),
    *(
        "orders deploy 7",
        "deploy 7 (orders,",
        "release  8\t(orders)",
        "orders depends on",
        "orders v1.2",
    ),
    *("`x y`", "`4471`", "payments api", "web", "e", "s", "×", "→"),
)


@settings(max_examples=300)
@given(
    st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " ", "\t", "-", ", "]))).map(
        lambda pairs: "".join(map("".join, pairs))
    )
)
@example(" ".join(PIECES))
def test_what_a_text_cannot_hold_at_a_glance_it_does_not_hold(text: str) -> None:
    no_glance = f"{text} é"  # a letter beyond ASCII: each shape is searched for
    assert stated(text) == stated(no_glance)


@pytest.mark.parametrize("piece", PIECES)
def test_a_text_of_one_piece_is_read_as_at_leisure(piece: str) -> None:
    assert stated(piece) == stated(f"{piece} é")
