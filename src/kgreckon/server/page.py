"""The page's files: read once, so that no request can name another."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "ico": "image/x-icon",
    "json": "application/json",
}
INDEX = "index.html"
VIEWS = ("thing", "kind", "relation", "attribute")  # what has an address of its own: /thing/NAME
ROUTES = (
    "/",
    "/ask",
    "/quality",
    *(f"/{view}/{{thing:path}}" for view in VIEWS),
)  # the page itself, whatever it then shows
FOLDERS = ("/page/", *(f"/{view}/" for view in VIEWS))  # addresses that begin so say nothing of the graph


@dataclass(frozen=True)
class PageFile:
    """A file of the page."""

    content: bytes
    zipped: bytes  # the same in gzip
    media_type: str
    tag: str  # changes with the content


def page_files() -> dict[str, PageFile]:
    """All files of the page by name, those of folders as `folder/file`."""
    folder = files("kgreckon.server").joinpath("page")
    return dict(_files_in(folder, "")) if folder.is_dir() else {}


def _files_in(folder: Traversable, prefix: str) -> Iterator[tuple[str, PageFile]]:
    for file in folder.iterdir():
        if file.is_dir():
            yield from _files_in(file, f"{prefix}{file.name}/")
        elif (media_type := _TYPES.get(file.name.rpartition(".")[2])) is not None:
            content = file.read_bytes()
            tag = hashlib.blake2b(content, digest_size=12).hexdigest()
            yield f"{prefix}{file.name}", PageFile(content, gzip.compress(content, mtime=0), media_type, f'"{tag}"')
