"""The debug thread: what the bot thinks while it works, one thread a run, never in the reply (M24).

Owns which debug channel a run may be shown in, the thread's root, and one message a step, merged when
Slack is busy. It watches: a run and its reply wait for nothing here, and what cannot be posted is
dropped. The events are redacted already.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import assert_never

import structlog
from pydantic import JsonValue

from bot.loop.journal import (
    Appended,
    Decided,
    Event,
    FencedError,
    ModelCalled,
    ModelFailed,
    ModelReturned,
    RunEnded,
    RunStarted,
    ToolCalled,
    ToolReturned,
    WasCut,
)
from bot.loop.outcome import Answer, Failure, Outcome, Proposal, plain
from bot.runs.records import RunRecord
from bot.slack.access import may_be_shown
from bot.slack.address import DEBUG_CHANNEL, DEBUG_TS, Address
from bot.slack.audience import Audience
from bot.slack.calls import Limited, Ok, Refused, Unknown, Web
from bot.slack.channels import Channel, Channels
from bot.slack.fixes import fix_for
from bot.slack.settings import SlackSettings
from bot.slack.tasks import Tasks
from bot.slack.writing import clean, cut, for_mrkdwn, one_line, url

_log = structlog.get_logger(__name__)

MAX_POST = 3_500
GAP_SECONDS = 1.0
"""Between two messages of ours in one channel: Slack allows one a second."""
LOOKUP_SECONDS = 10.0
SURE_SECONDS = 60.0
"""How old Slack's word may be on who reads a channel; for some changes an event says it sooner."""
_MAX_THOUGHT = 1_200
_MAX_LINE = 300

Remember = Callable[[RunRecord, Mapping[str, str]], Awaitable[None]]
"""Keeps where the root is, so that a stop emoji on it is understood, also after a restart."""


@dataclass
class _Thread:
    """One run's. ``lines`` wait to be posted; ``None`` in the queue is the end."""

    run: RunRecord
    queue: asyncio.Queue[str | None] = field(default_factory=asyncio.Queue)
    step: list[str] = field(default_factory=list)


class DebugThreads:
    def __init__(
        self,
        web: Web,
        tasks: Tasks,
        channels: Channels,
        audience: Audience,
        settings: SlackSettings,
        head: Callable[[RunRecord], str],
    ) -> None:
        """``head`` makes the root's text, in mrkdwn."""
        self._web = web
        self._tasks = tasks
        self._channels = channels
        self._audience = audience
        self._settings = settings
        self._head = head
        self._threads: dict[str, _Thread] = {}
        self._turns: dict[str, asyncio.Lock] = {}

    def begin(self, run: RunRecord, remember: Remember) -> None:
        if run.id not in self._threads:
            thread = self._threads[run.id] = _Thread(run)
            self._tasks.start(self._write(thread, remember), f"debug thread {run.id}")

    def saw(self, run: RunRecord, event: Event) -> None:
        """Take the event in; a step is handed on when it is complete."""
        thread = self._threads.get(run.id)
        if thread is None:
            return
        thread.step += lines_of(event)
        if isinstance(event, Appended | RunEnded) and thread.step:
            thread.queue.put_nowait("\n".join(thread.step))
            thread.step.clear()
        if isinstance(event, RunEnded):
            self.end(run)

    def end(self, run: RunRecord) -> None:
        """Nothing more comes of this run; what waits is still written."""
        if thread := self._threads.pop(run.id, None):
            thread.queue.put_nowait(None)

    async def _write(self, thread: _Thread, remember: Remember) -> None:
        run = thread.run
        channel = await self._channel_for(run)
        if channel is None:
            return
        root = await self._root(run, channel, remember)
        while root is not None and (text := await _all_that_waits(thread.queue)):
            now = await self._channel_for(run)
            if now is None or now.id != channel.id:  # outsiders came to read it meanwhile
                _log.info("debug_thread_ended", run=run.id, channel=channel.id)
                return
            if not await self._add(channel.id, root, text):
                return

    async def _channel_for(self, run: RunRecord) -> Channel | None:
        """Where this run may be shown, in the public debug channel or in the private one.

        ``None`` also where Slack does not say who can read it. No event says that a channel was made
        private or public, so Slack is asked again for both.
        """
        asked_at = Address.of(run).channel
        asked_in = await self._channels.sure(asked_at, LOOKUP_SECONDS, SURE_SECONDS)
        names = (self._settings.debug_channel, self._settings.private_debug_channel)
        for name in names:
            found = self._channels.find(name) if name else None
            if found is None:
                continue
            debug = await self._channels.sure(found.id, LOOKUP_SECONDS, SURE_SECONDS)
            private_only = name == self._settings.private_debug_channel
            if debug is None or (private_only and not debug.is_private):
                continue
            if not private_only and (asked_in is None or asked_in.is_private):
                continue
            if may_be_shown(asked_in, debug=debug) and await self._audience.is_ours(
                debug.id, LOOKUP_SECONDS
            ):
                return debug
        return None

    async def _root(self, run: RunRecord, channel: Channel, remember: Remember) -> str | None:
        """The ts of the thread's root: an earlier owner's, or a new one."""
        if run.address.get(DEBUG_CHANNEL) == channel.id:
            return run.address[DEBUG_TS]
        posted = await self._post(channel.id, None, self._head(run))
        if posted is None:
            return None
        try:
            await remember(run, {DEBUG_CHANNEL: channel.id, DEBUG_TS: posted})
        except FencedError:
            return None
        return posted

    async def _add(self, channel: str, root: str, text: str) -> bool:
        """Whether the thread is still there to be written to."""
        return await self._post(channel, root, cut(text, MAX_POST)) is not None

    async def _post(self, channel: str, root: str | None, text: str) -> str | None:
        """The ts of what was posted; ``None`` if there is no use in going on."""
        turn = self._turns.setdefault(channel, asyncio.Lock())
        while True:
            async with turn:
                called = await self._web.once(
                    self._web.client.chat_postMessage(
                        channel=channel,
                        thread_ts=root,
                        text=text,
                        unfurl_links=False,
                        unfurl_media=False,
                        link_names=False,
                    )
                )
                wait = called.seconds if isinstance(called, Limited) else GAP_SECONDS
                await self._web.sleep(wait)
            match called:
                case Limited():
                    continue
                case Ok(data=data):
                    ts = str(data.get("ts", ""))
                    if root is None or (data.get("message") or {}).get("thread_ts"):
                        return ts
                    await self._web.once(self._web.client.chat_delete(channel=channel, ts=ts))
                    return None
                case Unknown():
                    return root
                case Refused() as refused:
                    _log.warning("debug_thread_refused", channel=channel, fix=fix_for(refused))
                    return None


async def _all_that_waits(queue: asyncio.Queue[str | None]) -> str:
    """The next text, with whatever else has come meanwhile; empty at the end."""
    texts: list[str] = []
    first = await queue.get()
    while first is not None:
        texts.append(first)
        if queue.empty():
            break
        first = queue.get_nowait()
    if first is None and texts:
        queue.put_nowait(None)
    return "\n".join(texts)


def head(question: str, permalink: str, trace: str) -> str:
    """The root of a run's thread."""
    asked = for_mrkdwn(cut(one_line(question), 1_000))
    return f"<{url(permalink)}|Asked>: {asked}\n<{url(trace)}|Trace>"


# --- lines ---------------------------------------------------------------------------------------


def lines_of(event: Event) -> Iterator[str]:
    """What a step's message says of one event, in mrkdwn; all text is dead text."""
    match event:
        case Decided(step=step, thought=thought, text=text, decision=decision):
            yield f"*Step {step}*"
            if thought:
                yield _quoted(thought)
            if decision != "act":
                yield f"{decision}: {_line(text)}"
        case ToolCalled(tool=tool, arguments=arguments):
            yield f"→ `{_code(tool)}({_arguments(arguments)})`"
        case ToolReturned(status=status, summary=summary, observation=observation):
            yield f"← {status.value} {_line(summary)} [{_line(observation)}]"
        case Appended(notice=notice) if notice:
            yield f"notice: {_line(notice)}"
        case ModelFailed(error=error, message=message):
            yield f"the model failed ({error.value}): {_line(message)}"
        case WasCut(reason=reason, phase=phase):
            yield f"cut in {phase.value}: {_line(plain(reason))}"
        case RunEnded(outcome=outcome):
            yield f"*{_ending(outcome)}*"
        case RunStarted(model=model):
            yield f"model: {_line(model)}"
        case Appended() | ModelCalled() | ModelReturned():
            return
        case _:
            assert_never(event)


def _ending(outcome: Outcome) -> str:
    match outcome:
        case Answer():
            return f"Answered in {outcome.steps} steps, confidence {outcome.confidence}."
        case Failure():
            return f"No answer: {_line(plain(outcome.reason))} {_line(outcome.detail)}".rstrip()
        case Proposal():
            return f"Proposed {_line(outcome.tool)}."
        case _:
            assert_never(outcome)


def _arguments(arguments: Mapping[str, JsonValue]) -> str:
    told = (f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
    return _code(", ".join(told))


def _line(text: str) -> str:
    return cut(for_mrkdwn(one_line(text)), _MAX_LINE)


def _code(text: str) -> str:
    return _line(text).replace("`", "'")


def _quoted(thought: str) -> str:
    safe = cut(for_mrkdwn(clean(thought).strip()), _MAX_THOUGHT).replace("```", "'''")
    return "\n".join(f"> {line}" for line in safe.splitlines())
