"""The one exception of the Web API: an answer with `ok: false`.

Owns Slack's error words only where several methods share them.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.playground.model import Json


class SlackError(Exception):
    """Answers `{"ok": false, "error": …}`, with what else Slack says about it."""

    def __init__(self, error: str, messages: Sequence[str] = (), **more: str) -> None:
        super().__init__(error)
        self.error = error
        self.messages = tuple(messages)
        self.more = more

    def body(self) -> Json:
        out: Json = {"ok": False, "error": self.error, **self.more}
        if self.messages:
            out["response_metadata"] = {"messages": list(self.messages)}
        return out


def missing_arguments(names: Sequence[str]) -> SlackError:
    messages = [f"[ERROR] missing required field: {name}" for name in names]
    return SlackError("invalid_arguments", messages)


def missing_scope(needed: str, provided: Sequence[str]) -> SlackError:
    return SlackError("missing_scope", needed=needed, provided=",".join(provided))
