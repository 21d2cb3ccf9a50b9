from __future__ import annotations

import pytest

from tools.causes import external_cause, kinships_of


@pytest.mark.parametrize(
    "said",
    [
        "certificate verify failed: certificate has expired",
        "the licence expired at midnight",
        "the provider reports an outage in one region",
        "a switch failure in rack 4",
        "many large sites on the same CDN show the same page",
        "requests that bypass the CDN and go to the origin are answered normally",
        "mail of the same provider is down too",
        "the web console of the region does not load either",
        "a television spot of the marketing department ran at 19:58",
        "the same build runs without errors in eu-west-1",
        "hosts of the new image, with the same package versions, are fine",
    ],
)
def test_a_cause_outside_of_any_deploy_is_recognised(said: str) -> None:
    assert external_cause(said) is not None


@pytest.mark.parametrize(
    "said",
    [
        "Uploads fail on the on-prem store; the bucket on real AWS is fine",
        "sessions expire too early",
        "pictures from the CDN are blocked; the CDN serves them with 200",
        "jobs on images built before the afternoon still pass",
        "the same error shows in every build",
        "Workers are killed for memory",
        "deploys of the certificate service fail",
    ],
)
def test_an_ordinary_failure_is_not_taken_for_one(said: str) -> None:
    assert external_cause(said) is None


def test_a_failure_is_known_by_its_kind() -> None:
    assert [kinship.name for kinship, _ in kinships_of("pods were OOM-killed")] == ["memory"]
    assert [kinship.name for kinship, _ in kinships_of("p99 latency of 9 s")] == ["time"]
    assert kinships_of("the logo is blue") == ()
