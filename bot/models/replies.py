"""From an HTTP reply to JSON, or to the typed error that the loop acts on.

Owns the kinds of errors, ``Retry-After`` and the words for people. A message never holds a key: what
a provider says is only repeated where it is no answer about the key, and with every secret masked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json

from bot.loop.stopping import Clock
from bot.loop.wire import ModelError, ModelErrorKind
from bot.models.encoding import encoded, loads
from tools.http import (
    HttpClient,
    HttpError,
    HttpNetworkError,
    HttpReply,
    HttpTimeoutError,
    HttpTooLargeError,
)

MAX_REPLY_BYTES = 4_000_000
MAX_SAID = 200
"""Characters of a provider's own words in a message."""
DEEPEST = 100
"""Levels of JSON in a reply: what a journal keeps of it can be read again up to 200."""
SHORTEST_SECRET = 6

_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|prompt is too long|too many (?:input )?tokens"
    r"|maximum (?:context|prompt|input)|request_too_large|exceed_context",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"content[_ ](?:filter|policy)|responsibleai|safety", re.IGNORECASE)
_QUOTA = re.compile(r"insufficient_quota|credit balance|billing|payment", re.IGNORECASE)


@dataclass(frozen=True)
class Endpoint:
    """Where a model is asked, and everything that must not show in a message."""

    name: str
    url: str
    headers: Mapping[str, str]
    secrets: tuple[str, ...]


async def post(endpoint: Endpoint, body: bytes, client: HttpClient, clock: Clock) -> dict[str, Any]:
    """The reply's JSON object. Raises ``ModelError``."""
    try:
        reply = await client.post(endpoint.url, endpoint.headers, body, max_bytes=MAX_REPLY_BYTES)
    except HttpTimeoutError as error:
        raise ModelError(ModelErrorKind.TIMEOUT, f"{endpoint.name}: {error}") from error
    except HttpNetworkError as error:
        raise ModelError(ModelErrorKind.NETWORK, f"{endpoint.name}: {error}") from error
    except HttpTooLargeError as error:
        raise ModelError(ModelErrorKind.OVERLOADED, f"{endpoint.name}: {error}") from error
    except HttpError as error:
        raise ModelError(ModelErrorKind.NETWORK, f"{endpoint.name}: {error}") from error
    if not 200 <= reply.status < 300:
        raise _refusal(reply, endpoint, clock)
    payload = _object(reply)
    if payload is None:
        raise ModelError(
            ModelErrorKind.NETWORK,
            f"{endpoint.name}: the reply is not whole JSON ({_kind_of(reply)}); "
            "does something stand between the bot and the provider, or is base_url wrong?",
        )
    if isinstance(payload.get("error"), dict | str) and payload["error"]:
        raise _reported(payload, endpoint)
    return payload


def unreadable(name: str, what: str, error: ValidationError) -> ModelError:
    """For JSON that is not in the wire format, with the place that is wrong and nothing of it."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(step) for step in first["loc"])
    return ModelError(
        ModelErrorKind.OVERLOADED, f"{name} sent a reply that is no {what} (at `{where}`)."
    )


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait, from ``retry-after-ms`` or ``retry-after`` (seconds or an HTTP date)."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers[name]) * unit
        except (KeyError, ValueError):
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    try:
        when = parsedate_to_datetime(headers["retry-after"])
    except (KeyError, ValueError, OverflowError):
        return None
    aware = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def said(text: str, secrets: Sequence[str]) -> str:
    """A provider's words on one short line, without any of the secrets."""
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) >= SHORTEST_SECRET:
            text = text.replace(secret, "[key]")
    line = " ".join(text.split())
    return line if len(line) <= MAX_SAID else line[: MAX_SAID - 1] + "…"


def _object(reply: HttpReply) -> dict[str, Any] | None:
    try:
        payload = from_json(reply.body, allow_inf_nan=False)
    except ValueError:
        payload = _mended(reply.body)
    brackets = reply.body.count(b"[") + reply.body.count(b"{")
    if not isinstance(payload, dict) or (brackets > DEEPEST and _deeper(payload, DEEPEST)):
        return None
    return payload


def _deeper(value: object, levels: int) -> bool:
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(inner, Iterable) or isinstance(inner, str):
        return False
    return not levels or any(_deeper(one, levels - 1) for one in inner)


def _mended(body: bytes) -> object:
    """What else is JSON: in another encoding than UTF-8, or with halves of surrogate pairs."""
    try:
        return from_json(encoded(loads(body)), allow_inf_nan=False)
    except (ValueError, RecursionError):
        return None


def _kind_of(reply: HttpReply) -> str:
    if reply.body.lstrip()[:1] == b"<":
        return "a page of HTML"
    return "nothing" if not reply.body else f"{len(reply.body):,} bytes"


def _words(payload: Mapping[str, Any] | None) -> tuple[str, str]:
    """What the provider says for programs (type, code) and for people."""
    error = payload.get("error") if payload else None
    match error:
        case {**found}:
            codes = [str(found[key]) for key in ("type", "code") if found.get(key) is not None]
            message = found.get("message")
            return " ".join(codes), message if isinstance(message, str) else ""
        case str(text):
            return "", text
        case _:
            message = payload.get("message") if payload else None
            return "", message if isinstance(message, str) else ""


def _refusal(reply: HttpReply, endpoint: Endpoint, clock: Clock) -> ModelError:
    """The error for a status that is not 2xx."""
    codes, message = _words(_object(reply))
    kind = _kind(reply.status, codes, message)
    wait = retry_after(reply.headers, clock.now())
    detail = f" ({said(message, endpoint.secrets)})" if message else ""
    return ModelError(
        kind,
        _plain(kind, endpoint.name, f"HTTP {reply.status}", detail),
        retry_after=wait,
    )


def _reported(payload: Mapping[str, Any], endpoint: Endpoint) -> ModelError:
    """The error that some gateways send with status 200."""
    codes, message = _words(payload)
    status = next((int(word) for word in codes.split() if re.fullmatch(r"[45]\d\d", word)), 500)
    kind = _kind(status, codes, message)
    detail = f" ({said(message, endpoint.secrets)})" if message else ""
    return ModelError(kind, _plain(kind, endpoint.name, "an error in its reply", detail))


def _kind(status: int, codes: str, message: str) -> ModelErrorKind:
    if status in {401, 402, 403} or _QUOTA.search(codes):
        return ModelErrorKind.AUTH
    if status == 413 or (400 <= status < 500 and _TOO_LONG.search(f"{codes} {message}")):
        return ModelErrorKind.CONTEXT_TOO_LONG
    if status == 429:
        return ModelErrorKind.RATE_LIMIT
    if status in {408, 504}:
        return ModelErrorKind.TIMEOUT
    if status >= 500 or status in {409, 425}:
        return ModelErrorKind.OVERLOADED
    if _REFUSED.search(codes):
        return ModelErrorKind.REFUSED
    return ModelErrorKind.BAD_REQUEST


def _plain(kind: ModelErrorKind, name: str, answered: str, detail: str) -> str:
    match kind:
        case ModelErrorKind.AUTH:
            return f"{name} refused the key ({answered}): check the key, its rights and its quota."
        case ModelErrorKind.RATE_LIMIT:
            return f"{name} has a rate limit that is reached ({answered}){detail}."
        case ModelErrorKind.OVERLOADED:
            return f"{name} is overloaded or failing ({answered}){detail}."
        case ModelErrorKind.TIMEOUT:
            return f"{name} took too long ({answered}){detail}."
        case ModelErrorKind.CONTEXT_TOO_LONG:
            return f"The run no longer fits into the context of {name} ({answered}){detail}."
        case ModelErrorKind.REFUSED:
            return f"{name} declined the request ({answered}){detail}."
        case ModelErrorKind.BAD_REQUEST:
            return (
                f"{name} does not take the request ({answered}){detail}: "
                "check `model`, `base_url` and `extra_body`."
            )
        case ModelErrorKind.NETWORK:
            return f"{name} could not be reached ({answered}){detail}."
