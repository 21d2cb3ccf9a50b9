"""OpenAI's Chat Completions, and what speaks it: Azure's v1 endpoint, OpenRouter, vLLM, llama.cpp,
Ollama, LiteLLM.

Owns that wire format. How tools are told and calls are read is a ``Dialect``'s: ``ToolDialect`` here
for servers with tool calls, ``text_mode.TextDialect`` for those without. Retries nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, JsonValue, ValidationError

from bot.loop.stopping import Clock
from bot.loop.wire import (
    AssistantMessage,
    Finish,
    ModelError,
    ModelErrorKind,
    Parsed,
    Request,
    ResultMessage,
    ToolCall,
    Turn,
    Usage,
    UserMessage,
)
from bot.models.encoding import (
    MORE_ROOM,
    Exchange,
    Head,
    Json,
    Transcript,
    as_json_object,
    as_object,
    dumps,
    echo,
    echoed,
    encoded,
    fields,
    identity,
    slim,
)
from bot.models.replies import Endpoint, post, unreadable
from tools.http import HttpClient


class _Function(BaseModel):
    name: str = ""
    arguments: str | dict[str, JsonValue] | None = None


class _Call(BaseModel):
    id: str | None = None
    function: _Function = _Function()


class _Part(BaseModel):
    text: str | None = None


class _Message(BaseModel):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None

    @property
    def text(self) -> str:
        match self.content:
            case None:
                return ""
            case str(text):
                return text
            case parts:
                return "".join(part.text or "" for part in parts)


class _Choice(BaseModel):
    message: dict[str, Parsed]
    finish_reason: str | None = None


class _Details(BaseModel):
    """``cache_write_tokens`` are OpenRouter's."""

    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Usage(BaseModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _Details | None = None


class _Reply(BaseModel):
    choices: list[_Choice] = []
    usage: _Usage | None = None


@dataclass(frozen=True)
class Said:
    """What one message says. ``message`` is it, as it can be sent back and answered call by call."""

    text: str
    calls: tuple[ToolCall, ...]
    message: Json


class Dialect(Protocol):
    """How tools are told to a server, and how its messages are written and read."""

    def opening(self, request: Request) -> Json:
        """The members of the request that come before its messages, without the model."""
        ...

    def system(self, request: Request) -> str: ...

    def messages(self, exchange: Exchange, own: JsonValue) -> Iterator[Json]:
        """One exchange; ``own`` is the model's message if this very model said it."""
        ...

    def read(self, message: Json, text: str, calls: tuple[ToolCall, ...], place: int) -> Said: ...


@dataclass(frozen=True)
class ChatOptions:
    """``extra`` is added to every request; ``limit_field`` is what the server calls ``max_tokens``."""

    model: str
    mode: str
    limit_field: str
    max_output_tokens: int
    extra: Mapping[str, JsonValue]


class ChatModel:
    """One run's model. It remembers the run's encoded messages and whether it was cut off."""

    def __init__(
        self,
        endpoint: Endpoint,
        options: ChatOptions,
        dialect: Dialect,
        client: HttpClient,
        clock: Clock,
    ) -> None:
        self._endpoint = endpoint
        self._options = options
        self._dialect = dialect
        self._client = client
        self._clock = clock
        self._by = identity("openai", endpoint.url, options.model, options.mode)
        self._head = Head(self._by, self._opening)
        self._transcript = Transcript(self._exchange)
        self._room = 1

    @property
    def name(self) -> str:
        return self._endpoint.name

    async def complete(self, request: Request) -> Turn:
        body = self._body(request)
        payload = await post(self._endpoint, body, self._client, self._clock)
        turn = self._turn(payload, len(request.messages))
        self._room = MORE_ROOM if turn.finish is Finish.LENGTH else 1
        return turn

    # --- out -----------------------------------------------------------------------------------

    def _opening(self, request: Request) -> bytes:
        told = {"model": self._options.model, **self._dialect.opening(request)}
        system = {"role": "system", "content": self._dialect.system(request)}
        return encoded(told)[:-1] + b',"messages":[' + encoded(system)

    def _exchange(self, exchange: Exchange) -> Iterator[Json]:
        match exchange.messages[0]:
            case AssistantMessage(turn=turn):
                own = echoed(turn, self._by)
            case _:
                own = None
        return self._dialect.messages(exchange, own)

    def _body(self, request: Request) -> bytes:
        parts = [self._head.encoded(request), *self._transcript.encoded(request)]
        options: dict[str, object] = dict(self._options.extra)
        options.setdefault(self._options.limit_field, self._options.max_output_tokens * self._room)
        return b",".join(parts) + b"]" + fields(options) + b"}"

    # --- in ------------------------------------------------------------------------------------

    def _turn(self, payload: Mapping[str, Any], place: int) -> Turn:
        try:
            reply = _Reply.model_validate(payload)
            if not reply.choices:
                raise ModelError(
                    ModelErrorKind.OVERLOADED, f"{self.name} sent a reply that holds no choice."
                )
            choice = reply.choices[0]
            message = _Message.model_validate(choice.message)
        except ValidationError as error:
            raise unreadable(self.name, "chat completion", error) from error
        sent, calls = _calls(choice.message, message, place)
        said = self._dialect.read(sent, message.text, calls, place)
        return Turn(
            text=said.text or message.refusal or "",
            calls=said.calls,
            finish=_finish(choice.finish_reason, message, said),
            usage=_usage(reply.usage),
            model=self.name,
            echo=echo(self._by, {**said.message, "role": "assistant"}),
        )


def _calls(sent: Json, message: _Message, place: int) -> tuple[Json, tuple[ToolCall, ...]]:
    """The calls, and the message with an id where a call came without one of its own."""
    calls: list[ToolCall] = []
    told: list[JsonValue] = []
    raw = sent.get("tool_calls")
    for index, call in enumerate(message.tool_calls or ()):
        taken = {made.id for made in calls}
        own = call.id if call.id and call.id not in taken else f"c{place:04d}{index:04d}"
        match call.function.arguments:
            case str(text):
                arguments = text
            case None:
                arguments = ""
            case values:
                arguments = dumps(values)
        calls.append(ToolCall(id=own, name=call.function.name, arguments=arguments))
        told.append(as_json_object(raw[index]) | {"id": own} if isinstance(raw, list) else {})
    return (sent | {"tool_calls": told} if calls else sent), tuple(calls)


def _finish(reason: str | None, message: _Message, said: Said) -> Finish:
    """Some servers say "stop" of a turn with calls; a reason that nobody knows is OTHER."""
    match reason:
        case "stop" | "tool_calls" | "function_call" if message.refusal:
            return Finish.REFUSAL
        case "tool_calls" | "function_call":
            return Finish.TOOL_USE
        case "stop":
            return Finish.TOOL_USE if said.calls else Finish.STOP
        case "length":
            return Finish.LENGTH
        case "content_filter":
            return Finish.REFUSAL
        case _:
            return Finish.OTHER


def _usage(usage: _Usage | None) -> Usage:
    if usage is None:
        return Usage()
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=usage.prompt_tokens,
        output_tokens=usage.completion_tokens,
        cached_tokens=details.cached_tokens if details else None,
        cache_written_tokens=details.cache_write_tokens if details else None,
    )


class ToolDialect:
    """For servers with tool calls."""

    def opening(self, request: Request) -> Json:
        tools: list[JsonValue] = [
            {
                "type": "function",
                "function": {
                    "name": spec.name,
                    "description": spec.description,
                    "parameters": slim(spec.parameters),
                },
            }
            for spec in request.tools
        ]
        return {"tools": tools}

    def system(self, request: Request) -> str:
        return request.system

    def messages(self, exchange: Exchange, own: JsonValue) -> Iterator[Json]:
        match exchange.messages[0]:
            case UserMessage(text=text):
                yield {"role": "user", "content": text}
            case AssistantMessage() if own is not None:
                yield as_json_object(own)
                for result in exchange.results:
                    yield _result(result, result.call_id)
            case AssistantMessage(turn=turn):
                ids = {call.id: exchange.neutral_id(call, turn) for call in turn.calls}
                yield _neutral(turn, ids)
                for result in exchange.results:
                    yield _result(result, ids.get(result.call_id, result.call_id))
            case ResultMessage() as alone:
                yield {"role": "user", "content": alone.text}

    def read(self, message: Json, text: str, calls: tuple[ToolCall, ...], place: int) -> Said:
        del place
        return Said(text, calls, message)


def _neutral(turn: Turn, ids: Mapping[str, str]) -> Json:
    """Another model's turn, or one with arguments that some servers would choke on."""
    message: Json = {"role": "assistant", "content": turn.text}
    if turn.calls:
        message["tool_calls"] = [
            {
                "id": ids[call.id],
                "type": "function",
                "function": {"name": call.name, "arguments": as_object(call.arguments)},
            }
            for call in turn.calls
        ]
    return message


def _result(result: ResultMessage, call_id: str) -> Json:
    return {"role": "tool", "tool_call_id": call_id, "content": result.text}
