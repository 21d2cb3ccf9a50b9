"""``doctor --model``: what one tiny call says of a model, and what to do about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot.examining import examine_models
from bot.loop.stopping import Clock
from bot.models.doctor import Level, check_model
from models.model_server import Hangs, Play, Says, Sent, Status, model_server
from models.wires import MESSAGES, TEXT, TOOLS, Alone, Wire

ONE = ("probe", {"word": "one"})
TWO = ("probe", {"word": "two"})


async def checked(play: Play, wire: Wire, alone: Alone) -> dict[str, tuple[Level, str]]:
    async with model_server(play) as server:
        found = await check_model(alone(wire, server), Clock(), 0.3)
    assert len(server.asked) == 1, "one call"
    return {finding.text: (finding.level, finding.fix) for finding in found}


async def test_all_is_well(calling: Wire, alone: Alone) -> None:
    found = await checked(Says((ONE, TWO)), calling, alone)
    assert {level for level, _ in found.values()} == {Level.OK}
    assert "Tool calls work." in found
    assert "Parallel calls work." in found
    assert "Cached tokens are reported." in found
    assert "The finish reason is known (tool_use)." in found


async def test_text_mode_makes_one_call_a_turn(alone: Alone) -> None:
    found = await checked(Says((ONE,)), TEXT, alone)
    assert found["Tool calls work."][0] is Level.OK
    assert found["It makes one call a turn: answers take more turns."][0] is Level.WARN


async def test_prose_means_that_text_mode_is_wanted(alone: Alone) -> None:
    found = await checked(Says(text="probe(one)"), TOOLS, alone)
    level, fix = found["It made no usable tool call."]
    assert level is Level.FAIL
    assert 'mode = "text"' in fix


async def test_a_bare_server_is_told_what_it_lacks(alone: Alone) -> None:
    bare = Sent(b'{"choices": [{"message": {"content": "hi"}, "finish_reason": "eos"}]}')
    found = await checked(bare, TOOLS, alone)
    assert [text for text, (level, _) in found.items() if level is Level.WARN] == [
        "Its finish reason is not known: a cut-off reply may pass unseen.",
        "It reports no usage: budgets are estimated, costs are unknown.",
        "Cached tokens are not reported: caching cannot be seen.",
    ]


@pytest.mark.parametrize(
    ("play", "told", "fix"),
    [
        (Hangs(), "did not answer within 0.3 s", "base_url"),
        (Status(401), "refused the key", "api_key_env"),
        (Status(404), "does not take the request", "extra_body"),
        (Status(529), "overloaded", "[[model.then]]"),
    ],
    ids=str,
)
async def test_a_model_that_cannot_be_used_is_told_with_its_fix(
    play: Play, told: str, fix: str, alone: Alone
) -> None:
    found = await checked(play, MESSAGES, alone)
    ((text, (level, mend)),) = found.items()
    assert level is Level.FAIL
    assert told in text
    assert fix in mend


@pytest.mark.parametrize(("play", "code"), [(Says((ONE, TWO)), 0), (Status(401), 1)], ids=str)
async def test_the_command_asks_each_model_once_and_says_what_works(
    play: Play, code: int, calling: Wire, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with model_server(play) as server:
        (tmp_path / "oncall.toml").write_text(
            f'[model]\nkind = "{calling.kind}"\nmodel = "m-1"\nbase_url = "{server.url}"\n'
        )
        assert await examine_models(tmp_path, as_json=False) == code
    assert len(server.asked) == 1
    said = capsys.readouterr().out
    if code == 0:
        assert "ok   m-1: Parallel calls work." in said
        assert "ok   m-1: Cached tokens are reported." in said
    else:
        assert "fail m-1: m-1 refused the key" in said
        assert "     → Set the key: api_key_env in [model]" in said
