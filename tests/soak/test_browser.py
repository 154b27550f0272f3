"""The page in a browser: it asks for nothing, complains of nothing and shows what it should."""

import json
import shutil
from contextlib import contextmanager

import pytest

pytestmark = pytest.mark.soak

CHROMIUM = shutil.which("chromium")
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]


@contextmanager
def opened(page_file, **context):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_context(offline=True, **context).new_page()
        troubles, requests = [], []
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(page_file.as_uri())
        yield page, troubles, requests
        browser.close()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `make browser` installs it")
@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_is_offline_and_whole(toy_results, width):
    screen = {"viewport": {"width": width, "height": 900}}
    with opened(toy_results / "report.html", **screen) as (page, troubles, requests):
        claims = len(json.loads((toy_results / "verdicts.json").read_text()))
        assert page.locator("table.verdicts tbody tr").count() == claims
        assert page.locator("table.hypotheses tbody tr").count() > 4
        page.locator("summary").first.click()
        assert page.locator("details[open]").count() == 1
        image = page.locator("figure img").first
        assert image.evaluate("i => i.complete && i.naturalWidth > 200")
        # Nothing sticks out of the screen sideways; wide tables scroll inside their own box.
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert troubles == []
        assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
