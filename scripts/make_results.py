"""Write docs/results.md from results/*.json: every number measured, none typed by hand.

python scripts/make_results.py [--check]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from kgreckon.reproducing.report import markdown

ROOT = Path(__file__).parents[1]


def report() -> str:
    """The page that the files give."""
    files = sorted((ROOT / "results").glob("*.json"))
    return markdown([json.loads(path.read_text(encoding="utf-8")) for path in files], "python scripts/make_results.py")


def main() -> None:
    """Write the page, or check that the committed one is what the files give."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true")
    path = ROOT / "docs" / "results.md"
    if parser.parse_args().check:
        if path.read_text(encoding="utf-8") != report():
            sys.exit(f"{path.name} is not what results/ gives: run python scripts/make_results.py")
    else:
        path.write_text(report(), encoding="utf-8")


if __name__ == "__main__":
    main()
