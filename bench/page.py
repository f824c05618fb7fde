"""The page's weight and speed in a real browser: bytes, requests, first paint, and how long a key or a click takes.

    python bench/page.py RUN --loads 7

Each view is loaded in a new browser context, so nothing is cached, and the median of the loads is printed. First paint
is the browser's own first contentful paint. An interaction is the longest event of typing into the line, opening the
reasons or the edit mode, as the browser's Event Timing gives it: until the next frame is painted. Needs playwright and
Debian's chromium, as the tests of the page do.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

PATIENCE = 60_000  # milliseconds
VIEWS = {
    "start": "",
    "answers": "ask?q=cities%20in%20Japan%20with%20population%20%3E%201000000",
    "thing": "thing/Japan",
    "kind": "kind/Country",
    "attribute": "attribute/population",
    "quality": "quality",
}
WATCH = """
    window.longest = 0;
    new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) window.longest = Math.max(window.longest, duration);
    }).observe({ type: "event", buffered: true, durationThreshold: 16 });
"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


@dataclass(frozen=True)
class Load:
    """What one load of a view came to: milliseconds, bytes as they were sent, requests."""

    paint: float
    interaction: float
    size: int
    map_size: int  # of `size`, the coasts and borders of the map
    requests: int


def interact(page: Page) -> None:
    """Type into the line, and press the first button of the view."""
    page.get_by_role("combobox").first.press_sequentially("cities", delay=120)
    page.keyboard.press("Escape")
    button = page.locator("main:visible").get_by_role("button", name="Why?").first
    if button.count():
        button.click()
    page.wait_for_timeout(300)


def load(browser: Browser, address: str) -> Load:
    """Load a view with nothing cached."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.add_init_script(WATCH)
    page = context.new_page()
    requests: list[Any] = []
    page.on("requestfinished", lambda request: requests.append(request))
    page.goto(address)
    expect(page.locator("[aria-busy]:visible")).to_have_count(0, timeout=PATIENCE)
    page.wait_for_load_state("networkidle")
    sizes = {request.url: request.sizes()["responseBodySize"] for request in requests}
    paint = page.evaluate(PAINT)
    interact(page)
    longest = page.evaluate("window.longest")
    context.close()
    map_size = sum(size for url, size in sizes.items() if "/vendored/" in url)
    return Load(paint, longest, sum(sizes.values()), map_size, len(sizes))


def measure(address: str, loads: int) -> None:
    """Print a table of all views."""
    print("| view | requests | kB | of it the map | first paint, ms | interaction, ms |\n|---|---|---|---|---|---|")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for view, path in VIEWS.items():
            load(browser, address + path)  # the server computes once what many need
            some = [load(browser, address + path) for _ in range(loads)]
            paint = statistics.median(one.paint for one in some)
            interaction = statistics.median(one.interaction for one in some)
            last = some[-1]
            sizes = f"{last.size / 1000:.0f} | {last.map_size / 1000:.0f}"
            print(f"| {view} | {last.requests} | {sizes} | {paint:.0f} | {interaction:.0f} |", flush=True)
        browser.close()


def main() -> None:
    """Serve the run, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", help="a run folder over World")
    parser.add_argument("--loads", type=int, default=7, help="of each view")
    chosen = parser.parse_args()
    command = [sys.executable, "-m", "kgreckon", "serve", chosen.run, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            measure(server.stdout.readline().strip(), chosen.loads)
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
