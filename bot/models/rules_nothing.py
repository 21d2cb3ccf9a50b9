"""What the rules model says to words that ask for nothing it can look up: thanks, a call for help.

Pure. A service of the catalog stands in the example, so that it can be asked as it is.
"""

from __future__ import annotations

import re

from bot.loop.question import Question

CAN_ANSWER = (
    "Without a language model I can say which deploy most likely caused an incident, what changed in "
    "a deploy, who deployed what and when, what was deployed in a window of time, which version was "
    "deployed last or is live, who owns a service, and which incidents are open: asked in English"
)
_LONGEST_NAME = 60
"""Characters of a service's name in the example."""
_MORE = r"(?:you|so much|a lot|all|bot|again|very much|everyone)"
# What "for" thanks has at most two words, of which the second begins nothing else: each text is read
# in one way alone, so no long one takes long.
_THANKS = re.compile(
    r"^\W*(?:(?:ok|okay|great|perfect|cool|many)\W+)*"
    r"(?:thanks?|thank you|thx|ty|cheers|nice|great|perfect)\b"
    rf"(?:\W+(?:{_MORE}|for \w+(?: (?!(?:{_MORE}|for)\b)\w+)?))*\W*$",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"^\W*(?:help(?: me)?|usage|commands|what can (?:you|i) (?:do|ask)(?: you)?|how does this work"
    r"|h(?:i|ello|ey)(?: there| bot)?)\W*$",
    re.IGNORECASE,
)


def say_nothing(question: Question) -> str:
    """One line: that nothing was asked, or what can be asked instead."""
    example = _example(question)
    if _THANKS.match(question.text):
        return f"Nothing was asked, so nothing was looked up. Ask me any time, like {example}"
    if _HELP.match(question.text):
        return f"Ask me about a deploy or an incident, like {example} or “What was deployed today?”"
    return f"{CAN_ANSWER}. This question is none of these. Ask for example: {example}"


def _example(question: Question) -> str:
    """A question that can be asked now: of a service that is named, else of the catalog's first."""
    known = (*question.services, *sorted(question.catalog.values()))
    service = next((one for one in known if len(one) <= _LONGEST_NAME), None)
    return f"“Which deploy broke {service}?”" if service else "“Which deploy caused the incident?”"
