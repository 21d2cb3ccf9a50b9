"""Work raced against the deadline and the abort, in virtual time."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Iterator
from datetime import timedelta
from typing import Any

import pytest

from bot.loop.limits import StopReason
from bot.loop.stopping import GRACE_SECONDS, Clock, Cut, Done, Stop, TimedOut, WorkCancelledError
from support.virtual_loop import VirtualLoop


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    loop = VirtualLoop()
    asyncio.set_event_loop(loop)
    loop.play(asyncio.sleep(100))  # no clock begins at zero
    yield loop
    assert loop.unheard == []
    assert loop.tasks_left() == set()
    asyncio.set_event_loop(None)
    loop.close()


def stop_in(loop: VirtualLoop, seconds: float) -> Stop:
    return Stop(Clock(monotonic=loop.time), loop.time() + seconds)


async def works(seconds: float, value: str = "done") -> str:
    await asyncio.sleep(seconds)
    return value


async def deaf(seconds: float, raised: BaseException | None = None) -> None:
    """Takes its time to end when it is cancelled."""
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(seconds)
        if raised is not None:
            raise raised


def race(loop: VirtualLoop, stop: Stop, work: Coroutine[Any, Any, Any], seconds: float) -> object:
    return loop.play(stop.race(work, seconds))


def test_work_that_ends_in_time_hands_back_its_value_and_how_long_it_took(
    loop: VirtualLoop,
) -> None:
    assert race(loop, stop_in(loop, 60), works(3), 10) == Done("done", 3.0)


def test_work_over_its_own_time_is_cut_there(loop: VirtualLoop) -> None:
    assert race(loop, stop_in(loop, 60), works(30), 10) == TimedOut(10.0)
    assert loop.time() == 110.0


def test_work_over_the_deadline_is_cut_there_and_nothing_more_may_start(
    loop: VirtualLoop,
) -> None:
    stop = stop_in(loop, 5)
    assert race(loop, stop, works(30), 10) == Cut(StopReason.DEADLINE)
    assert loop.time() == 105.0
    assert stop.cut == Cut(StopReason.DEADLINE)
    assert race(loop, stop, works(0), 10) == Cut(StopReason.DEADLINE)


def test_at_the_very_deadline_nothing_more_may_start(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 5)
    loop.play(asyncio.sleep(4.9))
    assert stop.cut is None
    loop.play(asyncio.sleep(0.1))
    assert stop.cut == Cut(StopReason.DEADLINE)


def test_work_whose_own_time_ends_with_the_deadline_was_late_itself(loop: VirtualLoop) -> None:
    assert race(loop, stop_in(loop, 10), works(30), 10) == TimedOut(10.0)


def test_the_first_abort_counts_and_says_who(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)
    stop.abort("@maya")
    stop.abort("@noor", StopReason.INTERRUPTED)
    assert stop.cut == Cut(StopReason.ABORTED, "@maya")


def test_an_abort_of_nobody_names_nobody(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)
    stop.abort()
    assert stop.cut == Cut(StopReason.ABORTED, "")


def test_an_abort_after_the_deadline_comes_too_late(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 5)
    loop.play(asyncio.sleep(6))
    assert stop.cut is not None
    stop.abort("@maya")
    assert stop.cut == Cut(StopReason.DEADLINE)


def test_an_abort_cuts_work_at_once(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)
    loop.call_later(2, stop.abort, "@maya")
    assert race(loop, stop, works(30), 10) == Cut(StopReason.ABORTED, "@maya")
    assert loop.time() == 102.0


@pytest.mark.parametrize("raised", [None, OSError("lost while closing")])
def test_work_that_does_not_hear_is_waited_for_a_moment_only(
    loop: VirtualLoop, raised: BaseException | None
) -> None:
    stop = stop_in(loop, 60)
    loop.call_later(2, stop.abort)
    assert race(loop, stop, deaf(3, raised), 10) == Cut(StopReason.ABORTED)
    assert loop.time() == 102.0 + GRACE_SECONDS
    loop.play(asyncio.sleep(5))


def test_what_cut_work_holds_is_free_before_the_run_goes_on(loop: VirtualLoop) -> None:
    freed = []

    async def holds() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.1)
            freed.append(loop.time())

    assert race(loop, stop_in(loop, 60), holds(), 10) == TimedOut(10.0)
    assert freed == [110.1]


def test_work_that_fails_fails_where_it_was_asked_for(loop: VirtualLoop) -> None:
    async def breaks() -> None:
        await asyncio.sleep(1)
        raise KeyError("x")

    with pytest.raises(KeyError):
        race(loop, stop_in(loop, 60), breaks(), 10)


def test_work_that_is_cancelled_from_inside_says_so(loop: VirtualLoop) -> None:
    async def breaks() -> None:
        raise asyncio.CancelledError

    with pytest.raises(WorkCancelledError):
        race(loop, stop_in(loop, 60), breaks(), 10)


def test_several_works_are_all_cut_by_one_abort(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)

    async def both() -> list[object]:
        return list(
            await asyncio.gather(
                stop.race(works(30), 20), stop.race(works(1), 20), stop.race(works(40), 20)
            )
        )

    loop.call_later(2, stop.abort, "@maya")
    cut = Cut(StopReason.ABORTED, "@maya")
    assert loop.play(both()) == [cut, Done("done", 1.0), cut]


def test_work_that_was_not_started_is_closed(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)
    stop.abort()
    work = works(1)
    assert race(loop, stop, work, 10) == Cut(StopReason.ABORTED)
    assert inspect.getcoroutinestate(work) == inspect.CORO_CLOSED


def test_a_run_that_is_itself_cancelled_is_cancelled_and_its_work_with_it(
    loop: VirtualLoop,
) -> None:
    freed = []

    async def holds() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            freed.append(loop.time())

    async def run() -> None:
        await stop_in(loop, 60).race(holds(), 10)

    async def cancelled() -> bool:
        task = asyncio.create_task(run())
        loop.call_later(2, task.cancel)
        await asyncio.wait({task})
        return task.cancelled()

    assert loop.play(cancelled())
    assert freed == [102.0]


def test_work_that_was_late_itself_says_so(loop: VirtualLoop) -> None:
    async def breaks() -> None:
        raise TimeoutError("its own")

    with pytest.raises(TimeoutError, match="its own"):
        race(loop, stop_in(loop, 60), breaks(), 10)


def test_an_abort_by_the_work_itself_cuts_it_at_its_next_wait(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)

    async def gives_up() -> None:
        stop.abort("@maya")
        await asyncio.sleep(3)

    assert race(loop, stop, gives_up(), 10) == Cut(StopReason.ABORTED, "@maya")
    assert loop.time() == 100.0


def test_an_abort_in_the_moment_in_which_the_time_is_over_still_counts(loop: VirtualLoop) -> None:
    stop = stop_in(loop, 60)

    async def is_late() -> None:
        loop.call_later(10, stop.abort, "@maya")  # after the timer of the same moment
        await asyncio.sleep(30)

    assert race(loop, stop, is_late(), 10) == Cut(StopReason.ABORTED, "@maya")
    assert loop.time() == 110.0


def test_the_time_of_day_is_in_utc() -> None:
    assert Clock().now().utcoffset() == timedelta()
