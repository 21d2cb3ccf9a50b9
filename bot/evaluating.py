"""``oncall-bot eval``: a case file asked and scored, with progress on stderr and a table at the end.

Owns the printing and which model is asked. The scoring is ``bot.eval``'s.
"""

from __future__ import annotations

import sys
from pathlib import Path

from bot.config import load
from bot.eval import EvalError, Evaluation, Scored, evaluate, table
from bot.loop.stopping import Clock
from bot.models.make import adapter
from bot.models.rules import NAME as RULES
from bot.models.rules import RulesModel
from bot.terminal import say, warn
from bot.wiring import http_client


async def run_cases(
    cases: Path, workspaces: Path, model: str, settings_root: Path, *, as_json: bool
) -> int:
    """The exit code: 0 when every question is right. Raises ``EvalError`` and ``ConfigError``."""
    watch = _progress if sys.stderr.isatty() else _quiet
    if model == RULES:
        done = await evaluate(cases, workspaces, RulesModel, watch=watch)
        return _print(done, as_json=as_json)
    settings = load(settings_root)
    named = {endpoint.shown: endpoint for endpoint in settings.model.endpoints}
    async with http_client(settings.model) as client:
        if client is None or model not in named:
            known = ", ".join([*named, RULES])
            raise EvalError(f"there is no model {model!r}; there are: {known}")
        done = await evaluate(
            cases,
            workspaces,
            lambda: adapter(named[model], client, Clock()),
            limits=settings.limits,
            watch=watch,
        )
    return _print(done, as_json=as_json)


def _print(done: Evaluation, *, as_json: bool) -> int:
    say(done.model_dump_json() if as_json else table(done))
    return 0 if all(one.right for one in done.scored) else 1


def _progress(one: Scored) -> None:
    warn(f"{'right' if one.right else 'wrong'}  {one.case}: {one.question[:70]}")


def _quiet(one: Scored) -> None:
    """Nobody watches."""
