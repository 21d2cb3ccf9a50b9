"""How the suite runs: all of it over the cores, what measures time alone, the same examples each time."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

MOST_WORKERS = 4
TURNS = pytest.StashKey[tempfile.TemporaryDirectory[str]]()

# A failure that chance finds would fail a change that did not cause it: the default is the same
# examples each time. `--hypothesis-profile=search` looks for new ones.
settings.register_profile("same", deadline=None, database=None, derandomize=True, print_blob=True)
settings.register_profile("search", deadline=None, print_blob=True)
settings.load_profile("same")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for all tests; none for some of them, so that ``-s`` and a debugger work there."""
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    cores = os.cpu_count() or 1
    return min(cores, MOST_WORKERS) if whole and cores > 1 else 0


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
