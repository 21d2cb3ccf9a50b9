"""The world as data: the JSON that a workspace is started from, and how it becomes a `World`.

Owns the seed file's format (pydantic, unknown keys refused) and the loading of it. The workspace
that is used without a seed file is `templates/workspace.json`. Knows no HTTP.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from bot.playground.model import (
    App,
    Channel,
    ChannelKind,
    HttpDelivery,
    Json,
    Message,
    Reaction,
    Role,
    SocketDelivery,
    Team,
    User,
)
from bot.playground.world import World

DEFAULT_SEED = Path(__file__).with_name("templates") / "workspace.json"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TeamSeed(_Strict):
    id: str
    name: str
    domain: str


class UserSeed(_Strict):
    """A person, or a bot of another app (`role: "bot"` with a `bot_id`)."""

    id: str
    name: str
    real_name: str
    role: Role = Role.MEMBER
    team: str | None = None
    """Another team's id for an outsider; the workspace's own when left out."""
    title: str = ""
    color: str = "4a154b"
    bot_id: str | None = None


class ChannelSeed(_Strict):
    id: str
    name: str
    kind: Literal["channel", "group"] = "channel"
    members: tuple[str, ...]
    """User names."""
    topic: str = ""
    purpose: str = ""
    is_general: bool = False
    shared_with: tuple[str, ...] = ()


class ReactionSeed(_Strict):
    name: str
    users: tuple[str, ...]


class MessageSeed(_Strict):
    channel: str
    """The channel's name."""
    user: str
    """The author's name."""
    at: AwareDatetime
    text: str = ""
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()
    reactions: tuple[ReactionSeed, ...] = ()
    replies: tuple[ReplySeed, ...] = ()


class ReplySeed(_Strict):
    user: str
    at: AwareDatetime
    text: str


class SocketSeed(_Strict):
    mode: Literal["socket"] = "socket"


class HttpSeed(_Strict):
    mode: Literal["http"]
    url: str


class AppSeed(_Strict):
    id: str
    name: str
    bot_user: str
    """The bot user's name, among `users`."""
    bot_token: str
    app_token: str
    signing_secret: str
    scopes: tuple[str, ...]
    events: tuple[str, ...]
    app_scopes: tuple[str, ...] = ("connections:write",)
    is_agent: bool = True
    distributed: bool = False
    delivery: Annotated[SocketSeed | HttpSeed, Field(discriminator="mode")] = SocketSeed()
    usergroups: dict[str, tuple[str, ...]] = {}
    """Members' names by usergroup id."""


class Seed(_Strict):
    """A workspace. `now` is the world's time when the playground starts."""

    now: AwareDatetime
    team: TeamSeed
    other_teams: tuple[TeamSeed, ...] = ()
    users: tuple[UserSeed, ...]
    channels: tuple[ChannelSeed, ...]
    messages: tuple[MessageSeed, ...] = ()
    apps: tuple[AppSeed, ...]
    you: str
    """The name of the user whom the page shows at first."""
    question: str = ""
    """What the page's composer suggests to ask."""


def read_seed(path: Path = DEFAULT_SEED) -> Seed:
    """The seed in a JSON file. Raises OSError, or ValueError that names the wrong key."""
    return Seed.model_validate_json(path.read_text(encoding="utf-8"))


def build_world(seed: Seed) -> World:
    """The world that a seed describes. Raises ValueError when it names somebody it has not."""
    world = World(team=Team(seed.team.id, seed.team.name, seed.team.domain))
    for team in (seed.team, *seed.other_teams):
        world.teams[team.id] = Team(team.id, team.name, team.domain)
    apps = {app.bot_user: app for app in seed.apps}
    for user in seed.users:
        world.users[user.id] = User(
            id=user.id,
            name=user.name,
            real_name=user.real_name,
            role=user.role,
            team=user.team or seed.team.id,
            title=user.title,
            color=user.color,
            bot_id=user.bot_id,
            app_id=apps[user.name].id if user.name in apps else None,
        )
    names = {user.name: user.id for user in seed.users}
    world.you = _find(names, seed.you)
    world.question = seed.question
    for app in seed.apps:
        world.apps[app.id] = _app(app, names, world)
    created = int(seed.now.timestamp()) - 90 * 24 * 3600
    for channel in seed.channels:
        members = tuple(_find(names, name) for name in channel.members)
        world.put_channel(
            Channel(
                id=channel.id,
                name=channel.name,
                kind=ChannelKind(channel.kind),
                members=members,
                created=created,
                creator=members[0],
                topic=channel.topic,
                purpose=channel.purpose,
                shared_with=channel.shared_with,
                is_general=channel.is_general,
            )
        )
    for message in sorted(seed.messages, key=lambda m: m.at):
        _add_message(world, message, names)
    return world


def _app(app: AppSeed, names: dict[str, str], world: World) -> App:
    bot_user = _find(names, app.bot_user)
    bot_id = world.users[bot_user].bot_id
    if bot_id is None:
        raise ValueError(f"the seed's bot user {app.bot_user!r} needs a bot_id")
    return App(
        id=app.id,
        name=app.name,
        bot_user=bot_user,
        bot_id=bot_id,
        bot_token=app.bot_token,
        app_token=app.app_token,
        signing_secret=app.signing_secret,
        scopes=app.scopes,
        events=app.events,
        app_scopes=app.app_scopes,
        is_agent=app.is_agent,
        distributed=app.distributed,
        delivery=(
            HttpDelivery(app.delivery.url)
            if isinstance(app.delivery, HttpSeed)
            else SocketDelivery()
        ),
        usergroups={
            group: tuple(_find(names, name) for name in members)
            for group, members in app.usergroups.items()
        },
    )


def _add_message(world: World, seed: MessageSeed, names: dict[str, str]) -> None:
    channel = world.channel_named(seed.channel)
    if channel is None:
        raise ValueError(f"the seed has a message in an unknown channel: {seed.channel!r}")
    author = world.users[_find(names, seed.user)]
    of_a_bot = author.is_bot
    root = world.add(
        Message(
            channel=channel.id,
            ts=world.new_ts(seed.at.timestamp()),
            text=seed.text,
            user=None if of_a_bot else author.id,
            team=author.team,
            blocks=seed.blocks,
            attachments=seed.attachments,
            bot_id=author.bot_id,
            username=author.real_name if of_a_bot else None,
            subtype="bot_message" if of_a_bot else None,
            reactions=tuple(
                Reaction(r.name, tuple(_find(names, u) for u in r.users)) for r in seed.reactions
            ),
        )
    )
    for reply in seed.replies:
        by = world.users[_find(names, reply.user)]
        world.add(
            Message(
                channel=channel.id,
                ts=world.new_ts(reply.at.timestamp()),
                text=reply.text,
                user=by.id,
                team=by.team,
                thread_ts=root.ts,
            )
        )


def _find(names: dict[str, str], name: str) -> str:
    try:
        return names[name]
    except KeyError:
        raise ValueError(f"the seed names {name!r}, who is not among its users") from None
