"""The guilty part of the demo incident: payments-api, whose deploy 4471 cut the retry budget."""

from __future__ import annotations

from bot.playground.incident_parts import IMANI, JUN, MARA, TOMASZ, Release, StoryCommit

RETRY_PY = '''\
"""Retries against the ledger within one budget of time for each charge."""

import time


class RetryBudgetExceeded(Exception):
    """The ledger did not answer within the retry budget."""


def with_retries(call, *, budget, attempts, backoff{extra_parameter}):
    """Call until it succeeds, the attempts are used up, or the budget (seconds) is spent."""
    started = time.monotonic()
    for attempt in range(attempts):
        try:
            return call(timeout=budget)
        except TimeoutError:
{on_timeout}            time.sleep(backoff * 2**attempt)
        if time.monotonic() - started > budget:
            break
    raise RetryBudgetExceeded(f"gave up after {{budget}} s")
'''
CHARGE_PY = '''\
"""Charging a card: reserve on the ledger, then capture."""

from payments.client import LedgerClient
from payments.retry import with_retries


def charge(ledger: LedgerClient, order_id: str, cents: int, settings):
    """Reserve and capture. Safe to repeat: the order's id is the idempotency key."""
    retry = settings["retry"]
    hold = with_retries(
        lambda timeout: ledger.reserve(order_id, cents, timeout=timeout),
        budget=retry["budget"],
        attempts=retry["attempts"],
        backoff=retry["backoff"],{extra_argument}
    )
    return ledger.capture(hold)
'''
CLIENT_PY = '''\
"""Talks to the ledger over HTTP."""

import httpx


class LedgerClient:
    def __init__(self, base_url: str) -> None:
        self._http = httpx.Client(base_url=base_url)

    def reserve(self, order_id: str, cents: int, timeout: float) -> str:
        body = {{"order": order_id, "cents": cents}}
        reply = self._http.post("/holds", json=body, timeout=timeout{headers})
        reply.raise_for_status()
        return reply.json()["hold"]

    def capture(self, hold: str) -> str:
        return self._http.post(f"/holds/{{hold}}/capture").json()["entry"]
'''
APP_PY = '''\
"""The HTTP service: POST /charges and GET /healthz."""

from payments.charge import charge


def create_charge(request, ledger, settings{metrics}):
    order = request.json()
    entry = charge(ledger, order["id"], order["cents"], settings{forwarded})
    return {{"entry": entry, "status": "captured"}}
'''
METRICS_OLD = '''\
"""Counters that Prometheus scrapes."""

CHARGES = "payments_charges_total"
'''
METRICS_NEW = (
    METRICS_OLD
    + '''RETRIES = "payments_upstream_retries_total"


def count_retry(registry, upstream):
    """One more retry against an upstream."""
    registry.counter(RETRIES, upstream=upstream).inc()
'''
)
RETRY_YAML = (
    "# Read at start. Times are spans: 500ms, 5s.\n"
    "retry:\n  budget: {budget}\n  attempts: 4\n  backoff: 200ms\n"
)
TEST_RETRY = """\
from payments.retry import with_retries


def test_an_answer_within_the_budget_is_returned():
    call = lambda timeout: "hold-1"
    assert with_retries(call, budget={budget}, attempts=4, backoff=0) == "hold-1"
"""
TEST_CHARGE = """\
from payments.charge import charge


def test_a_charge_is_captured_once(ledger, settings):
    assert charge(ledger, "order-1", 1250, settings) == "entry-1"
    assert ledger.captured == ["{hold}"]
"""
RETRIES_MD = (
    "# Retries\n\nA charge tries the ledger up to four times within `retry.budget` ({budget}).\n"
)
CHANGELOG = "# Changelog\n\n## 2.3.0\n- Captures are idempotent.\n"
REQUIREMENTS = "httpx=={httpx}\nprometheus-client==0.21.0\npyyaml==6.0.2\n"

PAYMENTS = (
    Release(
        4467,
        "v2.3.0",
        "2026-11-28T10:09:12Z",
        "2026-11-28T10:12:40Z",
        (
            StoryCommit(
                "2026-11-24T09:12:00Z",
                TOMASZ,
                "Charge through the ledger",
                {
                    "README.md": "# payments-api\n\nCharges cards for checkout, through the ledger.\n",
                    "CHANGELOG.md": "# Changelog\n",
                    "requirements.txt": REQUIREMENTS.format(httpx="0.27.0"),
                    "Dockerfile": "FROM python:3.12-slim\nCOPY . /srv\nCMD payments-api\n",
                    "config/retry.yaml": RETRY_YAML.format(budget="5s"),
                    "config/payments.yaml": "ledger_url: http://ledger:8080\ncurrency: EUR\n",
                    "docs/retries.md": RETRIES_MD.format(budget="5s"),
                    "payments/__init__.py": "",
                    "payments/app.py": APP_PY.format(metrics="", forwarded=""),
                    "payments/charge.py": CHARGE_PY.format(extra_argument=""),
                    "payments/client.py": CLIENT_PY.format(headers=""),
                    "payments/metrics.py": METRICS_OLD,
                    "payments/retry.py": RETRY_PY.format(extra_parameter="", on_timeout=""),
                    "tests/test_charge.py": TEST_CHARGE.format(hold="hold"),
                    "tests/test_retry.py": TEST_RETRY.format(budget="5.0"),
                },
            ),
            StoryCommit(
                "2026-11-27T14:40:00Z",
                IMANI,
                "Make captures idempotent (#405)",
                {"CHANGELOG.md": CHANGELOG},
            ),
        ),
    ),
    Release(
        4471,
        "v2.3.1",
        "2026-11-29T01:40:31Z",
        "2026-11-29T01:44:00Z",
        (
            StoryCommit(
                "2026-11-28T11:05:00Z",
                TOMASZ,
                "Count retries by upstream (#408)",
                {
                    "payments/metrics.py": METRICS_NEW,
                    "payments/retry.py": RETRY_PY.format(
                        extra_parameter=", on_retry=None",
                        on_timeout="            if on_retry:\n                on_retry()\n",
                    ),
                    "payments/charge.py": CHARGE_PY.format(
                        extra_argument='\n        on_retry=settings.get("on_retry"),'
                    ),
                    "payments/app.py": APP_PY.format(
                        metrics=", metrics=None", forwarded=', {"on_retry": metrics}'
                    ).replace("settings, {", "settings | {"),
                },
            ),
            StoryCommit(
                "2026-11-28T13:31:00Z",
                JUN,
                "Update httpx to 0.27.2 (#410)",
                {"requirements.txt": REQUIREMENTS.format(httpx="0.27.2")},
            ),
            StoryCommit(
                "2026-11-28T15:20:00Z",
                MARA,
                "Fail fast: shorten the retry budget",
                {
                    "config/retry.yaml": RETRY_YAML.format(budget="1s"),
                    "docs/retries.md": RETRIES_MD.format(budget="1s"),
                    "tests/test_retry.py": TEST_RETRY.format(budget="1.0"),
                },
                merged="Merge pull request #412 from shop/fail-fast",
            ),
            StoryCommit(
                "2026-11-28T16:02:00Z",
                IMANI,
                "Send the order id to the ledger as a header (#414)",
                {
                    "payments/client.py": CLIENT_PY.format(
                        headers=', headers={"X-Order": order_id}'
                    ),
                    "tests/test_charge.py": TEST_CHARGE.format(hold="hold-1"),
                },
            ),
            StoryCommit(
                "2026-11-29T01:31:00Z",
                MARA,
                "Release 2.3.1",
                {
                    "CHANGELOG.md": CHANGELOG
                    + "\n## 2.3.1\n- Retries are counted.\n- Fail fast.\n",
                    "README.md": "# payments-api\n\nCharges cards for checkout, through the ledger."
                    "\nSee docs/retries.md for its limits.\n",
                },
            ),
        ),
    ),
)
