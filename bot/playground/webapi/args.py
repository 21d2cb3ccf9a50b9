"""A call's arguments and token, read the way Slack reads them.

Owns the parsing of query, form and JSON bodies. JSON is read by the methods that write; the reading
methods ignore a JSON body, as Slack does. A token counts in an `Authorization: Bearer` header or a
form field; one in the query is refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request

from bot.playground.model import Json
from bot.playground.webapi.errors import SlackError, missing_arguments

_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"
_FALSE = ("", "0", "false")


@dataclass(frozen=True)
class Args:
    """The arguments of one call. Values are strings from forms, JSON values from JSON bodies."""

    values: Json = field(default_factory=dict)

    def require(self, *names: str) -> None:
        """Refuse the call when one of these arguments was not sent at all."""
        missing = [name for name in names if self.values.get(name) is None]
        if missing:
            raise missing_arguments(missing)

    def text(self, name: str) -> str:
        """The argument as a string; empty when it was not sent."""
        value = self.values.get(name)
        if value is None:
            return ""
        return value if isinstance(value, str) else json.dumps(value)

    def has(self, name: str) -> bool:
        return self.values.get(name) is not None

    def flag(self, name: str) -> bool:
        return self.text(name).lower() not in _FALSE

    def number(self, name: str, default: int, most: int) -> int:
        raw = self.text(name)
        if not raw:
            return default
        try:
            value = int(float(raw))
        except ValueError:
            message = f"[ERROR] must be an integer [json-pointer:/{name}]"
            raise SlackError("invalid_arguments", [message]) from None
        if value <= 0:
            raise SlackError("invalid_limit")
        return min(value, most)

    def json(self, name: str) -> Any:
        """A structured argument: JSON as it came, or decoded from a form's string."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except ValueError:
            return None

    def json_list(self, name: str) -> list[Any]:
        value = self.json(name)
        return value if isinstance(value, list) else []


@dataclass(frozen=True)
class Received:
    """What a request carries: its arguments and the token it presents, if any."""

    args: Args
    token: str | None
    token_in_query: bool


async def read_request(request: Request, *, takes_json: bool) -> Received:
    """Read a call. Raises SlackError for a body that Slack does not take."""
    values: Json = dict(request.query_params)
    token_in_query = "token" in values
    values.pop("token", None)
    form_token: str | None = None
    if request.method == "POST":
        media = request.headers.get("content-type", "").split(";")[0].strip()
        if media in (_FORM, _MULTIPART):
            async with request.form() as form:
                sent = {key: value for key, value in form.items() if isinstance(value, str)}
            form_token = sent.pop("token", None)
            values |= sent
        elif media == "application/json":
            body = await _json_body(request)
            values |= body if takes_json else {}
        elif await request.body():
            raise SlackError("invalid_post_type")
    scheme, _, credential = request.headers.get("authorization", "").partition(" ")
    bearer = credential.strip() if scheme == "Bearer" else ""
    return Received(Args(values), form_token or bearer or None, token_in_query)


async def _json_body(request: Request) -> Json:
    raw = await request.body()
    if not raw:
        return {}
    try:
        body = json.loads(raw)
    except ValueError:
        raise SlackError("invalid_json") from None
    if not isinstance(body, dict):
        raise SlackError("json_not_object")
    return {key: value for key, value in body.items() if key != "token"}
