"""Holders of values: which of some entities have one, without gathering all that do.

A comparison may have a million holders where the rest of the question leaves ten entities.
"""

from __future__ import annotations

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.exact.ragged import first_at_least


@compiled
def count_holders(
    group_offsets: np.ndarray,
    group_labels: np.ndarray,
    group_starts: np.ndarray,
    attributes: np.ndarray,
    offsets: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
) -> int:
    """How many facts state a value of a query's attribute in one of its intervals, of all queries together.

    The groups are those of an attribute, by the row of the value.
    """
    count = 0
    for query in range(len(attributes)):
        group, end = group_offsets[attributes[query]], group_offsets[attributes[query] + 1]
        for interval in range(offsets[query], offsets[query + 1]):
            group = first_at_least(group_labels, group, end, lows[interval])
            beyond = first_at_least(group_labels, group, end, highs[interval])
            count += group_starts[beyond] - group_starts[group]
            group = beyond
    return count


@compiled
def keep_holders(
    group_offsets: np.ndarray,
    group_labels: np.ndarray,
    group_starts: np.ndarray,
    rows: np.ndarray,
    entity_offsets: np.ndarray,
    entities: np.ndarray,
    attributes: np.ndarray,
    offsets: np.ndarray,
    lows: np.ndarray,
    highs: np.ndarray,
    keep: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """For each query, those of its entities that have a value of its attribute in one of its intervals, or have none.

    The groups are those of an entity, by the attribute; they lead to rows of the value table.
    """
    queries = len(attributes)
    kept_offsets = np.zeros(queries + 1, dtype=np.int64)
    kept = np.empty(len(entities), dtype=np.int32)
    count = 0
    for query in range(queries):
        first, last = offsets[query], offsets[query + 1]
        for entity in entities[entity_offsets[query] : entity_offsets[query + 1]]:
            end = group_offsets[entity + 1]
            group = first_at_least(group_labels, group_offsets[entity], end, attributes[query])
            holds = False
            if group < end and group_labels[group] == attributes[query]:
                for row in rows[group_starts[group] : group_starts[group + 1]]:
                    interval = first_at_least(highs, first, last, row + 1)  # the first that does not end before the row
                    if interval < last and lows[interval] <= row:
                        holds = True
                        break
            if holds == keep:
                kept[count] = entity
                count += 1
        kept_offsets[query + 1] = count
    return kept_offsets, kept[:count].copy()
