"""The manifest against what Slack takes: keys, sizes and kinds, as Slack's own schema has them.

Source of the data: github.com/slackapi/manifest-schema, schemas/manifest.schema.1.0.0.json, the parts
that this app uses, in a form of our own. ``agent_view`` is newer than that schema: Slack's page
docs.slack.dev/ai/migrating-to-agent-messaging says that it takes the place of ``assistant_view``, with
``agent_description`` for ``assistant_description``; the prompts, each of a title and a message, stay as
docs.slack.dev/reference/app-manifest has them (read in 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import yaml

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Text:
    least: int = 0
    most: int = 10_000
    pattern: str = ""


@dataclass(frozen=True)
class Items:
    of: Rule
    most: int


@dataclass(frozen=True)
class Keys:
    """No others are taken."""

    known: Mapping[str, Rule]
    required: tuple[str, ...] = field(default=())


Rule: TypeAlias = Text | Items | Keys | type
URL = Text(pattern=r"https?://.*")
NAMES = Items(Text(most=50), 255)
PROMPTS = Items(Keys({"title": Text(), "message": Text()}, ("title", "message")), 100)
SCHEMA = Keys(
    {
        "_metadata": Keys({"major_version": int, "minor_version": int, "schema_version": int}),
        "display_information": Keys(
            {
                "name": Text(1, 35),
                "description": Text(1, 140),
                "background_color": Text(4, 7, r"#[0-9a-fA-F]{3}([0-9a-fA-F]{3})?"),
                "long_description": Text(175, 4_000),
            },
            ("name",),
        ),
        "features": Keys(
            {
                "app_home": Keys(
                    {
                        "home_tab_enabled": bool,
                        "messages_tab_enabled": bool,
                        "messages_tab_read_only_enabled": bool,
                    }
                ),
                "bot_user": Keys(
                    {"display_name": Text(1, 80), "always_online": bool}, ("display_name",)
                ),
                "shortcuts": Items(
                    Keys(
                        {
                            "name": Text(1, 24),
                            "type": Text(pattern="message|global"),
                            "callback_id": Text(1, 255),
                            "description": Text(1, 150),
                        },
                        ("name", "type", "callback_id", "description"),
                    ),
                    10,
                ),
                "agent_view": Keys(
                    {"agent_description": Text(1), "suggested_prompts": PROMPTS},
                    ("agent_description",),
                ),
            }
        ),
        "oauth_config": Keys({"scopes": Keys({"bot": NAMES, "user": NAMES})}),
        "settings": Keys(
            {
                "event_subscriptions": Keys(
                    {"request_url": URL, "bot_events": Items(Text(most=50), 100)}
                ),
                "interactivity": Keys({"is_enabled": bool, "request_url": URL}, ("is_enabled",)),
                "org_deploy_enabled": bool,
                "socket_mode_enabled": bool,
                "token_rotation_enabled": bool,
            }
        ),
    },
    ("display_information",),
)


def problems(value: Any, rule: Rule, at: str = "") -> Iterator[str]:
    match rule:
        case Text():
            if not isinstance(value, str) or not rule.least <= len(value) <= rule.most:
                yield f"{at}: not a text of {rule.least} to {rule.most} characters"
            elif rule.pattern and not re.fullmatch(rule.pattern, value):
                yield f"{at}: not like {rule.pattern}"
        case Items():
            if not isinstance(value, list) or not 1 <= len(value) <= rule.most:
                yield f"{at}: not a list of 1 to {rule.most}"
                return
            for place, one in enumerate(value):
                yield from problems(one, rule.of, f"{at}/{place}")
        case Keys():
            if not isinstance(value, dict):
                yield f"{at}: not a table"
                return
            yield from (f"{at}/{key}: missing" for key in rule.required if key not in value)
            for key, one in value.items():
                if key in rule.known:
                    yield from problems(one, rule.known[key], f"{at}/{key}")
                else:
                    yield f"{at}/{key}: unknown"
        case _:
            if type(value) is not rule:
                yield f"{at}: not {rule}"


def read() -> Any:
    return yaml.safe_load((ROOT / "manifest.yml").read_text("utf-8"))


def test_slack_takes_the_manifest_as_it_is() -> None:
    assert list(problems(read(), SCHEMA)) == []


@pytest.mark.parametrize(
    ("place", "key", "value"),
    [
        ("display_information", "name", "x" * 36),
        ("display_information", "nme", "oncall"),
        ("settings", "socket_mode_enabled", "yes"),
        ("features", "agent_view", {"agent_description": "x", "assistant_description": "x"}),
    ],
)
def test_a_mistake_in_it_would_be_seen(place: str, key: str, value: Any) -> None:
    wrong = read()
    wrong[place][key] = value
    assert len(list(problems(wrong, SCHEMA))) == 1
