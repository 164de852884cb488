"""A browser for all tests of pages, which are opened in it, and a page."""

import shutil

import numpy as np
import pytest

import suffice
from suffice.reports.what_if import _read, _written

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
def tab():
    """One tab of a Chromium that is installed on this machine, for all tests."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed; on Debian: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser.new_page()
        browser.close()


@pytest.fixture
def opened(tab, tmp_path):
    """Open pages, one after the other; none may complain or ask for anything but itself."""
    complaints, requests = [], []
    listeners = {
        "console": lambda message: complaints.append(message.text),
        "pageerror": lambda error: complaints.append(str(error)),
        "request": lambda request: requests.append(request.url),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)

    def show(page, fragment=""):
        file = tmp_path / f"{len(requests)}.html"
        page.save(file)
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.emulate_media(color_scheme="light")
        tab.goto(f"{file.as_uri()}{fragment}")
        return tab

    yield show
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    assert complaints == []
    assert all(url.startswith(tmp_path.as_uri()) for url in requests)
    assert len(requests) == len({url.split("#")[0] for url in requests})


@pytest.fixture(scope="module")
def penguins():
    X, species = suffice.load_penguins()
    model = suffice.BayesClassifier().fit(X, species)
    return model, X, species, suffice.report(model, X, species)


def shown(tab, selector):
    return tab.locator(selector).inner_text()


def by_position(model, frame):
    """The cells of each row that the model's program reads, by position."""
    columns, table = _written(model)[0].columns, _read(model, frame)
    rows = [[None] * table.n_columns for _ in range(table.n_rows)]
    for column in columns:
        if column.kind == "level":
            levels = table.levels(column.position)
            cells = [[*levels.values, None][code] for code in levels.codes.tolist()]
        else:
            numbers = table.numbers([column.position])[:, 0].tolist()
            cells = [None if np.isnan(number) else number for number in numbers]
        for row, cell in zip(rows, cells, strict=True):
            row[column.position] = cell
    return rows
