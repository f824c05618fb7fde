"""Tables for the terminal. Results go to stdout, everything else to stderr."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgreckon.graph.literals import is_calendar, write_date

_ANY_WIDTH = 100_000
_LEFT = (
    "relation",
    "attribute",
    "unit",
    "answer",
    "name",
    "value",
    "graph",
    "answers",
    "specific type",
    "run",
    "queries of",
)


def console() -> Console:
    """The console for results; a pipe gets tables of any width, unbroken."""
    out = Console(highlight=False, emoji=False)  # `:100:` is a line number or part of a name, not a picture
    return out if out.is_terminal else Console(highlight=False, emoji=False, width=_ANY_WIDTH)


def notes() -> Console:
    """The console for progress and remarks."""
    return Console(stderr=True, highlight=False, emoji=False)


def print_table(out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table under its title."""
    out.print(Text(title), style="bold", soft_wrap=True)
    out.print(table(columns, rows))


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A table; numbers stand to the right with thousands set off, and text as it is, whatever it looks like."""
    result = Table(header_style="bold")
    for column in columns:
        result.add_column(column, justify="left" if column in _LEFT else "right", overflow="fold")
    for row in rows:
        result.add_row(*(Text(cell if isinstance(cell, str) else _figure(cell)) for cell in row))
    return result


def _figure(cell: object) -> str:
    if cell is None:
        return "-"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return measured(cell, "")
    return str(cell)


def measured(number: float, unit: str) -> str:
    """A number for people: dates as dates, large numbers with their thousands set off."""
    if is_calendar(unit):
        return write_date(number)
    if unit == "years":
        return f"{number:g}" if number.is_integer() else f"{number:.2f}"
    if number.is_integer() and abs(number) < 1e15:
        return f"{int(number):,}"
    return f"{number:,.6g}" if abs(number) < 1e6 else f"{number:,.1f}"
