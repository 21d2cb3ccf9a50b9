"""The ``[slack]`` section: what a team tells the bot about its workspace.

Owns the shape and the defaults. Read by the configuration, so it imports no Slack library.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

SLACK_URL = "https://slack.com/api/"


class Binding(BaseModel):
    """What the bot may look at in some places, as a hard boundary (M26).

    ``channels`` holds ids or name patterns, ``direct_messages`` adds those. ``services`` and
    ``tools`` name what exists there; left out, everything does, and an empty list is nothing. The
    first binding that fits a place counts, and a place that none fits is not bound.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    channels: tuple[str, ...] = ()
    direct_messages: bool = False
    services: tuple[str, ...] | None = None
    tools: tuple[str, ...] | None = None

    @field_validator("channels", mode="after")
    @classmethod
    def _bare(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(name.strip().lstrip("#") for name in names)

    @model_validator(mode="after")
    def _says_where_and_what(self) -> Self:
        if not self.channels and not self.direct_messages:
            raise ValueError("a binding needs channels, or direct_messages = true")
        if self.services is None and self.tools is None:
            raise ValueError("a binding needs services or tools")
        return self


class SlackSettings(BaseModel):
    """Without ``bot_token`` the bot runs without Slack.

    ``channels`` holds ids or name patterns (``inc-*``) of the channels that may ask; empty means
    every channel that the bot was invited to. ``debug_channel`` (a name or an id) takes the
    thoughts of runs in public channels, ``private_debug_channel`` those of private channels and
    direct messages; an empty one takes none. ``stop_emojis`` are names without colons.
    ``stop_by`` says whose stop counts: everyone who may ask, or the asker and the members of
    ``stop_group`` (a user group's id). ``call_seconds`` is what one call to Slack may take.
    ``transport`` is ``socket`` (needs ``app_token``) or ``http`` (needs ``signing_secret``; Slack
    then posts to PUBLIC_URL/slack/events). ``bindings`` say which services and tools there are in
    which channels. With ``join_channels`` the bot joins a new public channel that ``channels`` names.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    transport: Literal["socket", "http"] = "socket"
    signing_secret: SecretStr | None = Field(default=None, min_length=1)
    base_url: str = Field(default=SLACK_URL, pattern=r"^https?://[^\s]+/$")
    channels: tuple[str, ...] = ()
    direct_messages: bool = True
    join_channels: bool = False
    bindings: tuple[Binding, ...] = ()
    debug_channel: str = "oncall-debug"
    private_debug_channel: str = ""
    stop_emojis: tuple[str, ...] = Field(default=("octagonal_sign",), min_length=1)
    stop_by: Literal["everyone", "asker"] = "everyone"
    stop_group: str = ""
    call_seconds: float = Field(default=10.0, gt=0, le=60)

    @field_validator("channels", "stop_emojis", mode="after")
    @classmethod
    def _bare(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        """As people write them: ``#inc-*`` and ``:octagonal_sign:`` are understood."""
        return tuple(name.strip().lstrip("#").strip(":") for name in names)

    @field_validator("debug_channel", "private_debug_channel", mode="after")
    @classmethod
    def _bare_name(cls, name: str) -> str:
        return name.strip().lstrip("#")

    @model_validator(mode="after")
    def _tokens_in_their_places(self) -> Self:
        for name, prefix in (("bot_token", "xoxb-"), ("app_token", "xapp-")):
            token: SecretStr | None = getattr(self, name)
            if token is not None and not token.get_secret_value().startswith(prefix):
                raise ValueError(f"{name} must start with {prefix}: Slack has two kinds of tokens")
        if self.bot_token is not None:
            if self.transport == "socket" and self.app_token is None:
                raise ValueError("bot_token is set but app_token is not: Socket Mode needs both")
            if self.transport == "http" and self.signing_secret is None:
                raise ValueError(
                    'transport = "http" needs signing_secret (page "Basic Information")'
                )
        if self.join_channels and not self.channels:
            raise ValueError("join_channels needs channels: it joins those that they name")
        return self
