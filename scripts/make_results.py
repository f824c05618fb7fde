"""Write docs/results.md and docs/results.html from results/*.json: every number measured, none typed by hand.

python scripts/make_results.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from kgreckon.reproducing import html, markdown, report
from kgreckon.reproducing.blocks import Block

ROOT = Path(__file__).parents[1]


def blocks() -> list[Block]:
    """The report that the files give."""
    results, sweeps = (
        [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
        for folder in (ROOT / "results", ROOT / "results" / "sweeps")
    )
    return report(results, "make report", [trial for sweep in sweeps for trial in sweep])


def main() -> None:
    """Write the pages, or check that the committed one is what the files give."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true")
    page, whole = ROOT / "docs" / "results.md", blocks()
    if parser.parse_args().check:
        if page.read_text(encoding="utf-8") != markdown(whole):
            sys.exit(f"{page.name} is not what results/ gives: make report")
        return
    page.write_text(markdown(whole), encoding="utf-8")
    page.with_suffix(".html").write_text(html(whole, "kgreckon: results"), encoding="utf-8")


if __name__ == "__main__":
    main()
