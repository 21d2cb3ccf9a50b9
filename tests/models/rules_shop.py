"""A shop with one incident, and the rules model asked about it in the real loop."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

from bot.loop.engine import run
from bot.loop.journal import MemoryJournal, ToolReturned
from bot.loop.limits import Limits
from bot.loop.outcome import Answer
from bot.loop.question import parse
from bot.loop.toolbox import Toolbox
from bot.models.rules import RulesModel
from bot.redact import Redactor
from support.scripted import stop_after
from support.shop import NOW, Shop
from tools.base import Status
from tools.workspace import open_workspace, read_tools

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)
SLOW = (
    "".join(f"step_{at} = prepare({at})\n" for at in range(9)) + "post('/charges', timeout=5.0)\n"
)
FAST = SLOW.replace("5.0", "0.5")


def shop_of(root: Path) -> Shop:
    shop = Shop(root)
    shop.service("checkout", depends_on=["payments"], owner="team-buy")
    shop.service("payments", rollback="ship undo {service} {ref}", owner="team-pay")
    shop.service("web", aliases=["CA bundle"])
    shop.release("web", 1, 100 * DAY, {"index.html": "<p>hello</p>\n"}, ref="v1")
    shop.release("checkout", 2, 90 * DAY, {"start.py": "start = 'checkout'\n"}, ref="v2")
    shop.release("payments", 3, 80 * DAY, {"pay.py": SLOW}, ref="v3")
    shop.release("checkout", 9, 3 * HOUR, {"theme.py": "colour = 'blue'\n"}, ref="v9")
    shop.git("payments", "mv", "pay.py", "charge.py")
    shop.release("payments", 10, HOUR, {"charge.py": FAST}, ref="v10", actor="dana.li")
    shop.incident(title="Checkout fails", summary="'/charges' runs into its timeout")
    return shop


async def ask(shop: Shop, text: str, now: datetime = NOW, thread: tuple[str, ...] = ()) -> Answer:
    shop.open()
    workspace = open_workspace(shop.root)
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
    refused = [
        event
        for event in journal.events
        if isinstance(event, ToolReturned)
        and event.tool == "answer"
        and event.status is not Status.OK
    ]
    assert refused == [], "the goal check refused the rules model's own answer"
    return outcome


def said(answer: Answer) -> str:
    return "\n".join([answer.headline, *(claim.text for claim in answer.claims)])
