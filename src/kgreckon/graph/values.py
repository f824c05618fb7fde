"""The value table: every number of a graph, by unit and then by value, so that a comparison is a range of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True)
class ValueTable:
    """The numbers of a graph; a row number is a value's id. A missing value is absent, never zero."""

    units: tuple[str, ...]  # in alphabetical order
    unit_starts: np.ndarray  # (units + 1,) int64: the rows of unit u are unit_starts[u] to unit_starts[u + 1]
    numbers: np.ndarray  # (rows,) float64, ascending within each unit

    def __len__(self) -> int:
        return int(self.unit_starts[-1])

    def __repr__(self) -> str:
        return f"{len(self):,} distinct values in {len(self.units)} units: {', '.join(map(repr, self.units))}"

    @cached_property
    def unit_ids(self) -> np.ndarray:  # (rows,) int32
        """The unit of each row."""
        return np.repeat(np.arange(len(self.units), dtype=np.int32), np.diff(self.unit_starts))

    def unit_id(self, unit: str) -> int | None:
        """The place of `unit` among the units, or None."""
        return self.units.index(unit) if unit in self.units else None

    def rows_of(self, unit: str) -> slice:
        """The rows that hold values of `unit`."""
        unit_id = self.units.index(unit)
        return slice(int(self.unit_starts[unit_id]), int(self.unit_starts[unit_id + 1]))

    def row_of(self, value: float, unit: str) -> int | None:
        """The row of a number, or None where the table does not hold it."""
        if unit not in self.units:
            return None
        rows = self.rows_of(unit)
        row = rows.start + int(np.searchsorted(self.numbers[rows], value))
        return row if row < rows.stop and self.numbers[row] == value else None

    def number_at(self, row: int) -> tuple[float, str]:
        """The number and the unit in a row."""
        unit_id = int(np.searchsorted(self.unit_starts, row, side="right")) - 1
        return float(self.numbers[row]), self.units[unit_id]

    @staticmethod
    def from_numbers(
        numbers: np.ndarray, unit_ids: np.ndarray, units: tuple[str, ...]
    ) -> tuple[ValueTable, np.ndarray]:
        """The table of some numbers, and the row that each of them got; `unit_ids` count in `units`."""
        names = sorted({units[unit_id] for unit_id in np.unique(unit_ids)})
        rank = np.array([names.index(unit) if unit in names else -1 for unit in units], dtype=np.int64)
        ranks = rank[unit_ids] if len(units) else np.zeros(0, dtype=np.int64)
        order = np.lexsort((numbers, ranks))
        sorted_ranks, sorted_numbers = ranks[order], numbers[order]
        first = np.ones(len(order), dtype=bool)
        # Compared, not subtracted: a difference may overflow.
        first[1:] = (sorted_ranks[1:] != sorted_ranks[:-1]) | (sorted_numbers[1:] != sorted_numbers[:-1])
        rows = np.empty(len(order), dtype=np.int32)
        rows[order] = np.cumsum(first) - 1
        starts = np.searchsorted(sorted_ranks[first], np.arange(len(names) + 1))
        return ValueTable(tuple(names), starts.astype(np.int64), sorted_numbers[first]), rows
