"""Which models to ask: the ``[model]`` section of oncall.toml.

The section itself is the first model; each ``[[model.then]]`` is asked when those before it are down;
the rules model always stands behind them. Owns the shape, where keys come from, and prices. Knows no
HTTP, so that the keyless default loads none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SecretStr,
    StringConstraints,
    model_validator,
)

from bot.models.prices import FREE, Price

DEFAULT_URLS: Mapping[str, str] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
}
DEFAULT_KEYS: Mapping[str, str] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}

_OURS = frozenset(
    {"model", "messages", "system", "tools", "tool_choice", "stream", "response_format", "n"}
)

_Line = Annotated[str, StringConstraints(strip_whitespace=True, pattern=r"^[ -~]*$")]
_HeaderName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9-]+$")]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Asked(_Section):
    """What both kinds of section hold.

    ``api_key_env`` names the variable that holds the key. ``mode`` ``text`` is for servers without
    tool calls. ``extra_body`` is added to every request (temperature, reasoning_effort, thinking).
    ``name`` is what people are shown and what a price is listed under; without it, ``model``.
    """

    model: _Line = ""
    name: _Line = ""
    base_url: _Line = ""
    api_key: SecretStr | None = None
    api_key_env: str = ""
    mode: Literal["tools", "text"] = "tools"
    headers: dict[_HeaderName, SecretStr] = {}
    extra_body: dict[str, JsonValue] = {}
    max_output_tokens: int = Field(default=4_096, ge=256, le=200_000)
    caching: bool = True


class EndpointSettings(_Asked):
    """One model of one provider. ``url`` is where it is, without a slash at the end."""

    kind: Literal["openai", "anthropic"]
    model: Annotated[_Line, Field(min_length=1)]

    @property
    def shown(self) -> str:
        return self.name or self.model

    @property
    def url(self) -> str:
        return (self.base_url or DEFAULT_URLS[self.kind]).rstrip("/")

    @property
    def key(self) -> str:
        """The key, or "" for none. A provider's usual variable is only read for that provider's own
        address: another server must not be sent it by accident.
        """
        if self.api_key is not None:
            return self.api_key.get_secret_value().strip()
        variable = self.api_key_env or ("" if self.base_url else DEFAULT_KEYS[self.kind])
        return os.environ.get(variable, "").strip() if variable else ""

    @model_validator(mode="after")
    def _usable(self) -> Self:
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError(f"base_url {self.url!r} must begin with http:// or https://")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "base_url holds more than an address: put keys into api_key or headers"
            )
        if self.mode == "text" and self.kind != "openai":
            raise ValueError('mode = "text" is for kind = "openai" only: leave `mode` out')
        if ours := sorted(_OURS & self.extra_body.keys()):
            raise ValueError(f"extra_body may not set {', '.join(ours)}: the bot sets them itself")
        if not self.key.isascii() or not self.key.isprintable():
            raise ValueError("the API key holds characters that no key has: copy it again")
        return self


class ModelSettings(_Asked):
    """The first model, those behind it, prices of a million tokens, and the money for one day (UTC).

    ``rules`` needs no key and no network.
    """

    kind: Literal["rules", "openai", "anthropic"] = "rules"
    then: tuple[EndpointSettings, ...] = ()
    prices: dict[str, Price] = {}
    currency: _Line = "USD"
    daily_budget: float | None = Field(default=None, ge=0)

    @property
    def endpoints(self) -> tuple[EndpointSettings, ...]:
        """The models that need a network, in the order in which they are asked."""
        if self.kind == "rules":
            return ()
        own = {name: getattr(self, name) for name in _Asked.model_fields}
        return (EndpointSettings(kind=self.kind, **own), *self.then)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.kind == "rules":
            if given := [name for name in ("model", "base_url", "then") if getattr(self, name)]:
                raise ValueError(f"{', '.join(given)} needs kind: write openai or anthropic for it")
            return self
        if not self.model:
            raise ValueError("model is missing: name the model that is to be asked")
        names = [endpoint.shown for endpoint in self.endpoints]
        if twice := sorted({name for name in names if names.count(name) > 1 or name in FREE}):
            raise ValueError(f"{twice[0]} is not a name for one model only: give it another `name`")
        if self.daily_budget is not None and (
            unpriced := [name for name in names if name not in self.prices]
        ):
            raise ValueError(
                f"daily_budget needs the prices of every model: {', '.join(unpriced)} has none"
            )
        return self
