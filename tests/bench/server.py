"""A local Chat Completions server in a process of its own, so that its CPU is nobody's.

It plays a trajectory: the model's name says how many steps ("steps-3"), the number of assistant
messages in the request says which one is next. "hang" never answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_MODEL = re.compile(rb'"model":"([a-z]+)(?:-(\d+))?"')


@asynccontextmanager
async def serving() -> AsyncIterator[str]:
    """Yield the base URL of a server that lives as long as the block."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.bench.server", stdout=asyncio.subprocess.PIPE
    )
    if process.stdout is None:
        raise RuntimeError("the server has no output")
    try:
        port = int(await process.stdout.readline())
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        await process.wait()


def _message(step: int, steps: int) -> dict[str, object]:
    if step < steps:
        name, arguments = "lookup", {"what": f"item {step}"}
    else:
        claim = {"text": "item 1 was found", "evidence": ["o1"]}
        name = "answer"
        arguments = {"headline": "item 1 was found", "claims": [claim], "confidence": "high"}
    call = {
        "id": f"call_{step:04d}",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }
    return {"role": "assistant", "content": f"Step {step}: I look.", "tool_calls": [call]}


async def _talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = _LENGTH.search(head)
            body = await reader.readexactly(int(length[1]) if length else 0)
            model = _MODEL.search(body)
            if model is None or model[2] is None:
                await reader.read()  # until the client goes away
                return
            step = body.count(b'"role":"assistant"') + 1
            reply = json.dumps(
                {
                    "id": "x",
                    "object": "chat.completion",
                    "choices": [
                        {
                            "index": 0,
                            "message": _message(step, int(model[2])),
                            "finish_reason": "tool_calls",
                        }
                    ],
                    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
                }
            ).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: "
                + str(len(reply)).encode()
                + b"\r\n\r\n"
                + reply
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()


async def _main() -> None:
    server = await asyncio.start_server(_talk, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(_main())
    except KeyboardInterrupt:
        sys.exit(0)
