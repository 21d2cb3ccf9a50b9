"""What the bot says outside runs: help, refusals, "too busy". Once a message, in its thread."""

from __future__ import annotations

import hashlib

import structlog

from bot.runs.surface import Gone, NotPostedError, Posted
from bot.slack.calls import Ok, Web
from bot.slack.events import Said
from bot.slack.identity import Identity
from bot.slack.rendering import Message, notice
from bot.slack.reply import Mark, Place, Poster
from bot.slack.tasks import Tasks

_log = structlog.get_logger(__name__)

OPEN_SECONDS = 30.0

BUSY = "I have too many questions to work on just now. Ask again in a minute."
CLOSING = "I am being restarted. Ask again in a minute."
NO_MEMBER = (
    "I am not in that channel, so I cannot read it or answer there. "
    "Type `/invite @oncall` in it and ask again."
)
NOTHING_RUNS = "Nothing is running in this thread, so there is nothing to stop."
NOTHING_RUNS_HERE = "Nothing is running here, so there is nothing to stop."


def help_text(stop_emoji: str) -> str:
    """For an empty mention."""
    return (
        "Ask me what caused an incident, what changed in a deploy, or what was deployed. "
        "For example: which service caused the checkout incident, and what changed in deploy 4471? "
        f"React with :{stop_emoji}: to your question to stop me."
    )


class Notices:
    """``post`` returns at once: a notice must not hold up the acknowledgement of an event."""

    def __init__(self, poster: Poster, web: Web, tasks: Tasks, identity: Identity) -> None:
        self._poster = poster
        self._web = web
        self._tasks = tasks
        self._identity = identity

    def post(self, said: Said, told: str | Message) -> None:
        message = notice(told) if isinstance(told, str) else told
        self._tasks.start(self._post(said, message), f"notice {said.channel} {said.ts}")

    def post_directly(self, said: Said, words: str) -> None:
        """As a direct message: the bot cannot write where it was asked."""
        self._tasks.start(self._post_directly(said.user, words), f"notice to {said.user}")

    async def _post_directly(self, user: str, words: str) -> None:
        client = self._web.client
        match await self._web.persist(lambda: client.conversations_open(users=user), OPEN_SECONDS):
            case Ok(data=data):
                direct = str((data.get("channel") or {}).get("id", ""))
                done = await self._web.once(
                    client.chat_postMessage(channel=direct, text=notice(words).text)
                )
                _log.info("notice_posted_directly", user=user, ok=isinstance(done, Ok))
            case trouble:
                _log.warning("notice_not_posted", user=user, why=str(trouble))

    async def _post(self, said: Said, message: Message) -> None:
        key = self._identity.key(said.channel, said.ts)
        mark = Mark(run="", marker=hashlib.sha256(key.encode()).hexdigest()[:16])
        try:
            done = await self._poster.post_once(
                Place(said.channel, said.root, said.ts), message, mark
            )
        except NotPostedError as error:
            _log.warning("notice_not_posted", channel=said.channel, why=str(error))
            return
        match done:
            case Posted():
                _log.info("notice_posted", channel=said.channel, ts=said.ts)
            case Gone(why=why):
                _log.info("notice_has_no_place", channel=said.channel, why=why)
