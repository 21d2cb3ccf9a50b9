"""The story of the demo incident as data: four small services, their commits, deploys and alarms.

Checkout fails from 02:06 UTC on 2026-11-29 because payments-api's deploy 4471 cut its retry budget.
Three decoys stand beside it: a documentation-only deploy of checkout, a bigger one of web, and one
of ledger that came too late. Knows nothing of git or of the rest of the bot.
"""

from __future__ import annotations

from datetime import UTC, datetime

from bot.playground.incident_parts import IMANI, JUN, REBECCA, TOMASZ, Release, StoryCommit
from bot.playground.incident_payments import PAYMENTS

ASKED_AT = datetime(2026, 11, 29, 2, 14, tzinfo=UTC)
QUESTION = "Which service caused the checkout incident, and what changed in deploy 4471?"


CHECKOUT_PY = '''\
"""Placing an order: reserve stock, charge, confirm."""


def place(order, stock, payments):
    stock.reserve(order.lines)
    charge = payments.post("/charges", json={"id": order.id, "cents": order.cents})
    if charge.status_code != 200:
        raise PaymentFailed(order.id)
    return order.confirm(charge.json()["entry"])


class PaymentFailed(Exception):
    """payments-api did not capture the charge."""
'''
CHECKOUT = (
    Release(
        4468,
        "v3.7.0",
        "2026-11-28T15:36:04Z",
        "2026-11-28T15:40:21Z",
        (
            StoryCommit(
                "2026-11-20T08:00:00Z",
                REBECCA,
                "Place orders",
                {
                    "README.md": "# checkout\n\nPlaces orders.\n",
                    "checkout/__init__.py": "",
                    "checkout/orders.py": CHECKOUT_PY,
                    "config/checkout.yaml": "payments_url: http://payments-api:8080\nworkers: 8\n",
                    "docs/runbook.md": "# Runbook\n\nRestart with `shipctl restart checkout`.\n",
                },
            ),
            StoryCommit(
                "2026-11-28T12:15:00Z",
                REBECCA,
                "Run twelve workers (#228)",
                {
                    "config/checkout.yaml": "payments_url: http://payments-api:8080\nworkers: 12\n",
                },
            ),
        ),
    ),
    Release(
        4472,
        "v3.7.1",
        "2026-11-29T01:50:02Z",
        "2026-11-29T01:52:10Z",
        (
            StoryCommit(
                "2026-11-28T17:45:00Z",
                JUN,
                "Runbook: what to do when payment fails (#231)",
                {
                    "README.md": "# checkout\n\nPlaces orders. The runbook is in docs/.\n",
                    "docs/runbook.md": "# Runbook\n\nRestart with `shipctl restart checkout`.\n\n"
                    "## Payment fails\nLook at payments-api first: its timeouts and retries.\n",
                },
            ),
        ),
    ),
)

_PANELS = ("address", "basket", "coupon", "delivery", "gift", "summary", "terms", "voucher")
WEB = (
    Release(
        4466,
        "v5.11.0",
        "2026-11-27T13:58:44Z",
        "2026-11-27T14:03:11Z",
        (
            StoryCommit(
                "2026-11-18T10:30:00Z",
                JUN,
                "Shop pages",
                {
                    "README.md": "# web\n\nThe shop's pages.\n",
                    "pages/home.html": "<h1>Shop</h1>\n",
                    "pages/checkout.html": "<h1>Checkout</h1>\n<form></form>\n",
                    **{
                        f"pages/checkout/{name}.html": f"<section>{name}</section>\n"
                        for name in _PANELS
                    },
                    "static/checkout.css": "section { margin: 8px }\n",
                },
            ),
        ),
    ),
    Release(
        4470,
        "v5.12.0",
        "2026-11-29T01:01:37Z",
        "2026-11-29T01:05:00Z",
        (
            StoryCommit(
                "2026-11-28T09:50:00Z",
                REBECCA,
                "New look for the checkout page (#977)",
                {
                    "pages/checkout.html": '<h1>Checkout</h1>\n<form class="two-columns"></form>\n',
                    **{
                        f"pages/checkout/{name}.html": f'<section class="card {name}">\n'
                        + "".join(
                            f'  <p class="{name}-row-{row}">{name} {row}</p>\n'
                            for row in range(1, 13)
                        )
                        + "</section>\n"
                        for name in _PANELS
                    },
                    "static/checkout.css": "".join(
                        f".{name} {{ grid-column: {place % 2 + 1}; padding: 12px }}\n"
                        for place, name in enumerate(_PANELS)
                    ),
                },
            ),
            StoryCommit(
                "2026-11-28T16:30:00Z",
                JUN,
                "Checkout page: bigger buttons (#981)",
                {"static/buttons.css": "button { font-size: 18px; padding: 14px 22px }\n"},
            ),
        ),
    ),
)

HOLDS_PY = '''\
"""Holds: money reserved for an order until it is captured."""

HOLD_TTL = {ttl}


def reserve(store, order_id, cents):
    return store.insert("holds", order=order_id, cents=cents, ttl=HOLD_TTL)
'''
LEDGER = (
    Release(
        4465,
        "v1.8.0",
        "2026-11-27T08:40:13Z",
        "2026-11-27T08:44:50Z",
        (
            StoryCommit(
                "2026-11-16T11:11:00Z",
                IMANI,
                "Double-entry ledger with holds",
                {
                    "README.md": "# ledger\n\nKeeps every cent twice.\n",
                    "ledger/__init__.py": "",
                    "ledger/holds.py": HOLDS_PY.format(ttl=900),
                    "config/ledger.yaml": "database:\n  pool: 20\n  statement_timeout: 3s\n",
                },
            ),
        ),
    ),
    Release(
        4469,
        "v1.8.1",
        "2026-11-28T21:26:30Z",
        "2026-11-28T21:30:02Z",
        (
            StoryCommit(
                "2026-11-28T18:20:00Z",
                TOMASZ,
                "Keep holds for thirty minutes (#154)",
                {"ledger/holds.py": HOLDS_PY.format(ttl=1800)},
            ),
        ),
    ),
    Release(
        4473,
        "v1.8.2",
        "2026-11-29T02:07:12Z",
        "2026-11-29T02:10:00Z",
        (
            StoryCommit(
                "2026-11-28T22:05:00Z",
                IMANI,
                "Smaller database pool, shorter statements (#156)",
                {
                    "config/ledger.yaml": "database:\n  pool: 12\n  statement_timeout: 2s\n",
                },
            ),
        ),
        actor="imani.okafor",
    ),
)

RELEASES = {"web": WEB, "checkout": CHECKOUT, "payments-api": PAYMENTS, "ledger": LEDGER}

INCIDENTS: tuple[dict[str, object], ...] = (
    {
        "id": "INC-1398",
        "title": "Checkout page loads slowly",
        "summary": "The images of the checkout page took 4 s from the old bucket. Moved to the CDN.",
        "services": ["web"],
        "severity": "sev3",
        "status": "resolved",
        "started_at": "2026-11-12T09:20:00Z",
        "detected_at": "2026-11-12T09:41:00Z",
        "resolved_at": "2026-11-12T12:05:00Z",
        "url": None,
    },
    {
        "id": "INC-1423",
        "title": "Checkout fails at the payment step",
        "summary": "About one order in seven fails since 02:06 UTC. checkout raises PaymentFailed;"
        " payments-api answers 503 with RetryBudgetExceeded 'gave up after 1.0 s' when the ledger is"
        " slower than usual. Orders that get through are correct.",
        "services": ["checkout"],
        "severity": "sev1",
        "status": "open",
        "started_at": "2026-11-29T02:06:00Z",
        "detected_at": "2026-11-29T02:09:00Z",
        "resolved_at": None,
        "url": None,
    },
)

ONCALL_TOML = """\
[sources.deploys]
kind = "local"
file = "deploys.jsonl"

[sources.incidents]
kind = "local"
file = "incidents.jsonl"

[services.web]
repo = "repos/web"
aliases = ["shop", "frontend"]
depends_on = ["checkout"]
owner = "Storefront (Jun Takeda)"
rollback = "shipctl rollback web --to {ref}"

[services.checkout]
repo = "repos/checkout"
aliases = ["checkout service", "orders"]
depends_on = ["payments-api"]
owner = "Orders (Rebecca Stone)"
rollback = "shipctl rollback checkout --to {ref}"

[services.payments-api]
repo = "repos/payments-api"
aliases = ["payments", "payment service"]
depends_on = ["ledger"]
owner = "Payments (Mara Lindqvist)"
rollback = "shipctl rollback payments-api --to {ref}"

[services.ledger]
repo = "repos/ledger"
aliases = ["ledger service"]
owner = "Payments (Imani Okafor)"
rollback = "shipctl rollback ledger --to {ref}"
"""
