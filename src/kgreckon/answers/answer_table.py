"""Answers as a table: one form in Python, one in JSON, printed as text or HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from kgreckon.answers.reason import Reason
from kgreckon.models.interface import ScoreMeaning

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Answer:
    """One answer: an entity, or a number with its unit."""

    name: str
    label: str
    score: float  # what it means is the model's calibration
    observed: bool  # the graph proves it; else it is inferred
    value: float | None = None  # of a number
    unit: str | None = None
    text: str | None = None  # the number without its unit, a date as a date
    reason: Reason | None = None


@dataclass(frozen=True)
class Estimate:
    """Where an inferred number is likely to be."""

    value: float
    low: float
    high: float
    unit: str
    expected: float  # how many such numbers to expect; below 1, the probability that there is one
    coverage: float


@dataclass(frozen=True, repr=False)
class Answers:
    """A question with its best answers."""

    query: str  # in the paper's notation
    words: str
    type: str
    specific_type: str
    calibration: ScoreMeaning
    observed: int  # how many answers the graph proves
    answers: tuple[Answer, ...]
    estimate: Estimate | None = None  # of the numbers that are not observed

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, index: int) -> Answer:
        return self.answers[index]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each answer (needs pandas)."""
        import pandas

        columns = ["name", "label", *(["value", "unit"] if self._of_numbers else []), "score", "observed"]
        return pandas.DataFrame([{name: getattr(answer, name) for name in columns} for answer in self], columns=columns)

    @property
    def _of_numbers(self) -> bool:
        return any(answer.value is not None for answer in self)

    def _rows(self) -> tuple[list[str], list[list[str]]]:
        if self.calibration is ScoreMeaning.CERTAIN:
            return ["answer"], [[answer.label] for answer in self]
        rows = [[a.label, f"{a.score:.4f}", "observed" if a.observed else "inferred"] for a in self]
        return ["answer", self.calibration.value, "known"], rows

    def __repr__(self) -> str:
        columns, rows = self._rows()
        widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
        lines = [self.words, f"{self.observed:,} proved, {len(self):,} shown"]
        for row in (columns, *rows):
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        columns, rows = self._rows()
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        caption = escape(f"{self.words}: {self.observed:,} proved, {len(self):,} shown")
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
