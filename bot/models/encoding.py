"""From neutral messages to a request's bytes, so that only what is new is encoded (M14).

Owns what both wire formats share: compact JSON, slim schemas, whose echo a message is, and the
``Transcript`` that remembers a run's encoded messages. Knows no provider.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

from pydantic import JsonValue
from pydantic_core import to_json

from bot.loop.wire import Message, Request, ResultMessage, ToolCall, Turn

Json = dict[str, JsonValue]

MORE_ROOM = 2
"""After a reply that was cut off, the next one may be this many times as long."""


def dumps(value: object) -> str:
    return _ENCODER.encode(value)


def encoded(value: object) -> bytes:
    """Compact JSON in UTF-8. A lone half of a surrogate pair, which UTF-8 has not, becomes ``?``."""
    try:
        return to_json(value)  # six times as fast, but strict
    except ValueError:
        return dumps(value).encode("utf-8", "replace")


def loads(text: str | bytes) -> Any:
    """JSON only: Python's NaN and Infinity are refused. Raises ``ValueError``, ``RecursionError``."""
    if isinstance(text, bytes):
        text = text.decode(json.detect_encoding(text), "surrogatepass")
    return _DECODER.decode(text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_DECODER = json.JSONDecoder(parse_constant=_no_constant)


# --- schemas -----------------------------------------------------------------------------------


_WORDLESS = frozenset({"title", "default", "$defs", "definitions", "$schema", "examples"})
_COUNTED = frozenset({"minLength", "maxLength", "minItems", "maxItems", "minimum"})
_NAMED = frozenset({"properties", "patternProperties"})
_BRANCHES = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_INNER = frozenset({"items", "additionalProperties", "not"})


def slim(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema without what a model does not need: titles, defaults, ``null`` branches of optional
    fields, references, the descriptions of whole types, and the bounds that DECIDE checks and no
    model counts. A type inside itself is left open.
    """
    definitions = {**schema.get("definitions", {}), **schema.get("$defs", {})}
    return {k: v for k, v in _slim(schema, definitions, ()).items() if k != "description"}


def _slim(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...]
) -> dict[str, Any]:
    flat, within = _resolved(schema, definitions, within)
    kept: dict[str, Any] = {}
    for key, value in flat.items():
        if key in _WORDLESS | _COUNTED or (key == "additionalProperties" and value is False):
            continue
        kept[key] = _each(key, value, lambda inner: _slim(inner, definitions, within))
    return kept


def _each(key: str, value: Any, change: Callable[[Mapping[str, Any]], Any]) -> Any:
    """The value of a schema's key, with the schemas in it changed; ``true`` and ``false`` stay."""
    if key in _NAMED and isinstance(value, dict):
        return {name: change(one) if isinstance(one, dict) else one for name, one in value.items()}
    if key in _BRANCHES and isinstance(value, list):
        return [change(one) if isinstance(one, dict) else one for one in value]
    if key in _INNER and isinstance(value, dict):
        return change(value)
    return value


def _resolved(
    schema: Mapping[str, Any], definitions: Mapping[str, Any], within: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """With its reference followed and, if it is optional, its one branch that is not ``null``.

    What stands beside the reference or the branch wins. A type's own description is a docstring
    for programmers, so it is left out. ``within`` names the types that it is in.
    """
    own = dict(schema)
    if "$ref" in own:
        name = str(own.pop("$ref")).rpartition("/")[2]
        if name in within or not isinstance(definitions.get(name), dict):
            return own, within
        target, within = _resolved(definitions[name], definitions, (*within, name))
        target.pop("description", None)
        return target | own, within
    branches = [one for one in own.get("anyOf", ()) if one != {"type": "null"}]
    if len(branches) == 1 and isinstance(branches[0], dict):
        del own["anyOf"]
        target, within = _resolved(branches[0], definitions, within)
        return target | own, within
    return own, within


def bare(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A slim schema without words, closed to other fields: what a grammar is made from."""
    kept: dict[str, Any] = {"additionalProperties": False} if "properties" in schema else {}
    for key, value in schema.items():
        if key != "description":
            kept[key] = _each(key, value, bare)
    return kept


# --- whose message -----------------------------------------------------------------------------


def identity(*parts: str) -> str:
    """What an echo is bound to: provider, address, model and mode."""
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def echo(by: str, message: JsonValue) -> JsonValue:
    return {"by": by, "message": message}


def echoed(turn: Turn, by: str) -> JsonValue:
    """The message as its provider sent it, or ``None``: render it neutrally.

    Only what ``by`` itself sent; and not where a call's arguments are no JSON object, since many
    servers refuse to read those again and the run would end there.
    """
    match turn.echo:
        case {"by": str(whose), "message": message} if whose == by:
            whole = all(as_object(call.arguments) == call.arguments for call in turn.calls)
            return message if whole else None
        case _:
            return None


def as_object(raw: str) -> str:
    """Arguments as JSON text that every server can read; what is no object is wrapped, not lost."""
    try:
        if isinstance(loads(raw), dict):
            return raw
    except (ValueError, RecursionError):
        pass
    return dumps({"not_json": raw})


# --- the transcript ----------------------------------------------------------------------------


class Exchange(NamedTuple):
    """A user's message, or a model's turn with the results of its calls.

    ``start`` is the place of its first message, ``after_user`` whether a user's message stands
    before it.
    """

    messages: tuple[Message, ...]
    start: int
    after_user: bool

    @property
    def results(self) -> tuple[ResultMessage, ...]:
        return tuple(m for m in self.messages if m.role == "tool")

    def neutral_id(self, call: ToolCall, turn: Turn) -> str:
        """An id that every provider takes (nine letters and digits), unique in the run."""
        return f"c{self.start:04d}{turn.calls.index(call):04d}"


def exchanges(messages: Sequence[Message]) -> Iterator[Exchange]:
    start = 0
    after_user = False
    for end in range(1, len(messages) + 1):
        if end < len(messages) and messages[end].role == "tool":
            continue
        yield Exchange(tuple(messages[start:end]), start, after_user)
        after_user = messages[end - 1].role != "assistant"
        start = end


class Transcript:
    """A run's messages as bytes. What stood in the request before is taken from it, not made again.

    Exchanges are compared by value, so that a cut context or another run's request is always right.
    """

    def __init__(self, encode: Callable[[Exchange], Iterator[Json]]) -> None:
        self._encode = encode
        self._known: list[tuple[Exchange, bytes]] = []

    def encoded(self, request: Request) -> list[bytes]:
        """The JSON of each exchange's messages, in order, without brackets."""
        at = 0
        for exchange in exchanges(request.messages):
            if at < len(self._known) and self._known[at][0] != exchange:
                del self._known[at:]
            if at == len(self._known):
                made = b",".join(encoded(message) for message in self._encode(exchange))
                self._known.append((exchange, made))
            at += 1
        return [made for _, made in self._known[:at]]


class Head:
    """The encoded start of requests, made again only for other tools or another prompt.

    Runs are mostly told the same, so the last one is kept for each model of the process: ``by`` is
    all that it depends on besides the request.
    """

    _known: ClassVar[dict[str, tuple[object, bytes]]] = {}

    def __init__(self, by: str, encode: Callable[[Request], bytes]) -> None:
        self._by = by
        self._encode = encode

    def encoded(self, request: Request) -> bytes:
        told = (request.system, request.tools)
        made_for, made = self._known.get(self._by, (None, b""))
        if made_for != told:
            made = self._encode(request)
            self._known[self._by] = (told, made)
        return made


def fields(values: Mapping[str, object]) -> bytes:
    """Members of an object, each with a comma before it, to go on after what was encoded."""
    return b"," + encoded(values)[1:-1] if values else b""


def as_json_object(value: JsonValue) -> Json:
    """A message as the object that it is. Only what an adapter itself put into an echo comes here."""
    return cast("Json", value)
