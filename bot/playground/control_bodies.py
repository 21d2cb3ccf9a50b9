"""The bodies of the control API's requests, checked as they come in.

Owns their shapes only; unknown keys are refused, so that a typing mistake in a test is seen.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from bot.playground.http_delivery import Signing
from bot.playground.model import Json, Role
from bot.playground.pace import Pace


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Post(_Body):
    """Exactly one of `text` (Slack's wire form, `<@U…>`) and `typed` (as in the composer)."""

    user: str
    channel: str
    text: str = ""
    typed: str | None = None
    thread_ts: str | None = None
    blocks: tuple[Json, ...] = ()
    attachments: tuple[Json, ...] = ()


class Edit(_Body):
    user: str
    channel: str
    ts: str
    typed: str


class Target(_Body):
    user: str
    channel: str
    ts: str


class React(Target):
    name: str
    item_user: bool = True
    """False leaves `item_user` out of the event, as Slack sometimes does."""


class Click(Target):
    action_id: str


class Shortcut(Target):
    callback_id: str


class SetPace(_Body):
    pace: Pace


class StopSession(_Body):
    user: str
    channel: str
    thread_ts: str


class OpenHome(_Body):
    user: str
    tab: Literal["home", "messages"] = "home"


class OpenDirect(_Body):
    user: str
    other: str


class NewChannel(_Body):
    user: str
    name: str
    private: bool = False
    members: tuple[str, ...] = ()


class Membership(_Body):
    user: str
    channel: str
    inviter: str | None = None


class ChannelName(_Body):
    channel: str


class Replay(_Body):
    """A delivery's `id`, or an event's `event_id`, to send once more."""

    id: str
    new_event_id: bool = False


class Advance(_Body):
    seconds: float = Field(ge=0)


class Disconnect(_Body):
    """`reason`: a Slack disconnect frame's reason, or `close` or `drop` (a reset, no frame)."""

    reason: Literal[
        "warning", "refresh_requested", "too_many_websockets", "link_disabled", "close", "drop"
    ]
    connection: str | None = None


class ChangeApp(_Body):
    app: str | None = None
    scopes: tuple[str, ...] | None = None
    app_scopes: tuple[str, ...] | None = None
    events: tuple[str, ...] | None = None
    is_agent: bool | None = None
    distributed: bool | None = None


class ChangeUser(_Body):
    user: str
    role: Role | None = None
    deleted: bool | None = None


class ToSockets(_Body):
    mode: Literal["socket"]


class ToUrl(_Body):
    mode: Literal["http"]
    url: str


class DeliverTo(_Body):
    app: str | None = None
    to: Annotated[ToSockets | ToUrl, Field(discriminator="mode")]


class HttpDeliver(_Body):
    """One HTTP request with an earlier payload, signed as told; answers what came back."""

    id: str
    url: str
    signing: Signing = Signing.VALID


class Reseed(_Body):
    seed: int
