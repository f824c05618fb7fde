"""How reliable probabilities are: of a hundred candidates at 0.7, about seventy should be true."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ReliabilityRow:
    """The candidates of one type of queries whose probability is in one tenth."""

    type: str
    tenth: int  # from 0 for 0.01 to 0.1
    candidates: int
    stated: float  # the mean of the probabilities that are shown
    true: float  # the share that is true

    @property
    def range(self) -> str:
        """The probabilities that the row counts."""
        return f"{max(self.tenth / 10, 0.01):g} to {(self.tenth + 1) / 10:g}"


def expected_error(rows: Sequence[ReliabilityRow]) -> float | None:
    """The expected calibration error: how far stated and true share lie apart in the mean; None of no candidates."""
    total = sum(row.candidates for row in rows)
    return sum(row.candidates * abs(row.stated - row.true) for row in rows) / total if total else None


def of_all_types(rows: Sequence[ReliabilityRow]) -> list[ReliabilityRow]:
    """The candidates of all types together: a row for each tenth."""
    pooled = []
    for tenth in sorted({row.tenth for row in rows}):
        parts = [row for row in rows if row.tenth == tenth]
        count = sum(row.candidates for row in parts)
        stated = sum(row.candidates * row.stated for row in parts) / count
        true = sum(row.candidates * row.true for row in parts) / count
        pooled.append(ReliabilityRow("all", tenth, count, stated, true))
    return pooled
