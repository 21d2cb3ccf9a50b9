"""A bot in a process of its own before a local Slack, to be killed or to be timed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from bot.playground import Running

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tests" / "slack" / "bot_process.py"


@asynccontextmanager
async def bot(
    running: Running, folder: Path, *more: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A bot process that is connected; it ends by ``kill -9`` whatever happens.

    ``more`` are arguments of ``bot_process.py``.
    """
    path = os.pathsep.join((str(ROOT), str(ROOT / "tests")))
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SCRIPT),
        str(folder),
        running.api_url,
        *more,
        env={**os.environ, "PYTHONPATH": path},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(20):
            while (line := await process.stdout.readline()).strip() != b"ready":
                assert line, "the bot process ended"
        yield process
    finally:
        if process.returncode is None:
            process.send_signal(signal.SIGKILL)
        await process.wait()
