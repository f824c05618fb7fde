"""A value table with some numbers more and some less: rows stay sorted, so some of them move."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kgreckon.graph.changes.splicing import Renumbering
from kgreckon.graph.values import ValueTable


def changed_values(
    base: ValueTable, dropped: np.ndarray, added: Mapping[str, np.ndarray]
) -> tuple[ValueTable, Renumbering]:
    """The table without some rows (rising), and with some rising numbers of each unit that it does not hold.

    A unit stays, even where no row of it does.
    """
    if not len(dropped) and not any(map(len, added.values())):
        return base, Renumbering()
    units = tuple(sorted({*base.units, *(unit for unit, own in added.items() if len(own))}))
    moved = np.zeros(len(base), dtype=np.int32)
    parts, start = [], 0
    kept = np.ones(len(base), dtype=bool)
    kept[dropped] = False
    for unit in units:
        rows = base.rows_of(unit) if unit in base.units else slice(0, 0)
        own = np.flatnonzero(kept[rows]) + rows.start
        numbers, new = base.numbers[own], added.get(unit, np.zeros(0))
        moved[own] = start + np.arange(len(own)) + np.searchsorted(new, numbers)
        parts.append(np.insert(numbers, np.searchsorted(numbers, new), new))
        start += len(parts[-1])
    starts = np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
    return ValueTable(units, starts, np.concatenate(parts)), Renumbering(moved)
