"""The ``[slack]`` section: what a team tells the bot about its workspace.

Owns the shape and the defaults. Read by the configuration, so it imports no Slack library.
"""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

SLACK_URL = "https://slack.com/api/"


class SlackSettings(BaseModel):
    """Without ``bot_token`` the bot runs without Slack.

    ``channels`` holds ids or name patterns (``inc-*``) of the channels that may ask; empty means
    every channel that the bot was invited to. ``debug_channel`` (a name or an id) takes the
    thoughts of runs in public channels, ``private_debug_channel`` those of private channels and
    direct messages; an empty one takes none. ``stop_emojis`` are names without colons.
    ``stop_by`` says whose stop counts: everyone who may ask, or the asker and the members of
    ``stop_group`` (a user group's id). ``call_seconds`` is what one call to Slack may take.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    base_url: str = Field(default=SLACK_URL, pattern=r"^https?://[^\s]+/$")
    channels: tuple[str, ...] = ()
    direct_messages: bool = True
    debug_channel: str = "oncall-debug"
    private_debug_channel: str = ""
    stop_emojis: tuple[str, ...] = Field(default=("octagonal_sign",), min_length=1)
    stop_by: str = Field(default="everyone", pattern="^(everyone|asker)$")
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
        if self.bot_token is not None and self.app_token is None:
            raise ValueError("bot_token is set but app_token is not: Socket Mode needs both")
        return self
