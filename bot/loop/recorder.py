"""Between the engine and its journal: what was recorded before, and what is written now (M17).

A resumed run meets its own past here: a turn or a result that is recorded is handed back and not
made again, and an event that is recorded is not written twice. Events that need not be durable at
once travel with the next that must be, in one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.loop.journal import (
    Event,
    Journal,
    ModelFailed,
    ModelReturned,
    RunEnded,
    RunStarted,
    ToolReturned,
    WasCut,
    blob_hash,
)
from bot.loop.outcome import Outcome
from bot.loop.state import Phase
from bot.loop.stopping import Cut
from bot.loop.wire import ModelError, Turn
from tools.base import ToolResult


class Recorder:
    def __init__(self, journal: Journal, recorded: Sequence[Event]) -> None:
        self._journal = journal
        self._recorded: dict[tuple[str, int, str], Event] = {e.key: e for e in recorded}
        self._failed = [e for e in recorded if isinstance(e, ModelFailed)]
        self._waiting: list[Event] = []
        self._blobs: dict[str, str] = {}

    @classmethod
    async def open(cls, journal: Journal) -> Recorder:
        return cls(journal, await journal.read())

    def note(self, event: Event) -> None:
        """Write it together with the next ``write``."""
        key = event.key
        if key not in self._recorded:
            self._recorded[key] = event
            self._waiting.append(event)
            if event.kind == "model_failed":
                self._failed.append(event)

    def begin(self, started: RunStarted) -> RunStarted:
        """Note the run's start; returns the recorded one where the run began before."""
        self.note(started)
        match self._recorded[started.key]:
            case RunStarted() as recorded:
                return recorded
            case _:
                return started

    async def write(self, event: Event) -> None:
        """Make it durable, with all that was noted, before the caller goes on."""
        self.note(event)
        await self.flush()

    async def flush(self) -> None:
        if self._waiting or self._blobs:
            events, blobs = self._waiting, self._blobs
            self._waiting, self._blobs = [], {}
            await self._journal.append(events, blobs)

    def keep(self, text: str) -> str:
        """Store a text as a blob with the next write; returns its hash."""
        digest = blob_hash(text)
        self._blobs[digest] = text
        return digest

    # --- the past of a resumed run -------------------------------------------------------------

    def reply(self, step: int) -> Turn | ModelError | Cut | None:
        """How the model call of this step ended: with a turn, given up, or cut."""
        if cut := self.cut(step, Phase.CALL):
            return cut
        match self._recorded.get((ModelReturned.__name__, step, "")):
            case ModelReturned(turn=turn):
                return turn
            case _:
                pass
        match self.failed_attempts(step):
            case (*_, ModelFailed(again_in=None, error=error, message=message)):
                return ModelError(error, message)
            case _:
                return None

    def failed_attempts(self, step: int) -> tuple[ModelFailed, ...]:
        return tuple(failed for failed in self._failed if failed.step == step)

    async def result(self, step: int, observation: str) -> ToolResult | None:
        match self._recorded.get((ToolReturned.__name__, step, observation)):
            case ToolReturned(result=digest):
                return ToolResult.model_validate_json(await self._journal.blob(digest))
            case _:
                return None

    def cut(self, step: int, phase: Phase) -> Cut | None:
        match self._recorded.get((WasCut.__name__, step, str(phase))):
            case WasCut(reason=reason, by=by):
                return Cut(reason, by)
            case _:
                return None

    @property
    def ended(self) -> Outcome | None:
        """The outcome, if this run is already over."""
        match self._recorded.get((RunEnded.__name__, 0, "")):
            case RunEnded(outcome=outcome):
                return outcome
            case _:
                return None
