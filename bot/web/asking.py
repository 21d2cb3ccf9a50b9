"""Asking without Slack (M30): a form, and the same as JSON for ``oncall-bot ask --server``.

Owns who may: whoever has the signed ask link, which a rotated key voids. A question is a run like any
other; its reply is its trace page. Other surfaces' runs cannot be reached from here.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Annotated, Any, assert_never
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.bodies import body_within
from bot.loop.journal import Event
from bot.loop.outcome import Outcome
from bot.loop.question import MAX_QUESTION
from bot.runs.links import Links
from bot.runs.records import Ask, RunRecord, RunState
from bot.runs.service import Accepted, Closing, Duplicate, QueueFull, RunService
from bot.runs.surface import Gone, Posted
from bot.web.page import Templates
from tools.records import UtcTime

SURFACE = "web"
MAX_BODY = 256_000
LONGEST_WAIT = 25.0
"""Seconds that one request for a run's end is held open."""
FORM_WAIT = 1.0
"""Seconds that a form waits for the run's end: the page that it leads to has most answers at once."""

_Text = Annotated[str, StringConstraints(strip_whitespace=True)]
_JSON = "application/json"
_KEY = re.compile(r"[A-Za-z0-9_-]{8,64}")
_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)
_BUSY = "Too many questions are at work just now: ask again in a minute."
_EMPTY = "Write what you want to know."
_TOO_LONG = f"That is too long: a question has at most {MAX_QUESTION:,} characters."
_CLOSING = "The bot is being restarted: ask again in a minute."


class WebSurface:
    """Implements ``bot.runs.surface.Surface``: the trace page shows everything by itself."""

    @property
    def name(self) -> str:
        return SURFACE

    async def started(self, run: RunRecord) -> None:
        del run

    async def saw(self, run: RunRecord, event: Event) -> None:
        del run, event

    async def reply(self, run: RunRecord, outcome: Outcome) -> Posted | Gone:
        del run, outcome
        return Posted("trace page")


class Asked(BaseModel):
    """A question as it comes over the wire. ``key`` makes asking it twice harmless."""

    model_config = ConfigDict(extra="forbid")

    question: _Text = Field(min_length=1, max_length=2 * MAX_QUESTION)
    key: str = Field(default_factory=lambda: secrets.token_urlsafe(12), pattern=_KEY.pattern)
    asked_at: UtcTime | None = None
    thread: tuple[str, ...] = ()


class RunTold(BaseModel):
    """A run as it is told over the wire; ``outcome`` is there once it has ended.

    ``longest_seconds`` is what it may last from its acceptance: waiting and working.
    """

    run: str
    question: str
    asked_at: datetime
    state: RunState
    seconds: float | None
    input_tokens: int
    output_tokens: int
    trace: str
    longest_seconds: float
    outcome: Outcome | None


class AskPages:
    """The handlers. ``now`` is the clock that questions are read against."""

    def __init__(
        self,
        service: RunService,
        links: Links,
        now: Callable[[], datetime],
        form_wait: float = FORM_WAIT,
    ) -> None:
        self._service = service
        self._form_wait = form_wait
        self._links = links
        self._now = now
        self._templates = Templates()

    def routes(self) -> list[Route]:
        return [
            Route(
                "/ask/{token}",
                self._for_those_with_the_link(self.page),
                methods=["GET", "HEAD", "POST"],
            ),
            Route("/ask/{token}/{run}", self._for_those_with_the_link(self.run), methods=["POST"]),
            Route(
                "/ask/{token}/{run}/stop",
                self._for_those_with_the_link(self.stop),
                methods=["POST"],
            ),
        ]

    async def page(self, request: Request) -> Response:
        """The form, or what is posted with it."""
        return await self.ask(request) if request.method == "POST" else self._form(200)

    async def ask(self, request: Request) -> Response:
        """A form is sent on to the trace page; JSON gets the run."""
        as_json = request.headers.get("content-type", "").startswith(_JSON)
        body = await body_within(request.stream(), MAX_BODY)
        if body is None:
            return self._refused(_TOO_LONG, 422, "", as_json=as_json)
        try:
            asked = _read(body, as_json=as_json)
        except ValidationError as error:
            return self._refused(_complaint(error), 422, "", as_json=as_json)
        taken = await self._service.accept(
            Ask(
                origin_key=f"{SURFACE}:{asked.key}",
                surface=SURFACE,
                text=asked.question,
                asked_at=asked.asked_at or self._now(),
                address={},
                thread=asked.thread,
            )
        )
        match taken:
            case Accepted(run=run) | Duplicate(run=RunRecord() as run):
                if as_json:
                    return JSONResponse(self._told(run), 202)
                await self._wait(run, self._form_wait)
                return self._to_trace(run)
            case QueueFull() | Duplicate():
                return self._refused(_BUSY, 429, asked.question, as_json=as_json)
            case Closing():
                return self._refused(_CLOSING, 503, asked.question, as_json=as_json)
            case _:
                assert_never(taken)

    async def run(self, request: Request) -> Response:
        """A run once it has ended, or after a while as it is then."""
        run = await self._own(request)
        if run is None:
            return _nothing()
        if run.state is not RunState.ENDED:
            await self._wait(run, LONGEST_WAIT)
            run = await self._service.store.run(run.id)
        return JSONResponse(self._told(run)) if run is not None else _nothing()

    async def stop(self, request: Request) -> Response:
        run = await self._own(request)
        if run is None:
            return _nothing()
        await self._service.abort(run.id, "the asker")
        return JSONResponse({"run": run.id})

    async def _wait(self, run: RunRecord, seconds: float) -> None:
        """For the run's end, so long at most."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._service.wait(run.id), seconds)

    async def _own(self, request: Request) -> RunRecord | None:
        """A run that was asked here; no other can be reached."""
        run = await self._service.store.run(request.path_params["run"])
        return run if run is not None and run.surface == SURFACE else None

    def _for_those_with_the_link(
        self, handler: Callable[[Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def checked(request: Request) -> Response:
            if not self._links.may_ask(request.path_params["token"]):
                return self._templates.page("missing.html", 404)
            return await handler(request)

        return checked

    def _form(self, status: int, question: str = "", trouble: str = "") -> Response:
        page = self._templates.page(
            "ask.html",
            status,
            key=secrets.token_urlsafe(12),
            longest=MAX_QUESTION,
            question=question,
            trouble=trouble,
        )
        page.headers["Content-Security-Policy"] = _POLICY
        return page

    def _refused(self, why: str, status: int, question: str, *, as_json: bool) -> Response:
        if as_json:
            return JSONResponse({"error": why}, status)
        return self._form(status, question, why)

    def _to_trace(self, run: RunRecord) -> Response:
        """Relative, so that it holds under whatever address people reach the pages."""
        token = self._links.trace(run.id).rsplit("/", 1)[1]
        return RedirectResponse(f"../t/{token}", 303)

    def _told(self, run: RunRecord) -> dict[str, Any]:
        return RunTold(
            run=run.id,
            question=run.question,
            asked_at=run.asked_at,
            state=run.state,
            seconds=run.seconds,
            input_tokens=run.input_tokens,
            output_tokens=run.output_tokens,
            trace=self._links.trace(run.id),
            longest_seconds=self._service.longest_seconds,
            outcome=run.outcome,
        ).model_dump(mode="json")


def _read(body: bytes, *, as_json: bool) -> Asked:
    """Raises ``ValidationError``."""
    if as_json:
        return Asked.model_validate_json(body)
    fields = parse_qs(body.decode("utf-8", "replace"))
    given = {name: fields[name][0] for name in ("question", "key") if name in fields}
    return Asked.model_validate({"question": "", **given})


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    if first["loc"] == ("question",):
        match first["type"]:
            case "string_too_short":
                return _EMPTY
            case "string_too_long":
                return _TOO_LONG
    place = ".".join(str(part) for part in first["loc"]) or "the question"
    return f"{place}: {first['msg']}"


def _nothing() -> Response:
    return JSONResponse({"error": "there is no such question"}, 404)
