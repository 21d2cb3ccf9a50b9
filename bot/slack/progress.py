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
from bot.slack.calls import Called, Limited, Make, Ok, Refused, Unknown, Web
from bot.slack.lane import Lane, Rank
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
CALM_LOOKS = 4
CALM_SECONDS = 0.2
"""How long a first sign may wait for the acknowledgement of other questions."""
LOOK_SECONDS = 1.0
"""Between two looks at the place in the queue, and at whether the run is still worked on here."""
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
    """One run's. ``ended`` holds the mark to leave; an empty one leaves none.

    ``is_new``: nobody can have left a sign of it before.
    """

    where: Address
    is_new: bool
    status: str = ""
    ended: str | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)


class Progress:
    def __init__(self, web: Web, tasks: Tasks) -> None:
        self._web = web
        self._tasks = tasks
        self._signs: dict[str, _Sign] = {}
        self._off: set[str] = set()
        self._shed_until: dict[str, float] = {}
        self._removals = Lane(web)
        self.queue: Ahead = _nobody
        """How many questions are before a run; set once there is a queue."""
        self.works_on: Callable[[str], bool] = _nothing
        """Whether this process has the run; set with the queue."""
        self.is_busy: Callable[[], bool] = lambda: False
        """Whether questions are being taken in just now."""

    def begin(self, run: RunRecord) -> None:
        """The question was taken, or work on it goes on after a crash."""
        if run.id not in self._signs:
            sign = self._signs[run.id] = _Sign(Address.of(run), run.claimed_at is None)
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
            tried = sign.ended is None
            seen = tried and await self._react(sign.where)
            session = seen and await self._session(sign.where, "processing")
            shown = ""
            said_at = self._web.clock.monotonic()
            while sign.ended is None and self.works_on(run):
                sign.changed.clear()
                status = sign.status or waiting(self.queue(run))
                now = self._web.clock.monotonic()
                is_due = status != shown or now - said_at >= REFRESH_SECONDS
                if status and is_due and not self.is_busy():
                    shown = status if await self._say(sign.where, status) else shown
                    said_at = now
                await _changed(sign.changed, LOOK_SECONDS)
            if shown:
                await self._say(sign.where, "")
            if session:
                await self._session(sign.where, "active")
            if sign.ended is not None:  # else another process has it now, or its reply comes later
                may_have_eyes = seen or not tried or not sign.is_new
                if not may_have_eyes or await self._tidied(sign.where):
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
        return not isinstance(
            await self._sheddable("reaction", self._reaction(where, EYES)), Limited
        )

    def _reaction(self, where: Address, name: str) -> Make:
        client = self._web.client
        return lambda: client.reactions_add(channel=where.channel, timestamp=where.ts, name=name)

    async def _sheddable(self, what: str, make: Make) -> Called:
        """One call of decoration: none is made while Slack wants a rest from its kind."""
        now = self._web.clock.monotonic()
        if (left := self._shed_until.get(what, now) - now) > 0:
            return Limited(left)
        called = await self._web.once(make())
        if isinstance(called, Limited):
            self._shed_until[what] = self._web.clock.monotonic() + called.seconds
        return called

    async def _tidied(self, where: Address) -> bool:
        """Take the eyes away; whether they are: no message keeps both them and a mark."""
        removal = _removal(self._web, where)
        removed = await self._removals.persist(removal, TIDY_SECONDS, Rank.TIDYING)
        return isinstance(removed, Ok | Refused)

    async def _leave(self, where: Address, mark: str) -> None:
        if mark:
            await self._sheddable("reaction", self._reaction(where, mark))

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
        match await self._sheddable(what, make):
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


def _nothing(run: str) -> bool:
    del run
    return False


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
