"""Headless Chromium for tests that look at pages: where it is, and what to do without it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import Page, async_playwright

CHROMIUM = shutil.which("chromium") or ""
ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
if not CHROMIUM and os.environ.get("ONCALL_TEST_BROWSER") == "required":
    raise RuntimeError("ONCALL_TEST_BROWSER=required, and there is no chromium on PATH")

needs_browser = pytest.mark.skipif(
    not CHROMIUM, reason="there is no chromium on PATH: install it to run the tests of pages"
)


@asynccontextmanager
async def browser_page(width: int = 1280, height: int = 800) -> AsyncIterator[Page]:
    """A fresh page; what its scripts throw fails the test."""
    problems: list[str] = []
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        page = await browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(15_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        yield page
        await browser.close()
    assert problems == []
