"""Projections: from a set along edges to the set of all they lead to.

Runs of targets are united in a bitmap. The words that got a bit are remembered, so that the cost is in proportion to
what was gathered and not to the size of the graph.
"""

from __future__ import annotations

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.exact.ragged import first_at_least, grown


@compiled
def _mark(bitmap: np.ndarray, touched: np.ndarray, num_touched: int, targets: np.ndarray, low: int, high: int) -> int:
    """Set the bits of a run of targets; returns how many words have been touched."""
    for index in range(low, high):
        target = targets[index]
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
    out = grown(out, count, count + total)
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
        for index in range(offsets[query], offsets[query + 1]):
            item = items[index]
            end = group_offsets[item + 1]
            group = first_at_least(group_labels, group_offsets[item], end, label)
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
            out = grown(out, count, count + size)
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
        for index in range(offsets[query], offsets[query + 1]):
            group = first_at_least(group_labels, group, end, lows[index])
            beyond = first_at_least(group_labels, group, end, highs[index])
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
            out = grown(out, count, count + size)
            out[count : count + size] = targets[held_low:held_high]
            count += size
        elif groups > 1:
            out, count = _unmark(bitmap, touched, num_touched, out, count)
        out_offsets[query + 1] = count
    return out_offsets, out[:count].copy()
