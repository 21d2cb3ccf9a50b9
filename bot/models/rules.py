"""The rules model: no network, no language model; it plans from the question's parts.

The keyless default, and the fallback in an outage. It implements the same ``Model`` protocol and is
held to the same checks as any other: its answer goes through the goal check too. What to ask next is
``rules_plan.py``'s, what to say ``rules_write.py``'s.
"""

from __future__ import annotations

from bot.loop.outcome import ANSWER
from bot.loop.wire import Finish, Request, ToolCall, Turn, Usage
from bot.models.rules_plan import plan
from bot.models.rules_write import write

NAME = "rules"


class RulesModel:
    """Deterministic: the same request gives the same turn."""

    @property
    def name(self) -> str:
        return NAME

    async def complete(self, request: Request) -> Turn:
        step = sum(message.role == "assistant" for message in request.messages) + 1
        planned = () if request.last else plan(request)
        if planned:
            calls = tuple(
                ToolCall(
                    id=f"rules-{step}-{index}",
                    name=call.tool,
                    arguments=call.raw,
                )
                for index, call in enumerate(planned, 1)
            )
            thought = " ".join(dict.fromkeys(call.why for call in planned))
        else:
            answer = write(request).model_dump_json()
            calls = (ToolCall(id=f"rules-{step}-1", name=ANSWER, arguments=answer),)
            thought = "That is enough to answer."
        return Turn(
            text=thought,
            calls=calls,
            finish=Finish.TOOL_USE,
            usage=Usage(input_tokens=0, output_tokens=0),
            model=NAME,
        )
