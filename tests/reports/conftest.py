"""A browser for all tests of pages, and pages that are opened in it."""

import contextlib
import shutil

import pytest

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="session")
def browser():
    """A Chromium that is installed on this machine, started once."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """Open pages; after the test, none may have complained or asked for anything but itself."""
    complaints, requests = [], []
    with contextlib.ExitStack() as contexts:

        def show(page, fragment="", **settings):
            file = tmp_path / f"{len(requests)}.html"
            page.save(file)
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}} | settings)
            contexts.callback(context.close)
            tab = context.new_page()
            tab.on("console", lambda message: complaints.append(message.text))
            tab.on("pageerror", lambda error: complaints.append(str(error)))
            tab.on("request", lambda request: requests.append(request.url))
            tab.goto(f"{file.as_uri()}{fragment}")
            return tab

        yield show
    assert complaints == []
    assert all(url.startswith(tmp_path.as_uri()) for url in requests)
    assert len(requests) == len({url.split("#")[0] for url in requests})
