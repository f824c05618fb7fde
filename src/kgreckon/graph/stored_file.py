"""Files of arrays, mapped into memory and checked block by block: a block when something in it is first read.

So opening costs nothing, a question reads what it touches, and no changed bit becomes an answer.
"""

from __future__ import annotations

import base64
import binascii
import mmap
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from kgreckon.errors import UserError

BLOCK = 1 << 16  # bytes
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)  # of Linux: a private mapping may be larger than the memory


def block_checksums(path: Path) -> str:
    """The CRC-32 of each block of a file, as text for a header."""
    found = []
    with path.open("rb") as file:
        while content := file.read(BLOCK):
            found.append(zlib.crc32(content))
    return base64.b64encode(np.array(found, dtype="<u4").tobytes()).decode()


class StoredFile:
    """One Arrow file of at most one record batch; columns are arrays, each known to be whole where it was checked."""

    def __init__(self, path: Path, blocks: Mapping[str, Any], files: Any) -> None:
        self.path = path
        self._content = _mapped(path)
        size = len(self._content)
        listed = files.get(path.name) if isinstance(files, dict) else None
        self._checksums = _decoded(blocks.get(path.name))
        if not isinstance(listed, dict) or listed.get("bytes") != size or len(self._checksums) != -(-size // BLOCK):
            raise self._damaged("its size is another")
        self._unchecked = np.ones(len(self._checksums), dtype=bool)
        self._left = len(self._checksums)
        self._laws: list[StoredArray] = []  # those that are `kept` within bounds
        self._check_blocks(0, 1)  # what Arrow reads: the schema and where the columns are
        self._check_blocks(self._left_from_end(), len(self._checksums))
        try:
            reader = pa.ipc.open_file(pa.py_buffer(self._content))
            self.schema = reader.schema
            if reader.num_record_batches > 1:
                raise self._damaged("it has more than one part")
            self.batch = reader.get_batch(0) if reader.num_record_batches else None
        except (pa.ArrowException, OSError) as error:
            raise UserError(f"{path} is not a readable Arrow file: {str(error).partition(chr(10))[0]}") from None
        self.rows = 0 if self.batch is None else int(self.batch.num_rows)

    def _left_from_end(self) -> int:
        """The first block of the footer, whose length stands before the last six bytes."""
        end = len(self._content)
        self._check_blocks(max(0, (end - 10) // BLOCK), len(self._checksums))
        length = int.from_bytes(self._content[max(0, end - 10) : max(0, end - 6)], "little")
        return max(0, end - 10 - length) // BLOCK

    def _damaged(self, problem: str) -> UserError:
        return UserError(f"{self.path} is damaged: {problem}; kgreckon check FOLDER says what still holds")

    @property
    def is_checked(self) -> bool:
        """Whether all of the file was checked."""
        return self._left == 0

    def check_all(self) -> None:
        """Check what was not checked yet."""
        self._check_blocks(0, len(self._checksums))

    def check(self, start: int, stop: int) -> None:
        """Check the blocks of some bytes."""
        if start < stop and self._left:
            self._check_blocks(start // BLOCK, (stop - 1) // BLOCK + 1)

    def check_many(self, starts: np.ndarray, stops: np.ndarray) -> None:
        """Check the blocks of many ranges of bytes; empty ones are of no block."""
        if not self._left:
            return
        wanted = stops > starts
        first, last = starts[wanted] // BLOCK, (stops[wanted] - 1) // BLOCK
        count = len(self._checksums) + 1
        begin = np.bincount(first, minlength=count) - np.bincount(last + 1, minlength=count)
        for block in np.flatnonzero((np.cumsum(begin)[:-1] > 0) & self._unchecked).tolist():
            self._check_block(block)

    def _check_blocks(self, first: int, last: int) -> None:
        for block in (first + np.flatnonzero(self._unchecked[first:last])).tolist():
            self._check_block(block)

    def _check_block(self, block: int) -> None:
        start, stop = block * BLOCK, min((block + 1) * BLOCK, len(self._content))
        with memoryview(self._content) as view, view[start:stop] as content:
            if zlib.crc32(content) != self._checksums[block]:
                raise self._damaged("its checksum is another")
        self._check_laws(block, self._laws)
        if self._unchecked[block]:  # another thread may have been faster
            self._unchecked[block] = False
            self._left = int(np.count_nonzero(self._unchecked))

    def _check_laws(self, block: int, arrays: list[StoredArray]) -> None:
        for array in arrays:
            if not array.holds_within(block * BLOCK, (block + 1) * BLOCK):
                raise self._damaged("an id is out of range")

    def array(self, buffer: pa.Buffer | None, dtype: str, offset: int, count: int) -> StoredArray:
        """The numbers in a buffer of the batch, from one on."""
        size = np.dtype(dtype).itemsize
        if buffer is None or not count:
            return StoredArray(self, np.zeros(count, dtype=dtype), 0)
        base = pa.py_buffer(self._content).address
        start = buffer.address - base + offset * size
        if start < 0 or start + count * size > len(self._content):
            raise self._damaged("a column is cut short")
        return StoredArray(self, np.frombuffer(self._content, dtype, count, start), start)

    def column(self, name: str, dtype: str) -> StoredArray:
        """A column of numbers."""
        if self.batch is None:
            return self.array(None, dtype, 0, 0)
        values = self.batch.column(name)
        return self.array(values.buffers()[1], dtype, values.offset, len(values))

    def list_column(self, name: str, dtype: str) -> StoredArray:
        """The numbers of the only list in a column."""
        if self.rows != 1:
            raise self._damaged("it does not hold one row")
        assert self.batch is not None
        lists = self.batch.column(name)
        values = lists.values
        return self.array(values.buffers()[1], dtype, values.offset, len(values))

    def kept(self, array: StoredArray, limit: int, rising: bool = False) -> StoredArray:
        """The same array, whose numbers are known to be below a limit, and not falling, wherever it was checked."""
        array.limit, array.rising = limit, rising
        self._laws.append(array)
        for block in np.flatnonzero(~self._unchecked).tolist():
            self._check_laws(block, [array])
        return array


class StoredArray:
    """An array in a file. What is read of it is checked before."""

    def __init__(self, file: StoredFile, raw: np.ndarray, start: int) -> None:
        self.file, self.raw, self._start = file, raw, start
        self._size = raw.itemsize
        self.limit, self.rising = 0, False

    def __len__(self) -> int:
        return len(self.raw)

    def all(self) -> np.ndarray:
        """The whole array."""
        self.file.check(self._start, self._start + self.raw.nbytes)
        return self.raw

    def between(self, low: int, high: int) -> np.ndarray:
        """The numbers in some places."""
        self.file.check(self._start + low * self._size, self._start + high * self._size)
        return self.raw[low:high]

    def check_many(self, lows: np.ndarray, highs: np.ndarray) -> None:
        """Check many ranges of places."""
        self.file.check_many(self._start + lows * self._size, self._start + highs * self._size)

    def first_at_least(self, key: int | np.unsignedinteger) -> int:
        """The first place whose number is at least `key`, in a rising array; few blocks are read."""
        low, high = 0, len(self.raw)
        while low < high:
            middle = (low + high) >> 1
            if self.between(middle, middle + 1)[0] < key:
                low = middle + 1
            else:
                high = middle
        return low

    def holds_within(self, start: int, stop: int) -> bool:
        """Whether the numbers that have a byte between two are as `kept` says."""
        low = max(0, (start - self._start) // self._size)
        high = min(len(self.raw), -(-(stop - self._start) // self._size))
        if low >= high:
            return True
        own = self.raw[low:high]
        if int(own.min()) < 0 or int(own.max()) >= self.limit:
            return False
        return not self.rising or bool((np.diff(self.raw[max(0, low - 1) : high]) >= 0).all())


def _mapped(path: Path) -> mmap.mmap:
    """A file's content as memory of our own, which arrays need to be of the same type as others; nothing is copied."""
    try:
        with path.open("rb") as file:
            if not hasattr(mmap, "MAP_PRIVATE"):
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            flags = mmap.MAP_PRIVATE | _NO_RESERVE
            return mmap.mmap(file.fileno(), 0, flags=flags, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    except FileNotFoundError:
        raise UserError(f"{path} is missing") from None
    except (OSError, ValueError) as error:  # an empty file cannot be mapped
        raise UserError(f"{path} is not a readable Arrow file: {error}") from None


def _decoded(text: Any) -> np.ndarray:
    try:
        return np.frombuffer(base64.b64decode(text), dtype="<u4")
    except (TypeError, ValueError, binascii.Error):
        return np.zeros(0, dtype="<u4")
