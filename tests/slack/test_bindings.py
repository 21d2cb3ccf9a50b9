"""Bindings: what does not exist in a channel cannot be asked for there, whatever the model tries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from bot.loop.wire import Model
from bot.models.rules import RulesModel
from bot.playground import Running
from bot.playground.incident import make_demo_workspace
from bot.playground.model import ChannelKind
from bot.slack.address import Address
from bot.slack.bindings import EVERYTHING, Only, Unsure, scope_for, scope_of
from bot.slack.settings import Binding, SlackSettings
from bot.wiring import open_bot, workbench
from support.scripted import ScriptedModel, answer, called, turn
from support.slack_bench import BOT, INC, Bench, bot_in, settings_for
from tools.workspace import WorkspaceError

ASK_DIFF = f"<@{BOT}> What changed in deploy 4471?"


def at(channel: str = "C0PAYMENTS", name: str = "inc-payments", *, direct: bool = False) -> Address:
    return Address(channel, "1.0", "1.0", "1.0", "U1", shared=False, direct=direct, name=name)


def bind(*channels: str, direct: bool = False, **more: Any) -> Binding:
    return Binding(channels=channels, direct_messages=direct, **({"services": ("web",)} | more))


WEB = Only(("web",), None)


@pytest.mark.parametrize(
    ("bindings", "where", "scope"),
    [
        ((), at(), EVERYTHING),
        ((bind("C0PAYMENTS"),), at(), WEB),
        ((bind("#inc-pay*"),), at(), WEB),
        ((bind("inc-web"),), at(), EVERYTHING),
        ((bind("C0PAYMENTS", services=()), bind("*")), at(), Only((), None)),
        ((bind("*"),), at(direct=True), EVERYTHING),
        ((bind(direct=True),), at(direct=True), WEB),
        ((bind(direct=True),), at(), EVERYTHING),
        ((bind("C0PAYMENTS"),), at(name=""), WEB),
        ((bind("C0OTHERS"),), at(name=""), EVERYTHING),
        ((bind("inc-*"),), at(name=""), Unsure()),
        ((bind("C0PAYMENTS"), bind("inc-*")), at(name=""), WEB),
    ],
)
def test_the_first_binding_that_fits_counts_and_an_unknown_name_fits_nothing_for_sure(
    bindings: tuple[Binding, ...], where: Address, scope: object
) -> None:
    assert scope_of(bindings, where) == scope


@pytest.mark.parametrize(
    "given", [{"services": ["web"]}, {"channels": ["inc-*"]}, {"channels": ["a"], "service": []}]
)
def test_a_binding_without_a_place_or_without_a_boundary_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"binding needs|Extra inputs"):
        SlackSettings.model_validate({"bindings": [given]})


@asynccontextmanager
async def in_the_demo(
    running: Running, folder: Path, model: Model, *bindings: dict[str, Any]
) -> AsyncIterator[Bench]:
    """A bot over the demo's workspace."""
    root = make_demo_workspace(folder / "demo").root
    settings = settings_for(running, bindings=bindings)
    async with bot_in(
        running,
        folder,
        model=lambda: model,
        settings=settings,
        workbench=lambda run: workbench(root, scope_for(run, settings.bindings)),
    ) as bench:
        yield bench


async def test_a_channel_bound_to_one_service_hears_nothing_of_the_others_and_says_so(
    running: Running, tmp_path: Path
) -> None:
    binding = {"channels": ["inc-checkout"], "services": ["web"]}
    async with in_the_demo(running, tmp_path, RulesModel(), binding) as bench:
        bound = (await bench.reply(bench.say(ASK_DIFF).ts)).blocks[0]["text"]
        assert "Looked at here: only the services web." in bound
        for secret in ("payments-api", "retry", "5s"):
            assert secret not in bound
        free, _ = bench.pg.people.create_channel("maya", "inc-2", ChannelKind.PUBLIC, ("oncall",))
        asked = bench.say(ASK_DIFF, channel=free.id)
        told = (await bench.reply(asked.ts, free.id)).blocks[0]["text"]
        assert "payments-api" in told
        assert "5s → 1s" in told
        assert "Looked at here" not in told


async def test_direct_messages_are_bound_on_their_own(running: Running, tmp_path: Path) -> None:
    binding = {"direct_messages": True, "services": ["web"]}
    async with in_the_demo(running, tmp_path, RulesModel(), binding) as bench:
        direct = bench.pg.people.direct("maya", "oncall").id
        asked = bench.say("What changed in deploy 4471?", channel=direct)
        assert "payments-api" not in (await bench.reply(asked.ts, direct)).blocks[0]["text"]
        assert "payments-api" in (await bench.reply(bench.say(ASK_DIFF).ts)).blocks[0]["text"]


async def test_a_model_that_calls_a_tool_outside_the_channel_s_bounds_gets_nothing_from_it(
    running: Running, tmp_path: Path
) -> None:
    model = ScriptedModel(
        turn(called("get_diff", {"deploy": "4471"})),
        turn(called("search_deploy", {"deploy": "4471"})),
        turn(answer("Deploy 4471 is of payments-api", ("Deploy 4471 is of payments-api", ["o2"]))),
    )
    binding = {"channels": [INC], "tools": ["search_deploy"]}
    async with in_the_demo(running, tmp_path, model, binding) as bench:
        reply = (await bench.reply(bench.say(ASK_DIFF).ts)).blocks[0]["text"]
    assert "only the tools search_deploy" in reply
    told = [tool.name for tool in model.requests[0].tools]
    assert told == ["search_deploy", "read_result", "answer"]
    observed = str(model.requests[1].messages)
    assert "get_diff" in observed
    assert "5s" not in observed


async def test_where_slack_does_not_tell_the_channel_s_name_nothing_is_looked_at(
    running: Running, tmp_path: Path
) -> None:
    binding = {"channels": ["inc-*"], "services": ["web"]}
    async with in_the_demo(running, tmp_path, RulesModel(), binding) as bench:
        bench.slack._channels._known.pop(INC)
        bench.fault("conversations.info", {"kind": "api_error", "error": "channel_not_found"})
        refused = await bench.reply(bench.say(ASK_DIFF).ts)
        assert "could not find out which channel this is" in refused.text
        assert await bench.store.recent(5) == ()


@pytest.mark.parametrize(("key", "name"), [("services", "wbe"), ("tools", "get_dif")])
async def test_a_binding_that_names_what_does_not_exist_is_refused_at_the_start(
    tmp_path: Path, key: str, name: str
) -> None:
    from bot.config import load  # noqa: PLC0415 - one use

    root = make_demo_workspace(tmp_path / "demo").root
    with (root / "oncall.toml").open("a") as file:
        file.write(f'\n[[slack.bindings]]\nchannels = ["inc-*"]\n{key} = ["{name}"]\n')
    with pytest.raises(WorkspaceError, match=f"names the {key[:-1]} `{name}`.*Known: "):
        async with open_bot(root, load(root), (), lambda *_: None):
            pytest.fail("it started")
