from __future__ import annotations

import pytest

from bot.loop.contradictions import contradictions
from support.scripted import diff, found, no_deploy, ranking


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
