"""Pages of the documentation site that live elsewhere: the README as its start, contributing, and the changelog."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
# The page of the site, by the file that it is made of.
_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
# Files of the project that are not part of the site: their names stay, without the link.
_OTHERS = ("NOTICE", "LICENSE", "SECURITY.md")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand in the project's root."""
    for source, page in _PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=_relinked(text)))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links out of `docs/` lead to the pages of the site."""
    return _relinked(markdown.replace("](../", "]("))


def _relinked(text: str) -> str:
    for source, page in _PAGES.items():
        text = text.replace(f"]({source}", f"]({page}")
    return re.sub(rf"\[([^\]]+)\]\((?:{'|'.join(map(re.escape, _OTHERS))})\)", r"\1", text)
