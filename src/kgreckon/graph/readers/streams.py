"""Standard input and pipes as sources: copied to a file, since readers look at a source more than once."""

from __future__ import annotations

import gzip
import re
import shutil
import stat
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.files import standard_input
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.readers.tables import TableKind
from kgreckon.graph.wide.delimited import head_of, separator_of
from kgreckon.graph.wide.wide_table import WideTable

# A table whose kind neither its header nor its first rows tell comes with it; a frame is a wide table.
Source = Path | tuple[Path, TableKind] | WideTable
_MAGIC = ((b"PAR1", ".parquet"), (b"ARROW1", ".arrow"), (b"SQLite format 3\x00", ".sqlite"), (b"PK\x03\x04", ".xlsx"))
_HEAD = 1 << 16


@contextmanager
def as_files(sources: Sequence[Source], report: ImportReport) -> Iterator[tuple[list[Source], dict[Path, str]]]:
    """The sources, with files in the place of standard input (`-`) and pipes, and what these were called.

    Messages name what was given.
    """
    with tempfile.TemporaryDirectory(prefix="kgreckon-") as folder:
        copies: dict[Path, str] = {}
        files: list[Source] = []
        for source in sources:
            path = source[0] if isinstance(source, tuple) else source
            if isinstance(path, WideTable) or not _is_stream(Path(path)):
                files.append(source)
                continue
            copy = _copied(Path(path), Path(folder) / str(len(copies)), isinstance(source, tuple))
            copies[copy] = "standard input" if str(path) == "-" else str(path)
            files.append((copy, source[1]) if isinstance(source, tuple) else copy)
        try:
            yield files, copies
        except UserError as error:
            raise UserError(_named(str(error), copies)) from None
        finally:
            for told in (report.bad_examples, report.unclear):
                told[:] = [_named(text, copies) for text in told]


def _named(message: str, copies: dict[Path, str]) -> str:
    for copy, name in copies.items():
        message = message.replace(str(copy), name)
    return message


def _is_stream(path: Path) -> bool:
    if str(path) == "-":
        return not path.exists()
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode) or str(path) == "/dev/stdin"


def _copied(path: Path, folder: Path, is_table: bool) -> Path:
    """A copy whose name ends as what it holds."""
    name = "standard input" if str(path) == "-" else str(path)
    folder.mkdir()
    raw = folder / "raw"
    try:
        with raw.open("wb") as copy:
            if str(path) in ("-", "/dev/stdin"):
                shutil.copyfileobj(standard_input(), copy)
            else:
                with path.open("rb") as stream:
                    shutil.copyfileobj(stream, copy)
        with raw.open("rb") as start:
            zipped = start.read(2) == b"\x1f\x8b"
        with gzip.open(raw) if zipped else raw.open("rb") as content:
            head = content.read(_HEAD)
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{name} cannot be read: {error}") from None
    if not head.strip():
        raise UserError(f"{name} is empty")
    return raw.rename(folder / f"input{_ending(head, is_table)}{'.gz' if zipped else ''}")


def _ending(head: bytes, is_table: bool) -> str:
    """The ending that a file with such a beginning would have."""
    for magic, ending in _MAGIC:
        if head.startswith(magic):
            return ending
    lines = [line for line in head_of(head.removeprefix(b"\xef\xbb\xbf")) if line.strip()]
    text = lines[0].lstrip()
    if not is_table:
        if text.startswith(("{", "[{")) or text == "[":
            return ".jsonld" if re.search(rb'"@(?:context|id|graph|type)"\s*:', head) else ".json"
        if text.startswith("<?xml") or text.startswith("<rdf:RDF"):
            return ".rdf"
        if re.match(r"@prefix|@base|prefix\s|base\s|#", text, re.IGNORECASE):
            return ".ttl"
        if re.match(r"(?:<[^<>\s]*>|_:\S+)\s+<", text):
            return ".nq" if re.search(r">\s*\.\s*$", text) and text.count("<") >= 4 else ".ttl"
    return ".tsv" if separator_of(lines, "\t") == "\t" and "\t" in text else ".csv"
