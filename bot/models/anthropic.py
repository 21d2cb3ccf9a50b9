"""Anthropic's Messages.

Owns that wire format: content blocks, thinking that is sent back with its signature, and the cache
breakpoints. Two of them stand at the end of the tools and of the system prompt; the third is the
request's own ``cache_control``, which the server puts on the newest block, so that the bytes of
earlier messages never change (M14). Retries nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, JsonValue, ValidationError

from bot.loop.stopping import Clock
from bot.loop.wire import (
    AssistantMessage,
    Finish,
    Message,
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
    as_object,
    dumps,
    echo,
    echoed,
    encoded,
    fields,
    identity,
    loads,
    slim,
)
from bot.models.replies import Endpoint, post, unreadable
from tools.http import HttpClient

VERSION = "2023-06-01"
"""Of the API, sent as ``anthropic-version``."""
_CACHED: Json = {"cache_control": {"type": "ephemeral"}}


class _Block(BaseModel):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Parsed = None


class _Usage(BaseModel):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class _Reply(BaseModel):
    content: list[dict[str, Parsed]]
    stop_reason: str | None = None
    usage: _Usage | None = None


@dataclass(frozen=True)
class MessagesOptions:
    """``extra`` is added to every request, ``thinking`` among it."""

    model: str
    max_output_tokens: int
    extra: Mapping[str, JsonValue]
    caching: bool


class MessagesModel:
    """One run's model. It remembers the run's encoded messages and whether it was cut off."""

    def __init__(
        self, endpoint: Endpoint, options: MessagesOptions, client: HttpClient, clock: Clock
    ) -> None:
        self._endpoint = endpoint
        self._options = options
        self._client = client
        self._clock = clock
        self._by = identity("anthropic", endpoint.url, options.model)
        self._head = Head(f"{self._by} {options.caching}", self._opening)
        self._transcript = Transcript(self._exchange)
        self._room = 1

    @property
    def name(self) -> str:
        return self._endpoint.name

    async def complete(self, request: Request) -> Turn:
        body = self._body(request)
        payload = await post(self._endpoint, body, self._client, self._clock)
        turn = self._turn(payload)
        self._room = MORE_ROOM if turn.finish is Finish.LENGTH else 1
        return turn

    # --- out -----------------------------------------------------------------------------------

    def _opening(self, request: Request) -> bytes:
        mark = _CACHED if self._options.caching else {}
        tools: list[Json] = [
            {
                "name": spec.name,
                "description": spec.description,
                "input_schema": slim(spec.parameters),
            }
            for spec in request.tools
        ]
        if tools:
            tools[-1] |= mark
        system: Json = {"type": "text", "text": request.system}
        told = {"model": self._options.model, "tools": tools, "system": [system | mark]}
        return encoded(told)[:-1] + b',"messages":['

    def _exchange(self, exchange: Exchange) -> Iterator[Json]:
        match exchange.messages[0]:
            case UserMessage(text=text):
                yield {"role": "user", "content": text}
            case AssistantMessage(turn=turn):
                own = echoed(turn, self._by)
                ids = (
                    {call.id: exchange.neutral_id(call, turn) for call in turn.calls}
                    if own is None
                    else {}
                )
                yield {"role": "assistant", "content": own or _neutral(turn, ids)}
                if exchange.results:
                    blocks: list[JsonValue] = [
                        _result(r, ids.get(r.call_id, r.call_id)) for r in exchange.results
                    ]
                    yield {"role": "user", "content": blocks}
            case ResultMessage() as alone:
                yield {"role": "user", "content": alone.text}

    def _body(self, request: Request) -> bytes:
        extra = dict(self._options.extra)
        if any(_others_call(message, self._by) for message in request.messages):
            extra.pop("thinking", None)  # refused beside calls that were made without it
        options: dict[str, object] = dict(_CACHED) if self._options.caching else {}
        options |= {"max_tokens": self._options.max_output_tokens * self._room, **extra}
        messages = b",".join(self._transcript.encoded(request))
        return self._head.encoded(request) + messages + b"]" + fields(options) + b"}"

    # --- in ------------------------------------------------------------------------------------

    def _turn(self, payload: Mapping[str, Any]) -> Turn:
        try:
            reply = _Reply.model_validate(payload)
            blocks = [_Block.model_validate(block) for block in reply.content]
        except ValidationError as error:
            raise unreadable(self.name, "message", error) from error
        sent = [
            block
            for block, read in zip(reply.content, blocks, strict=True)
            if read.type != "text" or read.text.strip()  # empty text is sent, but not taken back
        ]
        return Turn(
            text="".join(block.text for block in blocks if block.type == "text"),
            calls=tuple(_call(block) for block in blocks if block.type == "tool_use"),
            finish=_finish(reply.stop_reason),
            usage=_usage(reply.usage),
            model=self.name,
            echo=echo(self._by, list[JsonValue](sent)),
        )


def _call(block: _Block) -> ToolCall:
    raw = block.input if isinstance(block.input, str) else dumps(block.input)
    return ToolCall(id=block.id, name=block.name, arguments=raw)


def _finish(reason: str | None) -> Finish:
    match reason:
        case "end_turn" | "stop_sequence":
            return Finish.STOP
        case "tool_use":
            return Finish.TOOL_USE
        case "max_tokens" | "model_context_window_exceeded":
            return Finish.LENGTH
        case "refusal":
            return Finish.REFUSAL
        case _:
            return Finish.OTHER


def _usage(usage: _Usage | None) -> Usage:
    """Input tokens here are all that were read; the API counts the cached ones beside them."""
    if usage is None or usage.input_tokens is None:
        return Usage(output_tokens=usage.output_tokens if usage else None)
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return Usage(
        input_tokens=usage.input_tokens + (read or 0) + (written or 0),
        output_tokens=usage.output_tokens,
        cached_tokens=read,
        cache_written_tokens=written,
    )


def _others_call(message: Message, by: str) -> bool:
    """Whether another model made this turn's calls."""
    match message:
        case AssistantMessage(turn=turn):
            return bool(turn.calls) and echoed(turn, by) is None
        case _:
            return False


def _neutral(turn: Turn, ids: Mapping[str, str]) -> list[JsonValue]:
    blocks: list[JsonValue] = [{"type": "text", "text": turn.text}] if turn.text.strip() else []
    for call in turn.calls:
        values = loads(as_object(call.arguments))
        blocks.append({"type": "tool_use", "id": ids[call.id], "name": call.name, "input": values})
    return blocks


def _result(result: ResultMessage, call_id: str) -> Json:
    return {"type": "tool_result", "tool_use_id": call_id, "content": result.text}
