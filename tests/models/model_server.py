"""A scripted model server on 127.0.0.1: both wire formats over real HTTP, and every way to fail."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Says:
    """A turn, said in the wire format that is asked for. ``finish`` is the provider's own word."""

    calls: tuple[tuple[str, dict[str, Any] | str], ...] = ()
    text: str = ""
    finish: str | None = None
    thinking: str = ""


@dataclass(frozen=True)
class Status:
    code: int
    body: bytes = b'{"error": {"type": "server_error", "message": "no"}}'
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Hangs:
    """Reads the request and never answers."""


@dataclass(frozen=True)
class Resets:
    """Promises a body, sends a part of it, then resets the connection."""


@dataclass(frozen=True)
class Drips:
    """A byte of the body at a time, for ever."""


@dataclass(frozen=True)
class Sent:
    """A body as it is, with status 200."""

    body: bytes
    kind: str = "application/json"


Play = Says | Status | Hangs | Resets | Drips | Sent


@dataclass
class Asked:
    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.raw)
        return body

    @property
    def form(self) -> tuple[str, bool]:
        """Which of the three ways to talk to a model it is."""
        return self.path, "response_format" in self.body


def stable(asked: Asked) -> bytes:
    """Tools, system and messages: everything up to the end of the list of messages."""
    text = asked.raw.decode()
    start = text.index('"messages":[') + len('"messages":')
    _, end = json.JSONDecoder().raw_decode(text, start)
    return text[: end - 1].encode()


@dataclass
class ModelServer:
    """Plays its script in order, whatever connection asks; ``left_at`` is when clients hung up."""

    plays: list[Play]
    asked: list[Asked] = field(default_factory=list)
    left_at: list[float] = field(default_factory=list)
    connections: int = 0
    url: str = ""
    waiting: asyncio.Event = field(default_factory=asyncio.Event)
    left: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            key.lower(): value.strip()
            for key, _, value in (line.partition(":") for line in head[1:] if line)
        }
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        asked = Asked(head[0].split(" ")[1], headers, raw)
        self._only_grew(asked)
        self.asked.append(asked)
        assert self.plays, "the server was asked more often than its script says"
        match self.plays.pop(0):
            case Says() as says:
                said = _message if asked.path.endswith("/messages") else _completion
                await _reply(writer, 200, json.dumps(said(says, asked.body, self)).encode())
                return True
            case Status(code=code, body=body, headers=more):
                await _reply(writer, code, body, more)
                return True
            case Sent(body=body, kind=kind):
                await _reply(writer, 200, body, kind=kind)
                return True
            case Hangs():
                await self._until_left(reader)
                return False
            case Resets():
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n" + b'{"choices": [')
                await writer.drain()
                sock: socket.socket = writer.get_extra_info("socket")
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                writer.transport.abort()
                return False
            case Drips():
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
                drip = asyncio.create_task(_drip(writer))
                await self._until_left(reader)
                drip.cancel()
                return False

    def _only_grew(self, asked: Asked) -> None:
        """Tools, system and messages begin with the bytes of the request before: but for a run's
        first request, and for a context cut, which says so in its text (M14).
        """
        same = [one for one in self.asked if one.form == asked.form]
        before = stable(same[-1]) if same else b""
        opening = all(message["role"] in {"system", "user"} for message in asked.body["messages"])
        assert (
            opening or b"(shortened; read_result(" in asked.raw or stable(asked).startswith(before)
        ), "the request does not begin with the one before"

    async def _until_left(self, reader: asyncio.StreamReader) -> None:
        self.waiting.set()
        await reader.read(1)
        self.left_at.append(time.monotonic())
        self.left.set()


async def _drip(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b" ")
        await asyncio.sleep(0.02)


async def _reply(
    writer: asyncio.StreamWriter,
    code: int,
    body: bytes,
    headers: tuple[tuple[str, str], ...] = (),
    kind: str = "application/json",
) -> None:
    lines = [f"HTTP/1.1 {code} X", f"content-length: {len(body)}", f"content-type: {kind}"]
    lines += [f"{key}: {value}" for key, value in headers]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


def _completion(says: Says, body: dict[str, Any], server: ModelServer) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": says.text or None, "refusal": None}
    if "response_format" in body and says.calls:
        name, values = says.calls[0]
        action = {"tool": name, "arguments": values}
        message["content"] = json.dumps({"thought": says.text, "action": action})
    elif says.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{len(server.asked)}_{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": values if isinstance(values, str) else json.dumps(values),
                },
            }
            for index, (name, values) in enumerate(says.calls)
        ]
    finish = says.finish or ("tool_calls" if "tool_calls" in message else "stop")
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": 1000,
            "completion_tokens": 50,
            "prompt_tokens_details": {"cached_tokens": 800},
        },
    }


def _message(says: Says, body: dict[str, Any], server: ModelServer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if says.thinking:
        content.append({"type": "thinking", "thinking": says.thinking, "signature": "c2lnbmVk=="})
    if says.text:
        content.append({"type": "text", "text": says.text})
    for index, (name, values) in enumerate(says.calls):
        content.append(
            {
                "type": "tool_use",
                "id": f"toolu_{len(server.asked)}_{index}",
                "name": name,
                "input": values,
            }
        )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": says.finish or ("tool_use" if says.calls else "end_turn"),
        "usage": {
            "input_tokens": 100,
            "output_tokens": 50,
            "cache_read_input_tokens": 800,
            "cache_creation_input_tokens": 100,
        },
    }


@asynccontextmanager
async def model_server(*plays: Play) -> AsyncIterator[ModelServer]:
    server = ModelServer(list(plays))
    tasks: set[asyncio.Task[None]] = set()
    writers: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        writers.add(writer)
        await server.serve(reader, writer)

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    try:
        yield server
    finally:
        listener.close()
        for writer in writers:
            writer.transport.abort()
        await asyncio.gather(*tasks)
