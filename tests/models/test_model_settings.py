"""[model] in oncall.toml: what may stand there, where keys come from, what a wrong one is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from bot.config import ConfigError, load
from bot.loop.stopping import Clock
from bot.loop.wire import Finish, Turn, Usage
from bot.models.fallback import Breaker, FallbackModel
from bot.models.make import make_model
from bot.models.prices import Cost, Price, Spending, cost_of
from bot.models.rules import RulesModel
from bot.models.settings import EndpointSettings, ModelSettings
from models.model_server import model_server
from models.script import SILENT
from models.wires import ask
from support.scripted import FakeTime
from tools.http import HttpClient

PRICES = {"m": {"input": 3.0, "cached": 0.3, "output": 15.0}}


def test_the_default_is_the_rules_model_and_needs_nothing() -> None:
    settings = ModelSettings()
    assert settings.endpoints == ()
    assert isinstance(make_model(settings, None, Breaker(lambda: 0), Clock()), RulesModel)


def test_the_default_loads_no_http() -> None:
    code = "import sys, bot.models.make; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


async def test_the_models_are_asked_in_order_and_rules_stand_behind_them(
    client: HttpClient,
) -> None:
    settings = ModelSettings(
        kind="anthropic",
        model="claude",
        then=({"kind": "openai", "model": "qwen", "base_url": "http://127.0.0.1:1/v1"},),
    )
    model = make_model(settings, client, Breaker(lambda: 0), Clock())
    assert isinstance(model, FallbackModel)
    assert [one.name for one in model._models] == ["claude", "qwen", "rules"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"model": "x"}, "needs kind"),
        ({"kind": "openai"}, "model is missing"),
        ({"kind": "openai", "model": "x", "base_url": "localhost:11434"}, "http://"),
        ({"kind": "openai", "model": "x", "base_url": "https://u:p@host/v1"}, "api_key"),
        ({"kind": "openai", "model": "x", "base_url": "https://host/v1?key=1"}, "api_key"),
        ({"kind": "anthropic", "model": "x", "mode": "text"}, "leave `mode` out"),
        ({"kind": "openai", "model": "x", "extra_body": {"messages": []}}, "messages"),
        ({"kind": "openai", "model": "x", "api_key": "sk-\u2013x"}, "copy it again"),
        ({"kind": "openai", "model": "rules"}, "another `name`"),
        (
            {"kind": "openai", "model": "x", "then": [{"kind": "openai", "model": "x"}]},
            "another `name`",
        ),
        ({"kind": "openai", "model": "x", "daily_budget": 5}, "prices"),
        ({"kind": "openai", "model": "x", "headers": {"a b": "c"}}, "pattern"),
        ({"kind": "openai", "modle": "x"}, "Extra inputs"),
    ],
)
def test_a_wrong_setting_is_told_what_to_write(given: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError, match=told) as caught:
        ModelSettings(**given)
    assert "sk-" not in str(caught.value.errors(include_input=False, include_url=False))


def test_a_key_is_only_sent_to_the_address_it_belongs_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", " sk-own\n")
    monkeypatch.setenv("LOCAL_KEY", "sk-local")
    own = EndpointSettings(kind="openai", model="x")
    assert own.key == "sk-own"
    elsewhere = {"kind": "openai", "model": "x", "base_url": "http://127.0.0.1:1/v1"}
    assert EndpointSettings.model_validate(elsewhere).key == ""
    named = elsewhere | {"api_key_env": "LOCAL_KEY"}
    assert EndpointSettings.model_validate(named).key == "sk-local"


def test_no_key_shows_in_what_settings_print() -> None:
    settings = EndpointSettings(kind="openai", model="x", api_key="sk-1", headers={"a": "sk-2"})
    assert "sk-" not in repr(settings) + settings.model_dump_json()


async def test_headers_and_extra_body_reach_the_server(client: HttpClient) -> None:
    async with model_server(*SILENT) as server:
        settings = ModelSettings(
            kind="openai",
            model="x",
            base_url=f"{server.url}/v1/",
            headers={"X-Title": "oncall", "Authorization": "Custom abc"},
            extra_body={"temperature": 0, "max_completion_tokens": 512},
        )
        model = make_model(settings, client, Breaker(lambda: 0), Clock())
        await ask(model)
    asked = server.asked[0]
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["x-title"] == "oncall"
    assert asked.headers["authorization"] == "Custom abc"
    assert asked.body["temperature"] == 0
    assert asked.body["max_completion_tokens"] == 512
    assert "max_tokens" not in asked.body


async def test_a_base_url_with_or_without_v1_is_the_same_for_anthropic(client: HttpClient) -> None:
    for end in ("", "/v1", "/v1/"):
        async with model_server(*SILENT) as server:
            settings = ModelSettings(kind="anthropic", model="x", base_url=server.url + end)
            await ask(make_model(settings, client, Breaker(lambda: 0), Clock()))
        assert server.asked[0].path == "/v1/messages"
        assert "x-api-key" not in server.asked[0].headers


# --- money -------------------------------------------------------------------------------------


def spent(model: str, read: int | None, written: int | None, cached: int | None = None) -> Turn:
    usage = Usage(input_tokens=read, output_tokens=written, cached_tokens=cached)
    return Turn(finish=Finish.STOP, model=model, usage=usage)


def test_a_run_costs_what_its_tokens_cost_with_cached_ones_cheaper() -> None:
    prices = {"m": Price(input=3.0, cached=0.3, output=15.0)}
    cost = cost_of([spent("m", 1000, 100, 800), spent("m", 2000, 0), spent("rules", 0, 0)], prices)
    assert cost.amount == pytest.approx((200 * 3 + 800 * 0.3 + 100 * 15 + 2000 * 3) / 1e6)
    assert cost.whole
    assert cost.text("USD") == "0.0083 USD"


@pytest.mark.parametrize(("named", "each"), [(None, 3.75), (6.0, 6.0), (0.0, 0.0)])
def test_what_is_written_to_a_cache_has_a_price_of_its_own(
    named: float | None, each: float
) -> None:
    price = Price(input=3.0, cached=0.3, cache_write=named, output=15.0)
    usage = Usage(input_tokens=1000, output_tokens=100, cached_tokens=700, cache_written_tokens=200)
    cost = cost_of([Turn(finish=Finish.STOP, model="m", usage=usage)], {"m": price})
    assert cost.amount == pytest.approx((100 * 3 + 700 * 0.3 + 200 * each + 100 * 15) / 1e6)


def test_more_cached_tokens_than_were_read_never_make_a_call_cheaper_than_cached() -> None:
    usage = Usage(input_tokens=10, output_tokens=0, cached_tokens=50, cache_written_tokens=50)
    turn = Turn(finish=Finish.STOP, model="m", usage=usage)
    assert cost_of([turn], {"m": Price(input=100_000, output=0)}).amount == 1.0


def test_an_unknown_price_and_an_unreported_usage_are_said() -> None:
    prices = {"m": Price(input=1_000_000, output=0)}
    cost = cost_of(
        [spent("m", 1, 1), spent("x", 1, 1), spent("x", 1, 1), spent("m", None, 1)], prices
    )
    assert cost == Cost(1.0, ("x",), ("m",))
    assert cost.text("EUR") == "at least 1.0000 EUR (no price for x; m reports no usage)"


def test_when_the_days_money_is_spent_the_rules_model_answers(client: HttpClient) -> None:
    settings = ModelSettings(kind="openai", model="m", prices=PRICES, daily_budget=5.0)
    breaker = Breaker(lambda: 0)
    assert make_model(settings, client, breaker, Clock(), spent_today=4.99).name == "m"
    assert make_model(settings, client, breaker, Clock(), spent_today=5.0).name == "rules"


def test_a_days_spending_ends_at_midnight_utc() -> None:
    clock = FakeTime()
    clock.seconds = 0.0
    spending = Spending({"m": Price(input=1.0, output=0)}, clock.clock().now, already=1.0)
    spending.add(spent("m", 500_000, 0))
    assert spending.today == 1.5
    clock.seconds = 21 * 3600 + 45 * 60
    assert spending.today == 1.5, "it is 23:59"
    clock.seconds += 60
    assert spending.today == 0.0
    spending.add(spent("m", 1_000_000, 0))
    assert spending.today == 1.0


# --- oncall.toml -------------------------------------------------------------------------------


def written(root: Path, text: str) -> Path:
    (root / "oncall.toml").write_text(text, encoding="utf-8")
    return root


def test_the_section_is_read_from_oncall_toml_and_a_variable_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
[model]
kind = "anthropic"
model = "claude"
extra_body = { temperature = 0 }
[[model.then]]
kind = "openai"
model = "qwen"
base_url = "http://127.0.0.1:11434/v1"
mode = "text"
[model.prices.claude]
input = 3.0
output = 15.0
"""
    monkeypatch.setenv("ONCALL_MODEL__MODEL", "claude-2")
    settings = load(written(tmp_path, text)).model
    assert [endpoint.shown for endpoint in settings.endpoints] == ["claude-2", "qwen"]
    assert settings.prices["claude"].output == 15.0


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[model]\nkind = "openai"', "[model]: model is missing: name the model"),
        ('[model]\nmodell = "x"', "unknown key `modell` in [model]. Did you mean `model`?"),
        (
            '[model]\nkind = "openai"\nmodel = "x"\n[[model.then]]\nkind = "openai"\nmodl = "y"',
            "`model` in [model.then.0]: field required",
        ),
        (
            '[[model.then]]\nkind = "openai"\nmodel = "y"\nbase_ur = "z"',
            "unknown key `base_ur` in [model.then.0]. Did you mean `base_url`?",
        ),
        (
            "[model.prices.x]\ninput = 1\noutput = 2\ncache = 3",
            "unknown key `cache` in [model.prices.x]. Did you mean `cached`?",
        ),
    ],
)
def test_a_wrong_section_is_told_with_its_place(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text))
    assert told in str(caught.value)
