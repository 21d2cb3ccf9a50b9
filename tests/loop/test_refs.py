"""Which deploys, of which service, a part of a question is about."""

from __future__ import annotations

import pytest

from support.scripted import asked


@pytest.mark.parametrize(
    ("text", "deploys"),
    [
        ("Is it safe to roll back web deploy 4471 before 4472 goes out?", [("4471", "web")]),
        ("Which setting of deploy 4471 or deploy 4470 turns it off?", [("4471", None)]),
        ("What changed in deploy 4471 (release 2.3.1)?", [("4471", None)]),
        ("What changed in 2.3.1 of payments?", [("2.3.1", "payments-api")]),
        ("Who deployed 4471 of payments?", [("4471", "payments-api")]),
        ("Was it 4470 of web?", [("4470", "web")]),
    ],
)
def test_the_deploys_that_a_part_is_about(text: str, deploys: list[tuple[str, str | None]]) -> None:
    refs = [part.deploy for part in asked(text).parts]
    assert [ref and (ref.asked, ref.service) for ref in refs] == deploys


@pytest.mark.parametrize(
    ("text", "services"),
    [
        ("web deploy 4470: what changed?", ["web"]),
        ("What changed in web deploy 4470, not in deploy 4470?", ["web"]),
        ("What changed in web deploy 4470, not in ledger deploy 4470?", ["web"]),
        ("What changed in deploy 4470 of web, not in 4470 of ledger?", ["web"]),
        ("What changed in deploy 4470, 4470 of web and 4470 of ledger?", ["web"]),
        ("What changed in deploy 4470, not in 14470 of web?", [None]),
        ("What changed in deploy 4470, not in job_4470 of web?", [None]),
        ("Is it safe to roll back web deploy 44701 and deploy 4470?", ["web", None]),
        ("3f2a9bc of payments: who shipped it?", ["payments-api"]),
        ("Who shipped deploy 4470, during the checkout incident?", [None]),
    ],
)
def test_a_deploy_is_of_the_service_that_stands_right_at_its_name(
    text: str, services: list[str | None]
) -> None:
    refs = [part.deploy for part in asked(text).parts]
    assert [ref.service for ref in refs if ref] == services
