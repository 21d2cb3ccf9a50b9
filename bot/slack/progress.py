"""Signs of life beside the reply: eyes at once, what the bot is doing, a mark at the end.

Owns reactions, the thread's status and Slack's own session status. All of it is decoration: it is
shed when Slack limits it, its failures are ignored, and it never holds up a run or its reply.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import structlog

from bot.loop.journal import Event, ModelCalled, ToolCalled
from bot.loop.outcome import ANSWER, Answer, Failure, Outcome, Proposal
from bot.runs.records import RunRecord
from bot.slack.address import Address
from bot.slack.calls import Limited, Make, Ok, Refused, Unknown, Web
from bot.slack.tasks import Tasks
from bot.slack.writing import cut, one_line

_log = structlog.get_logger(__name__)

EYES = "eyes"
DONE = "white_check_mark"
FAILED = "x"
TIDY_SECONDS = 120.0
"""How long the end of a run tries to take the eyes away."""
REFRESH_SECONDS = 90.0
"""Slack takes a status away after two minutes."""
CALM_LOOKS = 8
CALM_SECONDS = 0.4
"""How long a first sign may wait for the acknowledgement of other questions."""
QUEUE_SECONDS = 5.0
"""Between two looks at the place in the queue."""
_NOT_FOR_US = frozenset(
    {
        "not_allowed",
        "missing_scope",
        "unknown_method",
        "feature_not_enabled",
        "not_allowed_token_type",
    }
)

Ahead = Callable[[str], int]
SessionStatus = Literal["processing", "active"]


@dataclass
class _Sign:
    """One run's. ``ended`` holds the mark to leave; an empty one leaves none."""

    where: Address
    status: str = ""
    ended: str | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Progress:
    def __init__(self, web: Web, tasks: Tasks) -> None:
        self._web = web
        self._tasks = tasks
        self._signs: dict[str, _Sign] = {}
        self._off: set[str] = set()
        self.queue: Ahead = _nobody
        """How many questions are before a run; set once there is a queue."""
        self.is_busy: Callable[[], bool] = lambda: False
        """Whether questions are being taken in just now."""

    def begin(self, run: RunRecord) -> None:
        """The question was taken, or work on it goes on after a crash."""
        if run.id not in self._signs:
            sign = self._signs[run.id] = _Sign(Address.of(run))
            self._tasks.start(self._show(run.id, sign), f"progress {run.id}")

    def saw(self, run: RunRecord, event: Event) -> None:
        sign = self._signs.get(run.id)
        status = status_of(event)
        if sign is not None and status and status != sign.status:
            sign.status = status
            sign.changed.set()

    def end(self, run: RunRecord, outcome: Outcome | None) -> None:
        """The reply is out, or (``None``) there is no place for one."""
        self.begin(run)
        sign = self._signs.pop(run.id)
        sign.ended = mark_of(outcome)
        sign.changed.set()

    async def _show(self, run: str, sign: _Sign) -> None:
        """Everything about one run, in order, the newest status only."""
        try:
            await self._when_calm()
            seen = sign.ended is None and await self._react(sign.where)
            session = seen and await self._session(sign.where, "processing")
            shown = ""
            said_at = self._web.clock.monotonic()
            while sign.ended is None:
                sign.changed.clear()
                status = sign.status or waiting(self.queue(run))
                now = self._web.clock.monotonic()
                if status and (status != shown or now - said_at >= REFRESH_SECONDS):
                    shown = status if await self._say(sign.where, status) else shown
                    said_at = now
                await _changed(sign.changed, REFRESH_SECONDS if sign.status else QUEUE_SECONDS)
            if shown:
                await self._say(sign.where, "")
            if session:
                await self._session(sign.where, "active")
            await self._leave(sign.where, sign.ended)
        finally:
            if self._signs.get(run) is sign:
                del self._signs[run]

    async def _when_calm(self) -> None:
        """Let questions that come in a burst be acknowledged first, but not for long."""
        for _ in range(CALM_LOOKS):
            if not self.is_busy():
                return
            await asyncio.sleep(CALM_SECONDS / CALM_LOOKS)

    async def _react(self, where: Address) -> bool:
        """Whether Slack has time for decoration just now."""
        called = await self._web.once(
            self._web.client.reactions_add(channel=where.channel, timestamp=where.ts, name=EYES)
        )
        return not isinstance(called, Limited)

    async def _leave(self, where: Address, mark: str) -> None:
        """Take the eyes away, and only then leave the mark: no message keeps both."""
        client = self._web.client
        removed = await self._web.persist(_removal(self._web, where), TIDY_SECONDS)
        if mark and isinstance(removed, Ok | Refused):
            await self._web.once(
                client.reactions_add(channel=where.channel, timestamp=where.ts, name=mark)
            )

    async def _say(self, where: Address, status: str) -> bool:
        client = self._web.client
        return await self._optional(
            "status",
            lambda: client.assistant_threads_setStatus(
                channel_id=where.channel, thread_ts=where.thread_ts, status=status
            ),
        )

    async def _session(self, where: Address, status: SessionStatus) -> bool:
        """Slack's own stop button is shown while a session is ``processing``."""
        client = self._web.client
        return await self._optional(
            "session",
            lambda: client.agents_sessions_setStatus(
                channel_id=where.channel, thread_ts=where.thread_ts, status=status
            ),
        )

    async def _optional(self, what: str, make: Make) -> bool:
        """A call that not every app may make: the first such refusal ends the asking."""
        if what in self._off:
            return False
        match await self._web.once(make()):
            case Ok():
                return True
            case Refused(error=error) if error in _NOT_FOR_US:
                _log.info("slack_feature_off", feature=what, why=error)
                self._off.add(what)
            case Refused() | Limited() | Unknown():
                pass
        return False


def _removal(web: Web, where: Address) -> Make:
    return lambda: web.client.reactions_remove(channel=where.channel, timestamp=where.ts, name=EYES)


async def _changed(event: asyncio.Event, seconds: float) -> None:
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return


def _nobody(run: str) -> int:
    del run
    return 0


def mark_of(outcome: Outcome | None) -> str:
    match outcome:
        case Answer() | Proposal():
            return DONE
        case Failure():
            return FAILED
        case None:
            return ""


def waiting(ahead: int) -> str:
    """What the thread says while a question waits for its turn, or nothing."""
    if not ahead:
        return ""
    return f"is waiting: {ahead} question{'' if ahead == 1 else 's'} before this one…"


def status_of(event: Event) -> str:
    """What the thread says while this goes on, or nothing."""
    match event:
        case ModelCalled():
            return "is thinking…"
        case ToolCalled(tool=tool, arguments=arguments):
            deploy = arguments.get("deploy")
            return _doing(tool, cut(one_line(str(deploy)), 40) if deploy else "")
        case _:
            return ""


def _doing(tool: str, deploy: str) -> str:
    match tool:
        case "search_incident":
            return "is looking up the incident…"
        case "search_deploy":
            return f"is looking for deploy {deploy}…" if deploy else "is searching the deploys…"
        case "get_diff":
            return f"is reading deploy {deploy}…" if deploy else "is reading a diff…"
        case _ if tool == ANSWER:
            return "is checking the answer…"
        case _:
            return f"is using {cut(one_line(tool), 40)}…"
