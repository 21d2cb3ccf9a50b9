"""Feedback on an answer: members' words, kept with the run and told back to the one who clicked.

Owns whose word counts. A click on a message that is not the run's own reply is forged, and ignored.
"""

from __future__ import annotations

from collections.abc import Awaitable

import structlog
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.runs.feedback import keep_feedback
from bot.runs.records import RunRecord
from bot.runs.store import Store
from bot.slack.access import Allowed, may_ask
from bot.slack.address import SURFACE, Address
from bot.slack.buttons import Clicked
from bot.slack.calls import Make, Ok, Web
from bot.slack.identity import Identity
from bot.slack.people import People
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

WHO_SECONDS = 10.0
THANKS = "Thank you: noted in the trace. A second click changes it."
REFUSED = "Only members of this workspace can say whether an answer was useful."


class FeedbackClicks:
    def __init__(
        self, store: Store, identity: Identity, web: Web, people: People, tasks: Tasks
    ) -> None:
        self._store = store
        self._identity = identity
        self._web = web
        self._people = people
        self._tasks = tasks

    async def take(self, click: Clicked) -> None:
        """Committed when this returns."""
        run = await self._store.run(click.run)
        if run is None or not _is_its_reply(run, click):
            _log.warning("feedback_on_nothing", channel=click.channel, user=click.user)
            return
        person = await self._people.person(click.user, WHO_SECONDS)
        match may_ask(self._identity.homes, click.teams, person):
            case Allowed():
                now = self._web.clock.now()
                if await keep_feedback(self._store, run.id, click.user, now, useful=click.useful):
                    _log.info("feedback", run=run.id, useful=click.useful)
                    self._say(click, THANKS)
            case _:
                _log.info("feedback_refused", run=run.id, user=click.user)
                self._say(click, REFUSED)

    def _say(self, click: Clicked, words: str) -> None:
        self._tasks.start(self._whisper(_only_to(self._web, click, words)), f"thanks {click.run}")

    async def _whisper(self, make: Make) -> None:
        called = await self._web.once(make())
        if not isinstance(called, Ok):
            _log.info("feedback_not_thanked", why=str(called))


def _only_to(web: Web, click: Clicked, words: str) -> Make:
    def post() -> Awaitable[AsyncSlackResponse]:
        return web.client.chat_postEphemeral(
            channel=click.channel, user=click.user, thread_ts=click.thread_ts, text=words
        )

    return post


def _is_its_reply(run: RunRecord, click: Clicked) -> bool:
    if run.surface != SURFACE or run.reply is None:
        return False
    where = Address.of(run)
    return (where.channel, where.thread_ts) == (click.channel, click.thread_ts) and (
        run.reply.reference in {None, click.ts}
    )
