"""Computed comparisons: `x ⋈ a·y + b` over the sorted value table, as ranges of rows found by binary search."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.exact.ragged import first_at_least, grown
from kgreckon.exact.sets import append_interval
from kgreckon.graph import ValueTable
from kgreckon.query import Comparison, Number, Order

_CODES = {order: code for code, order in enumerate(Order)}
_EQUAL, _LESS, _GREATER, _AT_MOST, _AT_LEAST, _UNEQUAL = (
    _CODES[order] for order in (Order.EQUAL, Order.LESS, Order.GREATER, Order.AT_MOST, Order.AT_LEAST, Order.UNEQUAL)
)


def comparison_table(comparisons: tuple[Comparison, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Order, factor, offset and tolerance of some comparisons, as columns."""
    return (
        np.array([_CODES[comparison.order] for comparison in comparisons], dtype=np.int64),
        np.array([comparison.factor for comparison in comparisons], dtype=np.float64),
        np.array([comparison.offset for comparison in comparisons], dtype=np.float64),
        np.array([comparison.tolerance for comparison in comparisons], dtype=np.float64),
    )


@compiled
def _first_above(numbers: np.ndarray, low: int, high: int, bound: float, or_equal: bool) -> int:
    """The first row whose number is above `bound`, or at least equal to it."""
    while low < high:
        middle = (low + high) >> 1
        if numbers[middle] > bound or (or_equal and numbers[middle] == bound):
            high = middle
        else:
            low = middle + 1
    return low


@compiled
def equal_within(x: float, z: float, tolerance: float) -> bool:
    """Whether x equals z within a share of both, as `Comparison.holds` has it."""
    if tolerance == 0.0:
        return x == z
    return abs(x - z) < tolerance * abs(x) and abs(x - z) < tolerance * abs(z)


@compiled
def holds(x: float, y: float, order: int, factor: float, addend: float, tolerance: float) -> bool:
    """Whether x stands in a comparison to y, as `Comparison.holds` has it."""
    z = factor * y + addend
    if order == _LESS:
        return x < z
    if order == _GREATER:
        return x > z
    if order == _AT_MOST:
        return x <= z
    if order == _AT_LEAST:
        return x >= z
    return equal_within(x, z, tolerance) == (order == _EQUAL)


@compiled
def _equal_range(numbers: np.ndarray, low: int, high: int, z: float, tolerance: float) -> tuple[int, int]:
    """The rows equal to `z`: the predicate itself is bisected on either side of z, so that rounding cannot disagree."""
    middle = _first_above(numbers, low, high, z, True)
    left, right = low, middle
    while left < right:
        at = (left + right) >> 1
        if equal_within(numbers[at], z, tolerance):
            right = at
        else:
            left = at + 1
    begin = left
    left, right = middle, high
    while left < right:
        at = (left + right) >> 1
        if equal_within(numbers[at], z, tolerance):
            left = at + 1
        else:
            right = at
    return begin, left


@compiled
def _sort_and_join(lows: np.ndarray, highs: np.ndarray, start: int, end: int) -> int:
    """Sort the intervals from `start` to `end` and join those that touch; returns the new end."""
    order = np.argsort(lows[start:end])
    sorted_lows = lows[start:end][order]
    sorted_highs = highs[start:end][order]
    count = start
    for index in range(len(order)):
        count = append_interval(lows, highs, start, count, sorted_lows[index], sorted_highs[index])
    return count


@compiled
def _unit_of(row: int, unit_starts: np.ndarray) -> int:
    """The unit that a row of the table belongs to."""
    return first_at_least(unit_starts, 0, len(unit_starts), row + 1) - 1


@compiled
def _number_at(row: int, numbers: np.ndarray, literals: np.ndarray) -> float:
    """The number in a row of the table, or beyond it the literal."""
    return numbers[row] if row < len(numbers) else literals[row - len(numbers)]


@compiled
def compare_intervals(
    numbers: np.ndarray,
    unit_starts: np.ndarray,
    literals: np.ndarray,
    literal_units: np.ndarray,
    orders: np.ndarray,
    factors: np.ndarray,
    addends: np.ndarray,
    tolerances: np.ndarray,
    comparisons: np.ndarray,
    offsets: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each query, the rows that stand in its comparison to some number of its set.

    After the rows of the table come the literals of the batch.
    """
    num_rows = len(numbers)
    queries = len(comparisons)
    out_offsets = np.zeros(queries + 1, dtype=np.int64)
    out_lows = np.empty(max(64, 2 * queries), dtype=np.int32)
    out_highs = np.empty(len(out_lows), dtype=np.int32)
    count = 0
    for query in range(queries):
        which = comparisons[query]
        order, factor, addend, tolerance = orders[which], factors[which], addends[which], tolerances[which]
        start = count
        for index in range(offsets[query], offsets[query + 1]):
            row = lows[index]
            while row < highs[index]:
                # The part of the interval within one unit; a literal stands alone.
                unit = _unit_of(row, unit_starts) if row < num_rows else literal_units[row - num_rows]
                end = min(highs[index], unit_starts[unit + 1]) if row < num_rows else row + 1
                if unit < 0:  # a literal in a unit that the table does not hold
                    row = end
                    continue
                low, high = unit_starts[unit], unit_starts[unit + 1]
                if order in (_EQUAL, _UNEQUAL):
                    needed = count + 2 * (end - row)
                    out_lows = grown(out_lows, count, needed)
                    out_highs = grown(out_highs, count, needed)
                    for value in range(row, end):
                        z = factor * _number_at(value, numbers, literals) + addend
                        begin, beyond = _equal_range(numbers, low, high, z, tolerance)
                        if order == _EQUAL:
                            if begin < beyond:
                                out_lows[count] = begin
                                out_highs[count] = beyond
                                count += 1
                        else:
                            out_lows[count] = low
                            out_highs[count] = begin
                            out_lows[count + 1] = beyond
                            out_highs[count + 1] = high
                            count += 2
                else:
                    # a·y + b is monotone in y: the loosest bound comes from one end of the interval.
                    downward = order in (_LESS, _AT_MOST)
                    value = end - 1 if (factor >= 0.0) == downward else row
                    z = factor * _number_at(value, numbers, literals) + addend
                    split = _first_above(numbers, low, high, z, order in (_LESS, _AT_LEAST))
                    out_lows = grown(out_lows, count, count + 1)
                    out_highs = grown(out_highs, count, count + 1)
                    out_lows[count] = low if downward else split
                    out_highs[count] = split if downward else high
                    count += 1
                row = end
        if count > start:
            count = _sort_and_join(out_lows, out_highs, start, count)
        out_offsets[query + 1] = count
    return out_offsets, out_lows[:count].copy(), out_highs[:count].copy()


@compiled
def ranges_of(
    numbers: np.ndarray, among: np.ndarray, order: int, factor: float, addend: float, tolerance: float
) -> tuple[np.ndarray, np.ndarray]:
    """For each y of some numbers, the range of places of the x, among sorted numbers, that stand in the relation to it.

    For `!=`, which is not a range, the range that is excluded.
    """
    lows = np.empty(len(numbers), dtype=np.int64)
    highs = np.empty(len(numbers), dtype=np.int64)
    for index in range(len(numbers)):
        z = factor * numbers[index] + addend
        if order in (_EQUAL, _UNEQUAL):
            lows[index], highs[index] = _equal_range(among, 0, len(among), z, tolerance)
        else:
            split = _first_above(among, 0, len(among), z, order in (_LESS, _AT_LEAST))
            downward = order in (_LESS, _AT_MOST)
            lows[index] = 0 if downward else split
            highs[index] = split if downward else len(among)
    return lows, highs


def compared_ranges(values: ValueTable, comparison: Comparison, literals: Sequence[Number]) -> np.ndarray:  # (n, 3)
    """The row y, or beyond the table the literal, with the first and the last row (exclusive) of its x, if any."""
    columns = [column[0] for column in comparison_table((comparison,))]
    parts = []
    for unit, name in enumerate(values.units):
        low, high = int(values.unit_starts[unit]), int(values.unit_starts[unit + 1])
        same_unit = [index for index, literal in enumerate(literals) if literal.unit == name]
        ids = np.concatenate([np.arange(low, high), len(values) + np.array(same_unit, dtype=np.int64)])
        numbers = np.concatenate([values.numbers[low:high], [literals[index].value for index in same_unit]])
        lows, highs = ranges_of(numbers, np.ascontiguousarray(values.numbers[low:high]), *columns)
        if comparison.order is Order.UNEQUAL:
            parts.append(np.stack([ids, np.full(len(ids), low), low + lows], axis=1))
            parts.append(np.stack([ids, low + highs, np.full(len(ids), high)], axis=1))
        else:
            parts.append(np.stack([ids, low + lows, low + highs], axis=1))
    ranges = np.concatenate(parts) if parts else np.zeros((0, 3), dtype=np.int64)
    return ranges[ranges[:, 1] < ranges[:, 2]]
