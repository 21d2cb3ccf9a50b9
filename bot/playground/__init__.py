"""A local Slack for one machine: Web API, Socket Mode and HTTP events, and a page that looks like it.

A process of its own, which imports nothing else of `bot`. It is strict where Slack is: sizes, rates,
retries, scopes, threads. Start it with `run` or `main`, or inside a test with
`running_playground`; drive it over HTTP (`control.py`) or through `Playground.people`.
"""

from bot.playground.app import create_app
from bot.playground.clock import Clock, RealClock, VirtualClock
from bot.playground.faults import FaultBook, FaultRule
from bot.playground.main import main, run
from bot.playground.playground import Playground
from bot.playground.seed import Seed, build_world, read_seed
from bot.playground.server import PortInUseError, Running, running_playground

__all__ = [
    "Clock",
    "FaultBook",
    "FaultRule",
    "Playground",
    "PortInUseError",
    "RealClock",
    "Running",
    "Seed",
    "VirtualClock",
    "build_world",
    "create_app",
    "main",
    "read_seed",
    "run",
    "running_playground",
]
