"""Ragged sets: one sorted set per query, end to end in one array, and the compiled kernels that work on them.

Entities are points, ids in rising order. Numbers are intervals of rows of the value table, because a comparison yields
a range: two arrays, from and up to, rising and apart from each other. Kernels use one thread and release the GIL.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numba import njit


@dataclass(frozen=True)
class Ragged:
    """One run of items per query."""

    offsets: np.ndarray  # (queries + 1,) int64
    items: np.ndarray  # (all items,) int32

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, query: int) -> np.ndarray:
        return self.items[self.offsets[query] : self.offsets[query + 1]]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[query] for query in range(len(self)))

    @property
    def counts(self) -> np.ndarray:  # (queries,) int64
        """How many items each query has."""
        return np.diff(self.offsets)

    @staticmethod
    def concatenate(parts: list[Ragged]) -> Ragged:
        """The queries of all parts, one part after the other."""
        if not parts:
            return Ragged(np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32))
        ends = np.cumsum([0] + [len(part.items) for part in parts])
        offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
        return Ragged(np.concatenate([np.zeros(1, dtype=np.int64), *offsets]), np.concatenate([p.items for p in parts]))


Int = int | np.int64  # numba would make an unsigned number of int(np.uint64)

compiled = njit(cache=True, nogil=True, boundscheck=False)


@compiled
def _grown(array: np.ndarray, used: int, needed: Int) -> np.ndarray:
    """`array`, or a copy with room for `needed` items."""
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), dtype=array.dtype)
    larger[:used] = array[:used]
    return larger


@compiled
def _first_at_least(array: np.ndarray, low: int, high: int, key: int) -> int:
    """The first place from `low` on, up to `high`, whose entry is at least `key`."""
    while low < high:
        middle = (low + high) >> 1
        if array[middle] < key:
            low = middle + 1
        else:
            high = middle
    return low


# ------------------------------------------------------------------------------------------------ gathering points
# Runs of targets are united in a bitmap. The words that got a bit are remembered, so that the cost is in proportion to
# what was gathered and not to the size of the graph.


@compiled
def _mark(bitmap: np.ndarray, touched: np.ndarray, num_touched: int, targets: np.ndarray, low: int, high: int) -> int:
    """Set the bits of a run of targets; returns how many words have been touched."""
    for place in range(low, high):
        target = targets[place]
        word = target >> 6
        if bitmap[word] == 0:
            touched[num_touched] = word
            num_touched += 1
        bitmap[word] |= np.uint64(1) << np.uint64(target & 63)
    return num_touched


@compiled
def _bits(word: np.uint64) -> np.int64:
    """How many bits are set."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _unmark(
    bitmap: np.ndarray, touched: np.ndarray, num_touched: int, out: np.ndarray, count: int
) -> tuple[np.ndarray, int]:
    """Append the marked targets to `out` in rising order and clear the bitmap."""
    words = len(bitmap)
    scan = num_touched * 16 > words  # walking all words beats sorting the touched ones
    if not scan:
        touched[:num_touched].sort()
    total = np.int64(0)
    for index in range(num_touched):
        total += _bits(bitmap[touched[index]])
    out = _grown(out, count, count + total)
    for index in range(words if scan else num_touched):
        word = index if scan else touched[index]
        bits = bitmap[word]
        if bits == 0:
            continue
        bitmap[word] = 0
        base = word << 6
        while bits != 0:
            lowest = bits & (~bits + np.uint64(1))
            out[count] = base + _bits(lowest - np.uint64(1))
            count += 1
            bits ^= lowest
    return out, count


@compiled
def project(
    group_offsets: np.ndarray,
    group_labels: np.ndarray,
    group_starts: np.ndarray,
    targets: np.ndarray,
    num_targets: int,
    labels: np.ndarray,
    offsets: np.ndarray,
    items: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """For each query, the targets that its label leads to from its items."""
    queries = len(labels)
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out = np.empty(max(1024, 2 * len(items)), dtype=np.int32)
    words = (num_targets + 63) >> 6
    bitmap = np.zeros(words, dtype=np.uint64)
    touched = np.empty(words, dtype=np.int64)
    count = 0
    for query in range(queries):
        label = labels[query]
        runs = 0
        num_touched = 0
        held_low = 0
        held_high = 0
        for place in range(offsets[query], offsets[query + 1]):
            item = items[place]
            end = group_offsets[item + 1]
            group = _first_at_least(group_labels, group_offsets[item], end, label)
            if group == end or group_labels[group] != label:
                continue
            low, high = group_starts[group], group_starts[group + 1]
            runs += 1
            if runs == 1:  # a single run is sorted as it is
                held_low, held_high = low, high
                continue
            if runs == 2:
                num_touched = _mark(bitmap, touched, num_touched, targets, held_low, held_high)
            num_touched = _mark(bitmap, touched, num_touched, targets, low, high)
        if runs == 1:
            size = held_high - held_low
            out = _grown(out, count, count + size)
            out[count : count + size] = targets[held_low:held_high]
            count += size
        elif runs > 1:
            out, count = _unmark(bitmap, touched, num_touched, out, count)
        out_offsets[query + 1] = count
    return out_offsets, out[:count].copy()


@compiled
def project_intervals(
    group_offsets: np.ndarray,
    group_labels: np.ndarray,
    group_starts: np.ndarray,
    targets: np.ndarray,
    num_targets: int,
    sources: np.ndarray,
    offsets: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """For each query, the targets of its source's groups whose labels lie in its intervals."""
    queries = len(sources)
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out = np.empty(max(1024, 2 * len(lows)), dtype=np.int32)
    words = (num_targets + 63) >> 6
    bitmap = np.zeros(words, dtype=np.uint64)
    touched = np.empty(words, dtype=np.int64)
    count = 0
    for query in range(queries):
        group, end = group_offsets[sources[query]], group_offsets[sources[query] + 1]
        groups = 0
        num_touched = 0
        held_low = 0
        held_high = 0
        for place in range(offsets[query], offsets[query + 1]):
            group = _first_at_least(group_labels, group, end, lows[place])
            beyond = _first_at_least(group_labels, group, end, highs[place])
            if beyond == group:
                continue
            low, high = group_starts[group], group_starts[beyond]
            groups += beyond - group
            group = beyond
            if groups == 1:  # a single group is sorted as it is
                held_low, held_high = low, high
                continue
            if held_high > held_low:
                num_touched = _mark(bitmap, touched, num_touched, targets, held_low, held_high)
                held_high = held_low
            num_touched = _mark(bitmap, touched, num_touched, targets, low, high)
        if groups == 1:
            size = held_high - held_low
            out = _grown(out, count, count + size)
            out[count : count + size] = targets[held_low:held_high]
            count += size
        elif groups > 1:
            out, count = _unmark(bitmap, touched, num_touched, out, count)
        out_offsets[query + 1] = count
    return out_offsets, out[:count].copy()


# ------------------------------------------------------------------------------------------------- sets of points


_MUCH_LARGER = 8


@compiled
def _look_up(
    items: np.ndarray,
    start: int,
    end: int,
    others: np.ndarray,
    low: int,
    high: int,
    keep_absent: bool,
    keep_present: bool,
    out: np.ndarray,
    count: int,
) -> int:
    """Append the items of a small set that a much larger one holds, or does not; each is found by binary search."""
    for place in range(start, end):
        item = items[place]
        low = _first_at_least(others, low, high, item)
        present = low < high and others[low] == item
        if (present and keep_present) or (not present and keep_absent):
            out[count] = item
            count += 1
    return count


@compiled
def combine_points(
    offsets: np.ndarray,
    items: np.ndarray,
    other_offsets: np.ndarray,
    other_items: np.ndarray,
    keep_left: bool,
    keep_both: bool,
    keep_right: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """For each query, what is only in its first set, in both, or only in its second, as the flags say."""
    queries = len(offsets) - 1
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    size = (len(items) if keep_left or keep_both else 0) + (len(other_items) if keep_right else 0)
    out = np.empty(size, dtype=np.int32)
    count = 0
    for query in range(queries):
        left, left_end = offsets[query], offsets[query + 1]
        right, right_end = other_offsets[query], other_offsets[query + 1]
        if not keep_right and (left_end - left) * _MUCH_LARGER < right_end - right:
            count = _look_up(items, left, left_end, other_items, right, right_end, keep_left, keep_both, out, count)
            out_offsets[query + 1] = count
            continue
        if not keep_left and (right_end - right) * _MUCH_LARGER < left_end - left:
            count = _look_up(other_items, right, right_end, items, left, left_end, keep_right, keep_both, out, count)
            out_offsets[query + 1] = count
            continue
        while left < left_end and right < right_end:
            one, other = items[left], other_items[right]
            if one < other:
                if keep_left:
                    out[count] = one
                    count += 1
                left += 1
            elif one > other:
                if keep_right:
                    out[count] = other
                    count += 1
                right += 1
            else:
                if keep_both:
                    out[count] = one
                    count += 1
                left += 1
                right += 1
        if keep_left:
            for place in range(left, left_end):
                out[count] = items[place]
                count += 1
        if keep_right:
            for place in range(right, right_end):
                out[count] = other_items[place]
                count += 1
        out_offsets[query + 1] = count
    return out_offsets, out[:count].copy()


@compiled
def complement_points(offsets: np.ndarray, items: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """For each query, the ids below `size` that its set does not hold."""
    queries = len(offsets) - 1
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out = np.empty(queries * size - len(items), dtype=np.int32)
    count = 0
    for query in range(queries):
        item = 0
        for place in range(offsets[query], offsets[query + 1]):
            while item < items[place]:
                out[count] = item
                count += 1
                item += 1
            item += 1
        while item < size:
            out[count] = item
            count += 1
            item += 1
        out_offsets[query + 1] = count
    return out_offsets, out


# ---------------------------------------------------------------------------------------------- sets of intervals


@compiled
def points_to_intervals(offsets: np.ndarray, items: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same sets as intervals; neighbouring rows join into one."""
    queries = len(offsets) - 1
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    lows = np.empty(len(items), dtype=np.int32)
    highs = np.empty(len(items), dtype=np.int32)
    count = 0
    for query in range(queries):
        start = count
        for place in range(offsets[query], offsets[query + 1]):
            item = items[place]
            if count > start and highs[count - 1] == item:
                highs[count - 1] = item + 1
            else:
                lows[count] = item
                highs[count] = item + 1
                count += 1
        out_offsets[query + 1] = count
    return out_offsets, lows[:count].copy(), highs[:count].copy()


@compiled
def intervals_to_points(
    offsets: np.ndarray, lows: np.ndarray, highs: np.ndarray, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    """The same sets as points, rows from `limit` on left out."""
    queries = len(offsets) - 1
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    total = 0
    for place in range(len(lows)):
        total += max(0, min(highs[place], limit) - lows[place])
    items = np.empty(total, dtype=np.int32)
    count = 0
    for query in range(queries):
        for place in range(offsets[query], offsets[query + 1]):
            for row in range(lows[place], min(highs[place], limit)):
                items[count] = row
                count += 1
        out_offsets[query + 1] = count
    return out_offsets, items


@compiled
def intersect_intervals(
    offsets: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    other_offsets: np.ndarray,
    other_lows: np.ndarray,
    other_highs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each query, the rows that both of its sets hold."""
    queries = len(offsets) - 1
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out_lows = np.empty(len(lows) + len(other_lows), dtype=np.int32)
    out_highs = np.empty(len(lows) + len(other_lows), dtype=np.int32)
    count = 0
    for query in range(queries):
        left, left_end = offsets[query], offsets[query + 1]
        right, right_end = other_offsets[query], other_offsets[query + 1]
        while left < left_end and right < right_end:
            low = max(lows[left], other_lows[right])
            high = min(highs[left], other_highs[right])
            if low < high:
                out_lows[count] = low
                out_highs[count] = high
                count += 1
            if highs[left] < other_highs[right]:
                left += 1
            else:
                right += 1
        out_offsets[query + 1] = count
    return out_offsets, out_lows[:count].copy(), out_highs[:count].copy()


@compiled
def _append_interval(lows: np.ndarray, highs: np.ndarray, start: int, count: int, low: int, high: int) -> int:
    """Append an interval that does not begin before the last one did, joined with it where they touch."""
    if low >= high:
        return count
    if count > start and low <= highs[count - 1]:
        highs[count - 1] = max(highs[count - 1], high)
        return count
    lows[count] = low
    highs[count] = high
    return count + 1


@compiled
def unite_intervals(
    offsets: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    other_offsets: np.ndarray,
    other_lows: np.ndarray,
    other_highs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each query, the rows that either of its sets holds."""
    queries = len(offsets) - 1
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out_lows = np.empty(len(lows) + len(other_lows), dtype=np.int32)
    out_highs = np.empty(len(lows) + len(other_lows), dtype=np.int32)
    count = 0
    for query in range(queries):
        left, left_end = offsets[query], offsets[query + 1]
        right, right_end = other_offsets[query], other_offsets[query + 1]
        start = count
        while left < left_end or right < right_end:
            if right == right_end or (left < left_end and lows[left] <= other_lows[right]):
                count = _append_interval(out_lows, out_highs, start, count, lows[left], highs[left])
                left += 1
            else:
                count = _append_interval(out_lows, out_highs, start, count, other_lows[right], other_highs[right])
                right += 1
        out_offsets[query + 1] = count
    return out_offsets, out_lows[:count].copy(), out_highs[:count].copy()


@compiled
def complement_intervals(
    offsets: np.ndarray, lows: np.ndarray, highs: np.ndarray, unit_starts: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each query, the rows of its units that its set does not hold; a unit of -1 is none."""
    queries, num_units = units.shape
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out_lows = np.empty(num_units * (len(lows) + queries), dtype=np.int32)
    out_highs = np.empty(len(out_lows), dtype=np.int32)
    count = 0
    for query in range(queries):
        start = count
        before = -1
        for unit in np.sort(units[query]):
            if unit == before:
                continue
            before = unit
            row, end = unit_starts[unit], unit_starts[unit + 1]
            for place in range(offsets[query], offsets[query + 1]):
                if highs[place] <= row or lows[place] >= end:
                    continue
                count = _append_interval(out_lows, out_highs, start, count, row, lows[place])
                row = highs[place]
            count = _append_interval(out_lows, out_highs, start, count, row, end)
        out_offsets[query + 1] = count
    return out_offsets, out_lows[:count].copy(), out_highs[:count].copy()
