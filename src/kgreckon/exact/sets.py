"""Set operations on ragged sets: points for entities, intervals for numbers."""

from __future__ import annotations

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.exact.ragged import first_at_least

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
    for index in range(start, end):
        item = items[index]
        low = first_at_least(others, low, high, item)
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
            for index in range(left, left_end):
                out[count] = items[index]
                count += 1
        if keep_right:
            for index in range(right, right_end):
                out[count] = other_items[index]
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
        for index in range(offsets[query], offsets[query + 1]):
            while item < items[index]:
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
        for index in range(offsets[query], offsets[query + 1]):
            item = items[index]
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
    for index in range(len(lows)):
        total += max(0, min(highs[index], limit) - lows[index])
    items = np.empty(total, dtype=np.int32)
    count = 0
    for query in range(queries):
        for index in range(offsets[query], offsets[query + 1]):
            for row in range(lows[index], min(highs[index], limit)):
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
def append_interval(lows: np.ndarray, highs: np.ndarray, start: int, count: int, low: int, high: int) -> int:
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
                count = append_interval(out_lows, out_highs, start, count, lows[left], highs[left])
                left += 1
            else:
                count = append_interval(out_lows, out_highs, start, count, other_lows[right], other_highs[right])
                right += 1
        out_offsets[query + 1] = count
    return out_offsets, out_lows[:count].copy(), out_highs[:count].copy()


@compiled
def complement_intervals(
    offsets: np.ndarray, lows: np.ndarray, highs: np.ndarray, unit_starts: np.ndarray, units: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each query, the rows of its units that its set does not hold; a unit of -1 means no unit."""
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
            for index in range(offsets[query], offsets[query + 1]):
                if highs[index] <= row or lows[index] >= end:
                    continue
                count = append_interval(out_lows, out_highs, start, count, row, lows[index])
                row = highs[index]
            count = append_interval(out_lows, out_highs, start, count, row, end)
        out_offsets[query + 1] = count
    return out_offsets, out_lows[:count].copy(), out_highs[:count].copy()
