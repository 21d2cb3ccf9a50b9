from __future__ import annotations

import pytest

from bot.loop.contradictions import Contradiction, contradictions
from support.scripted import INCIDENT, deploy, diff, found, no_deploy, ranking
from tools.base import ToolResult
from tools.records import DeploysFound, IncidentsFound


@pytest.mark.parametrize(
    "thought",
    [
        "search_deploy found nothing, so I will look elsewhere.",
        "There are no suspects.",
        "No deploys match.",
        "o1 came back empty.",
        "It returned nothing",
        "There are 7 suspects.",
    ],
)
def test_a_thought_that_denies_what_was_found_is_flagged(thought: str) -> None:
    flags = contradictions(thought, [("o1", ranking())])
    assert flags
    assert flags[0].observation == "o1"


@pytest.mark.parametrize(
    "thought",
    [
        "The ranking has 2 suspects.",
        "6 deploys were considered.",
        "No incident is older.",
        "Deploy 4471 is first, 22 min before onset.",
        "There is nothing more to ask.",
    ],
)
def test_a_thought_that_fits_is_not_flagged(thought: str) -> None:
    assert contradictions(thought, [("o1", ranking())]) == ()


def test_nothing_found_is_true_of_an_empty_search() -> None:
    assert contradictions("The search found nothing.", [("o1", no_deploy())]) == ()


def test_a_wrong_count_of_files_is_flagged_with_what_the_diff_shows() -> None:
    (flag,) = contradictions("It changed 13 files.", [("o2", diff())])
    assert flag.said == "13 files"
    assert "12 files" in flag.shows
    assert contradictions("It changed 12 files.", [("o2", diff())]) == ()


def test_a_thought_that_names_an_observation_is_held_against_that_one() -> None:
    results = [("o1", no_deploy()), ("o2", diff())]
    assert contradictions("o1 found nothing", results) == ()
    assert contradictions("o2 found nothing", results)[0].observation == "o2"
    assert contradictions("found nothing", results) == ()


def test_plain_text_results_have_no_counts_to_contradict() -> None:
    assert contradictions("There are 9 files.", [("o1", found("a page of text"))]) == ()


def test_a_flag_says_the_words_and_what_the_observation_shows_instead() -> None:
    assert contradictions("So there are no deploys here.", [("o1", ranking())]) == (
        Contradiction("o1", "no deploys", ranking().summary),
    )
    assert contradictions("It has 7 commits.", [("o2", diff())]) == (
        Contradiction("o2", "7 commits", diff().summary),
    )


LISTED = found("2 of 9 deploys", DeploysFound(asked="web", deploys=(deploy(1), deploy(2)), total=9))
INCIDENTS = found("1 of 3", IncidentsFound(asked="x", incidents=(INCIDENT,), total=3))


@pytest.mark.parametrize(
    ("said", "result", "flagged"),
    [
        ("There are 9 deploys.", LISTED, False),
        ("It shows 2 deployments.", LISTED, False),
        ("There are 3 deploys.", LISTED, True),
        ("There is 1 incident.", INCIDENTS, False),
        ("There are 3 incidents.", INCIDENTS, False),
        ("There are 2 incidents.", INCIDENTS, True),
        ("No incidents.", INCIDENTS, True),
        ("It has 4 commits.", diff(), False),
        ("It has 1 highlight.", diff(), False),
        ("It has 2 highlights.", diff(), True),
        ("There are 2 candidates.", ranking(), False),
        ("There are 3 candidates.", ranking(), True),
        ("12 FILES changed.", diff(), False),
        ("There are 5 incidents.", diff(), False),
    ],
)
def test_a_count_holds_if_it_is_the_total_or_what_is_shown(
    said: str, result: ToolResult, *, flagged: bool
) -> None:
    assert bool(contradictions(said, [("o1", result)])) is flagged
