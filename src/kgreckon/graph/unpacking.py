"""The bytes of a source, unpacked, and what they may cost: a small file may not take all memory."""

from __future__ import annotations

import gzip
import io
import shutil
import zipfile
import zlib
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed import WriteableBuffer

GZIP_ERRORS = (EOFError, gzip.BadGzipFile, zlib.error)  # what reading a broken gzip file raises
MOST_LINE = 2**24  # characters, or bytes, of a line, a text or a tag, so that one of them cannot take all memory
TIMES_UNPACKED = 100  # the size of a packed file that its content may have; text has 5 to 30 times
_TIMES_XML = 25  # the same of XML, of which a byte takes the most memory
_ALWAYS_UNPACKED = 2**24  # bytes that any file may hold
_ALWAYS_DECODED = 2**30  # the same of typed columns, which repeat a value for nothing
_ENTITY = b"<!ENTITY"
_PIECE = 2**20


def suffix_of(path: Path) -> str:
    """The ending of a file's name in small letters, a closing `.gz` left out."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() == ".gz" else path.suffix.lower()


def open_bytes(path: Path) -> IO[bytes]:
    """The file's bytes, unzipped."""
    try:
        return cast(IO[bytes], gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except OSError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}") from None


class EntityGuard:
    """Refuses an XML document that declares entities, with which a small file means an enormous one."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._end = b""

    def look_at(self, data: bytes) -> None:
        """Look at the next bytes; those of UTF-16 are seen too."""
        seen = self._end + data.replace(b"\0", b"")
        if _ENTITY in seen:
            raise UserError(
                f"{self.path} declares XML entities, which can make a small file enormous: write them out, for "
                "instance with xmllint --noent --dropdtd"
            )
        self._end = seen[1 - len(_ENTITY) :]


class BoundedContent(io.RawIOBase):
    """The unpacked bytes of a file, as long as they are not too many for its size.

    Where `marks` part what is read, no piece between two of them may be longer than a line may be.
    """

    def __init__(self, path: Path, marks: bytes = b"", is_xml: bool = False) -> None:
        self.path, self.marks = path, marks
        self._content = open_bytes(path)
        self._times = _TIMES_XML if is_xml else TIMES_UNPACKED
        self._most = max(_ALWAYS_UNPACKED, self._times * path.stat().st_size)
        self._guard = EntityGuard(path) if is_xml else None
        self._read = self._since_a_mark = 0

    def readable(self) -> bool:
        """Whether it can be read: so the class above asks."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """Read the next bytes into a buffer."""
        room = memoryview(buffer).cast("B")
        data = self._content.read(min(len(room), _PIECE))
        if self.marks:
            self._look_for_marks(data)
        self._read += len(data)
        if self._read > self._most:
            raise too_much(self.path, self._times)
        if self._guard is not None:
            self._guard.look_at(data)
        room[: len(data)] = data
        return len(data)

    def _look_for_marks(self, data: bytes) -> None:
        self._since_a_mark += len(data)
        last = max(data.rfind(mark) for mark in self.marks)
        if last >= 0:
            self._since_a_mark = len(data) - last - 1
        if self._since_a_mark > MOST_LINE:
            raise UserError(f"{self.path}: a line, text or tag is longer than {MOST_LINE:,} characters")

    def close(self) -> None:
        """Close the file too."""
        self._content.close()
        super().close()


def content_of(path: Path, marks: bytes = b"", most: int = -1) -> bytes:
    """The bytes of a file, unpacked and within bounds: all of them, or `most` of them at the most."""
    try:
        with io.BufferedReader(BoundedContent(path, marks), _PIECE) as content:
            if most >= 0:
                return content.read(most)
            whole = io.BytesIO()
            shutil.copyfileobj(content, whole, _PIECE)
            return whole.getvalue()
    except GZIP_ERRORS as error:
        raise UserError(f"{path} is not a whole gzip file: {error}") from None
    except OSError as error:
        raise UserError(f"{path} cannot be opened: {error.strerror}") from None


def check_zip(path: Path) -> None:
    """Raise a UserError where a workbook, which is a zip file, holds too much for its size."""
    try:
        with zipfile.ZipFile(path) as packed:
            held = sum(entry.file_size for entry in packed.infolist())
    except (zipfile.BadZipFile, NotImplementedError):
        return  # an older workbook, or what its own reader objects to
    if held > max(_ALWAYS_UNPACKED, TIMES_UNPACKED * path.stat().st_size):
        raise too_much(path)


class DecodedBound:
    """What the typed columns of a file may take in memory, for its size."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._left = max(_ALWAYS_DECODED, TIMES_UNPACKED * path.stat().st_size)

    def take(self, columns: Iterable[pa.Array]) -> None:
        """Take so much of it as the next columns have; a UserError where they, or a cell of them, are too large."""
        for column in columns:
            self._left -= column.nbytes
            if self._left < 0:
                raise too_much(self.path)
            if column.nbytes > MOST_LINE and (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
                longest = pc.max(pc.binary_length(column)).as_py()
                if longest is not None and longest > MOST_LINE:
                    raise long_cell(str(self.path))


def bounded_table(batches: Iterable[pa.RecordBatch], schema: pa.Schema, bound: DecodedBound) -> pa.Table:
    """The table of some batches, read one by one as long as they are within a bound."""
    kept = []
    for batch in batches:
        bound.take(batch.columns)
        kept.append(batch)
    return pa.Table.from_batches(kept, schema)


def long_cell(place: str) -> UserError:
    """The error of a cell that is longer than a line may be."""
    return UserError(f"{place}: a cell is longer than {MOST_LINE:,} bytes")


def too_much(path: Path, times: int = TIMES_UNPACKED) -> UserError:
    """The error of a file that holds too much for its size."""
    return UserError(
        f"{path} unpacks to more than {times} times its size: if that is meant, unpack it first, or write it "
        "as tab-separated text"
    )
