"""A page in headless Chromium, for the tests that need one."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium")
NEEDED = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `make browser` installs it")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@contextmanager
def opened(
    page_file: Path, fragment: str = "", script: bool = True, **context: Any
) -> "Iterator[Page]":
    """A page that is ready, and that asked for nothing and complained of nothing until the end."""
    from playwright.sync_api import sync_playwright

    context = {"viewport": WIDE} | context
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(offline=True, java_script_enabled=script, **context).new_page()
        troubles: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri() + fragment)
        if script:
            page.wait_for_selector("html[data-ready]", timeout=30_000, state="attached")
        yield page
        assert troubles == []
        assert [url for url in requests if not url.startswith(("file:", "data:", "blob:"))] == []
        browser.close()


SOON = 1500.0
"""Milliseconds after which a page is ready on a machine that has nothing else to do."""


def milliseconds(page: "Page") -> float:
    """From the start of navigation until the page's script has done all of its own."""
    return page.evaluate("Number(document.documentElement.dataset.milliseconds)")


def soonest(page_file: Path, attempts: int = 4) -> float:
    """The least time of several attempts, for tests share the machine; the first may be enough."""
    least = float("inf")
    for _ in range(attempts):
        with opened(page_file) as page:
            least = min(least, milliseconds(page))
        if least < SOON:
            break
    return least


def sheets(page: "Page") -> int:
    """On how many sheets of A4 a page prints."""
    return page.pdf(format="A4").count(b"/Type /Page\n")
