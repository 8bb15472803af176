"""Chromium through Playwright, for the tests that open the page."""

from __future__ import annotations

import os
import shutil

import pytest

#: Programs that are looked for. Playwright's own browser is not needed.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

#: Set to "required" (as .ci/run does) where the tests must fail, and not be skipped, without a browser.
REQUIRED = "PLUGSAMP_BROWSER"


def _missing(what: str):
    if os.environ.get(REQUIRED) == "required":
        pytest.fail(f"{what}, and {REQUIRED}=required", pytrace=False)
    pytest.skip(f"{what}: the page is not opened in a browser")


@pytest.fixture(scope="module")
def chromium():
    """A headless browser, the same for all tests of a module."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed (pip install 'plugsamp[browser]')")
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        _missing(f"no browser was found ({', '.join(NAMES)})")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"]
        )
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium):
    """A function that opens a page in a window of its own; what the page complains of is in `complaints`."""
    contexts = []

    def open_(path, width: int = 1280, height: int = 900, **options):
        context = chromium.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.requests, page.complaints = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.goto(path.resolve().as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()


@pytest.fixture
def at(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PLUGSAMP_TRACEBACK", raising=False)
    return tmp_path
