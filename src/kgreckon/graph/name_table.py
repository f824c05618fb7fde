"""Names and their ids, in the order in which they first appear: a hash table over one run of bytes.

Millions of names take little more room than their text, and the names in a block of a file get their ids in compiled
code.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from kgreckon.compiling import compiled

_START, _FACTOR, _MIXED = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3), np.uint64(32)
_AT_ONCE = 256
_LAST_ID = np.iinfo(np.int32).max


class NameTable:
    """Distinct names; a name's place is its id."""

    def __init__(self) -> None:
        self._count = 0
        self._bytes = np.empty(1 << 12, dtype=np.uint8)  # all names, end to end
        self._starts = np.zeros(1 << 8, dtype=np.int64)
        self._hashes = np.empty(1 << 8, dtype=np.uint64)
        self._slots = np.full(1 << 9, -1, dtype=np.int32)  # a power of two, at most half of them taken
        self._met: dict[str, int] = {}  # those that came one by one

    def __len__(self) -> int:
        return self._count

    def add(self, name: str) -> int:
        """The id of a name, which may be new."""
        place = self._met.get(name)
        if place is None:
            place = self._met[name] = int(self._one(name, add=True))
        return place

    def met(self, name: str) -> int | None:
        """The id of a name that was added by itself, or None."""
        return self._met.get(name)

    def find_all(self, names: pa.Array) -> np.ndarray:  # (names,) int32
        """The ids of some names, -1 where one has none."""
        names = names.cast(pa.large_string())
        if not len(names):
            return np.zeros(0, dtype=np.int32)
        _, offsets, data = names.buffers()
        ends = np.frombuffer(offsets, dtype=np.int64)[names.offset : names.offset + len(names) + 1]
        content = np.zeros(0, dtype=np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
        return self.add_all(content, ends[:-1], ends[1:], add=False)

    def find(self, name: str) -> int | None:
        """The id of a name, or None where it has none."""
        place = self._met.get(name)
        if place is None:
            place = int(self._one(name, add=False))
        return None if place < 0 else place

    def _one(self, name: str, add: bool) -> int:
        content = np.frombuffer(name.encode(), dtype=np.uint8)
        ends = np.array([len(content)], dtype=np.int64)
        return int(self.add_all(content, np.zeros(1, dtype=np.int64), ends, add)[0])

    def add_all(self, content: np.ndarray, starts: np.ndarray, ends: np.ndarray, add: bool = True) -> np.ndarray:
        """The ids of the names that stand at some places in a run of bytes, in that order; -1 of those not added."""
        if add:
            self._make_room(len(starts), int((ends - starts).sum()))
        ids, self._count = _ids_of(
            content, starts, ends, add, self._bytes, self._starts, self._hashes, self._slots, self._count
        )
        return ids

    def _make_room(self, names: int, size: int) -> None:
        used, needed = int(self._starts[self._count]), self._count + names
        if needed > _LAST_ID:
            needed = _LAST_ID
        if used + size > len(self._bytes):
            self._bytes = _longer(self._bytes, used, used + size)
        if needed + 1 > len(self._starts):
            self._starts = _longer(self._starts, self._count + 1, needed + 1)
            self._hashes = _longer(self._hashes, self._count, needed + 1)
        if 2 * needed > len(self._slots):
            slots = np.full(1 << int(2 * needed).bit_length(), -1, dtype=np.int32)
            _fill(slots, self._hashes, self._count)
            self._slots = slots

    def text(self, place: int) -> str:
        """The name of an id."""
        return bytes(self._bytes[self._starts[place] : self._starts[place + 1]]).decode()

    def texts(self, places: np.ndarray) -> pa.Array:
        """The names of some ids, as a column."""
        used = int(self._starts[self._count])
        buffers = [None, pa.py_buffer(self._starts[: self._count + 1]), pa.py_buffer(self._bytes[:used])]
        every = pa.Array.from_buffers(pa.large_string(), self._count, buffers)
        chosen = every if len(places) == self._count else every.take(pa.array(places))
        return chosen if chosen.nbytes >= 1 << 31 else chosen.cast(pa.string())


def _longer(array: np.ndarray, used: int, needed: int) -> np.ndarray:
    longer = np.empty(max(needed, len(array) + (len(array) >> 1)), dtype=array.dtype)
    longer[:used] = array[:used]
    return longer


@compiled
def _slot_of(hashed: np.uint64, slots: np.ndarray) -> np.int64:
    return np.int64((hashed ^ (hashed >> _MIXED)) & np.uint64(len(slots) - 1))


@compiled
def _fill(slots: np.ndarray, hashes: np.ndarray, count: int) -> None:
    for place in range(count):
        slot = _slot_of(hashes[place], slots)
        while slots[slot] >= 0:
            slot = (slot + 1) & (len(slots) - 1)
        slots[slot] = place


@compiled
def _is_at(
    place: int, content: np.ndarray, low: int, size: int, hashed: np.uint64, table: tuple[np.ndarray, ...]
) -> bool:
    known, starts, hashes = table
    start = starts[place]
    if hashes[place] != hashed or starts[place + 1] - start != size:
        return False
    for at in range(size):  # noqa: SIM110  # a loop is what compiles
        if known[start + at] != content[low + at]:
            return False
    return True


@compiled
def _ids_of(
    content: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    add: bool,
    known: np.ndarray,
    starts: np.ndarray,
    hashes: np.ndarray,
    slots: np.ndarray,
    count: int,
) -> tuple[np.ndarray, int]:
    ids = np.empty(len(lows), dtype=np.int32)
    table = (known, starts, hashes)
    hashed, places = np.empty(_AT_ONCE, dtype=np.uint64), np.empty(_AT_ONCE, dtype=np.int64)
    for first in range(0, len(lows), _AT_ONCE):
        some = min(_AT_ONCE, len(lows) - first)
        for index in range(some):
            value = _START
            for at in range(lows[first + index], highs[first + index]):
                value = (value ^ np.uint64(content[at])) * _FACTOR
            hashed[index] = value
        # What a name is compared with lies far apart in memory: loads that do not wait for each other take a third of
        # the time.
        for index in range(some):
            places[index] = slots[_slot_of(hashed[index], slots)]
        touched = np.int64(0)
        for index in range(some):
            if places[index] >= 0:
                touched += starts[places[index]] + np.int64(hashes[places[index]])
        for index in range(some):
            if places[index] >= 0:
                touched += known[starts[places[index]]]
        ids[first] = touched  # overwritten below; else nothing would be loaded
        for index in range(some):
            low = lows[first + index]
            size = highs[first + index] - low
            slot = _slot_of(hashed[index], slots)
            place = slots[slot]
            while place >= 0 and not _is_at(place, content, low, size, hashed[index], table):
                slot = (slot + 1) & (len(slots) - 1)
                place = slots[slot]
            if place < 0 and add:
                place = count
                start = starts[count]
                for at in range(size):
                    known[start + at] = content[low + at]
                starts[count + 1] = start + size
                hashes[count] = hashed[index]
                slots[slot] = count
                count += 1
            ids[first + index] = place
    return ids, count
