"""Look at the built site in a headless Chromium: widths, contrast and the keyboard.

    .venv/bin/python docs/_site/look.py docs/_build/html [page ...]

Every page is opened light and dark, as wide as a desk and as a phone, with its solutions unfolded. Nothing
may be wider than the page or cut off, every text needs the contrast of WCAG AA, and the Tab key must reach
every link, in view and with a visible focus: on a phone on every page, on a desk on one page of each folder.
The whole site takes minutes.
"""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
QUESTIONS = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")


def by_keyboard(tab: Page) -> Iterator[str]:
    """Press the Tab key until it has come round: what it does not reach, or reaches without showing it."""
    wanted, reached = tab.evaluate("reachable()"), set()
    for _ in range(2 * len(wanted) + 100):  # a block of code that scrolls is reached too
        tab.keyboard.press("Tab")
        found = tab.evaluate("focused()")
        if found is None:
            continue
        if found["number"] in reached:
            break
        reached.add(found["number"])
        if found["problem"]:
            yield found["problem"]
    yield from tab.evaluate("numbers => missed(numbers)", [one for one in wanted if one not in reached])


def problems(site: Path, names: list[str]) -> Iterator[str]:
    """What is wrong with some pages of a site, or with all, one line each."""
    files = [site / name for name in names] or sorted(site.rglob("*.html"))
    first = {file.parent: file for file in reversed(files)}
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for width, (across, down) in WIDTHS.items():
            for scheme in ("light", "dark"):
                tab = browser.new_page(
                    viewport={"width": across, "height": down}, color_scheme=scheme, reduced_motion="reduce"
                )
                tab.add_init_script(QUESTIONS)
                for file in files:
                    tab.goto(file.resolve().as_uri())
                    tab.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
                    lines = [*tab.evaluate("cutOff()"), *tab.evaluate("tooFaint()")]
                    pressed = width == "phone" or first[file.parent] == file
                    if pressed and scheme == "light":  # the keyboard goes the same way in the dark
                        lines += by_keyboard(tab)
                    yield from (f"{file.relative_to(site)} ({width}, {scheme}): {line}" for line in lines)
                tab.close()
        browser.close()


if __name__ == "__main__":
    count = 0
    for line in problems(Path(sys.argv[1]), sys.argv[2:]):
        count += 1
        print(line, flush=True)
    print(f"{count} problems" if count else "every page fits, can be read and can be reached")
    sys.exit(bool(count))
