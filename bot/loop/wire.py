"""What goes to a model and what comes back, in no provider's words.

Owns the neutral request and turn, the error kinds, and the ``Model`` protocol. It stands in the
loop and not beside the adapters because the loop may not import them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, Protocol, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, JsonValue
from pydantic_core import CoreSchema, core_schema

from bot.loop.question import Question
from tools.base import Status
from tools.records import Observed


class Wire(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _AsItIs:
    def __get_pydantic_core_schema__(self, _: object, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.any_schema()


Parsed = Annotated[JsonValue, _AsItIs()]
"""What was read as JSON, or made to be it: it is not looked through again, value by value."""


class Finish(StrEnum):
    """Why the model stopped. A reason that nobody knows is OTHER, never STOP."""

    STOP = "stop"
    TOOL_USE = "tool_use"
    LENGTH = "length"
    REFUSAL = "refusal"
    OTHER = "other"


class Usage(Wire):
    """Tokens of one call; ``None`` where the provider did not say.

    ``input_tokens`` are all that were read. Among them are ``cached_tokens``, which came from the
    provider's cache, and ``cache_written_tokens``, which were put into it at a price of their own.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_tokens: int | None = None
    cache_written_tokens: int | None = None


class ToolCall(Wire):
    """A call as the model wrote it: ``arguments`` is its raw JSON text, parsed in DECIDE only."""

    id: str
    name: str
    arguments: str


class Turn(Wire):
    """One reply of a model. ``echo`` is the provider's own message, sent back unchanged to it."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish
    usage: Usage = Usage()
    model: str
    echo: Parsed = None


class ToolSpec(Wire):
    """A tool as the model sees it; ``parameters`` is its JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class UserMessage(Wire):
    role: Literal["user"] = "user"
    text: str


class AssistantMessage(Wire):
    role: Literal["assistant"] = "assistant"
    turn: Turn


class ResultMessage(Wire):
    """The result of one call of the turn before it."""

    role: Literal["tool"] = "tool"
    call_id: str
    text: str


Message = Annotated[
    UserMessage | AssistantMessage | ResultMessage,
    Field(discriminator="role"),
]


@dataclass(frozen=True)
class Seen:
    """An observation as data, beside its rendering: what the rules model reads.

    ``asked`` is the raw JSON of the arguments, ``arguments`` the checked ones without defaults.
    """

    id: str
    tool: str
    arguments: Mapping[str, JsonValue]
    asked: str
    status: Status
    summary: str
    value: Observed | None


@dataclass(frozen=True)
class Request:
    """One request. ``tools``, ``system`` and ``messages`` are a prefix of the next one's (M14).

    ``question``, ``seen`` and ``last`` carry the same as data, for a model that reads no prose.
    ``last`` says that only ``answer`` counts now (M15). The first ``kept`` messages stood in the
    request before, byte for byte. ``can_shrink``: older observations could still be cut.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    messages: tuple[Message, ...]
    question: Question
    seen: tuple[Seen, ...]
    kept: int = 0
    last: bool = False
    can_shrink: bool = False

    @cached_property
    def size(self) -> int:
        """Characters of all messages: what the token estimate goes by."""
        return len(self.system) + sum(
            len(m.turn.text) + sum(len(c.arguments) for c in m.turn.calls)
            if m.role == "assistant"
            else len(m.text)
            for m in self.messages
        )


class ModelErrorKind(StrEnum):
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    NETWORK = "network"
    CONTEXT_TOO_LONG = "context_too_long"
    AUTH = "auth"
    BAD_REQUEST = "bad_request"
    REFUSED = "refused"


class ModelError(Exception):
    """A call that brought no turn. ``retry_after`` is in seconds, where the provider named it."""

    def __init__(
        self, kind: ModelErrorKind, message: str, *, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retry_after = retry_after


class Model(Protocol):
    """CALL. Retries nothing; cancelling it closes its connection."""

    @property
    def name(self) -> str: ...

    async def complete(self, request: Request) -> Turn:
        """The model's turn. Raises ``ModelError``."""
        ...


class Relay(Protocol):
    """A ``Model`` with others behind it. The loop says when the next one takes over.

    ``first`` is the name of the one that stands before all others, whichever is asked.
    """

    @property
    def first(self) -> str: ...

    @property
    def has_next(self) -> bool: ...

    def hand_over(self, error: ModelError) -> bool:
        """Go on with the next model for the rest of the run. ``False``: this failure stands."""
        ...

    def go_on_with(self, name: str) -> None:
        """Skip to the model that a resumed run had got to. A name that is not ahead does nothing."""
        ...


def is_relay(model: Model) -> TypeGuard[Relay]:
    """Whether others stand behind it. Its type tells."""
    return _relays(type(model))


@lru_cache
def _relays(kind: type[Model]) -> bool:
    """Kept, because to look for the members of a protocol takes as long as a small tool call."""
    return all(hasattr(kind, name) for name in ("first", "has_next", "hand_over", "go_on_with"))
