"""What a report is made of: headings, paragraphs, tables and figures, as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Heading:
    """A title; 1 is that of the whole."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Text:
    """A paragraph. `Code` stands between backquotes."""

    text: str


@dataclass(frozen=True)
class Table:
    """Rows under columns; the first column names the row, and rows in `strong` are ours."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    strong: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Figure:
    """Curves over an axis, or bars for a few names."""

    title: str
    x_label: str
    y_label: str
    curves: Mapping[str, Sequence[tuple[float | str, float]]]
    log_x: bool = False
    diagonal: bool = False  # where both axes are the same shares, a line where they are equal

    @property
    def is_bars(self) -> bool:
        """Whether the axis has names instead of numbers."""
        return any(isinstance(x, str) for points in self.curves.values() for x, _ in points)


Block = Heading | Text | Table | Figure
