"""The rules model on the 02:14 incident: real git repositories, real tools, the real loop."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal, ToolCalled, ToolReturned
from bot.loop.limits import Limits
from bot.loop.outcome import Answer
from bot.loop.question import parse
from bot.loop.toolbox import Toolbox
from bot.models.rules import RulesModel
from bot.playground.incident import make_demo_workspace
from bot.redact import Redactor
from support.scripted import stop_after
from tools.base import Status
from tools.records import Confidence
from tools.workspace import open_workspace, read_tools


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, datetime]:
    made = make_demo_workspace(tmp_path_factory.mktemp("demo") / "w")
    return made.root, made.asked_at


async def ask(
    demo: tuple[Path, datetime], text: str, thread: tuple[str, ...] = ()
) -> tuple[Answer, MemoryJournal]:
    root, now = demo
    workspace = open_workspace(root)
    journal = MemoryJournal()
    outcome = await run(
        parse(text, now, workspace.catalog.words(), thread),
        RulesModel(),
        Toolbox(read_tools(workspace), Redactor()),
        Limits(),
        journal,
        stop_after(),
    )
    assert isinstance(outcome, Answer), outcome
    rejected = [
        e
        for e in journal.events
        if isinstance(e, ToolReturned) and e.tool == "answer" and e.status is not Status.OK
    ]
    assert rejected == [], "the goal check refused the rules model's own answer"
    return outcome, journal


def said(answer: Answer) -> str:
    return "\n".join([answer.headline, *(c.text for c in answer.claims)])


def calls(journal: MemoryJournal) -> list[str]:
    return [e.tool for e in journal.events if isinstance(e, ToolCalled)]


async def test_the_0214_question_names_the_cause_the_setting_and_the_runner_up(
    demo: tuple[Path, datetime],
) -> None:
    answer, journal = await ask(
        demo, "Which service caused the checkout incident, and what changed in deploy 4471?"
    )
    assert calls(journal) == ["search_deploy", "get_diff", "answer"]
    assert answer.steps == 3
    assert answer.confidence is Confidence.HIGH
    text = said(answer)
    assert text.startswith("payments-api deploy 4471 most likely caused the checkout incident")
    for fact in ("01:44 UTC", "22 min before onset", "12 files", "`retry.budget: 5s → 1s`"):
        assert fact in text
    assert "Runner-up:" in text
    assert answer.unknowns == ()
    assert len(answer.claims) <= 5


async def test_a_cause_alone_is_backed_by_the_first_suspects_diff(
    demo: tuple[Path, datetime],
) -> None:
    answer, journal = await ask(demo, "What caused the checkout incident?")
    assert calls(journal) == ["search_deploy", "get_diff", "answer"]
    assert "5s → 1s" in said(answer)


async def test_another_deploys_changes_are_read_beside_the_suspects(
    demo: tuple[Path, datetime],
) -> None:
    answer, journal = await ask(
        demo, "Which deploy caused the checkout incident, and what changed in deploy 4470?"
    )
    assert calls(journal) == ["search_deploy", "get_diff", "get_diff", "answer"]
    assert answer.steps == 3
    assert "4471" in said(answer)
    assert "Deploy 4470 changed" in said(answer)


async def test_a_deploy_that_does_not_exist_is_said_not_to(demo: tuple[Path, datetime]) -> None:
    answer, _ = await ask(demo, "What changed in deploy 9999?")
    assert answer.headline == "Deploy 9999 does not exist: no source has it"
    assert "4473" in said(answer)


async def test_who_deployed_web_last_and_when(demo: tuple[Path, datetime]) -> None:
    answer, _ = await ask(demo, "Who deployed web last, and when?")
    assert "Deploy 4470 (web" in answer.headline
    assert "started 2026-11-29 01:01 UTC, finished 01:05 UTC, by release-bot" in answer.headline


async def test_who_deployed_a_number(demo: tuple[Path, datetime]) -> None:
    answer, _ = await ask(demo, "Who deployed 4473, or when was deploy 4473 shipped?")
    assert "imani.okafor" in said(answer)


async def test_the_last_deploy_of_a_service_by_its_alias(demo: tuple[Path, datetime]) -> None:
    answer, journal = await ask(demo, "What changed in the last deploy of payments?")
    assert calls(journal) == ["search_deploy", "get_diff", "answer"]
    assert "4471" in answer.headline


async def test_what_was_deployed_in_a_window(demo: tuple[Path, datetime]) -> None:
    answer, _ = await ask(demo, "What was deployed between 01:00 and 02:00?")
    text = said(answer)
    assert answer.headline.startswith("3 deploys")
    assert all(number in text for number in ("4470", "4471", "4472"))
    assert "4473" not in text


async def test_an_empty_window_is_an_answer(demo: tuple[Path, datetime]) -> None:
    answer, _ = await ask(demo, "What was deployed between 00:10 and 00:20?")
    assert answer.headline.startswith("Nothing was deployed")


async def test_two_questions_in_one_are_both_answered(demo: tuple[Path, datetime]) -> None:
    answer, _ = await ask(demo, "What changed in deploy 4470 and who deployed ledger last?")
    assert "4470" in said(answer)
    assert "imani.okafor" in said(answer)
    assert answer.unknowns == ()


async def test_a_question_of_no_known_kind_says_what_can_be_asked(
    demo: tuple[Path, datetime],
) -> None:
    answer, journal = await ask(demo, "How do I make coffee?")
    assert calls(journal) == ["answer"]
    assert answer.claims == ()
    assert answer.confidence is Confidence.NONE
    assert "who deployed what and when" in answer.unknowns[0]


async def test_what_did_not_ship_before_the_question_is_not_seen(
    demo: tuple[Path, datetime],
) -> None:
    root, now = demo
    answer, _ = await ask((root, now.replace(hour=1, minute=30)), "Who deployed payments last?")
    assert "4471" not in said(answer)


THREAD = (
    "FIRING: checkout error rate 14 %",
    "Which service caused the checkout incident?",
    "payments-api deploy 4471 most likely caused the checkout incident (INC-1423)",
)


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Was it web 4470?", "No: web deploy 4470"),
        ("was it 4470?", "No: web deploy 4470"),
        ("Was it web?", "No: "),
        ("Was it ledger?", "No: "),
        ("Was it deploy 4472?", "No: checkout deploy 4472"),
        ("Was it deploy 9999?", "No: deploy 9999 does not exist"),
        ("Was it that one?", "Yes: payments-api deploy 4471"),
        ("Was it payments-api?", "Yes: payments-api deploy 4471"),
        ("Was it payments-api 4471?", "Yes: payments-api deploy 4471"),
        ("and who deployed it?", "Deploy 4471 (payments-api, v2.3.1)"),
        ("What changed in it?", "Deploy 4471 (payments-api, v2.3.1)"),
    ],
)
async def test_a_follow_up_is_read_against_its_thread_and_a_verdict_is_about_what_was_asked(
    demo: tuple[Path, datetime], text: str, opens: str
) -> None:
    answer, _ = await ask(demo, text, THREAD)
    assert answer.headline.startswith(opens)


@pytest.mark.parametrize(
    ("text", "opens"),
    [
        ("Did deploy 4471 cause the checkout incident?", "Yes: payments-api deploy 4471"),
        ("Did deploy 4473 cause the checkout incident?", "No: ledger deploy 4473"),
        ("Is deploy 4472 the cause?", "No: checkout deploy 4472"),
        ("What changed in checkout deploy 4471?", "Deploy 4471 (payments-api, v2.3.1)"),
        ("What changed in 4472?", "Deploy 4472 (checkout, v3.7.1)"),
        ("What changed since 02:06?", "1 deploy since 2026-11-29 02:06 UTC"),
        ("What was deployed on 2026-11-28?", "3 deploys from 2026-11-28 00:00 UTC"),
        ("What was deployed on Friday?", "2 deploys from 2026-11-27 00:00 UTC"),
        ("What was deployed on 28 November?", "3 deploys from 2026-11-28 00:00 UTC"),
        ("What was deployed since 1am?", "4 deploys since 2026-11-29 01:00 UTC"),
        ("What was deployed between 10pm and midnight?", "Nothing was deployed from 2026-11-28"),
        ("What was deployed?", "7 deploys since 2026-11-28 02:14 UTC"),
        ("What changed in deploy 4465?", "Deploy 4465 (ledger, v1.8.0): the first deploy"),
        ("How do I roll back payments-api?", "Next: ask Payments"),
    ],
)
async def test_a_question_is_answered_for_what_it_names_and_says_its_window(
    demo: tuple[Path, datetime], text: str, opens: str
) -> None:
    answer, _ = await ask(demo, text)
    assert answer.headline.startswith(opens)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("Was there a deploy of billing?", "'billing' is no service"),
        ("Was search deployed yesterday?", "'search' is no service"),
        ("What changed in billing?", "'billing' is no service"),
        ("What changed in deploy five?", "'deploy five' is no service"),
        ("Did anyone change the database schema?", "'database schema' is nothing"),
        ("Did nothing get deployed today?", "in the negative"),
        ("Which deploys touched config/retry.yaml?", "by file"),
        ("What was deployed tomorrow?", "'tomorrow' was not understood"),
        ("Was anything deployed after the incident began?", "was not understood"),
        ("Roll back to deploy 4468", "not going back to one"),
        ("Was web rolled back?", "and not web"),
        ("What changed in deploy 4471 in staging?", "it is a deploy to production"),
        ("Did deploy 4471 fail?", "of one deploy I can say"),
        ("Was config/retry.yaml changed in deploy 4471?", "of one deploy I can say"),
        ("Did deploy 4471 touch the ledger?", "of one deploy I can say"),
        ("Who approved deploy 4471?", "who approved it"),
    ],
)
async def test_what_was_not_understood_is_listed_as_unknown_and_not_guessed(
    demo: tuple[Path, datetime], text: str, says: str
) -> None:
    answer, _ = await ask(demo, text)
    assert answer.claims == ()
    assert answer.confidence is Confidence.NONE
    assert says in " ".join(answer.unknowns)


async def test_a_short_number_is_never_taken_for_the_beginning_of_a_commit_id(
    demo: tuple[Path, datetime],
) -> None:
    answer, _ = await ask(
        demo, "Which service caused the checkout incident, and what changed in deploy 5?"
    )
    assert "There is no deploy 5 in any source" in said(answer)
