"""The page's files: read once, so that no request can name another."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
}
INDEX = "index.html"


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    media_type: str
    tag: str  # changes with the content


def page_files() -> dict[str, PageFile]:
    """All files of the page by name."""
    contents = {}
    folder = files("kgreckon.server").joinpath("page")
    for file in folder.iterdir() if folder.is_dir() else ():
        media_type = _TYPES.get(file.name.rpartition(".")[2])
        if media_type is not None and file.is_file():
            content = file.read_bytes()
            tag = hashlib.blake2b(content, digest_size=12).hexdigest()
            contents[file.name] = PageFile(content, media_type, f'"{tag}"')
    return contents
