"""The bot's own settings: oncall.toml's sections for it, and ``ONCALL_`` variables over them.

Owns the shape of those sections and the words for what is wrong in them. ``[sources]`` and
``[services]`` belong to ``tools.workspace`` and are only let through here.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from bot.loop.limits import Limits
from bot.models.settings import ModelSettings
from bot.slack.settings import SlackSettings
from tools.catalog import closest

CONFIG_NAME = "oncall.toml"
STATE_FOLDER = ".oncall"
"""Inside the workspace: the database, the signing key, the log. Mode 0700."""

_PREFIX = "ONCALL_"
_NESTED = "__"
_OF_THE_WORKSPACE = ("sources", "services")
_TOKENS = {"bot_token": "SLACK_BOT_TOKEN", "app_token": "SLACK_APP_TOKEN"}
"""Slack's own names for its tokens are understood too; they win over the file."""


class ConfigError(Exception):
    """The settings cannot be used. The message names the file, the key and what to write."""


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class WebSettings(Section):
    """Where the pages are served, and ``public_url``, how people reach them.

    ``signing_key`` signs trace links; without it one is made in the state folder. ``metrics`` serves
    ``/metrics`` for Prometheus beside the pages.
    """

    host: str = "127.0.0.1"
    port: int = Field(default=8410, ge=0, le=65_535)
    public_url: str = Field(default="", pattern=r"^(https?://[^\s/]+(/[^\s]*)?)?$")
    signing_key: SecretStr | None = Field(default=None, min_length=32)
    metrics: bool = True


class StoreSettings(Section):
    """``sqlite:///FILE``, relative to the workspace."""

    url: str = f"sqlite:///{STATE_FOLDER}/oncall.db"


class RunSettings(Section):
    """Runs at once, questions that may wait for one, and seconds that they may wait.

    ``drain_seconds`` is what runs may still take when the bot is told to end.
    """

    running: int = Field(default=8, ge=1, le=256)
    waiting: int = Field(default=32, ge=0, le=10_000)
    waiting_seconds: float = Field(default=120.0, gt=0)
    drain_seconds: float = Field(default=20.0, ge=0, le=600)


class Settings(BaseSettings):
    """Everything the bot is told. A variable (``ONCALL_WEB__PORT``) wins over the file."""

    model_config = SettingsConfigDict(
        frozen=True,
        extra="forbid",
        env_prefix=_PREFIX,
        env_nested_delimiter=_NESTED,
    )

    limits: Limits = Limits()
    web: WebSettings = WebSettings()
    store: StoreSettings = StoreSettings()
    model: ModelSettings = ModelSettings()
    runs: RunSettings = RunSettings()
    slack: SlackSettings = SlackSettings()

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        del settings_cls, dotenv_settings, file_secret_settings
        return (env_settings, init_settings)

    @model_validator(mode="after")
    def _drain_within_reason(self) -> Self:
        if self.runs.drain_seconds > self.limits.deadline_seconds:
            raise ValueError(
                f"runs.drain_seconds ({self.runs.drain_seconds:g}) is more than "
                f"limits.deadline_seconds ({self.limits.deadline_seconds:g}): no run takes that long"
            )
        return self


def load(root: Path) -> Settings:
    """The settings of a workspace. Raises ``ConfigError``."""
    file = root / CONFIG_NAME
    _check_variables(os.environ)
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if root.is_file():
            raise ConfigError(
                f"{root} is a file: name the folder that holds {CONFIG_NAME} with --workspace."
            ) from None
        raise ConfigError(
            f"{file} does not exist: name a folder that holds an {CONFIG_NAME} with --workspace, "
            "or make one to try with `oncall-bot demo-workspace DIR`."
        ) from None
    except UnicodeDecodeError:
        raise ConfigError(f"{file} is not UTF-8 text: save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{file} cannot be read: {error.strerror}.") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not valid TOML: {error}.") from None
    ours = {key: value for key, value in read.items() if key not in _OF_THE_WORKSPACE}
    given = {key: os.environ[name] for key, name in _TOKENS.items() if os.environ.get(name)}
    if given and isinstance(ours.get("slack", {}), dict):
        ours["slack"] = {**ours.get("slack", {}), **given}
    try:
        return Settings(**ours)
    except ValidationError as error:
        raise ConfigError(_complaint(error, str(file))) from None
    except SettingsError as error:
        raise ConfigError(f"{error}: write {_PREFIX}SECTION{_NESTED}KEY=value.") from None


def _complaint(error: ValidationError, file: str) -> str:
    """The first thing that is wrong: where, which key, what to write."""
    first = error.errors(include_url=False, include_input=False)[0]
    place = tuple(str(part) for part in first["loc"])
    variable = _PREFIX + _NESTED.join(place).upper()
    where = f"the variable {variable}" if variable in os.environ else file
    if first["type"] == "extra_forbidden":
        return f"{where}: {_unknown(place)}"
    said = first["msg"].removeprefix("Value error, ")
    return f"{where}: {_named(place)}{said[:1].lower()}{said[1:]}."


def _named(place: tuple[str, ...]) -> str:
    if not place:
        return ""
    *sections, key = place
    return f"`{key}` in [{'.'.join(sections)}]: " if sections else f"[{key}]: "


def _unknown(place: tuple[str, ...]) -> str:
    *sections, key = place
    known = _known(tuple(sections))
    near = closest(key, known, limit=1)
    guess = f" Did you mean `{near[0]}`?" if near else ""
    what = f"unknown key `{key}` in [{'.'.join(sections)}]." if sections else f"unknown [{key}]."
    return f"{what}{guess} Known: {', '.join(known)}."


def _known(sections: tuple[str, ...]) -> tuple[str, ...]:
    model: type[BaseModel] = Settings
    path = iter(sections)
    for section in path:
        field: Any = model.model_fields[section].annotation
        if parts := get_args(field):  # a list of sections, or a table of them: skip its index
            next(path, None)
            field = next(part for part in parts if hasattr(part, "model_fields"))
        model = field
    more = () if sections else _OF_THE_WORKSPACE
    return (*model.model_fields, *more)


def _check_variables(variables: Mapping[str, str]) -> None:
    """A mistyped variable would be silently without effect. Raises ``ConfigError``."""
    for name in variables:
        if not name.startswith(_PREFIX) or _NESTED not in name:
            continue
        section, key = name.removeprefix(_PREFIX).lower().split(_NESTED, 1)
        if section not in Settings.model_fields:
            raise ConfigError(f"the variable {name}: {_unknown((section,))}")
        if key not in _known((section,)):
            raise ConfigError(f"the variable {name}: {_unknown((section, key))}")
