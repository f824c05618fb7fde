"""Pages of the documentation site that are made of other files: notebooks, contributing, and the changelog."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# The page of the site, by the file that it is made of.
_PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
# Files of the project that are not part of the site: their names stay, without the link.
_OTHERS = ("NOTICE", "LICENSE", "SECURITY.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand in the project's root."""
    for source, page in _PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=_relinked(text)))
    for notebook in sorted((ROOT / "docs" / "notebooks").glob("*.ipynb")):
        page = f"notebooks/{notebook.stem}.md"
        files.append(File.generated(config, page, content=_notebook_page(notebook)))
    return files


def _notebook_page(path: Path) -> str:
    """The cells of a notebook, one below the other, with what they gave."""
    parts = [f"[Download this notebook]({path.name})"]
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        given = "".join("".join(output.get("text") or output["data"]["text/plain"]) for output in cell["outputs"])
        if given.strip():
            parts.append(f"```text\n{given.rstrip()}\n```")
    heading = next(part for part in parts if part.startswith("# "))
    title, _, rest = heading.partition("\n")
    parts[parts.index(heading)] = rest
    return "\n\n".join([title, *parts])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links out of `docs/` lead to the pages of the site."""
    return _relinked(markdown.replace("](../", "]("))


def _relinked(text: str) -> str:
    text = re.sub(r"\]\((notebooks/\w+)\.ipynb", r"](\1.md", text)
    for source, page in _PAGES.items():
        text = text.replace(f"]({source}", f"]({page}")
    return re.sub(rf"\[([^\]]+)\]\((?:{'|'.join(map(re.escape, _OTHERS))})\)", r"\1", text)
