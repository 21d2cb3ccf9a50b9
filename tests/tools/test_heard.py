"""A stop is heard however much a tool has to read: what takes long stays off the event loop.

Measured is the loop's own CPU time between two of its turns, which a busy machine does not change.
"""

from __future__ import annotations

import asyncio
import time
import warnings
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

import pytest

from support.shop import NOW, Shop, searched
from tools.base import CallContext
from tools.get_diff import GetDiff, GetDiffArguments
from tools.highlights import compare_texts
from tools.history import DeployHistory
from tools.records import DiffShown, FileKind, SuspectsRanked
from tools.workspace import Workspace

LONGEST_TURN = 0.05
"""CPU seconds for which nobody is heard."""
FILES, FUNCTIONS = 8, 400
TRIES = 3
"""What Python collects in between may fall into one of them."""


def rewritten(release: int) -> dict[str, str]:
    """Files of which no line is as before, half a megabyte together."""
    return {f"src/part{number}.py": module(number, release) for number in range(FILES)}


def module(number: int, release: int) -> str:
    return "".join(
        f"def charge_{at}(card, timeout={at + release}):\n"
        f"    check(card, limit={at * release}, name='part{number}')\n"
        f"    raise GatewayTimeoutError('release {release} of {number} waited {at}')\n"
        for at in range(FUNCTIONS)
    )


@pytest.fixture
def rewrites(tmp_path: Path) -> tuple[Workspace, ...]:
    """One to read for each try: what was read once is kept."""
    return tuple(rewritten_twice(tmp_path / str(at)) for at in range(TRIES))


def rewritten_twice(root: Path) -> Workspace:
    shop = Shop(root)
    shop.service("checkout")
    for release in range(3):
        shop.release("checkout", 10 + release, timedelta(hours=3 - release), rewritten(release))
    shop.incident(title="checkout: GatewayTimeoutError waited", summary="charge_7 waited, limit=")
    return shop.open()


async def longest_turn(work: Awaitable[object]) -> float:
    """Do the work; return the CPU seconds of the loop's longest turn meanwhile."""
    task = asyncio.ensure_future(work)
    longest = 0.0
    while not task.done():
        began = time.thread_time()
        await asyncio.sleep(0.001)
        longest = max(longest, time.thread_time() - began)
    await task
    return longest


async def compare(workspace: Workspace) -> None:
    history = DeployHistory(workspace.deploy_sources, workspace.catalog)
    tool = GetDiff(history, workspace.catalog)
    result = await tool.run(GetDiffArguments(deploy="12"), CallContext(NOW, {}))
    assert isinstance(result.value, DiffShown)
    assert result.value.files_total == FILES
    assert result.value.highlights_total > FUNCTIONS


async def rank(workspace: Workspace) -> None:
    result = await searched(workspace, incident="INC-1")
    assert isinstance(result.value, SuspectsRanked)
    assert len(result.value.suspects) == 3


@pytest.mark.parametrize("work", [compare, rank])
async def test_a_stop_is_heard_while_a_rewrite_is_read(
    rewrites: tuple[Workspace, ...], work: Callable[[Workspace], Awaitable[None]]
) -> None:
    turns = [await longest_turn(work(workspace)) for workspace in rewrites]

    assert min(turns) < LONGEST_TURN


async def test_warnings_are_as_they_were_after_files_are_compared_at_once() -> None:
    before = list(warnings.filters)
    old = module(1, 1) + 'PATTERN = "\\d"\n'
    new = old.replace("limit", "most")

    def work() -> None:
        assert list(compare_texts("a.py", FileKind.CODE, old, new))

    await asyncio.gather(*(asyncio.to_thread(work) for _ in range(8)))

    assert list(warnings.filters) == before
