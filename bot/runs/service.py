"""A run's life: accepted, worked on, stopped, resumed, replied to once.

The one place that joins the store, the loop, the tools and the surfaces. Knows no concrete one of
them: what it needs is given when it is made.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from bot.loop import engine
from bot.loop.journal import Event, FencedError, RunEnded, RunStarted
from bot.loop.limits import Limits, StopReason
from bot.loop.outcome import Failure, Outcome
from bot.loop.question import parse
from bot.loop.stopping import Clock, Stop
from bot.loop.toolbox import Redactor, Toolbox
from bot.loop.wire import Model
from bot.runs.accepting import new_run
from bot.runs.again import Again
from bot.runs.boundary import Fault, guarded
from bot.runs.closing import interrupted
from bot.runs.dispatch import Load, LocalDispatcher, QueueLimits
from bot.runs.errors import StoreError
from bot.runs.feed import Feed
from bot.runs.journal import StoredByOtherVersionError, StoreJournal
from bot.runs.outbox import Outbox
from bot.runs.owner import Owner
from bot.runs.records import Ask, OpenNotice, ReplyState, RunRecord, RunState
from bot.runs.store import Store
from bot.runs.surface import Gone, NotPostedError, Posted, Surface
from bot.runs.watching import AbortWatch

_log = structlog.get_logger(__name__)

CATCH_UP_SECONDS = 0.2
"""How long a reply waits for the watchers of its run."""
LINGER_SECONDS = 5.0
"""How long watchers may go on after the reply."""


@dataclass(frozen=True)
class Accepted:
    run: RunRecord


@dataclass(frozen=True)
class Duplicate:
    """The message was seen before; ``run`` is what it led to, if it led to one."""

    run: RunRecord | None


@dataclass(frozen=True)
class QueueFull:
    """Too many runs wait. No run; ``told`` is the ask's notice for it, noted and yet to be posted."""

    told: OpenNotice | None = None


@dataclass(frozen=True)
class Closing:
    """The process is about to end and takes no more questions."""


@dataclass(frozen=True)
class Aborting:
    """It stops now. ``by`` asked first."""

    run: RunRecord
    by: str


@dataclass(frozen=True)
class AlreadyFinished:
    run: RunRecord


@dataclass(frozen=True)
class UnknownRun:
    pass


@dataclass(frozen=True)
class Workbench:
    """What one run works with: a snapshot of the tools, and the catalog's words for its question."""

    tools: Toolbox
    words: Mapping[str, str]


def _unseen(run: str, event: Event) -> None:
    """The observer of a service that nobody observes."""


class RunService:
    """``workspace`` names the folder that the runs are about, as stored with them."""

    def __init__(
        self,
        *,
        store: Store,
        owner: Owner,
        surfaces: Sequence[Surface],
        model: Callable[[], Model],
        workbench: Callable[[RunRecord], Workbench],
        redactor: Callable[[], Redactor],
        workspace: str,
        limits: Limits,
        queue: QueueLimits,
        clock: Clock,
        observe: Callable[[str, Event], None] = _unseen,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.outbox = Outbox(store, owner)
        self._store = store
        self._owner = owner
        self._surfaces = {surface.name: surface for surface in surfaces}
        self._model = model
        self._workbench = workbench
        self._redactor = redactor
        self._workspace = workspace
        self._limits = limits
        self._queue = queue
        self._clock = clock
        self._observe = observe
        self._dispatcher = LocalDispatcher(queue)
        self._again = Again(clock.monotonic)
        self._stops: dict[str, Stop] = {}
        self._watch = AbortWatch(store, lambda: bool(self._stops), self._stop, sleep)
        self._closing = False

    @property
    def store(self) -> Store:
        return self._store

    def add_surface(self, surface: Surface) -> None:
        """A surface that came up later, or anew. Its unfinished runs are resumed from now on."""
        self._surfaces[surface.name] = surface

    @property
    def longest_seconds(self) -> float:
        """From acceptance to the end: what a run may wait, then what it may take."""
        return self._queue.waiting_seconds + self._limits.deadline_seconds

    @property
    def load(self) -> Load:
        return self._dispatcher.load

    def ahead(self, run: str) -> int:
        """How many questions have their turn before this run; 0 once it is worked on."""
        return self._dispatcher.ahead(run)

    def works_on(self, run: str) -> bool:
        """Whether this process has the run: it waits for its turn here, or is worked on."""
        return self._dispatcher.has(run)

    # --- intake --------------------------------------------------------------------------------

    async def accept(self, ask: Ask) -> Accepted | Duplicate | QueueFull | Closing:
        """Commit the question as a run, then dispatch it. Returns after the commit (M23)."""
        if self._closing:
            return Closing()
        keys = (ask.origin_key, *ask.seen_keys)
        if not self._dispatcher.reserve():
            return await self._no_room(ask, keys)
        try:
            run = new_run(
                ask, self._redactor(), self._workspace, self._owner.name, self._clock.now()
            )
            if not await self._store.accept(run, ask.seen_keys, ask.heeds):
                return Duplicate(await self._store.find(*keys))
            self._dispatch(run)
            return Accepted(run)
        finally:
            self._dispatcher.release()

    async def _no_room(self, ask: Ask, keys: Sequence[str]) -> Duplicate | QueueFull:
        """Told once for a message that is delivered again by itself, each time to who asks again."""
        known = await self._store.find(*keys)
        if known is not None:
            return Duplicate(known)
        if ask.if_full is None:
            return QueueFull()
        told = await self.outbox.note(keys, self._clock.now(), ask.if_full)
        return QueueFull(told) if told else Duplicate(None)

    async def find(self, *keys: str) -> RunRecord | None:
        """The run that one of these keys (origin, delivery, debug thread) leads to."""
        return await self._store.find(*keys)

    async def wait(self, run: str) -> None:
        """Until this process is done with the run. Raises ``StoreError`` if it could not be kept."""
        await self._dispatcher.wait(run)

    # --- stopping ------------------------------------------------------------------------------

    async def abort(self, run: str, by: str) -> Aborting | AlreadyFinished | UnknownRun:
        """Stop a run at once. The first one counts; a post in flight is not cut (M25)."""
        stop = self._stops.get(run)
        first = stop is not None and stop.cut is None
        self._stop(run, by)
        stored = await self._store.request_abort(run, by)
        if stored is None:
            return UnknownRun()
        if stored.state is RunState.ENDED and not (first and _was_aborted(stored)):
            return AlreadyFinished(stored)
        return Aborting(stored, stored.abort_requested_by or by)

    def _stop(self, run: str, by: str) -> None:
        """Stop it if it is at work or waits here."""
        if (stop := self._stops.get(run)) is not None:
            stop.abort(by)
            self._dispatcher.hurry(run)

    async def close(self, drain_seconds: float) -> None:
        """Take no more questions, let the runs end, and close those that do not with a failure."""
        self._closing = True
        await self._end_runs(drain_seconds)
        await self._watch.close()

    async def _end_runs(self, drain_seconds: float) -> None:
        if await self._dispatcher.drain(drain_seconds):
            return
        for run, stop in tuple(self._stops.items()):
            stop.abort(reason=StopReason.INTERRUPTED)
            self._dispatcher.hurry(run)
        if not await self._dispatcher.drain(LINGER_SECONDS):
            await self._dispatcher.cancel()

    # --- resuming ------------------------------------------------------------------------------

    async def resume_unfinished(self) -> tuple[RunRecord, ...]:
        """Take over what a dead process left, and replies that did not go out.

        Runs go on from their journal, or are closed as interrupted when their time is over. Can be
        called again at any time. Returns the runs that are taken over.
        """
        if self._closing:
            return ()
        await self._empty_log()
        found = await self._store.unfinished(tuple(self._surfaces))
        left = tuple(
            run
            for run in found
            if not self._dispatcher.has(run.id)
            and self._again.is_due(run.id)
            and (run.owner == self._owner.name or not self._owner.lives(run.owner))
        )
        for run in left:
            self._dispatch(run)
        return left

    async def _empty_log(self) -> None:
        """What is left of erased runs is for the next look too: no run waits for it."""
        try:
            await self._store.empty_log()
        except StoreError as error:
            _log.error("log_not_emptied", why=str(error))

    def _dispatch(self, run: RunRecord) -> None:
        if self._dispatcher.has(run.id):  # at work already: its stop must stay the one that counts
            return
        self._stops[run.id] = Stop(self._clock, math.inf)
        self._dispatcher.start(run.id, lambda: self._job(run))
        self._watch.start()

    # --- the job -------------------------------------------------------------------------------

    async def _job(self, known: RunRecord) -> None:
        stop = self._stops[known.id]
        try:
            now = self._clock.now()
            deadline = now + timedelta(seconds=self._limits.deadline_seconds)
            run = await self._store.claim(known, self._owner.name, now, deadline)
            if run is not None:
                await self._own(run, known, stop)
        except FencedError:
            _log.warning("run_taken_over", run=known.id)
        finally:
            del self._stops[known.id]

    async def _own(self, run: RunRecord, known: RunRecord, stop: Stop) -> None:
        """From the claim to the reply. Raises ``FencedError`` once another owner has the run."""
        surface = self._surfaces[run.surface]
        if run.outcome is not None:
            await self._deliver(run, run.outcome, surface)
            return
        feed = Feed(
            lambda: guarded(surface.started(run)),
            lambda event: guarded(surface.saw(run, event)),
            lambda event: guarded(self._noted(run.id, event)),
        )
        try:
            self._set(stop, run, known)
            journal = StoreJournal(
                self._store, run.id, run.epoch, self._clock.now, durable=feed.put, asked=stop.abort
            )
            done = await guarded(self._work(run, journal, stop))
            match done:
                case Fault():
                    outcome = await self._close_run(run, journal, done)
                case _:
                    outcome = done
            await feed.catch_up(CATCH_UP_SECONDS)
            await self._deliver(run, outcome, surface)
        finally:
            await feed.close(LINGER_SECONDS)

    def _set(self, stop: Stop, run: RunRecord, known: RunRecord) -> None:
        """The run's deadline, and the reasons to end it before it goes on."""
        now = self._clock.now()
        left = (run.deadline_at - now).total_seconds() if run.deadline_at else 0.0
        stop.deadline = self._clock.monotonic() + left - self._limits.reserve_seconds
        waited = (now - run.accepted_at).total_seconds()
        taken_over = known.owner != self._owner.name or known.claimed_at is not None
        if run.abort_requested_by is not None:
            stop.abort(run.abort_requested_by)
        elif taken_over and self._clock.monotonic() >= stop.deadline:
            stop.abort(reason=StopReason.INTERRUPTED)
        elif known.claimed_at is None and waited > self._queue.waiting_seconds:
            stop.abort(reason=StopReason.INTERRUPTED if taken_over else StopReason.DEADLINE)

    async def _work(self, run: RunRecord, journal: StoreJournal, stop: Stop) -> Outcome:
        """The loop over the run's journal; a resumed run keeps the inputs that it began with."""
        bench = self._workbench(run)
        begun = next((e for e in await journal.read() if isinstance(e, RunStarted)), None)
        if begun is not None:
            question, limits = begun.question, begun.limits
        else:
            question = parse(run.question, run.asked_at, bench.words, run.thread)
            limits = self._limits
        return await engine.run(question, self._model(), bench.tools, limits, journal, stop)

    async def _close_run(self, run: RunRecord, journal: StoreJournal, fault: Fault) -> Outcome:
        """End a run whose work failed inside."""
        try:
            events = await journal.read()
        except StoredByOtherVersionError:  # what it found cannot be read, but it still gets a reply
            events = ()
        outcome = interrupted(events, run.model or "none", fault.detail, fault.next_check)
        await journal.append([RunEnded(outcome=outcome)], {})
        return outcome

    async def _deliver(self, run: RunRecord, outcome: Outcome, surface: Surface) -> None:
        """Exactly one reply: the intent before, the result after (M23)."""
        intended = await self._store.intend_reply(run, secrets.token_hex(8), self._clock.now())
        if intended.replied:
            return
        try:
            done = await guarded(surface.reply(intended, outcome))
        except NotPostedError as error:
            pause = self._again.failed(run.id)
            _log.warning("reply_not_posted", run=run.id, why=str(error), again_in=pause)
            return
        match done:
            case Posted(reference=reference):
                await self._store.settle_reply(run.id, ReplyState.POSTED, reference)
            case Gone(why=why):
                await self._store.settle_reply(run.id, ReplyState.GONE, why)
            case Fault():
                self._again.failed(run.id)
                _log.error("reply_not_posted", run=run.id, surface=surface.name)
                return
        self._again.settled(run.id)

    async def _noted(self, run: str, event: Event) -> None:
        self._observe(run, event)


def _was_aborted(run: RunRecord) -> bool:
    """Whether a stop ended the run. One that was first may see its end before it is noted itself."""
    return isinstance(run.outcome, Failure) and run.outcome.reason is StopReason.ABORTED
