"""How the suite runs: all of it over the cores, what measures time alone, the same examples each time."""

from __future__ import annotations

import asyncio
import fcntl
import os
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn.server
from hypothesis import settings

MOST_WORKERS = 4
TURNS = pytest.StashKey[tempfile.TemporaryDirectory[str]]()

# A failure that chance finds would fail a change that did not cause it: the default is the same
# examples each time. `--hypothesis-profile=search` looks for new ones.
settings.register_profile("same", deadline=None, database=None, derandomize=True, print_blob=True)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile("same")

# Processes by the hundred load the bot here: what one compiles, the next need not.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for all tests; none for some of them, so that ``-s`` and a debugger work there.

    One more than there are cores: while a test waits for a process or a socket, another works.
    """
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    cores = os.cpu_count() or 1
    return min(cores + 1, MOST_WORKERS) if whole and cores > 1 else 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with a test that runs alone come first, so that no such test waits for a long one."""
    first = {item.path for item in items if item.get_closest_marker("alone")}
    items.sort(key=lambda item: item.path not in first)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Each worker is told the folder in which all of them take turns."""
    if TURNS not in node.config.stash:
        node.config.stash[TURNS] = tempfile.TemporaryDirectory(prefix="oncall-turns-")
    node.workerinput["turns"] = node.config.stash[TURNS].name


def pytest_unconfigure(config: pytest.Config) -> None:
    if folder := config.stash.get(TURNS, None):
        folder.cleanup()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """A test marked ``alone`` waits until the other workers are between two tests, and they wait
    until it is over. Who waits for the room keeps the door, so that nobody is overtaken for ever.
    """
    turns = getattr(item.config, "workerinput", {}).get("turns")
    if turns is None:
        return (yield)
    how = fcntl.LOCK_EX if item.get_closest_marker("alone") else fcntl.LOCK_SH
    with Path(turns, "room").open("a") as room:
        with Path(turns, "door").open("a") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            fcntl.flock(room, how)
        return (yield)


class _Eager:
    """``asyncio`` for uvicorn, whose end rests for tenths of a second whether or not it has to."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, 0.005))


@pytest.fixture(scope="session", autouse=True)
def _servers_end_when_they_can() -> Iterator[None]:
    """Hundreds of tests end a server each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(uvicorn.server, "asyncio", _Eager())
        yield
