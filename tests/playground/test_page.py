"""The page in headless Chromium: what somebody in front of it sees and does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, async_playwright, expect
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.playground import Playground, Running
from bot.playground.pace import Pace, PaceFile
from playground.harness import Control, Eventually, Json, OpenSocket
from support.browser import ARGUMENTS, CHROMIUM, needs_browser

pytestmark = [
    pytest.mark.browser,
    needs_browser,
]

INC = "C0INCCHECK"

HOSTILE = (
    "<script>window.hacked=1</script> <img src=x onerror=window.hacked=1> "
    "<javascript:window.hacked=1|click> <https://ok.test|*fine*> "
    '<https://ok.test/"onmouseover="window.hacked=1|quoted> &lt;b&gt;bold&lt;/b&gt;'
)
HOSTILE_MARKDOWN = (
    "# <b>t</b>\n[x](javascript:window.hacked=1) <script>window.hacked=1</script> "
    "**<i>bold</i>** `<u>code</u>`\n\n```\n<img src=x onerror=window.hacked=1>\n```"
)


@pytest.fixture
async def page(running: Running) -> AsyncIterator[Page]:
    problems: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_default_timeout(10_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on(
            "console", lambda said: problems.append(said.text) if said.type == "error" else None
        )
        await page.goto(running.url)
        await page.get_by_test_id("message").first.wait_for()
        yield page
        await browser.close()
    assert [p for p in problems if "400 (Bad Request)" not in p] == []


@pytest.fixture
async def bot(running: Running) -> AsyncIterator[AsyncApp]:
    client = AsyncWebClient(token="xoxb-playground-oncall", base_url=running.api_url)
    app = AsyncApp(client=client, process_before_response=True)
    handler = AsyncSocketModeHandler(app, "xapp-playground-oncall")
    await handler.connect_async()
    yield app
    await handler.close_async()


def message(page: Page, text: str) -> Any:
    return page.get_by_test_id("messages").get_by_test_id("message").filter(has_text=text)


async def test_the_question_is_asked_and_the_answer_read_in_its_thread(
    page: Page, bot: AsyncApp
) -> None:
    working = asyncio.Event()
    answering: list[asyncio.Task[None]] = []

    @bot.event("app_mention")
    async def mention(event: Json, client: AsyncWebClient) -> None:
        where = {"channel": event["channel"], "thread_ts": event["ts"]}
        await client.reactions_add(channel=INC, timestamp=event["ts"], name="eyes")
        await client.assistant_threads_setStatus(
            channel_id=INC, thread_ts=event["ts"], status="is reading deploy 4471…"
        )

        async def answer() -> None:
            await working.wait()
            await client.chat_postMessage(
                text="payments-api",
                blocks=[
                    {"type": "markdown", "text": "**payments-api** cut `5s → 1s`\n\n- one\n- two"}
                ],
                **where,
            )

        answering.append(asyncio.create_task(answer()))

    await page.get_by_test_id("hint-channel").click()
    await page.get_by_test_id("composer-channel").press("Enter")
    question = message(page, "Which service caused the checkout incident")
    await expect(question.locator(".pill")).to_have_text("@oncall")
    await expect(question.get_by_test_id("reaction-eyes")).to_have_text("👀1")
    await expect(page.get_by_test_id("status")).to_contain_text("oncallis reading deploy 4471…")
    working.set()
    await question.get_by_test_id("reply-link").click()
    reply = page.get_by_test_id("thread-messages").get_by_test_id("message").last
    await expect(reply.locator("b").filter(has_text="payments-api")).to_be_visible()
    await expect(reply.locator("code")).to_have_text("5s → 1s")
    await expect(reply.locator("li")).to_have_count(2)
    await expect(page.get_by_test_id("status")).to_be_empty()
    await expect(page.get_by_test_id("hint-channel")).to_be_hidden()


async def test_hostile_messages_are_shown_as_text(page: Page, slack: AsyncWebClient) -> None:
    await slack.chat_postMessage(channel=INC, text=HOSTILE)
    await slack.chat_postMessage(
        channel=INC, text="m", blocks=[{"type": "markdown", "text": HOSTILE_MARKDOWN}]
    )
    block = {"type": "section", "text": {"type": "mrkdwn", "text": HOSTILE}}
    await slack.chat_postMessage(
        channel=INC, text="t", blocks=[block], attachments=[{"text": HOSTILE, "title": HOSTILE}]
    )
    await expect(page.get_by_test_id("message")).to_have_count(5)
    messages = page.get_by_test_id("messages")
    assert await messages.locator("script, img, u, i, iframe").count() == 0
    links = await messages.locator("a").evaluate_all("all => all.map(a => a.protocol)")
    assert set(links) == {"https:"}
    assert "<b>bold</b>" in await messages.inner_text()
    assert "<img src=x onerror=window.hacked=1>" in await messages.inner_text()
    assert await page.evaluate("window.hacked") is None


async def test_reactions_are_added_and_taken_back_by_clicking(
    page: Page, control: Control, eventually: Eventually, pg: Playground
) -> None:
    ts = await control.ask("react to me")
    target = message(page, "react to me")
    await target.hover()
    await target.get_by_test_id("quick-octagonal_sign").click()
    await expect(target.get_by_test_id("reaction-octagonal_sign")).to_have_text("🛑1")
    assert pg.outbox.deliveries()[-1].payload["event"]["reaction"] == "octagonal_sign"
    await target.get_by_test_id("reaction-octagonal_sign").click()
    await expect(target.get_by_test_id("reaction-octagonal_sign")).to_have_count(0)
    await target.get_by_test_id("open-picker").click()
    await target.get_by_test_id("pick-fire").click()
    await expect(target.get_by_test_id("reaction-fire")).to_have_attribute("aria-pressed", "true")
    reacted = pg.world.message(INC, ts)
    assert reacted is not None
    assert [r.name for r in reacted.reactions] == ["fire"]


async def test_one_is_a_member_a_guest_or_an_outsider(page: Page, pg: Playground) -> None:
    for name in ("maya", "gita", "oskar"):
        await expect(page.get_by_test_id(f"persona-{name}")).to_be_visible()
    await page.get_by_test_id("persona-gita").click()
    await page.get_by_test_id("composer-channel").fill("@oncall may I?")
    await page.get_by_test_id("composer-channel").press("Enter")
    await expect(message(page, "may I?")).to_contain_text("Guest")
    assert pg.outbox.deliveries()[-1].payload["event"]["user"] == "U0GUEST"
    await page.get_by_test_id("persona-oskar").click()
    await expect(page.get_by_test_id("channel-name")).to_have_text("# inc-fjordpay-shared")
    await expect(page.get_by_test_id("channel-inc-checkout")).to_have_count(0)
    await expect(message(page, "We see fewer authorisations")).to_contain_text("Fjordpay")


async def test_other_channels_show_what_is_unread(page: Page, slack: AsyncWebClient) -> None:
    await slack.chat_postMessage(channel="C0DEBUG", text="thinking")
    await expect(page.get_by_test_id("unread-oncall-debug")).to_have_text("1")
    await page.get_by_test_id("channel-oncall-debug").click()
    await expect(message(page, "thinking")).to_be_visible()
    await expect(page.get_by_test_id("unread-oncall-debug")).to_have_count(0)


async def test_buttons_reach_the_bot_and_messages_are_edited_and_deleted(
    page: Page, slack: AsyncWebClient, pg: Playground
) -> None:
    button = {
        "type": "button",
        "style": "primary",
        "text": {"type": "plain_text", "text": "Approve"},
        "action_id": "approve",
    }
    await slack.chat_postMessage(
        channel=INC, text="ok?", blocks=[{"type": "actions", "elements": [button]}]
    )
    await page.get_by_test_id("action-approve").click()
    await page.get_by_test_id("composer-channel").fill("@oncall tpyo")
    await page.get_by_test_id("send-channel").click()
    mine = message(page, "tpyo")
    await mine.hover()
    assert pg.outbox.deliveries()[0].payload["actions"][0]["action_id"] == "approve"
    await mine.get_by_test_id("edit").click()
    area = page.get_by_test_id("edit-text")
    await expect(area).to_have_value("@oncall tpyo")
    await area.fill("@oncall typo")
    await page.get_by_test_id("edit-save").click()
    fixed = message(page, "typo")
    await expect(fixed).to_contain_text("(edited)")
    await fixed.hover()
    await fixed.get_by_test_id("delete").click()
    await expect(fixed).to_have_count(0)


async def test_a_draft_waits_where_it_was_begun(page: Page) -> None:
    composer = page.get_by_test_id("composer-channel")
    await composer.fill("half a thought")
    await page.get_by_test_id("channel-general").click()
    await expect(composer).to_have_value("")
    await page.get_by_test_id("channel-inc-checkout").click()
    await expect(composer).to_have_value("half a thought")


async def test_threads_are_opened_and_written_in(
    page: Page, control: Control, pg: Playground
) -> None:
    ts = await control.ask("root of it")
    root = message(page, "root of it")
    await root.hover()
    await root.get_by_test_id("reply-in-thread").click()
    await page.get_by_test_id("composer-thread").fill("a reply\nof two lines")
    await page.get_by_test_id("composer-thread").press("Enter")
    await expect(root.get_by_test_id("reply-link")).to_contain_text("1 reply")
    assert [m.text for m in pg.world.replies(INC, ts)] == ["a reply\nof two lines"]
    await page.get_by_test_id("thread-close").click()
    await expect(page.get_by_test_id("thread-pane")).to_be_hidden()


async def test_on_a_narrow_window_the_sidebar_is_a_menu_and_the_thread_is_all(
    page: Page, control: Control
) -> None:
    root = await control.ask("root of it")
    await control("post", user="jonas", channel=INC, text="inside", thread_ts=root)
    await page.set_viewport_size({"width": 700, "height": 800})
    await message(page, "root of it").get_by_test_id("reply-link").click()
    await expect(page.get_by_test_id("channel")).to_be_hidden()
    await page.get_by_test_id("thread-close").click()
    await page.get_by_label("Channels", exact=True).click()
    await page.get_by_test_id("channel-general").click()
    await expect(page.get_by_test_id("channel-name")).to_have_text("# general")
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width == 700


async def test_direct_messages_to_the_bot_and_whether_it_is_connected(
    page: Page, open_socket: OpenSocket, pg: Playground
) -> None:
    await expect(page.get_by_test_id("app-oncall")).to_have_attribute(
        "title", "not connected: start the bot"
    )
    await open_socket()
    await expect(page.get_by_test_id("app-oncall")).to_have_attribute("title", "connected")
    await page.get_by_test_id("app-oncall").click()
    await expect(page.get_by_test_id("channel-name")).to_have_text("oncall")
    await page.get_by_test_id("composer-channel").fill("hello")
    await page.get_by_test_id("composer-channel").press("Enter")
    await expect(message(page, "hello")).to_be_visible()
    kinds = [d.payload["event"]["type"] for d in pg.outbox.deliveries()]
    assert kinds == ["app_home_opened", "message"]


async def test_slack_s_own_stop_button_is_in_the_thread_of_a_working_agent(
    page: Page, control: Control, slack: AsyncWebClient, pg: Playground
) -> None:
    ts = await control.ask("stop me")
    await slack.api_call(
        "agents.sessions.setStatus",
        json={"channel_id": INC, "thread_ts": ts, "status": "processing"},
    )
    target = message(page, "stop me")
    await target.hover()
    await target.get_by_test_id("reply-in-thread").click()
    await page.get_by_test_id("stop-session").click()
    await expect(page.get_by_test_id("toast")).to_be_hidden()
    assert pg.outbox.deliveries()[-1].payload["event"]["type"] == "agent_session_stopped"


async def test_who_mentions_a_bot_that_is_not_in_the_channel_is_told_alone_and_can_invite_it(
    page: Page, pg: Playground
) -> None:
    note = page.get_by_test_id("absent")
    await page.get_by_test_id("channel-general").click()
    composer = page.get_by_test_id("composer-channel")
    for words in ("@oncallers, hello", "mail me@oncall.test"):
        await composer.fill(words)
        await composer.press("Enter")
        await expect(message(page, words)).to_be_visible()
        await expect(note).to_have_count(0)
    await composer.fill("hello @oncall, why?")
    await composer.press("Enter")
    await expect(note).to_contain_text("You mentioned @oncall, but they are not in this channel")
    assert pg.outbox.deliveries() == []
    await page.get_by_test_id("channel-inc-checkout").click()
    await expect(note).to_have_count(0)
    await page.get_by_test_id("channel-general").click()
    await page.get_by_test_id("absent-invite").click()
    await expect(note).to_have_count(0)
    assert "U0ONCALL" in pg.world.channels["C0GENERAL"].members


async def test_the_note_on_an_absent_bot_can_be_put_away_and_a_guest_is_not_offered_to_invite(
    page: Page,
) -> None:
    await page.get_by_test_id("persona-gita").click()
    await page.get_by_test_id("channel-general").click()
    await page.get_by_test_id("composer-channel").fill("@oncall?")
    await page.get_by_test_id("composer-channel").press("Enter")
    await expect(page.get_by_test_id("absent")).to_be_visible()
    await expect(page.get_by_test_id("absent-invite")).to_have_count(0)
    await page.get_by_test_id("absent-leave").click()
    await expect(page.get_by_test_id("absent")).to_have_count(0)


async def test_an_empty_conversation_with_the_bot_says_how_to_begin(page: Page) -> None:
    await page.get_by_test_id("app-oncall").click()
    await expect(page.get_by_test_id("beginning")).to_contain_text("no mention is needed")
    await page.get_by_test_id("hint-channel").click()
    await page.get_by_test_id("composer-channel").press("Enter")
    asked = page.get_by_test_id("messages").get_by_test_id("message")
    await expect(asked).to_contain_text("Which service caused the checkout incident")
    await expect(asked).not_to_contain_text("@oncall")
    await expect(page.get_by_test_id("beginning")).to_have_count(0)
    await expect(page.get_by_test_id("hint-channel")).to_be_hidden()


async def test_a_thread_s_box_says_that_the_bot_is_asked_with_a_mention(
    page: Page, control: Control
) -> None:
    await control.ask("root of it")
    root = message(page, "root of it")
    await root.hover()
    await root.get_by_test_id("reply-in-thread").click()
    await expect(page.get_by_test_id("composer-thread")).to_have_attribute(
        "placeholder", "Reply, or ask again with @oncall…"
    )


async def test_slow_answers_are_offered_where_a_bot_reads_the_pace(
    page: Page, pg: Playground, tmp_path: Path
) -> None:
    switch = page.get_by_test_id("pace")
    await expect(switch).to_have_count(0)
    pg.pace = PaceFile(tmp_path / "pace")
    pg.feed.touch()
    await expect(switch).to_have_attribute("aria-checked", "false")
    await switch.click()
    await expect(switch).to_have_attribute("aria-checked", "true")
    assert pg.pace.read() is Pace.SLOW
    await switch.click()
    await expect(switch).to_have_attribute("aria-checked", "false")
    assert pg.pace.read() is Pace.USUAL


async def test_on_a_phone_the_tools_cover_nothing_of_their_message_and_keys_are_not_spoken_of(
    page: Page, control: Control
) -> None:
    await page.set_viewport_size({"width": 390, "height": 844})
    await control.ask("stop me", user="jonas")
    target = message(page, "stop me")
    await target.hover()
    await expect(target.get_by_test_id("tools")).to_be_visible()
    author = await target.get_by_test_id("author").bounding_box()
    tools = await target.get_by_test_id("tools").bounding_box()
    assert author is not None
    assert tools is not None
    assert tools["y"] + tools["height"] <= author["y"]
    assert tools["x"] >= 0
    await expect(page.get_by_text("Shift+Enter")).to_be_hidden()
    await target.get_by_test_id("open-picker").click()
    await expect(page.get_by_test_id("picker")).to_be_in_viewport(ratio=1)
    assert await page.evaluate("document.documentElement.scrollWidth") == 390
