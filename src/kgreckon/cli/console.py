"""Tables for the terminal. Results go to stdout, everything else to stderr."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from kgreckon.errors import visible
from kgreckon.graph.literals import measured
from kgreckon.processes import number_of_this
from kgreckon.query.datatypes import is_said

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
    "setting",
    "default",
    "type or choices",
    "what it does",
    "column",
    "becomes",
    "examples",
    "why",
    "thing",
)


class _Console(Console):
    """A console whose text is text: what a name holds neither marks it up nor commands the terminal."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, emoji=False, markup=False, **options)  # `:100:` and `[red]` are in names

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """As usual, with control characters by their codes."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


def console() -> Console:
    """The console for results; a pipe gets tables of any width, unbroken."""
    out = _Console()
    return out if out.is_terminal else _Console(width=_ANY_WIDTH)


def notes(tables: bool = False) -> Console:
    """The console for progress and remarks, and for tables among them."""
    others = number_of_this() > 0  # which leave it to the first of several processes
    out = _Console(stderr=True, quiet=others)
    return out if out.is_terminal or not tables else _Console(stderr=True, width=_ANY_WIDTH, quiet=others)


def print_table(
    out: Console, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], left: Sequence[str] = ()
) -> None:
    """Print a table under its title."""
    out.print(Text(title), style="bold", soft_wrap=True)
    out.print(table(columns, rows, left))


def print_numbers(out: Console, title: str, beside: Sequence[str], rows: Sequence[tuple[str | None, ...]]) -> None:
    """Print a table of numbers, which end with their unit: a column of its own where one of them says something."""
    if not any(is_said(row[-1]) for row in rows):
        print_table(out, title, (*beside, "value"), [row[:-1] for row in rows], beside[:1])
        return
    shown = [(*row[:-1], row[-1] if is_said(row[-1]) else "") for row in rows]
    print_table(out, title, (*beside, "value", "unit"), shown, beside[:1])


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], left: Sequence[str] = ()) -> Table:
    """A table; columns stand to the right but for those of text, `left` among them; numbers with thousands set off."""
    result = Table(header_style="bold")
    for column in columns:
        result.add_column(column, justify="left" if column in _LEFT or column in left else "right", overflow="fold")
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
