"""The doctor and the manifest: every missing token, scope and membership, with its fix."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from bot.loop.stopping import Clock
from bot.playground import Running
from bot.slack.doctor import Check, Finding, examine
from bot.slack.identity import SlackSetupError
from bot.slack.manifest import BOT_EVENTS, BOT_SCOPES, manifest, manifest_json, manifest_link
from bot.slack.settings import SlackSettings
from support.slack_bench import bot_in, only_app, settings_for

ROOT = Path(__file__).parents[2]


def problems(findings: Sequence[Finding]) -> list[Check]:
    return [finding.check for finding in findings if not finding.is_well]


async def only_problem(settings: SlackSettings, **more: Any) -> Finding:
    (found,) = [f for f in await examine(settings, **more) if not f.is_well]
    return found


async def test_all_is_well_in_the_playground_and_says_what_was_looked_at(running: Running) -> None:
    findings = await examine(settings_for(running))
    assert problems(findings) == []
    assert {f.check for f in findings} == set(Check)


async def test_without_tokens_it_says_how_to_get_them() -> None:
    (finding,) = await examine(SlackSettings())
    assert "manifest --link" in finding.fix


async def test_a_wrong_bot_token_and_a_wrong_app_token_are_both_named(running: Running) -> None:
    settings = settings_for(running, bot_token="xoxb-wrong", app_token="xapp-wrong")
    findings = await examine(settings)
    assert problems(findings) == [Check.BOT_TOKEN, Check.APP_TOKEN]
    assert all("copy it again" in f.fix for f in findings if not f.is_well)


async def test_a_missing_scope_is_named_with_reinstalling(running: Running) -> None:
    app = only_app(running.playground)
    scopes = tuple(s for s in app.scopes if s != "reactions:read")
    running.playground.people.change_app(None, lambda was: replace(was, scopes=scopes))
    finding = await only_problem(settings_for(running))
    assert finding.what == "missing: reactions:read"
    assert "reinstall the app" in finding.fix


async def test_joining_by_itself_needs_one_more_scope(running: Running) -> None:
    settings = settings_for(running, channels=("inc-*",), join_channels=True)
    assert (await only_problem(settings)).what == "missing: channels:join"


async def test_over_http_no_app_token_is_asked_for(running: Running) -> None:
    settings = settings_for(running, app_token=None, transport="http", signing_secret="s")
    findings = await examine(settings)
    assert problems(findings) == []
    assert Check.APP_TOKEN not in {finding.check for finding in findings}


async def test_an_app_token_without_its_scope_is_named(running: Running) -> None:
    running.playground.people.change_app(None, lambda was: replace(was, app_scopes=()))
    finding = await only_problem(settings_for(running))
    assert finding.check is Check.APP_TOKEN
    assert "connections:write" in finding.fix


async def test_channels_and_the_debug_channel_that_the_bot_is_not_in_are_named(
    running: Running,
) -> None:
    running.playground.people.kick("oncall", "oncall-debug")
    findings = await examine(settings_for(running, channels=("inc-*", "C0GENERAL")))
    assert problems(findings) == [Check.CHANNELS, Check.DEBUG_CHANNEL]
    assert all("/invite @oncall" in f.fix for f in findings if not f.is_well)


async def test_a_debug_channel_that_outsiders_read_or_a_private_one_that_is_public(
    running: Running,
) -> None:
    shared = settings_for(running, debug_channel="inc-fjordpay-shared")
    assert "shared with another organisation" in (await only_problem(shared)).what
    public = settings_for(running, private_debug_channel="oncall-debug")
    assert "is not private" in (await only_problem(public)).what


async def test_a_clock_that_is_off_is_named(running: Running) -> None:
    late = Clock(now=lambda: datetime.now(UTC) - timedelta(minutes=5))
    finding = await only_problem(settings_for(running), clock=late)
    assert finding.check is Check.CLOCK
    assert "behind Slack's" in finding.what


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"bot_token": "xoxb-wrong"}, "bot token"), ({"app_token": "xapp-wrong"}, "app token")],
)
async def test_a_bot_with_a_wrong_token_does_not_start_and_says_which(
    running: Running, tmp_path: Path, wrong: dict[str, str], said: str
) -> None:
    settings = settings_for(running, **wrong)
    with pytest.raises(SlackSetupError, match=said):
        async with bot_in(running, tmp_path, settings=settings):
            pytest.fail("it started")


@pytest.mark.parametrize("swapped", [{"bot_token": "xapp-1"}, {"app_token": "xoxb-1"}])
def test_swapped_tokens_are_refused_when_settings_are_read(swapped: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="must start with"):
        SlackSettings(**({"bot_token": "xoxb-1", "app_token": "xapp-1"} | swapped))


def test_the_manifest_file_is_what_the_program_says() -> None:
    assert yaml.safe_load((ROOT / "manifest.yml").read_text("utf-8")) == manifest()
    assert json.loads(manifest_json()) == manifest()
    query = parse_qs(urlsplit(manifest_link()).query)
    assert json.loads(query["manifest_json"][0]) == manifest()
    assert query["new_app"] == ["1"]


async def test_the_playground_s_app_is_the_manifest_s(running: Running) -> None:
    app = only_app(running.playground)
    assert sorted(app.scopes) == sorted(BOT_SCOPES)
    assert sorted(app.events) == sorted(BOT_EVENTS)
