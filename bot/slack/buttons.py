"""The two buttons under an answer, and what a click on one says. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

USEFUL: Final = "answer_useful"
NOT_USEFUL: Final = "answer_not_useful"


@dataclass(frozen=True)
class Clicked:
    """Somebody clicked a button on message ``ts``. ``teams`` are the clicker's own."""

    run: str
    useful: bool
    channel: str
    ts: str
    thread_ts: str
    user: str
    teams: tuple[str, ...]


def feedback_buttons(run: str) -> dict[str, Any]:
    """A block with both buttons; their value leads back to the run."""
    return {
        "type": "actions",
        "elements": [_button(run, "Useful", USEFUL), _button(run, "Not useful", NOT_USEFUL)],
    }


def _button(run: str, label: str, action: str) -> dict[str, Any]:
    return {
        "type": "button",
        "action_id": action,
        "value": run,
        "text": {"type": "plain_text", "text": label},
    }


def clicked(body: Mapping[str, Any]) -> Clicked:
    """A ``block_actions`` payload of one of the buttons."""
    action, container, user = body["actions"][0], body["container"], body["user"]
    return Clicked(
        run=str(action.get("value", "")),
        useful=action["action_id"] == USEFUL,
        channel=str(container["channel_id"]),
        ts=str(container["message_ts"]),
        thread_ts=str(container.get("thread_ts") or container["message_ts"]),
        user=str(user["id"]),
        teams=tuple(str(team) for team in (user.get("team_id"),) if team),
    )
