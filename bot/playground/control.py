"""The control API: what tests and the page do in the workspace that is not the bot's to do.

Owns the HTTP form of `people.py`'s acts, of faults, of the clock and of the sockets, and the full
state as JSON. Only for this machine: another host, or a page of another origin, is refused.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.playground.control_bodies import (
    Advance,
    ChangeApp,
    ChangeUser,
    ChannelName,
    Click,
    DeliverTo,
    Disconnect,
    Edit,
    HttpDeliver,
    Membership,
    NewChannel,
    OpenDirect,
    OpenHome,
    Post,
    React,
    Replay,
    Reseed,
    SetPace,
    Shortcut,
    StopSession,
    Target,
    ToSockets,
)
from bot.playground.faults import FaultRule
from bot.playground.log import Delivery, PayloadKind
from bot.playground.model import ChannelKind, HttpDelivery, Message, SocketDelivery
from bot.playground.people import Draft, NotAllowedError
from bot.playground.playground import Playground
from bot.playground.sockets import DisconnectReason
from bot.playground.state import state_json
from bot.playground.wire import channel_json, message_json

_Endpoint = Callable[[Request], Awaitable[Response]]


class Control:
    """The handlers; `routes` lists them."""

    def __init__(self, playground: Playground) -> None:
        self._it = playground
        self._people = playground.people

    def routes(self) -> list[Route]:
        posts: dict[str, _Endpoint] = {
            "post": self.post,
            "edit": self.edit,
            "delete": self.delete,
            "react": self.react,
            "unreact": self.unreact,
            "click": self.click,
            "shortcut": self.shortcut,
            "stop_session": self.stop_session,
            "open_home": self.open_home,
            "direct": self.direct,
            "channels": self.create_channel,
            "invite": self.invite,
            "kick": self.kick,
            "archive": self.archive,
            "replay": self.replay,
            "advance": self.advance,
            "pace": self.set_pace,
            "disconnect": self.disconnect,
            "app": self.change_app,
            "user": self.change_user,
            "delivery": self.deliver_to,
            "http_deliver": self.http_deliver,
            "faults": self.add_fault,
            "faults/clear": self.clear_faults,
            "faults/seed": self.seed_faults,
        }
        return [
            Route("/_control/state", self.state, methods=["GET"]),
            Route("/_control/faults", self.faults, methods=["GET"]),
            *(
                Route(f"/_control/{name}", answer_refusals(handler), methods=["POST"])
                for name, handler in posts.items()
            ),
        ]

    # -- people

    async def post(self, request: Request) -> Response:
        body = Post.model_validate_json(await request.body())
        draft = Draft(body.text, body.typed, body.blocks, body.attachments, body.thread_ts)
        message, sent = self._people.post(body.user, body.channel, draft)
        return self._said(message, sent)

    async def edit(self, request: Request) -> Response:
        body = Edit.model_validate_json(await request.body())
        message, sent = self._people.edit(body.user, body.channel, body.ts, body.typed)
        return self._said(message, sent)

    async def delete(self, request: Request) -> Response:
        body = Target.model_validate_json(await request.body())
        return _sent(self._people.delete(body.user, body.channel, body.ts))

    async def react(self, request: Request) -> Response:
        body = React.model_validate_json(await request.body())
        return _sent(
            self._people.react(
                body.user, body.channel, body.ts, body.name, item_user=body.item_user
            )
        )

    async def unreact(self, request: Request) -> Response:
        body = React.model_validate_json(await request.body())
        return _sent(self._people.unreact(body.user, body.channel, body.ts, body.name))

    async def click(self, request: Request) -> Response:
        body = Click.model_validate_json(await request.body())
        return _sent([self._people.click(body.user, body.channel, body.ts, body.action_id)])

    async def shortcut(self, request: Request) -> Response:
        body = Shortcut.model_validate_json(await request.body())
        return _sent([self._people.shortcut(body.user, body.channel, body.ts, body.callback_id)])

    async def stop_session(self, request: Request) -> Response:
        body = StopSession.model_validate_json(await request.body())
        return _sent(self._people.stop_session(body.user, body.channel, body.thread_ts))

    async def open_home(self, request: Request) -> Response:
        body = OpenHome.model_validate_json(await request.body())
        return _sent(self._people.open_home(body.user, body.tab))

    # -- channels and members

    async def direct(self, request: Request) -> Response:
        body = OpenDirect.model_validate_json(await request.body())
        return _ok(channel=self._people.direct(body.user, body.other).id)

    async def create_channel(self, request: Request) -> Response:
        body = NewChannel.model_validate_json(await request.body())
        kind = ChannelKind.PRIVATE if body.private else ChannelKind.PUBLIC
        channel, sent = self._people.create_channel(body.user, body.name, kind, body.members)
        shown = channel_json(self._it.world, channel, channel.creator)
        return _ok(channel=shown, deliveries=[d.id for d in sent])

    async def invite(self, request: Request) -> Response:
        body = Membership.model_validate_json(await request.body())
        return _sent(self._people.invite(body.user, body.channel, body.inviter))

    async def kick(self, request: Request) -> Response:
        body = Membership.model_validate_json(await request.body())
        return _ok(members=list(self._people.kick(body.user, body.channel).members))

    async def archive(self, request: Request) -> Response:
        body = ChannelName.model_validate_json(await request.body())
        return _ok(channel=self._people.archive(body.channel).id)

    # -- the app and its deliveries

    async def change_app(self, request: Request) -> Response:
        body = ChangeApp.model_validate_json(await request.body())
        changes = body.model_dump(exclude_none=True, exclude={"app"})
        app = self._people.change_app(body.app, lambda was: replace(was, **changes))
        return _ok(app=app.id, scopes=list(app.scopes), events=list(app.events))

    async def change_user(self, request: Request) -> Response:
        body = ChangeUser.model_validate_json(await request.body())
        changes = body.model_dump(exclude_none=True, exclude={"user"})
        return _ok(user=self._people.change_user(body.user, lambda was: replace(was, **changes)).id)

    async def deliver_to(self, request: Request) -> Response:
        """Where events go. A URL has to answer Slack's `url_verification` first."""
        body = DeliverTo.model_validate_json(await request.body())
        app = self._people.app(body.app)
        if isinstance(body.to, ToSockets):
            self._people.change_app(body.app, lambda was: replace(was, delivery=SocketDelivery()))
            return _ok(mode="socket")
        url = body.to.url
        challenge = {"type": "url_verification", "token": "playground", "challenge": "3eZbrw1aB"}
        answer = await self._it.http.post(url, app.signing_secret, PayloadKind.EVENT, challenge)
        if (answer.body or {}).get("challenge") != challenge["challenge"]:
            raise NotAllowedError(f"{url} did not answer the url_verification challenge ({answer})")
        self._people.change_app(body.app, lambda was: replace(was, delivery=HttpDelivery(url)))
        return _ok(mode="http", url=url)

    async def http_deliver(self, request: Request) -> Response:
        body = HttpDeliver.model_validate_json(await request.body())
        delivery = self._find(body.id)
        secret = self._people.app(delivery.app).signing_secret
        answer = await self._it.http.post(
            body.url, secret, delivery.kind, delivery.payload, signing=body.signing
        )
        return _ok(outcome=answer.outcome, status=answer.status, body=answer.body)

    async def replay(self, request: Request) -> Response:
        body = Replay.model_validate_json(await request.body())
        again = self._it.events.replay(self._find(body.id), new_id=body.new_event_id)
        return _sent([again])

    async def disconnect(self, request: Request) -> Response:
        body = Disconnect.model_validate_json(await request.body())
        sockets = self._it.sockets
        chosen = [c for c in sockets.all() if body.connection in (None, c.id)]
        for connection in chosen:
            match body.reason:
                case "drop":
                    connection.abort()
                case "close":
                    sockets.remove(connection)
                    await connection.close()
                case reason:
                    await sockets.disconnect(connection, DisconnectReason(reason))
        return _ok(connections=[c.id for c in chosen])

    # -- clock, faults, state

    async def advance(self, request: Request) -> Response:
        body = Advance.model_validate_json(await request.body())
        await self._it.clock.advance(body.seconds)
        self._it.feed.touch()
        return _ok(now=self._it.clock.now())

    async def set_pace(self, request: Request) -> Response:
        body = SetPace.model_validate_json(await request.body())
        if self._it.pace is None:
            raise NotAllowedError("no bot here reads a pace: start the playground with --pace FILE")
        self._it.pace.write(body.pace)
        self._it.feed.touch()
        return _ok(pace=body.pace)

    async def faults(self, _request: Request) -> Response:
        return _ok(faults=[rule.model_dump() for rule in self._it.faults.rules()])

    async def add_fault(self, request: Request) -> Response:
        self._it.faults.add(FaultRule.model_validate_json(await request.body()))
        return _ok()

    async def clear_faults(self, _request: Request) -> Response:
        self._it.faults.clear()
        return _ok()

    async def seed_faults(self, request: Request) -> Response:
        self._it.faults.reseed(Reseed.model_validate_json(await request.body()).seed)
        return _ok()

    async def state(self, _request: Request) -> Response:
        return JSONResponse(state_json(self._it))

    # -- helpers

    def _find(self, key: str) -> Delivery:
        for delivery in self._it.outbox.deliveries():
            if key in (delivery.id, delivery.payload.get("event_id")):
                return delivery
        raise NotAllowedError(f"no delivery and no event {key!r}; /_control/state lists them")

    def _said(self, message: Message, sent: list[Delivery]) -> Response:
        return _ok(
            channel=message.channel,
            ts=message.ts,
            message=message_json(self._it.world, message),
            deliveries=[d.id for d in sent],
        )


def answer_refusals(handler: _Endpoint) -> _Endpoint:
    """400 with the reason for a body that is not understood or an act that is not allowed."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except ValidationError as wrong:
            problems = wrong.errors(include_url=False, include_context=False, include_input=False)
            return JSONResponse({"ok": False, "error": "invalid_body", "problems": problems}, 400)
        except NotAllowedError as refused:
            return JSONResponse({"ok": False, "error": "not_allowed", "message": str(refused)}, 400)

    return answered


def _ok(**more: object) -> Response:
    return JSONResponse({"ok": True, **more})


def _sent(deliveries: list[Delivery]) -> Response:
    return _ok(
        deliveries=[
            {"id": d.id, "event_id": d.payload.get("event_id"), "kind": d.kind} for d in deliveries
        ]
    )
