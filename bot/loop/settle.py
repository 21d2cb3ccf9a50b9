"""After OBSERVE: is the run over, and with what? Also how a failure is put together (M6, M7).

Pure. The order here is the order of what counts: a proposal, a checked answer, what a rejected answer
leaves, a cut, then the stop rules.
"""

from __future__ import annotations

from typing import assert_never

from bot.loop.execute import Executed
from bot.loop.grounding import unanswered_by
from bot.loop.limits import Limits, StopReason, stop_reason
from bot.loop.outcome import Established, Failure, Outcome
from bot.loop.scratchpad import Scratchpad
from bot.loop.state import Phase
from tools.records import DeploysFound, DiffShown, IncidentsFound, SuspectsRanked


def settled(pad: Scratchpad, done: Executed, limits: Limits) -> Outcome | None:
    """The outcome that the newest step brought, or ``None`` while the run goes on."""
    if done.proposal is not None:
        return done.proposal
    tally = pad.tally
    if done.verdict is not None:
        if done.verdict.accepted is not None:
            return done.verdict.accepted
        last = len(pad.steps) >= limits.max_steps
        if last or tally.rejected_answers >= limits.rejected_answers:
            # What was wrong was told to the model and stands in the trace: people get plain words.
            return done.verdict.salvage or failure(StopReason.UNGROUNDED, Phase.EXECUTE, pad)
    if done.cut is not None:
        by = f"Stopped by {done.cut.by}." if done.cut.by else ""
        return failure(done.cut.reason, Phase.EXECUTE, pad, by)
    if reason := stop_reason(tally, limits):
        return failure(reason, Phase.APPEND, pad)
    return None


def failure(reason: StopReason, phase: Phase, pad: Scratchpad, detail: str = "") -> Failure:
    """A failure that keeps what was found: nothing that a tool established is lost (M7)."""
    found = tuple(
        Established(text=o.result.summary, observation=o.id, tool=o.tool)
        for o in pad.evidence.values()
    )
    missing = tuple(part.words for part in unanswered_by(pad, tuple(pad.evidence.values())))
    return Failure(
        reason=reason,
        phase=phase,
        detail=detail,
        established=found,
        missing=missing,
        next_check=_next_check(reason, pad),
        steps=len(pad.steps),
        model=pad.model,
    )


def _next_check(reason: StopReason, pad: Scratchpad) -> str:
    """The next thing for a person, from what the tools found, else from the reason."""
    for observation in reversed(tuple(pad.evidence.values())):
        match observation.result.value:
            case SuspectsRanked(suspects=(first, *_)):
                deploy = first.deploy
                return f"Look at {deploy.service} deploy {deploy.label}: it ranks first so far."
            case DiffShown(deploy=deploy):
                return f"Read the diff of {deploy.service} deploy {deploy.label} in the trace."
            case DeploysFound(deploys=(first_deploy, *_)):
                return f"Look at {first_deploy.service} deploy {first_deploy.label} in the trace."
            case IncidentsFound(tied=(_, *_) as tied):
                return f"Ask again with the incident's id: {', '.join(tied)}."
            case _:
                continue
    return _by_reason(reason)


def _by_reason(reason: StopReason) -> str:
    match reason:
        case StopReason.MODEL_UNAVAILABLE | StopReason.REFUSED | StopReason.TRUNCATED:
            return "Ask again, or check the model's settings with `oncall-bot doctor`."
        case StopReason.ERROR_BUDGET:
            return "Open the trace to see which source fails, then check that source."
        case StopReason.ABORTED | StopReason.INTERRUPTED:
            return "Ask again to start over."
        case StopReason.DEADLINE | StopReason.STEP_CAP | StopReason.TOKEN_BUDGET:
            return "Ask for less: one deploy, one service or a narrower time."
        case (
            StopReason.SILENT_FINISH
            | StopReason.UNGROUNDED
            | StopReason.REPEATED_CALL
            | StopReason.CYCLE
            | StopReason.IGNORED_REFUSALS
        ):
            return "Open the trace, and ask again with a deploy number or an incident id."
        case StopReason.ANSWERED | StopReason.PROPOSED:
            return "Nothing."
        case _:
            assert_never(reason)
