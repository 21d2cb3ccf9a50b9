from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, ONSET, Shop, ranked, stamp
from tools.records import Confidence, SuspectsRanked
from tools.weights import WEIGHTS

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
SLOW = "def pay(order):\n    return post('/charges', timeout=5.0)\n"
FAST = "def pay(order):\n    return post('/charges', timeout=0.5)\n"


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A quiet shop: first releases long ago, an incident about timeouts of checkout."""
    shop = Shop(tmp_path)
    shop.service("checkout", depends_on=["payments"])
    shop.service("payments", depends_on=["ledger"])
    shop.service("ledger")
    shop.service("blog")
    for place, name in enumerate(("checkout", "payments", "ledger", "blog"), start=1):
        shop.release(name, place, 100 * DAY, {"app.py": SLOW, "README.md": name})
    shop.incident(title="Checkout fails", summary="'/charges' runs into its timeout")
    return shop


def _order(result: SuspectsRanked) -> list[int | None]:
    return [suspect.deploy.number for suspect in result.suspects]


def _why(result: SuspectsRanked, place: int = 0) -> str:
    return " / ".join(reason.text for reason in result.suspects[place].reasons)


async def test_the_words_of_the_incident_beat_a_later_deploy(shop: Shop) -> None:
    shop.release("payments", 10, 3 * HOUR, {"app.py": FAST})
    shop.release("checkout", 11, 5 * MINUTE, {"theme.py": "colour = 'blue'\n"})
    result = await ranked(shop.open())
    assert _order(result)[:2] == [10, 11]
    assert "`/charges`" in _why(result)
    assert "checkout depends on payments" in _why(result)
    assert "finished 3 h before onset" in _why(result)


async def test_what_shipped_after_onset_is_no_suspect_and_is_said(shop: Shop) -> None:
    shop.release("payments", 10, -2 * MINUTE, {"app.py": FAST})
    shop.deploys[-1]["started_at"] = stamp(ONSET + MINUTE)
    result = await ranked(shop.open())
    assert 10 not in _order(result)
    assert result.ruled_out == ("payments deploy 10 finished 02:08 UTC, 2 min after onset",)


async def test_a_deploy_in_progress_at_onset_is_a_suspect(shop: Shop) -> None:
    shop.release("payments", 10, -2 * MINUTE, {"app.py": FAST})
    shop.deploys[-1]["started_at"] = stamp(ONSET - MINUTE)
    result = await ranked(shop.open())
    assert _order(result)[0] == 10
    assert "was in progress at onset" in _why(result)


async def test_another_environment_is_not_blamed(shop: Shop) -> None:
    shop.release("payments", 10, HOUR, {"app.py": FAST}, environment="staging")
    workspace = shop.open()
    assert 10 not in _order(await ranked(workspace))
    assert _order(await ranked(workspace, environment="staging")) == [10]


async def test_documentation_alone_is_cleared_however_recent(shop: Shop) -> None:
    shop.release("checkout", 10, MINUTE, {"README.md": "about the /charges timeout"})
    result = await ranked(shop.open())
    assert result.confidence is Confidence.NONE
    assert (
        "checkout deploy 10 finished 1 min before onset but changes documentation"
        in result.ruled_out[0]
    )


async def test_a_deploy_of_the_running_commit_changes_nothing(shop: Shop) -> None:
    shop.release("checkout", 10, MINUTE, sha=shop.deploys[0]["sha"])
    result = await ranked(shop.open())
    assert result.confidence is Confidence.NONE
    assert "the commit that was running already" in result.ruled_out[0]


async def test_what_was_rolled_back_before_onset_is_cleared(shop: Shop) -> None:
    shop.release("payments", 10, 2 * HOUR, {"app.py": FAST})
    shop.release("payments", 11, HOUR, sha=shop.deploys[1]["sha"])
    result = await ranked(shop.open())
    assert 10 not in _order(result)
    assert "payments deploy 10 was taken back by 11 before onset" in result.ruled_out


async def test_a_rollback_after_onset_speaks_for_the_cause_once_it_happened(shop: Shop) -> None:
    shop.release("payments", 10, 2 * HOUR, {"app.py": FAST})
    shop.release("payments", 11, -10 * MINUTE, sha=shop.deploys[1]["sha"])
    workspace = shop.open()
    assert "rolled back" not in _why(await ranked(workspace))
    later = await ranked(workspace, NOW + HOUR)
    assert "rolled back by 11, 10 min after onset" in _why(later)
    assert later.confidence is Confidence.HIGH


async def test_a_fix_that_takes_the_lines_back_speaks_for_the_cause(shop: Shop) -> None:
    shop.release("payments", 10, 2 * HOUR, {"app.py": FAST})
    shop.release("payments", 11, -20 * MINUTE, {"app.py": SLOW, "notes.py": "tried = 'again'\n"})
    shop.incidents[0] |= {"status": "resolved", "resolved_at": stamp(ONSET + HOUR / 2)}
    result = await ranked(shop.open(), NOW + HOUR)
    assert "reverted in effect by 11" in _why(result)
    assert "resolved 10 min after 11 followed 10" in _why(result)


async def test_an_expired_certificate_is_no_deploys_fault(shop: Shop) -> None:
    shop.release("checkout", 10, MINUTE, {"tls.py": "certificate = load()\n"})
    shop.incidents[0]["summary"] = "verify failed: the certificate has expired"
    result = await ranked(shop.open())
    assert result.confidence is Confidence.NONE
    assert "by the calendar and not by a deploy" in str(result.why_none)


async def test_when_nothing_links_no_deploy_explains_it(shop: Shop) -> None:
    shop.release("blog", 10, MINUTE, {"theme.py": "colour = 'blue'\n"})
    assert (await ranked(shop.open())).confidence is Confidence.NONE


async def test_an_old_change_without_a_trace_of_the_symptom_is_not_blamed(shop: Shop) -> None:
    shop.release("checkout", 10, 20 * DAY, {"theme.py": "colour = 'blue'\n"})
    assert (await ranked(shop.open())).confidence is Confidence.NONE


async def test_an_old_change_with_the_symptom_is_called_latent(shop: Shop) -> None:
    shop.release("payments", 10, 20 * DAY, {"app.py": FAST})
    result = await ranked(shop.open())
    assert _order(result)[0] == 10
    assert "finished 20 d before onset: latent" in _why(result)


async def test_with_no_deploy_at_all_there_is_no_suspect(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.service("checkout")
    shop.release("checkout", 1, -HOUR, {"a": "1"})
    shop.incident()
    result = await ranked(shop.open())
    assert result.suspects == ()
    assert result.confidence is Confidence.NONE


async def test_a_flag_of_changes_jsonl_ranks_beside_deploys(shop: Shop) -> None:
    flag = {"service": "checkout", "kind": "flag", "title": "fast-lane on", "id": "flag-1"}
    shop.changes.append(flag | {"finished_at": stamp(ONSET - 3 * MINUTE)})
    result = await ranked(shop.open())
    assert result.suspects[0].deploy.id == "flag-1"
    assert "a change of a flag" in _why(result)
    assert "feature flags" not in result.not_searched


async def test_a_missing_repository_is_said_and_the_deploy_still_ranks(shop: Shop) -> None:
    shop.service("mailer", repo="repos/gone")
    shop.incidents[0]["services"] = ["mailer"]
    shop.release("mailer", 10, 2 * HOUR, sha="a" * 40)
    shop.release("mailer", 11, HOUR, sha="b" * 40)
    result = await ranked(shop.open())
    assert _order(result)[0] == 11
    assert any("repos/gone" in note for note in result.not_searched)


async def test_an_incident_without_onset_is_ranked_up_to_now_and_says_so(shop: Shop) -> None:
    del shop.incidents[0]["started_at"]
    shop.release("payments", 10, -5 * MINUTE, {"app.py": FAST})
    result = await ranked(shop.open())
    assert _order(result)[0] == 10
    assert result.onset == NOW
    assert any("not written down" in note for note in result.not_searched)


async def test_a_failed_deploy_counts_less_and_a_cancelled_one_not_at_all(shop: Shop) -> None:
    shop.release("payments", 10, HOUR, {"app.py": FAST}, status="failure")
    shop.release("payments", 11, HOUR / 2, {"app.py": FAST + "\n"}, status="cancelled")
    result = await ranked(shop.open())
    assert 11 not in _order(result)
    assert "the deploy failed" in _why(result)


async def test_a_name_that_the_error_misses_points_at_the_deploy_that_removed_it(
    shop: Shop,
) -> None:
    shop.release("ledger", 9, 2 * DAY, {"urls.py": "def url_decode(text):\n    return text\n"})
    shop.release("ledger", 10, 4 * HOUR, {"urls.py": "VERSION = 3\n"})
    shop.release("checkout", 11, HOUR, {"log.py": "print('import error, cannot import name')\n"})
    shop.incidents[0]["summary"] = "ImportError: cannot import name 'url_decode'"
    result = await ranked(shop.open())
    assert _order(result)[0] == 10
    assert "removes lines with `url_decode`" in _why(result)
    assert "checkout depends on it through payments" in _why(result)


async def test_the_incidents_own_id_is_no_symptom(shop: Shop) -> None:
    shop.release("payments", 10, HOUR, {"app.py": "INC = 1\n"})
    result = await ranked(shop.open(), asked="INC-1")
    assert "`INC`" not in _why(result)


async def test_without_weights_nothing_speaks_for_anybody(shop: Shop) -> None:
    shop.release("payments", 10, HOUR, {"app.py": FAST})
    result = await ranked(shop.open(), weights=())
    assert {suspect.score for suspect in result.suspects} == {0.0}
    assert result.confidence is Confidence.NONE
    assert len(WEIGHTS) > 10


async def test_among_many_deploys_of_a_day_what_was_not_read_is_counted(shop: Shop) -> None:
    sha = shop.deploys[3]["sha"]
    for number in range(100, 160):
        shop.release("blog", number, number * MINUTE, sha=sha)
    result = await ranked(shop.open())
    assert result.considered == 64
    assert "51 changes further back or of unrelated services" in result.not_searched


async def test_an_error_that_is_raised_beside_the_changed_line_speaks_for_the_change(
    shop: Shop,
) -> None:
    check = "def put(opt):\n    if not {0}.test(opt):\n        raise ValueError('domain refused_here')\n"
    shop.release("payments", 9, 90 * DAY, {"put.py": check.format("loose")})
    shop.release("payments", 10, 3 * HOUR, {"put.py": check.format("strict")})
    shop.release("ledger", 11, 5 * MINUTE, {"theme.py": "colour = 'blue'\n"})
    shop.incidents[-1]["summary"] = "every login ends in `refused_here`"
    result = await ranked(shop.open())
    assert _order(result)[0] == 10
    assert "`refused_here` of the incident is beside its lines" in _why(result)


async def test_the_change_that_brought_a_message_in_is_told_from_one_that_moved_it(
    shop: Shop,
) -> None:
    shop.release("payments", 10, 5 * HOUR, {"app.py": SLOW + "refuse('name_is_reserved')\n"})
    shop.release("payments", 11, HOUR, {"app.py": SLOW + "raise refuse('name_is_reserved')\n"})
    shop.incidents[-1]["summary"] = "sign-up says `name_is_reserved`"
    result = await ranked(shop.open())
    why = {one.deploy.number: str(one.reasons) for one in result.suspects}
    assert "brings lines with `name_is_reserved`" in why[10]
    assert "brings lines" not in why[11]


async def test_the_lines_that_speak_the_incidents_words_are_shown(shop: Shop) -> None:
    shop.release("payments", 10, HOUR, {"app.py": FAST})
    result = await ranked(shop.open())
    assert [(line.side, line.path) for line in result.lines] == [
        ("adds", "app.py"),
        ("removes", "app.py"),
    ]
    assert result.lines[0].text == "return post('/charges', timeout=0.5)"


async def test_words_that_stand_together_in_the_incident_and_in_the_code_beat_the_same_words_apart(
    shop: Shop,
) -> None:
    shop.release("payments", 10, 3 * HOUR, {"form.py": SLOW + "raise RequestEntityTooLarge\n"})
    apart = "entity = load()\nrequest = entity.send(large=True)\n"
    shop.release("checkout", 11, 5 * MINUTE, {"form.py": SLOW + apart})
    shop.incidents[-1]["summary"] = "long forms get 413 Request Entity Too Large"
    result = await ranked(shop.open())
    assert _order(result)[:2] == [10, 11]
    assert "`Request Entity`" in _why(result)
    assert "`Request Entity`" not in _why(result, 1)


async def test_a_step_of_more_than_a_patch_speaks_for_a_deploy(shop: Shop) -> None:
    shop.release("payments", 9, 90 * DAY, {"a.py": "a = 1\n"}, ref="v1.4.8")
    shop.release("payments", 10, 2 * HOUR, {"a.py": "b = 1\n"}, ref="v1.4.9")
    shop.release("payments", 11, HOUR, {"a.py": "c = 1\n"}, ref="v1.5.0")
    result = await ranked(shop.open())
    why = {one.deploy.number: str(one.reasons) for one in result.suspects}
    assert "a new minor version: v1.4.9 → v1.5.0" in why[11]
    assert "version" not in why[10]
