"""Make docs/page.png: the page of a run, with a question that shows most of what it can.

    python scripts/screenshot.py RUN

It needs playwright and Debian's chromium, as the tests of the page do.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import expect, sync_playwright

QUESTION = (
    "(i,(rp,(^capital_of),(rp,(^speaks),(e,(Portuguese)))),"
    "(rap,(latitude),(np,(SmallerThan),(ap,(latitude),(e,(Rome))))))"
)
LARGEST = 300_000  # bytes that a README may load for a picture


def main() -> None:
    """Serve the run, ask the question, open the reasons of the likeliest inferred answer, and take the picture."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("run", help="the run folder of a reckoner over World")
    arguments.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "docs" / "page.png")
    chosen = arguments.parse_args()
    command = [sys.executable, "-m", "kgreckon", "serve", chosen.run, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            take(server.stdout.readline().strip(), chosen.out)
        finally:
            server.terminate()


def take(address: str, out: Path) -> None:
    """The picture of the page at this address."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 1160})
        page.goto(f"{address}ask?q={quote(QUESTION)}")
        expect(page.locator("#status")).to_contain_text("The graph proves", timeout=30_000)
        page.locator("#answers .inferred .why").first.click()
        expect(page.locator("#answers .inferred .reasons li").nth(1)).to_be_visible()
        page.evaluate("document.activeElement.blur()")
        page.mouse.move(0, 0)
        page.screenshot(path=out)
        browser.close()
    if out.stat().st_size > LARGEST:
        sys.exit(f"{out} has {out.stat().st_size:,} bytes, more than {LARGEST:,}")


if __name__ == "__main__":
    main()
