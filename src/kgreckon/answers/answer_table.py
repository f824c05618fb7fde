"""Answers as a table: one form in Python, one in JSON, printed as text or HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from kgreckon.answers.answer_columns import Cell, Column
from kgreckon.answers.reason import Reason
from kgreckon.answers.totals import Total
from kgreckon.errors import naming_extras
from kgreckon.graph.literals import exactly_with_unit
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query.words.inflection import ordinal

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
    values: tuple[Cell | None, ...] = ()  # what stands in each of the columns of the answers

    def __str__(self) -> str:
        if self.value is None or self.unit is None:
            return self.label
        return exactly_with_unit(self.value, self.unit)


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
    columns: tuple[Column, ...] = ()  # the values that the question speaks of
    total: Total | None = None  # where one number about all answers is asked for
    unlikely: int = 0  # inferred answers that are left out: their probability is not above `above`
    above: float = 0.0
    unordered: int = 0  # answers that are left out: no value to sort them by is stated
    unplaced: int = 0  # proved answers that are left out: no place is stated to measure a distance from
    rests_on_absence: bool = False  # whether what is not stated counts as false in the question
    within: tuple[str, ...] = ()  # what questions within the question were answered with, from what is stated
    stated_otherwise: bool = False  # whether a `not` about a number asks for another one that is stated
    among: int = 0  # of how many with the largest or smallest values the probability is to be one
    skipped: int = 0  # and how many come before those
    count: int = 0  # how many answers there are, those that are not shown with them

    def __len__(self) -> int:
        return len(self.answers)

    def __iter__(self) -> Iterator[Answer]:
        return iter(self.answers)

    def __getitem__(self, index: int) -> Answer:
        return self.answers[index]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)

    @naming_extras()
    def to_pandas(self) -> pandas.DataFrame:
        """A frame with a row for each answer and a column for each value that the question speaks of (needs pandas)."""
        import pandas

        return pandas.DataFrame(self.rows(), columns=self.headers())

    def headers(self) -> list[str]:
        """The names of the columns of `rows`."""
        numbers, columns = ["value", "unit"] if self._of_numbers else [], []
        for column, inferred in zip(self.columns, self._inferred(), strict=True):
            header = column.header if column.header not in columns else f"{column.header} ({column.name})"
            columns += [header, f"{header} low", f"{header} high"] if inferred else [header]
        return ["name", "label", *numbers, *columns, "score", "observed"]

    def rows(self) -> Iterator[list[object]]:
        """A row for each answer: its name and label, the values that the question speaks of, and how it is known."""
        inferred, of_numbers = self._inferred(), self._of_numbers
        for answer in self:
            numbers: list[object] = [answer.value, answer.unit] if of_numbers else []
            cells: list[object] = []
            for cell, has_interval in zip(answer.values, inferred, strict=True):
                cells.append(None if cell is None else cell.datum)
                cells += ([None, None] if cell is None else [cell.low, cell.high]) if has_interval else []
            yield [answer.name, answer.label, *numbers, *cells, answer.score, answer.observed]

    def _inferred(self) -> list[bool]:
        """Of each column whether it holds values that a model predicts, which have an interval."""
        cells = ((answer.values[place] for answer in self) for place in range(len(self.columns)))
        return [any(cell is not None and not cell.observed for cell in column) for column in cells]

    @property
    def _of_numbers(self) -> bool:
        return any(answer.value is not None for answer in self)

    @property
    def summary(self) -> str:
        """How many answers there are, and how sure they are: nothing is proved that rests on what is not stated."""
        word = "found" if self.rests_on_absence else "proved"
        return f"{self.observed:,} {word}, {len(self):,} shown"

    def notes(self) -> list[str]:
        """What a reader of the answers should know: how a `not` was read, and what is left out."""
        notes = list(self.within)
        if self.rests_on_absence:
            notes.append("'not' is read as 'not stated': what the graph does not state counts as false")
        if self.stated_otherwise:
            notes.append("'not' about a number is read as 'stated otherwise': what has no stated value is no answer")
        if self.among:
            place = ordinal(self.skipped + 1) if self.skipped else "first"
            them = f"one of the first {self.among}" if self.among > 1 else f"the {place}"
            notes.append(f"the probability is that of being {them}, with what is inferred")
        if self.unordered:
            them = "answer has" if self.unordered == 1 else "answers have"
            notes.append(f"{self.unordered:,} more {them} no stated {self.columns[0].label} to sort by")
        if self.unplaced:
            them = "thing that was asked about has" if self.unplaced == 1 else "things that were asked about have"
            notes.append(f"{self.unplaced:,} {them} no stated latitude and longitude")
        if self.unlikely:
            them = "inferred answer" if self.unlikely == 1 else "inferred answers"
            notes.append(f"{self.unlikely:,} more {them} with a probability of at most {self.above:g}: left out")
        return notes

    def texts(self, answer: Answer) -> list[str | None]:
        """What stands in the columns beside an answer, for people."""
        cells = zip(self.columns, answer.values, strict=True)
        return [None if cell is None else cell.shown(column.unit or "") for column, cell in cells]

    def _texts(self) -> tuple[list[str], list[list[str]]]:
        columns = [column.header for column in self.columns]
        rows = [[str(answer), *(text or "" for text in self.texts(answer))] for answer in self]
        if self.calibration is ScoreMeaning.CERTAIN:
            return ["answer", *columns], rows
        for answer, row in zip(self, rows, strict=True):
            row += [f"{answer.score:.4f}", "observed" if answer.observed else "inferred"]
        return ["answer", *columns, self.calibration.value, "known"], rows

    def __repr__(self) -> str:
        if self.total is not None:
            return f"{self.words}: {self.total}"
        columns, rows = self._texts()
        widths = [max(len(cell) for cell in column) for column in zip(columns, *rows, strict=True)]
        lines = [self.words, self.summary]
        for row in (columns, *rows):
            lines.append("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
        return "\n".join(lines + self.notes())

    def _repr_html_(self) -> str:
        columns, rows = self._texts()
        head = "".join(f"<th>{escape(column)}</th>" for column in columns)
        body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
        if self.total is not None:
            return f"<p>{escape(repr(self))}</p>"
        caption = escape(". ".join([f"{self.words}: {self.summary}", *self.notes()]))
        return f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
