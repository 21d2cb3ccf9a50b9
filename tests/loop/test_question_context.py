"""What a part of a question takes from the rest of it, and from the thread before it."""

from __future__ import annotations

import pytest

from bot.loop.clauses import Clause, clauses_of
from bot.loop.question import DeployRef, Part, parse
from support.scripted import CATALOG, NOW

ONE = ("deploy 4470 went out",)
TWO = ("deploys 4470 and 4471 went out",)
THREE = ("deploys 4470, 4471 and 4472 went out",)


def told(part: Part) -> str:
    """``changes: deploy 4470``: what is asked, and of what."""
    return f"{part.kind}: {part.deploy.words if part.deploy else part.service}"


def parts(text: str, thread: tuple[str, ...] = ()) -> tuple[Part, ...]:
    return parse(text, NOW, CATALOG, thread).parts


# --- which deploy is meant ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "thread", "asked"),
    [
        ("What changed?", ONE, ["changes: deploy 4470"]),
        ("What changed?", TWO, ["cause: None", "changes: None"]),
        ("What changed in it?", TWO, ["changes: deploy 4470", "changes: deploy 4471"]),
        ("What caused it and what changed in it?", TWO, ["cause: None", "changes: None"]),
        ("When did it go out?", THREE, ["who_when: deploy 4470", "who_when: deploy 4471", "who_when: deploy 4472"]),
        ("What else went out?", TWO, ["listing: None"]),
        ("Was ledger deployed today? Which version of web is live? What changed in it?", (), ["shipped: ledger", "running: web", "changes: last deploy of web"]),
        ("Did deploy 9 do it?, was it that one? deploy 12 is fine.", (), ["was_it: deploy 9", "was_it: deploy 9"]),
        ("deploy 9 is older. XL orders fail: was it that one? deploy 12 is fine.", (), ["was_it: deploy 9"]),
    ],
)  # fmt: skip
def test_it_is_each_deploy_that_was_spoken_of_before(
    text: str, thread: tuple[str, ...], asked: list[str]
) -> None:
    assert [told(part) for part in parts(text, thread)] == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("web is slow. What changed in deploy 4471? Who shipped it?", ["changes: deploy 4471", "who_when: deploy 4471"]),
        ("Who shipped the version before that?", ["who_when: the deploy before it"]),
        ("web is slow. Who shipped it?", ["who_when: last deploy of web"]),
        ("What broke web? Who shipped it?", ["cause: web", "who_when: None"]),
    ],
)  # fmt: skip
def test_who_shipped_it_asks_of_the_deploy_that_another_sentence_names(
    text: str, asked: list[str]
) -> None:
    assert [told(part) for part in parts(text)] == asked


def test_before_that_is_one_before_the_suspect_where_no_deploy_is_spoken_of() -> None:
    (part,) = parts("Who shipped the version before that?")
    assert part.deploy == DeployRef(before_cause=1)


@pytest.mark.parametrize(
    ("text", "thread", "asked"),
    [
        ("Checkout: what changed?", (), ["cause: checkout", "changes: checkout"]),
        ("Checkout: what changed?", ONE, ["changes: deploy 4470"]),
        ("Checkout: what changed?", ("web 4470 went out",), ["changes: last deploy of checkout"]),
        ("web: what changed?", ("web 4470 went out",), ["changes: deploy 4470"]),
        ("What changed with the checkout incident?", (), ["cause: checkout", "changes: checkout"]),
        ("What changed in checkout?", ONE, ["changes: last deploy of checkout"]),
    ],
)
def test_what_changed_beside_a_service_asks_of_its_own_deploy(
    text: str, thread: tuple[str, ...], asked: list[str]
) -> None:
    assert [told(part) for part in parts(text, thread)] == asked


def test_that_one_without_a_deploy_is_the_service_that_is_spoken_of() -> None:
    (part,) = parts("web is slow. Was it that one?")
    assert told(part) == "was_it: web"


def test_a_part_that_is_not_understood_takes_no_deploy_from_the_thread() -> None:
    (part,) = parts("What did Mara change?", ONE)
    assert told(part) == "changes: None"
    assert part.unread == "'Mara' is no service or deploy that I know"


# --- what is asked once, and what was asked before --------------------------------------------------


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Who deployed web? And ledger?", ["who_when: last deploy of web", "who_when: last deploy of ledger"]),
        ("Which version of web is live? And ledger?", ["running: web", "running: ledger"]),
        ("And ledger?", ["was_it: ledger"]),
    ],
)  # fmt: skip
def test_and_another_service_asks_what_was_asked_before_it(text: str, asked: list[str]) -> None:
    assert [told(part) for part in parts(text)] == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("What caused it? What caused it?", ["cause: None"]),
        ("What broke web? What broke ledger?", ["cause: web"]),
        ("Was web deployed today? Was web shipped today?", ["shipped: web"]),
        ("Was web deployed today? Was ledger shipped today?", ["shipped: web", "shipped: ledger"]),
        ("Did deploy 4471 break web and ledger?", ["was_it: deploy 4471"]),
    ],
)
def test_what_is_asked_twice_is_one_part(text: str, asked: list[str]) -> None:
    assert [told(part) for part in parts(text)] == asked


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Did we ship something?", "cause: None"),
        ("Did we ship something since 01:00?", "shipped: None"),
        ("Did we ship something before 01:00?", "shipped: None"),
        ("Was anything deployed in the 24 hours before it began?", "shipped: None"),
        ("Did ledger ship something?", "shipped: ledger"),
        ("Did anyone change the database password?", "shipped: None"),
    ],
)
def test_whether_we_shipped_beside_a_symptom_asks_for_the_cause_unless_it_says_what_or_when(
    text: str, asked: str
) -> None:
    assert [told(part) for part in parts(f"web is down. {text}")] == [asked]


# --- incidents and files ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "incidents"),
    [
        ("What caused INC-1? When was INC-2 resolved?", ["INC-1", "INC-2"]),
        ("INC-7 is open. What broke?", ["INC-7"]),
        ("INC-7 is open. Which deploys failed?", [None]),
    ],
)
def test_a_part_is_about_the_incident_it_names_or_else_the_first(
    text: str, incidents: list[str | None]
) -> None:
    assert [part.incident for part in parts(text)] == incidents


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("src/app.py is new. Where was it before?", "src/app.py"),
        ("src/app.py is new. Where was old.py before?", "old.py"),
        ("src/app.py is new. What caused it?", None),
    ],
)
def test_only_what_moved_is_asked_of_the_file_of_another_sentence(
    text: str, path: str | None
) -> None:
    assert [part.path for part in parts(text)] == [path]


# --- clauses ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("Is it slow?, what changed in deploy 12?", ["Is it slow?", "what changed in deploy 12?"]),
        ("It broke.  and who did it?", ["It broke", "and who did it?"]),
        ("It broke!\n\n\nwho did it?", ["It broke!", "who did it?"]),
        ("", []),
        (" \n ", []),
    ],
)
def test_nothing_between_two_clauses_is_no_clause_and_ends_no_question(
    text: str, clauses: list[str]
) -> None:
    assert [clause.text for clause in clauses_of(Clause(text, CATALOG, NOW))] == clauses


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (", what broke?", "what broke?"),
        ("What was deployed today in project X", "What was deployed today in project X"),
        ("Show the deploys of web , ", "Show the deploys of web"),
        ("https://wiki.test/x is web down?", "is web down?"),
    ],
)
def test_a_part_is_quoted_without_what_stands_around_it(text: str, words: str) -> None:
    (part,) = parts(text)
    assert part.text == words


def test_a_url_before_the_question_changes_nothing_of_what_it_asks() -> None:
    (part,) = parts("https://wiki.test/x is web down?")
    assert told(part) == "incident: web"


def test_a_person_who_is_named_hides_no_name_that_is_not_known() -> None:
    (part,) = parts("What changed in billing, in the releases by imani?")
    assert part.unread == "'billing' is no service or deploy that I know"
