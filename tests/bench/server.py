"""A local Chat Completions server in a process of its own, so that its CPU is nobody's.

It plays a trajectory: the model's name says how many steps ("steps-3"), the number of assistant
messages in the request says which one is next, and the answer is about the deploy that the question
names; the answer of "plain-3" says one thing only. "hang" never answers.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_DEPLOY = re.compile(rb"what changed in deploy (\d+)")
_UNKNOWN = ["which service caused the incident", "what else changed in the deploy"]
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


def _message(kind: str, step: int, steps: int, deploy: str) -> dict[str, object]:
    if step < steps:
        name, given = "lookup", json.dumps({"what": f"item {step}"})
    else:
        said = _plain() if kind == "plain" else _answer(deploy, f"o{steps - 1}")
        name, given = "answer", json.dumps(said)
    call = {
        "id": f"call_{step:04d}",
        "type": "function",
        "function": {"name": name, "arguments": given},
    }
    return {"role": "assistant", "content": f"Step {step}: I look.", "tool_calls": [call]}


def _plain() -> dict[str, object]:
    """One claim of one fact."""
    return {
        "headline": "item 1 was found",
        "claims": [{"text": "item 1 was found", "evidence": ["o1"]}],
        "unknowns": _UNKNOWN,
        "confidence": "high",
    }


def _answer(deploy: str, last: str) -> dict[str, object]:
    """Claims that hold facts of ``world.observations``, and a line for each part of the question."""
    when = f"Deploy {deploy} of payments-api (production, v2.3.1) finished at 2026-11-29T01:44:00Z"
    what = f"Deploy {deploy} changed retry.budget: 5s → 1s in config/retry.yaml"
    return {
        "headline": f"payments-api deploy {deploy} changed retry.budget: 5s → 1s",
        "claims": [{"text": when, "evidence": ["o1"]}, {"text": what, "evidence": [last]}],
        "unknowns": _UNKNOWN,
        "confidence": "high",
    }


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
            asked = _DEPLOY.search(body)
            deploy = asked[1].decode() if asked else ""
            reply = json.dumps(
                {
                    "id": "x",
                    "object": "chat.completion",
                    "choices": [
                        {
                            "index": 0,
                            "message": _message(model[1].decode(), step, int(model[2]), deploy),
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
