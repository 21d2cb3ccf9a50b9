"""The playground's command line: `python -m bot.playground --port P [--seed FILE]`.

Owns the options and the exit codes: 0 ended by a signal, 2 wrong use or an unreadable seed, 3 the
port is in use (a caller may try another). `run` is the same without parsing.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import ValidationError

from bot.playground.clock import Clock, RealClock, VirtualClock, parse_time
from bot.playground.faults import FaultBook
from bot.playground.pace import PaceFile
from bot.playground.playground import Playground
from bot.playground.seed import DEFAULT_SEED, build_world, read_seed
from bot.playground.server import PortInUseError, listen, serve

EXIT_USAGE = 2
EXIT_PORT_IN_USE = 3
LAST_PORT = 65_535
EARLIEST, LATEST = 1_000_000_000, 9_999_999_999
"""Seconds since the epoch (2001 to 2286): a message's `ts` has ten digits before its dot."""


def run(
    host: str = "127.0.0.1",
    port: int = 8065,
    *,
    seed: Path = DEFAULT_SEED,
    now: str | None = None,
    virtual_clock: bool = False,
    fault_seed: int = 0,
    pace: Path | None = None,
) -> int:
    """Serve a playground until a signal; the exit code. `now` overrides the seed's time (ISO), and
    `pace` is the file that the page's bot reads its pace from.
    """
    try:
        read = read_seed(seed)
        start = _time(now) if now else read.now.timestamp()
        world = build_world(read)
        sock = listen(host, port)
    except PortInUseError as error:
        return _fail(str(error), EXIT_PORT_IN_USE)
    except (OSError, ValidationError, ValueError) as error:
        return _fail(str(error), EXIT_USAGE)

    async def serve_it() -> None:
        clock: Clock = VirtualClock(start) if virtual_clock else RealClock(start)
        paced = PaceFile(pace) if pace else None
        await serve(Playground(world, clock, FaultBook(fault_seed), paced), sock)

    try:
        asyncio.run(serve_it())
    except KeyboardInterrupt:
        pass
    finally:
        sock.close()
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(
        prog="oncall-bot playground",
        description="Start the local Slack alone, in the browser: a bot of your own can connect to it.",
        add_help=False,
    )
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="127.0.0.1, the only one allowed.")
    add("--port", type=_port, default=8065, help="Of its page; 0 takes a free one. [default: 8065]")
    add("--seed", type=Path, default=DEFAULT_SEED, metavar="FILE", help="The workspace, as JSON.")
    add("--now", metavar="TIME", help="What time it is there: 2026-11-29T02:14Z.")
    add(
        "--clock",
        choices=("real", "virtual"),
        default="real",
        help="A virtual one stands still until a test moves it. [default: real]",
    )
    add("--fault-seed", type=int, default=0, metavar="N", help="For faults that come by chance.")
    add("--pace", type=Path, metavar="FILE", help=argparse.SUPPRESS)
    add("--help", action="help", help="Show this message and exit.")
    options = parser.parse_args(argv)
    return run(
        options.host,
        options.port,
        seed=options.seed,
        now=options.now,
        virtual_clock=options.clock == "virtual",
        fault_seed=options.fault_seed,
        pace=options.pace,
    )


def _port(text: str) -> int:
    port = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= port <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is no port: write 0 to {LAST_PORT}")
    return port


def _time(text: str) -> float:
    """Raises ValueError."""
    try:
        at = parse_time(text)
    except ValueError:
        raise ValueError(f"--now {text!r} is no time: write it like 2026-11-29T02:14Z") from None
    if not EARLIEST <= at <= LATEST:
        raise ValueError(f"--now {text!r} is out of range: a message of Slack is of our time")
    return at


def _fail(message: str, code: int) -> int:
    print(message, file=sys.stderr)  # noqa: T201  # a command line's error
    return code
