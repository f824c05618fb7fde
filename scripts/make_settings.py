"""Write the tables of settings in docs/ from the declarations of models and server, between their markers.

python scripts/make_settings.py            write the tables
python scripts/make_settings.py --check    only check that they are up to date
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from pydantic import BaseModel

from kgreckon.models.registry import family_named
from kgreckon.models.settings import described
from kgreckon.server.limits import Limits

DOCS = Path(__file__).parents[1] / "docs"
MARKED = re.compile(r"(<!-- settings: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def table(name: str) -> str:
    """The limits of the server, or the settings of a family of models, as a table in Markdown."""
    declared: type[BaseModel] = Limits if name == "limits" else family_named(name).settings
    rows = [(f"`{setting}`", default, kind, text) for setting, default, kind, text in described(declared)]
    heading = ("setting", "default", "choices or type", "meaning")
    lines = [f"| {' | '.join(cells)} |\n" for cells in (heading, *rows)]
    return "".join([lines[0], "|---" * len(heading) + "|\n", *lines[1:]])


def with_tables(text: str) -> str:
    """A page with all its tables of settings as the declarations give them."""
    return MARKED.sub(lambda found: f"{found[1]}{table(found[2])}{found[3]}", text)


def main() -> None:
    """Write the pages, or check that they are up to date."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    check = parser.parse_args().check
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        made = with_tables(text)
        if made != text and check:
            sys.exit(
                f"docs/{page.name} does not match the settings that are declared: run python scripts/make_settings.py"
            )
        if made != text:
            page.write_text(made, encoding="utf-8")


if __name__ == "__main__":
    main()
