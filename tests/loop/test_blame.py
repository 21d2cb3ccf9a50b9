"""What a claim blames: said of on-call people in many forms, against the tool's ranking."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.loop.blame import as_read
from bot.loop.claims import claim_problems
from bot.loop.grounds import Grounds
from support.pads import pad
from support.scripted import deploy, diff, found, ranking
from tools.base import ToolResult
from tools.records import (
    Confidence,
    DeploysFound,
    DiffShown,
    Highlight,
    Incident,
    IncidentsFound,
    SuspectsRanked,
)


def wrong(text: str, *results: ToolResult) -> list[str]:
    """What is wrong with the claim, which cites all results."""
    return claim_problems(
        text, [f"o{n}" for n in range(1, len(results) + 1)], Grounds(pad(*results))
    )


def with_denials() -> ToolResult:
    """A ranking that holds sentences of the tool that deny something."""
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    said = ("ledger 88 is not older than 03:00", "payments-api 4460 did not change it")
    value = result.value.model_copy(update={"ruled_out": said})
    return result.model_copy(update={"value": value})


@pytest.mark.parametrize(
    "text",
    [
        "payments-api 4471 (config/retry.yaml retry.budget 5s → 1s) caused it",
        "the retry.budget change in payments-api 4471 most likely caused it",
        "it was most likely caused by payments-api deploy 4471",
        "the deploy of payments-api at 01:44 broke checkout",
        "The deploy of payments-api at 01:44 UTC broke checkout",
        "Deploy 4471 finished 01:44 UTC and most likely caused it",
        "Deploy 4471 went out at 01:44 UTC and broke checkout",
        "Root cause: payments-api 4471",
        "It was caused by payments-api 4471 instead of web 4470",
        "checkout broke at 02:06 UTC after payments-api deploy 4471",
        "Root cause (most likely): payments-api deploy 4471",
        "Root cause: the retry budget was cut from 5s to 1s in payments-api 4471",
        "The root cause of the checkout incident is payments-api 4471's lower retry budget",
        "The most likely culprit is payments-api 4471",
        "Culprit: payments-api deploy 4471",
        "payments-api 4471 is to blame",
        "payments-api deploy 4471 is the culprit",
        "payments-api 4471 is the root cause: it lowered retry.budget",
        "The incident is most likely due to payments-api 4471",
        "Checkout failed due to the retry budget change in deploy 4471",
        "Checkout failed because of the lower retry budget in payments-api 4471",
        "Checkout failed because payments-api 4471 cut the retry budget to 1s",
        "Checkout broke because the retry budget dropped from 5s to 1s",
        "After payments-api 4471 finished at 01:44 UTC, checkout broke",
        "Checkout broke 22 min after payments-api 4471 finished",
        "payments-api 4471 took down checkout",
        "payments-api 4471 took checkout down",
        "Thanks to payments-api 4471, checkout is down",
        "The outage stems from payments-api deploy 4471",
        "The trigger was payments-api 4471",
        "The trigger was the retry.budget change in payments-api 4471",
        "payments-api 4471 triggered it",
        "payments-api 4471 lowered retry.budget from 5s to 1s, which caused the checkout errors",
        "Checkout errors began 22 min after payments-api 4471, which most likely caused it",
        "maya deployed payments-api 4471 at 01:44 UTC, which broke checkout",
        "A regression in payments-api 4471 caused the incident",
        "A bug in payments-api 4471 broke checkout",
        "The lower retry budget is what broke checkout",
        "What broke checkout is payments-api 4471",
        "It was payments-api 4471 that broke checkout",
        "The change that caused it is payments-api 4471",
        "The deploy that caused it was payments-api 4471, finished 01:44 UTC",
        "payments-api 4471's retry budget change led to the errors",
        "INC-7: payments-api 4471 caused it",
        "I think payments-api 4471 caused it",
        "The most likely cause is payments-api 4471, deployed by maya at 01:44 UTC",
        "Most likely payments-api 4471 broke checkout by lowering its retry budget",
        "payments-api v2.3.1 caused the checkout incident",
        "The v2.3.1 release of payments-api caused the incident",
        "The checkout incident was triggered by the payments-api deploy at 01:44 UTC",
        "The retry budget cut in 4471 is behind the outage",
        "payments 4471 is responsible for the checkout errors",
        "The first suspect, payments-api 4471, most likely caused it",
        "The tool ranks payments-api 4471 first, and it most likely caused the incident",
        "The cause is most likely the payments-api deploy 4471",
        "checkout was brought down by payments-api 4471",
        "payments-api 4471 most likely broke checkout: `retry.budget: 5s → 1s`",
        "The outage can be traced back to payments-api 4471",
        "The outage was caused by deploy 4471, not web 4470",
        "Commit 1177aaa in payments-api most likely caused it",
        "The payments-api rollout is the reason checkout fails",
        "The config change `retry.budget: 5s → 1s` in payments-api 4471 most likely caused it",
        "payments-api deploy 4471 most likely caused the checkout incident (INC-7): `retry.budget: 5s → 1s`",
        "payments-api 4471 seems to be the cause",
        "The deploy just before the incident, payments-api 4471, is the likely cause",
        "Checkout depends on payments-api, and deploy 4471 most likely caused the incident",
        "payments-api 4471 most likely caused it, because checkout depends on it",
        "checkout broke",
        "checkout broke at 02:06",
        "checkout broke at 02:06 UTC",
        "checkout broke 22 min after deploy 4471",
        "It broke at 02:06 UTC",
        "The incident broke out at 02:06 UTC",
        "payments-api 4471 is a likely cause",
        "payments-api 4471 was deployed 22 min before checkout broke",
        "payments-api 4471 was deployed 22 min before checkout broke and most likely caused it",
        "The cause of INC-7 is payments-api 4471",
        "payments-api deploy 4471 introduced the regression that broke checkout",
        "Deploy 4471 lowered `retry.budget` and this caused the checkout errors",
        "payments-api deploy 4471 by maya most likely broke checkout at 02:06 UTC",
        "The likely culprit is the retry.budget change (5s → 1s) in payments-api deploy 4471",
        "The checkout incident was most likely caused by payments-api deploy 4471, which changed `retry.budget: 5s → 1s`",
        "The change in config/retry.yaml that shipped with deploy 4471 is the most likely cause",
        "Most likely cause: payments-api deploy 4471 (v2.3.1), 22 min before onset",
        "Likely root cause: `retry.budget: 5s → 1s` in config/retry.yaml",
        "payments-api 4471 reduced retry.budget from 5s to 1s; this most likely triggered the checkout errors",
        "payments-api deploy 4471 is most likely responsible for INC-7",
        "It is payments-api deploy 4471 that most likely caused INC-7",
        "The tool's first suspect is payments-api 4471, so it most likely caused the incident",
        "With high confidence, payments-api deploy 4471 caused the incident",
        "At 01:44 UTC payments-api deploy 4471 went out, which most likely caused the incident",
        "The payments-api change is to blame",
        "deploy 4471's change to retry.budget caused it",
        "payments-api's deploy 4471 caused it",
        "payments-api's latest deploy caused it",
        "The culprit change is payments-api 4471",
        "The deploy that most likely caused it is payments-api 4471",
        "Because of deploy 4471 checkout is failing",
        "payments-api deploy 4471 explains the checkout incident best",
        "Checkout's errors started 22 min after payments-api deploy 4471 and were most likely caused by it",
        "The shorter retry budget led to the checkout errors",
        "It looks like payments-api 4471 caused the outage",
        "The outage most likely originated in payments-api deploy 4471",
        "payments-api 4471 is behind the checkout errors",
        "v2.3.1 of payments-api most likely caused it",
        "payments-api 4471 was rolled out at 01:44 UTC and caused the incident",
        "My best guess: payments-api 4471 caused it",
        "The ranking puts payments-api 4471 first: it most likely caused the incident",
        "payments-api deploy 4471 most likely caused the incident; the runner-up is web 4470",
        "payments-api deploy 4471, not web 4470, caused the incident",
        "payments-api deploy 4471 rather than web 4470 caused the incident",
        "web 4470 is unlikely to be the cause",
        "web 4470 is a less likely cause",
        "web 4470 could also have caused it",
        "Checkout is down because of payments-api 4471",
        "Confidence is high that payments-api 4471 caused it",
        "The commit 1177aaa caused it",
        "Cause: payments-api 4471",
        "The cause: payments-api 4471",
        "The incident INC-7 was caused by payments-api deploy 4471",
        "checkout began failing at 02:06 UTC because of payments-api deploy 4471",
        "checkout broke at 02:06 UTC due to payments-api deploy 4471",
        "checkout broke at 02:06 UTC, most likely because of payments-api deploy 4471",
        "payments-api deploy 4471 (maya, 01:44 UTC) broke checkout",
        "*payments-api 4471* caused it",
        "payments-api took 22 min to roll out",
        "Deploy 4471 is due to be reverted",
        "The incident started 22 min after payments-api deploy 4471, the likely cause",
        "Most likely caused by payments-api deploy 4471 (maya, finished 01:44 UTC)",
        "The checkout errors were likely triggered by `retry.budget: 5s → 1s` in payments-api 4471",
        "payments-api deploy 4471 dropped retry.budget to 1s, so checkout broke",
        "Payments-api 4471 seems responsible",
        "We should roll back payments-api 4471, which most likely caused the incident",
        "Roll back payments-api 4471: it most likely caused the incident",
        "payments-api deploy 4471 is the strongest suspect and the likely cause",
        "The new retry budget in payments-api caused checkout to fail",
        "Checkout fails since payments-api deploy 4471 lowered the retry budget, which caused it",
        "The payments-api deploy that finished at 01:44 UTC most likely caused the checkout incident",
        "The 01:44 UTC deploy of payments-api caused it",
        "Deploy 4471 of payments-api most likely caused the outage",
        "Deploy #4471 caused it",
        "payments-api release v2.3.1 caused it",
        "The payments-api v2.3.1 deploy is the most probable cause of INC-7",
        "The only likely cause is payments-api 4471",
        "payments-api 4471's retry.budget of 1s broke checkout",
        "A retry budget of 1s in payments-api 4471 caused it",
        "Shortening the retry budget caused it",
        "Lowering retry.budget to 1s in payments-api caused it",
        "The incident was caused by a config change in payments-api deploy 4471",
        "The incident was caused by a change of retry.budget in payments-api deploy 4471",
        "The incident is most likely caused by deploy 4471's lower retry budget",
        "The checkout incident is attributed to payments-api deploy 4471",
        "The most likely cause of the checkout incident (INC-7) is payments-api deploy 4471 (v2.3.1), which finished at 01:44 UTC",
        "Yes: payments-api 4471 caused it",
        "Yes, payments-api 4471 most likely caused it",
        "The tool is highly confident that payments-api 4471 caused it",
        "The evidence points to payments-api deploy 4471 as the cause",
        "checkout crashed at 02:06",
        "web crashed",
        "The retry change caused it",
        "Deploy 4471 is the first suspect, because checkout depends on payments-api",
        "The trigger was not web 4470 but payments-api 4471",
        "Blame not web 4470",
        "maya says nothing in web 4470 caused it",
        "No change in web 4470 caused it",
        "No failure in web 4470 caused it",
        "No errors were caused by web 4470",
        "Unlike web 4470, payments-api 4471 caused it",
        "checkout broke after the errors of payments-api 4471 began",
        "checkout broke after maya",
        "checkout broke at 02:06 UTC; it recovered after a rollback",
        "A retry budget of 1s can trigger timeouts when kafka is slow",
        "The deploy that was the cause is payments-api 4471",
        "The change that could cause it is payments-api 4471",
        "payments-api 4471 most likely caused it, because checkout failed 22 min after payments-api 4471 finished",
        "payments-api 4471 broke checkout while kafka was fine",
        "kafka was slow, and payments-api 4471 caused it",
        "It most likely caused the incident; kafka is fine",
        "Deploy 4471 finished 01:44 UTC; the outage was caused by that very same deploy; kafka is fine",
        "It was caused by the deploy of today, kafka just timed out",
        "The cause is payments-api 4471: kafka clients lost their retries",
        "The cause is payments-api 4471; kafka: it timed out",
        "The checkout errors show that payments-api 4471 caused it",
        "I think that the checkout errors show that payments-api 4471 caused it",
        "maya says of the errors that payments-api 4471 caused it",
        "For INC-7 payments-api 4471 and its retry budget are to blame",
        "payments-api 4471 went out at 01:44 UTC; the lower value caused it",
        "payments-api 4471 caused it, kafka is fine, payments-api 4471 caused it",
        "The retry changes caused it",
        'Of "Checkout errors" payments-api 4471 is the cause',
        "`payments` 4471 caused it",
        "kafka is fine; the retry change caused it",
        "kafka is fine; commit 1177aaa caused it",
        "kafka is fine; commit 1177aaaa caused it",
        "A rollback will trigger alerts",
        "A rollback will trigger alerts while it is running",
    ],
)
def test_the_first_suspect_may_be_blamed_in_any_usual_form(text: str) -> None:
    assert wrong(text, ranking(), diff()) == []


@pytest.mark.parametrize(
    "text",
    [
        "A kafka outage hit payments-api, which caused it",
        "checkout broke at 02:06 UTC after a kafka outage",
        "checkout failed due\N{NO-BREAK SPACE}to kafka",
        "checkout failed due  to kafka",
        "kafka led\tto it",
        "kafka _caused_ it",
        "kafka **caused** it",
        "kafka ca*used* it",
        "kafka cau\N{ZERO WIDTH SPACE}sed it",
        "kafka cau\N{SOFT HYPHEN}sed it",
        "kafka \N{FULLWIDTH LATIN SMALL LETTER C}aused it",
        "The runner-up most likely caused it",
        "The second suspect caused it",
        "The previous deploy caused it",
        "The other deploy caused it",
        "An older deploy caused it",
        "checkout broke around 02:06 following a kafka outage",
        "kafka instead of payments-api 4471 caused it",
        "A DNS failure in payments-api 4471 caused it",
        "an outage of kafka near payments-api caused it",
        "payments-api's database caused it",
        "payments-api's database 4471 caused it",
        "payments-api 4471 and kafka caused it",
        "kafka and payments-api 4471 caused it",
        "payments-api 4471 went out and kafka caused it",
        "kafka or payments-api 4471 may have caused it",
        "kafka (payments-api 4471) caused it",
        "What caused it was kafka",
        "The one that caused it is kafka",
        "The deploy that caused it was web 4470",
        "What broke checkout was web",
        "The cause, most likely, is kafka",
        "The cause here was kafka",
        "It was kafka that caused it",
        "kafka without doubt caused it",
        "kafka caused it without warning",
        "kafka caused checkout to fail, no deploy did",
        "No doubt kafka caused it",
        "Thanks to kafka, checkout is down",
        "The trigger was kafka",
        "The trigger was web 4470",
        "Blame kafka",
        "The blame lies with kafka",
        "The outage can be traced back to kafka",
        "The outage is attributed to a DNS change",
        "kafka's fault",
        "kafka is at fault",
        "kafka knocked checkout over",
        "kafka took the whole checkout down",
        "The outage resulted from a kafka failure",
        "After a kafka outage, checkout broke",
        "Checkout broke after a kafka outage",
        "Checkout broke after web 4470",
        "Checkout broke when kafka went down",
        "payments-api 4471 broke checkout because kafka was down",
        "payments-api 4471 timed out on kafka, which caused it",
        "The network between web and payments-api caused it",
        "A certificate that expired in payments-api caused it",
        "Too much traffic to payments-api caused it",
        "The database behind payments-api 4471 broke checkout",
        "A memory leak in kafka, used by payments-api 4471, caused it",
        "The node that payments-api 4471 runs on caused it",
        "Root cause: kafka, which payments-api 4471 uses",
        "Root cause: an expired certificate in payments-api",
        "Culprit: the payments-api database",
        "The culprit is a kafka outage near payments-api",
        "The incident was caused by a network failure in payments-api 4471",
        "It was due to a DNS failure at payments-api",
        "Checkout failed because payments-api lost its database",
        "Checkout failed because kafka stopped answering payments-api 4471",
        "config/pool.yaml in payments-api caused it",
        "The deploy before payments-api 4471 caused it",
        "The deploy after 4471 caused it",
        "kafka went down and broke checkout",
        "kafka broke at 02:06",
        "kafka is the root cause: payments-api 4471 timed out",
        "kafka contributed to the outage",
        "kafka is the reason, and payments-api 4471 is fine",
        "The cause is payments-api's host",
        "A traffic spike during deploy 4471 caused it",
        "The outage of payments-api caused it",
        "payments-api users caused it",
        "payments-api 4471 exposed a kafka bug, and that bug caused it",
        "It was kafka. That caused it",
        "Someone changed DNS, which caused it",
        "No deploy caused it",
        "nothing deployed in the window explains the outage",
        "payments-api 4471 did not cause it",
        "kafka, not payments-api 4471, caused it",
        "kafka rather than payments-api 4471 caused it",
        "Instead of payments-api 4471, kafka caused it",
        "The first suspect (kafka) caused it",
        "It is kafka that most likely caused INC-7",
        "A hardware failure on the host of payments-api caused it",
        "payments-api's cache caused it",
        "An expired token used by payments-api 4471 caused it",
        "Load on payments-api caused it",
        "Users of payments-api caused it",
        "A partner of payments-api caused it",
        "The AWS region that hosts payments-api caused it",
        "Deploy 4471 was fine; a DNS change caused it",
        "Deploy 4471 finished 01:44 UTC, but a DNS outage broke checkout",
        "payments-api lost its connection to kafka, which broke checkout",
        "kafka's slowness in payments-api is why checkout failed",
        "The reason checkout failed is kafka",
        "Checkout is down, thanks to an outage in payments-api's network",
        "The first suspect is payments-api 4471, yet the cause is kafka",
        "Most likely cause: kafka",
        "Likely root cause: web 4470",
        "The culprit change is web 4470",
        "payments-api 4471 is suspected, the real culprit being kafka",
        "INC-7: kafka caused it",
        "Something in kafka broke checkout",
        "A change in web caused it",
        "A change to kafka caused it",
        "A config change in kafka most likely caused it",
        "The deploy of web caused it",
        "The release of kafka at 01:44 UTC caused it",
        "The migration of the database broke checkout",
        "An operator broke checkout",
        "Maya broke checkout by hand",
        "kafka caused it, as payments-api 4471 shows",
        "payments-api 4471 shows that kafka caused it",
        "payments-api 4471 and its database caused it",
        "payments-api 4471 made kafka fail, and kafka broke checkout",
        "Checkout failed due to kafka and payments-api 4471",
        "Checkout broke because of payments-api 4471 and kafka",
        "kafka stopped. This broke checkout",
        "There was a kafka outage; it caused the incident",
        "The disk was full, which is why checkout failed",
        "The queue behind checkout took it down",
        "It all stems from bad hardware under payments-api 4471",
        "bad hardware caused it",
        "The cause is a bad disk",
        "a bug in kafka caused it",
        "The deploy pipeline caused it",
        "The config server caused it",
        "Feature flags caused it",
        "The release manager caused it",
        "the 4471 outage of kafka caused it",
        "timeouts in payments-api caused it",
        "The incident started after payments-api deploy 4471, but a network failure is the likely cause",
        "A rate limiter in payments-api caused it",
        "An upstream failure caused it",
        "payments-api 4471 was healthy, its disk caused it",
        "Kubernetes evicted payments-api, which broke checkout",
        "A cron job in payments-api caused it",
        "TLS errors between checkout and payments-api caused it",
        "payments-api deploy 4470 caused it",
        "payments-api 4466 caused it",
        "the previous deploy, payments-api 4466, caused it",
        "A secret rotated during deploy 4471 caused it",
        "Ledger's change caused it",
        "The rollback of payments-api caused it",
        "Because a pod of payments-api was evicted, checkout failed",
        "Due to a spike in orders, payments-api broke checkout",
        "The cause lies in kafka",
        "The cause lies with web",
        "Checkout was killed by kafka",
        "kafka caused payments-api 4471 to fail",
        "Nothing but kafka caused it",
        "It was the DNS that caused it",
        "Cause of death: DNS",
        "web and payments-api 4471 caused it",
        "payments-api 4471, web 4470 and ledger caused it",
        "The suspect is payments-api 4471 but web 4470 caused it",
        "An engineer's typo caused it",
        "A human error caused it",
        "The load balancer in front of payments-api caused it",
        "kafka killed checkout",
        "kafka crashed checkout",
        "checkout was crashed by kafka",
        "Confidence is high; checkout failed because kafka was down",
        "web 4470 was the trigger of the incident",
        "web 4470, the cause of the outage",
        "I would blame web 4470",
        "It was caused by this (kafka)",
        "It was caused by, most likely, kafka",
        "checkout failed; it was caused by payments-api 4471 and kafka",
        "The one that most likely caused it is web 4470",
        "kafka shows that payments-api 4471 caused it",
        "A bug caused it",
        "kafka and payments-api 4471, it caused the incident",
        "kafka and that bug and payments-api 4471 caused it",
        "kafka, web 4470, and payments-api 4471 caused it",
        "The retry outage caused it",
        "Rollout 12 caused it",
        "4470 caused it",
        "payments-api 4471 went out; the outage was due to it, since kafka was down",
    ],
)
def test_what_the_ranking_does_not_say_is_blamed_in_no_form(text: str) -> None:
    assert wrong(text, ranking(), diff()) != []
    assert wrong(text, with_denials(), diff()) != []


@pytest.mark.parametrize(
    "text",
    [
        "nothing deployed in the window explains the outage",
        "no deploy caused it",
        "No deploy caused the incident",
        "None of the deploys explains it",
        "No deploy in the window explains the checkout incident",
        "The tool says that no deploy explains it",
        "No cause was found among the deploys",
        "The cause is unknown",
        "The cause is not known",
        "No change explains why checkout broke",
        "Nothing that was deployed broke checkout",
        "There is no deploy that caused it",
        "The incident was not caused by a deploy",
        "checkout broke at 02:06 UTC, and no deploy explains it",
        "The ranking found no cause",
        "It was not caused by any deploy",
        "I found nothing that explains the outage",
        "It was caused by no deploy",
        "maya says that no deploy caused it",
        "No errors were caused by a deploy",
        "checkout broke at 02:06 UTC",
    ],
)
def test_that_nothing_explains_it_may_be_said_where_the_tool_says_so(text: str) -> None:
    assert wrong(text, ranking(Confidence.NONE), diff()) == []


@pytest.mark.parametrize(
    "text",
    [
        "kafka caused it, no deploy did",
        "payments-api 4471 most likely caused it",
        "No deploy explains it, so kafka caused it",
        "The cause is not a deploy but kafka",
        "Without a deploy, kafka caused it",
        "No disk space caused it",
        "No orders went through because kafka was down",
        "kafka not responding caused it",
        "Checkout failed because payments-api 4471 cut its retry budget",
        "Blame deploy 4471",
    ],
)
def test_where_nothing_explains_it_no_cause_is_named_beside_a_denial(text: str) -> None:
    assert wrong(text, ranking(Confidence.NONE), diff()) != []


@pytest.mark.parametrize(
    "text",
    [
        "payments-api 4471 most likely caused it",
        "It was probably the retry.budget change in payments-api 4471 that caused it",
        "checkout broke at 02:06",
        "payments-api 4471 is the likely culprit",
        "Root cause, most likely: payments-api 4471",
    ],
)
def test_a_likely_cause_is_called_likely_and_what_broke_needs_no_such_word(text: str) -> None:
    assert wrong(text, ranking(Confidence.MEDIUM), diff()) == []


@pytest.mark.parametrize(
    "text",
    [
        "payments-api 4471 caused it",
        "web 4470 most likely caused it",
        "Root cause: payments-api 4471",
        "Thanks to payments-api 4471, checkout is down",
        "kafka probably broke checkout",
    ],
)
def test_a_likely_cause_is_called_no_more_than_that_in_any_form(text: str) -> None:
    assert wrong(text, ranking(Confidence.MEDIUM), diff()) != []


def test_that_a_service_of_a_listed_incident_broke_needs_no_ranking() -> None:
    incident = Incident(
        id="INC-7", title="Errors", services=("checkout",), started_at=deploy().finished_at
    )
    listed = found("INC-7", IncidentsFound(asked="lately", incidents=(incident,), total=1))
    assert wrong("checkout broke", listed) == []
    assert wrong("checkout broke after kafka went down", listed) != []
    assert wrong("ledger broke checkout", listed) != []


def test_a_setting_is_blamed_by_its_last_word_and_by_no_word_before_it() -> None:
    shown = diff()
    assert isinstance(shown.value, DiffShown)
    setting = Highlight(
        path="config/kafka.yaml", key="kafka.pool.timeout", before="9s", after="2s", text="timeout"
    )
    value = shown.value.model_copy(update={"highlights": (setting,)})
    kafka = shown.model_copy(update={"value": value})
    assert wrong("The lower kafka timeout caused it", ranking(), kafka) == []
    assert wrong("The kafka timeouts caused it", ranking(), kafka) == []
    assert wrong("The timeout caused it", ranking(), kafka) == []
    assert wrong("kafka caused it", ranking(), kafka) != []
    assert wrong("Payments-api 4471 lowered a value, kafka caused it", ranking(), kafka) != []


def test_a_file_of_another_deploy_is_not_to_blame() -> None:
    other = diff()
    assert isinstance(other.value, DiffShown)
    pool = Highlight(
        path="config/pool.yaml", key="pool.size", before="40", after="4", text="pool.size: 40 → 4"
    )
    value = other.value.model_copy(
        update={"deploy": deploy(4470, "web", ref="v9.0.0"), "highlights": (pool,)}
    )
    web = other.model_copy(update={"value": value, "text": "12 files changed"})
    assert wrong("config/retry.yaml caused it", ranking(), diff(), web) == []
    assert wrong("config/pool.yaml caused it", ranking(), diff(), web) != []
    assert wrong("`pool.size: 40 → 4` caused it", ranking(), diff(), web) != []
    assert wrong("The pool size caused it", ranking(), diff(), web) != []


def test_the_person_who_deployed_may_be_named_with_the_deploy_and_not_be_blamed() -> None:
    assert wrong("maya's deploy 4471 caused it", ranking()) == []
    assert wrong("maya caused it", ranking()) != []


def test_a_claim_of_more_causes_than_are_read_is_asked_to_be_divided() -> None:
    assert wrong("Deploy 4471 caused it. " * 8, ranking()) == []
    (problem,) = wrong("Deploy 4471 caused it. " * 9, ranking())
    assert problem.endswith("names too many causes at once: make it several claims")


def test_a_service_that_broke_itself_is_still_its_own_suspect() -> None:
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    first = result.value.suspects[0]
    own = first.model_copy(update={"deploy": deploy(4471, "checkout")})
    value = result.value.model_copy(update={"suspects": (own, *result.value.suspects[1:])})
    checkout = result.model_copy(update={"value": value})
    assert wrong("checkout 4471 caused the checkout incident", checkout) == []
    assert wrong("The database of checkout caused it", checkout) != []


def test_a_cause_without_a_ranking_is_told_to_need_one_in_every_form() -> None:
    listed = found("1 deploy", DeploysFound(asked="web", deploys=(deploy(),), total=1))
    for text in (
        "Thanks to deploy 4471 it failed",
        "Blame deploy 4471",
        "The trigger was deploy 4471",
    ):
        assert "cites no ranking" in wrong(text, listed)[0]


@pytest.mark.parametrize("name", ["vault", "vm-agent", "media uploads"])
def test_a_service_is_blamed_by_its_name_whatever_it_is_called(name: str) -> None:
    ranked = ranking()
    assert isinstance(ranked.value, SuspectsRanked)
    first = ranked.value.suspects[0].model_copy(update={"deploy": deploy(4471, name)})
    value = ranked.value.model_copy(update={"suspects": (first, *ranked.value.suspects[1:])})
    shown = ranked.model_copy(update={"value": value, "text": f"{ranked.text} {name}"})
    seen = pad(shown)
    question = seen.question.model_copy(update={"catalog": {name: name}})
    grounds = Grounds(replace(seen, question=question))
    for said in (f"{name} 4471 most likely caused it", f"it was caused by deploy 4471 of {name}"):
        assert claim_problems(said, ["o1"], grounds) == []


@pytest.mark.parametrize(
    "text",
    [
        "No deploy caused the checkout incident",
        "The checkout outage was not caused by a deploy",
        "No deploy broke checkout",
        "None of the deploys caused the checkout errors",
        "payments-api 4471 is unlikely to be the cause",
        "payments-api 4471 is a less likely cause",
    ],
)
def test_the_suspect_of_a_ranking_is_not_denied_by_naming_what_it_broke(text: str) -> None:
    assert wrong(text, ranking(), diff())
    assert wrong(text, with_denials(), diff())


@pytest.mark.parametrize(
    "text", ["web 4470 is unlikely to be the cause", "the checkout incident was not caused by web"]
)
def test_another_suspect_may_be_denied(text: str) -> None:
    assert wrong(text, ranking(), diff()) == []


@pytest.mark.parametrize("text", ["No customers were affected", "There was no rollback"])
def test_a_denial_that_names_nothing_is_not_shown_by_another_denial(text: str) -> None:
    assert wrong(text, with_denials())


def test_a_ranking_of_nobody_denies_nobody() -> None:
    result = ranking()
    assert isinstance(result.value, SuspectsRanked)
    nobody = result.value.model_copy(update={"suspects": ()})
    assert wrong("payments-api 4471 did not cause it", result.model_copy(update={"value": nobody}))


def test_code_stays_as_it_is_where_marks_are_not_seen() -> None:
    assert as_read("**the** `with_retries(*a,  **k)` _call_") == "the `with_retries(*a,  **k)` call"
