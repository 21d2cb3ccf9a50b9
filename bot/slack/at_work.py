"""The questions that are at work in a channel, listed for somebody who wants one of them stopped.

Owns the words and the links, which code makes (M22). Pure; which run is meant is ``abort.py``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bot.slack.rendering import Message
from bot.slack.writing import cut, for_markdown, for_mrkdwn, one_line, url

MOST_LISTED = 5
_MAX_QUESTION = 80


@dataclass(frozen=True)
class AtWork:
    """A question of other people's words, and where it stands in Slack."""

    question: str
    permalink: str


def which_one(questions: Sequence[AtWork], stop_emoji: str) -> Message:
    """For a stop that may mean any of these."""
    first = f"I am working on {len(questions)} questions here and stopped none:"
    return _listing(first, questions, stop_emoji)


def left_at_work(questions: Sequence[AtWork], stop_emoji: str) -> Message:
    """For a stop that meant the asker's own question, where these go on."""
    return _listing("I stop your question. At work here are also:", questions, stop_emoji)


def _listing(first: str, questions: Sequence[AtWork], stop_emoji: str) -> Message:
    how = f"To stop one: react to it with :{stop_emoji}:, or write “@oncall stop” in its thread."
    more = len(questions) - MOST_LISTED
    last = f"(And {more} more.) {how}" if more > 0 else how

    def laid_out(item: Callable[[AtWork], str], between: str) -> str:
        return between.join([first, "\n".join(map(item, questions[:MOST_LISTED])), last])

    text = laid_out(lambda one: f"• <{url(one.permalink)}|{for_mrkdwn(_label(one))}>", "\n")
    markdown = laid_out(
        lambda one: f"- [{for_markdown(_label(one))}]({url(one.permalink)})", "\n\n"
    )
    return Message(markdown, text, text, text)


def _label(one: AtWork) -> str:
    """One short line that holds nothing which would end a link or begin code."""
    line = one_line(one.question).translate(str.maketrans("[]`|", "()'/"))
    return cut(line, _MAX_QUESTION) or "a question"
