"""The one boundary of a job: what fails inside is logged here and never shown.

Owns which errors go through, and the words for those that do not. Knows no store and no surface.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import TypeVar

import structlog

from bot.loop.journal import FencedError
from bot.runs.errors import NoWorkbenchError
from bot.runs.surface import NotPostedError

_log = structlog.get_logger(__name__)

T = TypeVar("T")


@dataclass(frozen=True)
class Fault:
    """A job's own failure, logged where it was caught."""

    detail: str
    next_check: str


async def guarded(work: Awaitable[T]) -> T | Fault:
    """Lets out ``FencedError`` and ``NotPostedError`` alone, which a job knows what to do with."""
    try:
        return await work
    except (FencedError, NotPostedError):
        raise
    except NoWorkbenchError as error:
        return Fault(str(error), "Mend that, then ask again.")
    except Exception:  # noqa: BLE001 - the boundary of a job
        _log.exception("job_fault")
        return Fault(
            "Something failed inside the bot; its log has the reason.",
            "Ask again; if it fails again, look at the bot's log.",
        )
