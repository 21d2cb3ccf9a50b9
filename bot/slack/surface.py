"""Slack as a surface: what the run service tells it, handed to those who show it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from bot.loop.journal import Event
from bot.loop.outcome import Outcome
from bot.runs.links import Links
from bot.runs.records import Reply, RunRecord
from bot.runs.service import RunService
from bot.runs.store import Store
from bot.runs.surface import Gone, Posted
from bot.slack.address import DEBUG_CHANNEL, DEBUG_TS, SURFACE, Address
from bot.slack.audience import Audience
from bot.slack.bindings import Only, scope_of
from bot.slack.calls import Web
from bot.slack.channels import FRESH_SECONDS, Channels
from bot.slack.debug_thread import DebugThreads, head
from bot.slack.identity import Identity
from bot.slack.progress import Progress
from bot.slack.rendering import render
from bot.slack.reply import Mark, Place, Poster, RefusedPostError
from bot.slack.settings import SlackSettings
from bot.slack.tasks import Tasks

GIVE_UP_AFTER = timedelta(hours=1)
"""How long a reply that Slack refuses is tried; the trace keeps it anyway."""
LOOKUP_SECONDS = 5.0
"""How long a reply waits for Slack to say who reads it."""


class SlackSurface:
    """Implements ``bot.runs.surface.Surface``. ``open`` it before the first run.

    The service is made with its surfaces, so the store comes second.
    """

    def __init__(
        self,
        *,
        web: Web,
        identity: Identity,
        channels: Channels,
        audience: Audience,
        links: Links,
        settings: SlackSettings,
        tasks: Tasks,
    ) -> None:
        self.poster = Poster(web, tasks)
        self.progress = Progress(web, tasks)
        self._debug = DebugThreads(web, tasks, channels, audience, settings, self._head)
        self._web = web
        self._identity = identity
        self._channels = channels
        self._links = links
        self._settings = settings
        self._opened: Store | None = None

    def open(self, service: RunService) -> None:
        self._opened = service.store
        self.progress.queue = service.ahead
        self.progress.works_on = service.works_on

    @property
    def name(self) -> str:
        return SURFACE

    async def started(self, run: RunRecord) -> None:
        self.progress.begin(run)
        self._debug.begin(run, self._remember)

    async def saw(self, run: RunRecord, event: Event) -> None:
        self.progress.saw(run, event)
        self._debug.saw(run, event)

    async def reply(self, run: RunRecord, outcome: Outcome) -> Posted | Gone:
        where = Address.of(run)
        reply = _intended(run)
        scope = scope_of(self._settings.bindings, where)

        async def still_ours() -> None:
            await self._store.still_owns(run)

        done: Posted | Gone
        try:
            done = await self.poster.post_once(
                Place(where.channel, where.thread_ts, where.ts),
                render(
                    outcome,
                    run.seconds,
                    self._links.trace(run.id),
                    outsiders=await self._outsiders(where),
                    note=scope.sentence() if isinstance(scope, Only) else "",
                ),
                Mark(run.id, reply.marker),
                may_be_out=reply.may_be_out,
                still_ours=still_ours,
            )
        except RefusedPostError as error:
            if self._web.clock.now() - reply.intent_at < GIVE_UP_AFTER:
                raise
            done = Gone(f"Slack refused it for an hour: {error}")
        self.progress.end(run, outcome if isinstance(done, Posted) else None)
        self._debug.end(run)
        return done

    async def _outsiders(self, where: Address) -> bool:
        """Whether people of other organisations read the reply; they may have come since (M26)."""
        if where.shared or where.direct:
            return where.shared
        channel = await self._channels.sure(where.channel, LOOKUP_SECONDS, FRESH_SECONDS)
        return channel is None or channel.is_shared

    def _head(self, run: RunRecord) -> str:
        where = Address.of(run)
        permalink = self._identity.permalink(where.channel, where.ts, where.thread_ts)
        return head(run.question, permalink, self._links.trace(run.id))

    async def _remember(self, run: RunRecord, news: Mapping[str, str]) -> None:
        """Keep where the debug thread is, and let a stop emoji on its root lead to the run."""
        key = self._identity.key(news[DEBUG_CHANNEL], news[DEBUG_TS])
        await self._store.remember(run, news, (key,), self._web.clock.now())

    @property
    def _store(self) -> Store:
        if self._opened is None:
            raise RuntimeError("start the Slack app before runs are resumed or accepted")
        return self._opened


def _intended(run: RunRecord) -> Reply:
    if run.reply is None:
        raise RuntimeError(f"run {run.id} was given to post without an intent")
    return run.reply
