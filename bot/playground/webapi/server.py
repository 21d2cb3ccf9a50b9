"""The HTTP side of the Web API: who calls, may they, how often, and what goes wrong on the way.

Owns the order of the checks (method, body, token, fault, rate, scope, handler) and how faults are
carried out on the connection. The methods themselves are in the modules beside this one.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import assert_never

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from bot.playground.faults import (
    ApiError,
    Fault,
    HangAfter,
    HangBefore,
    RateLimited,
    ResetAfter,
    ResetBefore,
    ServerError,
    ServerErrorAfter,
    Slow,
    SoftRateLimited,
)
from bot.playground.log import Call as LoggedCall
from bot.playground.model import App, Json
from bot.playground.playground import Playground
from bot.playground.rates import DISTRIBUTED_HISTORY
from bot.playground.transport import hang, reset
from bot.playground.webapi.args import Args, Received, read_request
from bot.playground.webapi.errors import SlackError, missing_scope
from bot.playground.webapi.method import Call, Method, TokenKind
from bot.playground.webapi.registry import METHODS


class WebApi:
    """Answers `/api/{method}`."""

    def __init__(self, playground: Playground) -> None:
        self._playground = playground

    async def answer(self, request: Request) -> Response:
        name = request.path_params["method"]
        method = METHODS.get(name)
        if method is None:
            return self._refuse(name, None, Args(), SlackError("unknown_method"))
        try:
            received = await read_request(request, takes_json=method.takes_json)
        except SlackError as refused:
            return self._refuse(name, None, Args(), refused)
        app: App | None = None
        try:
            app = self._app(received, method)
            self._check_token_scope(app, method)
        except SlackError as refused:
            return self._refuse(name, app, received.args, refused)
        fault = self._playground.faults.draw(name, received.args.text("channel") or None)

        async def process() -> Response:
            return self._process(name, method, app, received.args, request)

        if fault is None:
            return await process()
        return await self._suffer(fault, name, app, received.args, request, process)

    # -- the checks

    def _app(self, received: Received, method: Method) -> App:
        """The app whose token it is. Raises not_authed, invalid_auth, not_allowed_token_type."""
        if received.token_in_query:
            raise SlackError("invalid_auth")
        token = received.token
        if token is None:
            raise SlackError("not_authed")
        for app in self._playground.world.apps.values():
            if token == app.bot_token:
                if method.token is TokenKind.APP:
                    raise SlackError("not_allowed_token_type")
                return app
            if token == app.app_token:
                if method.token is TokenKind.BOT:
                    raise SlackError("not_allowed_token_type")
                return app
        raise SlackError("invalid_auth")

    def _check_token_scope(self, app: App, method: Method) -> None:
        granted = app.app_scopes if method.token is TokenKind.APP else app.scopes
        if method.scopes and not set(method.scopes) & set(granted):
            raise missing_scope(method.scopes[0], granted)

    def _process(
        self, name: str, method: Method, app: App, args: Args, request: Request
    ) -> Response:
        slow = method.slow_when_distributed and app.distributed
        wait = self._playground.rates.take(
            DISTRIBUTED_HISTORY if slow else method.rate,
            app=app.id,
            method=name,
            channel=self._channel_key(args),
            now=self._playground.clock.now(),
        )
        if wait is not None:
            return self._limited(name, app, args, wait)
        base_url = str(request.base_url).rstrip("/")
        try:
            body = method.handler(Call(self._playground, app, args, base_url))
        except SlackError as refused:
            return self._refuse(name, app, args, refused)
        self._log(name, app, args, 200, None)
        return JSONResponse({"ok": True, **body}, headers=_scope_headers(app, method))

    def _channel_key(self, args: Args) -> str:
        """One key for a channel, whether it is called by its id or by its name."""
        key = args.text("channel")
        channel = self._playground.world.channel_named(key)
        return channel.id if channel else key

    # -- answers

    def _refuse(self, name: str, app: App | None, args: Args, refused: SlackError) -> Response:
        self._log(name, app, args, 200, refused.error)
        method = METHODS.get(name)
        headers = _scope_headers(app, method) if app and method else {}
        return JSONResponse(refused.body(), headers=headers)

    def _limited(
        self, name: str, app: App, args: Args, wait: int | None, fault: str | None = None
    ) -> Response:
        self._log(name, app, args, 429, "ratelimited", fault)
        headers = {} if wait is None else {"Retry-After": str(wait)}
        return JSONResponse({"ok": False, "error": "ratelimited"}, 429, headers=headers)

    def _log(
        self,
        name: str,
        app: App | None,
        args: Args,
        status: int,
        error: str | None,
        fault: str | None = None,
    ) -> None:
        at = self._playground.clock.now()
        self._playground.calls.add(
            LoggedCall(at, name, app.id if app else None, args.values, status, error, fault)
        )

    # -- faults

    async def _suffer(
        self,
        fault: Fault,
        name: str,
        app: App,
        args: Args,
        request: Request,
        process: Callable[[], Awaitable[Response]],
    ) -> Response:
        """Carry out a fault. Those that end in `After` let the call be processed first."""
        match fault:
            case RateLimited(retry_after=wait):
                return self._limited(name, app, args, wait, fault.kind)
            case SoftRateLimited(retry_after=wait):
                self._log(name, app, args, 200, "ratelimited", fault.kind)
                headers = {} if wait is None else {"Retry-After": str(wait)}
                body: Json = {"ok": False, "error": "ratelimited"}
                return JSONResponse(body, headers=headers)
            case ServerError(status=status):
                self._log(name, app, args, status, None, fault.kind)
                return PlainTextResponse("upstream connect error", status)
            case ServerErrorAfter(status=status):
                await process()
                self._log(name, app, args, status, None, fault.kind)
                return PlainTextResponse("upstream request timeout", status)
            case ApiError(error=error):
                self._log(name, app, args, 200, error, fault.kind)
                return JSONResponse({"ok": False, "error": error})
            case ResetBefore():
                self._log(name, app, args, 0, None, fault.kind)
                return reset(request)
            case ResetAfter():
                await process()
                self._log(name, app, args, 0, None, fault.kind)
                return reset(request)
            case Slow(seconds=seconds):
                await self._playground.clock.sleep(seconds)
                return await process()
            case HangBefore():
                self._log(name, app, args, 0, None, fault.kind)
                return hang()
            case HangAfter():
                await process()
                self._log(name, app, args, 0, None, fault.kind)
                return hang()
            case _:
                assert_never(fault)


def _scope_headers(app: App, method: Method) -> dict[str, str]:
    granted = app.app_scopes if method.token is TokenKind.APP else app.scopes
    return {
        "x-oauth-scopes": ",".join(granted),
        "x-accepted-oauth-scopes": ",".join(method.scopes),
    }
