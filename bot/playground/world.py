"""The state of the local workspace: who is there, what was said, and the rules of threads.

Owns the mutable maps of frozen values and what keeps them consistent: unique timestamps, thread
roots, tombstones, one reaction a person. Knows nothing of HTTP, tokens' rights, rates or events.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from bot.playground.model import (
    SLACKBOT,
    TOMBSTONE_TEXT,
    App,
    Channel,
    ChannelKind,
    Edited,
    Json,
    Message,
    Reaction,
    Role,
    Team,
    User,
)

MICROSECONDS = 1_000_000


@dataclass
class World:
    """Everything in the workspace. Methods return the new value of what they changed."""

    team: Team
    teams: dict[str, Team] = field(default_factory=dict)
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    apps: dict[str, App] = field(default_factory=dict)
    you: str = ""
    """Whom the page shows at first."""
    question: str = ""
    """What the page's composer suggests to ask."""
    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    _last_micros: int = 0
    _next_id: int = 0

    # -- names and ids

    def new_id(self, prefix: str) -> str:
        """An id of Slack's form that nothing here has: `C0NEW00001`."""
        self._next_id += 1
        return f"{prefix}0NEW{self._next_id:05d}"

    def new_ts(self, now: float) -> str:
        """A timestamp for world time `now`, later than every one given out before."""
        self._last_micros = max(round(now * MICROSECONDS), self._last_micros + 1)
        return format_ts(self._last_micros)

    def channel_named(self, name: str) -> Channel | None:
        bare = name.removeprefix("#")
        return next((c for c in self.channels.values() if c.name == bare), None)

    def user_named(self, name: str) -> User | None:
        bare = name.removeprefix("@")
        return next((u for u in self.users.values() if u.name == bare), None)

    def is_outsider(self, user: str) -> bool:
        return user in self.users and self.users[user].team != self.team.id

    # -- channels

    def put_channel(self, channel: Channel) -> Channel:
        self.channels[channel.id] = channel
        self.messages.setdefault(channel.id, {})
        return channel

    def direct_channel(self, one: str, other: str, now: float) -> Channel:
        """The direct conversation of two users, opened when there is none."""
        pair = {one, other}
        for channel in self.channels.values():
            if channel.kind is ChannelKind.DIRECT and set(channel.members) == pair:
                return channel
        return self.put_channel(
            Channel(
                id=self.new_id("D"),
                name="",
                kind=ChannelKind.DIRECT,
                members=(one, other),
                created=int(now),
                creator=one,
            )
        )

    def join(self, channel: str, user: str) -> Channel:
        was = self.channels[channel]
        others = (team for team in was.shared_with)
        team = self.users[user].team
        shared = was.shared_with if team == self.team.id else unique((*others, team))
        return self.put_channel(
            replace(was, members=unique((*was.members, user)), shared_with=shared)
        )

    def leave(self, channel: str, user: str) -> Channel:
        was = self.channels[channel]
        return self.put_channel(replace(was, members=tuple(m for m in was.members if m != user)))

    # -- messages

    def message(self, channel: str, ts: str) -> Message | None:
        return self.messages.get(channel, {}).get(ts)

    def top_level(self, channel: str) -> list[Message]:
        """What a channel shows outside its threads, oldest first."""
        return sorted(
            (m for m in self.messages[channel].values() if not m.is_reply), key=lambda m: m.ts
        )

    def replies(self, channel: str, root: str) -> list[Message]:
        """The replies of a thread, oldest first, without its root."""
        return sorted(
            (m for m in self.messages[channel].values() if m.is_reply and m.thread_ts == root),
            key=lambda m: m.ts,
        )

    def add(self, message: Message) -> Message:
        """Store a message. A reply to a reply goes under the root; to nothing, to the channel."""
        parent = self.message(message.channel, message.thread_ts) if message.thread_ts else None
        if parent is None:
            root = None
        else:
            root = parent.thread_ts or parent.ts
            if (top := self.message(message.channel, root)) is not None:
                self._put(replace(top, thread_ts=root))
        return self._put(replace(message, thread_ts=root))

    def edit(
        self,
        message: Message,
        *,
        text: str,
        blocks: Iterable[Json],
        attachments: Iterable[Json],
        metadata: Json | None,
        edited: Edited | None,
    ) -> Message:
        return self._put(
            replace(
                message,
                text=text,
                blocks=tuple(blocks),
                attachments=tuple(attachments),
                metadata=metadata,
                edited=edited,
            )
        )

    def delete(self, message: Message) -> None:
        """Remove a message; a root with replies leaves a tombstone until its last reply goes."""
        if not message.is_reply and self.replies(message.channel, message.ts):
            self._put(
                Message(
                    channel=message.channel,
                    ts=message.ts,
                    text=TOMBSTONE_TEXT,
                    user=SLACKBOT,
                    thread_ts=message.ts,
                    subtype="tombstone",
                )
            )
            return
        del self.messages[message.channel][message.ts]
        if message.thread_ts is not None and message.is_reply:
            self._unthread_if_spent(message.channel, message.thread_ts)

    def react(self, message: Message, user: str, name: str) -> Message | None:
        """Add a reaction; None if the user already has this one on the message."""
        others = tuple(r for r in message.reactions if r.name != name)
        mine = next((r for r in message.reactions if r.name == name), Reaction(name, ()))
        if user in mine.users:
            return None
        grown = replace(mine, users=(*mine.users, user))
        if not mine.users:
            return self._put(replace(message, reactions=(*others, grown)))
        kept = tuple(grown if r.name == name else r for r in message.reactions)
        return self._put(replace(message, reactions=kept))

    def unreact(self, message: Message, user: str, name: str) -> Message | None:
        """Take a reaction back; None if the user has no such reaction on the message."""
        mine = next((r for r in message.reactions if r.name == name), None)
        if mine is None or user not in mine.users:
            return None
        left = replace(mine, users=tuple(u for u in mine.users if u != user))
        kept = (left if r.name == name else r for r in message.reactions)
        return self._put(replace(message, reactions=tuple(r for r in kept if r.users)))

    def all_messages(self) -> Iterator[Message]:
        for channel in self.messages.values():
            yield from channel.values()

    def _put(self, message: Message) -> Message:
        self.messages[message.channel][message.ts] = message
        return message

    def _unthread_if_spent(self, channel: str, root: str) -> None:
        top = self.message(channel, root)
        if top is None or self.replies(channel, root):
            return
        if top.is_tombstone:
            del self.messages[channel][root]
        else:
            self._put(replace(top, thread_ts=None))

    # -- apps

    def app_of_bot(self, user: str) -> App | None:
        return next((a for a in self.apps.values() if a.bot_user == user), None)

    def people(self) -> list[User]:
        """Everybody who can sit in front of the page: neither bots nor deactivated."""
        return [u for u in self.users.values() if u.role is not Role.BOT and not u.deleted]


def unique(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(items))


def format_ts(micros: int) -> str:
    return f"{micros // MICROSECONDS}.{micros % MICROSECONDS:06d}"
