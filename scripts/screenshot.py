"""Make the pictures of the documentation from the real page: start, answers, map, thing, phone and dark.

    python scripts/screenshot.py RUN

It needs playwright and Debian's chromium, as the tests of the page do.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import Page, expect, sync_playwright

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
LARGEST = 300_000  # bytes that a page of documentation may load for a picture
PATIENCE = 60_000  # milliseconds
TRIES = 10
SECONDS = re.compile(r"\d{4,} ms")


def see_reasons(page: Page) -> None:
    """Wait for the answers, and open the reasons of the likeliest inferred one."""
    see_answers(page)
    page.locator("#answers .inferred .why").first.click()
    expect(page.locator("#answers .why-sentence").first).to_be_visible()


def see_answers(page: Page) -> None:
    """Wait for the answers; ask again where another program kept the machine busy, so that no such wait is shown."""
    for _ in range(TRIES):
        expect(page.locator("#status")).to_contain_text("The graph proves", timeout=PATIENCE)
        if not SECONDS.search(page.locator("#status").inner_text()):
            return
        page.reload()
    sys.exit(f"the answers take seconds: {page.locator('#status').inner_text()}")


def see_map(page: Page) -> None:
    """Wait for the answers and the coasts."""
    see_answers(page)
    see_coasts(page)


def see_coasts(page: Page) -> None:
    """Wait until the map has its ground."""
    expect(page.locator("g.ground > g .land[d]")).to_be_visible(timeout=PATIENCE)


def see_thing(page: Page) -> None:
    """Wait until all of the thing is there."""
    expect(page.locator("#view h1")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#view [aria-busy]")).to_have_count(0, timeout=PATIENCE)


def see_start(page: Page) -> None:
    """Wait for what the graph is about."""
    expect(page.locator("#about")).to_contain_text("things", timeout=PATIENCE)
    see_thing(page)
    see_coasts(page)


@dataclass(frozen=True)
class Picture:
    """What is taken: an address, what to wait for, and how large and bright."""

    address: str
    ready: Callable[[Page], None]
    width: int = 1280
    height: int = 900
    scheme: Any = "light"


def ask(words: str) -> str:
    """The address of a question in words."""
    return f"ask?{urlencode({'q': words})}"


SHOWN = {
    "start": Picture("", see_start),
    "answers": Picture(ask("the official language of Central African Republic"), see_reasons),
    "map": Picture(ask("cities within 300 km of Rome"), see_map),
    "thing": Picture("thing/Chad", see_thing),
    "phone": Picture("thing/Tokyo", see_thing, 390, 844),
    "dark": Picture("kind/Country", see_thing, scheme="dark"),
}


def main() -> None:
    """Serve the run, and take the pictures that are named, or all."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("run", help="the run folder of a reckoner over World")
    arguments.add_argument("pictures", nargs="*", default=list(SHOWN), help=f"some of {', '.join(SHOWN)}")
    chosen = arguments.parse_args()
    PICTURES.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "kgreckon", "serve", chosen.run, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            take(server.stdout.readline().strip(), chosen.pictures)
        finally:
            server.terminate()


def take(address: str, names: list[str]) -> None:
    """The pictures of the page at this address."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in names:
            picture = SHOWN[name]
            size: Any = {"width": picture.width, "height": picture.height}
            page = browser.new_page(viewport=size, color_scheme=picture.scheme)
            for _ in range(2):  # at first, what is computed once is waited for
                page.goto(f"{address}{picture.address}")
                picture.ready(page)
            page.evaluate("document.activeElement.blur()")
            page.mouse.move(0, 0)
            out = PICTURES / f"{name}.png"
            page.screenshot(path=out)
            page.close()
            if out.stat().st_size > LARGEST:
                sys.exit(f"{out} has {out.stat().st_size:,} bytes, more than {LARGEST:,}")
        browser.close()


if __name__ == "__main__":
    main()
