"""Results of SPARQL as tables, and a bar while triples are loaded."""

from __future__ import annotations

import csv
import sys
import time
from typing import TextIO

from rich import progress
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kgreckon.answers import SparqlAnswers
from kgreckon.cli.bars import Bars
from kgreckon.cli.console import notes
from kgreckon.engine.rdf_terms import XSD, Term
from kgreckon.engine.serializing import serialized
from kgreckon.errors import UserError

_SHORT = 0.3  # seconds that nobody needs a bar for
_RIGHT = tuple(f"{XSD}{kind}" for kind in ("double", "float", "decimal", "integer"))


def print_sparql(found: SparqlAnswers, out: Console) -> None:
    """A table, a truth value, or triples in Turtle, with a line that says that they are stated."""
    if found.result.form == "triples":
        sys.stdout.write(serialized(found.result, "text/turtle"))
        _print_notes(found, notes())
        return
    if found.result.form == "table" and len(found):
        out.print(_table(found))
    elif found.truth is not None:
        out.print(Text(found.summary()), style="bold")
    _print_notes(found, out)


def print_sparql_csv(found: SparqlAnswers, out: TextIO) -> None:
    """The rows as comma-separated values, with the score of each where something is inferred; or yes or no."""
    if found.result.form == "triples":
        raise UserError("the query gives triples, which are no table: ask without --csv")
    rows = csv.writer(out, lineterminator="\n")
    if found.truth is not None:
        rows.writerows([["answer"], [str(found.truth).lower()]])
        return
    beside = bool(found.known) and not {"score", "observed"} & set(found.variables)
    rows.writerow([*found.variables, *(["score", "observed"] * beside)])
    known = [[one.score, one.observed] for one in found.known] if beside else [[] for _ in found]
    rows.writerows([*row, *last] for row, last in zip(found.cells(), known, strict=True))


def _print_notes(found: SparqlAnswers, out: Console) -> None:
    summary = "as stated" if found.truth is not None else f"{found.summary()} of what is stated"
    said = found.summary() if found.inferred else f"{summary}; nothing is inferred"
    out.print(Text(said), style="dim", soft_wrap=True)
    if not found.complete:
        out.print(Text("there are more: --limit shows them"), style="dim", soft_wrap=True)
    for line in found.unknown:
        out.print(Text(line), style="yellow", soft_wrap=True)


def _table(found: SparqlAnswers) -> Table:
    table = Table(header_style="bold")
    for place, name in enumerate(found.variables):
        numbers = any(_is_number(row[place]) for row in found)
        table.add_column(Text(name), justify="right" if numbers else "left", overflow="fold")
    if not found.known or {"score", "observed"} & set(found.variables):
        for row in found.cells():
            table.add_row(*map(Text, row))
        return table
    table.add_column("score", justify="right")
    table.add_column("known")
    for row, known in zip(found.cells(), found.known, strict=True):
        table.add_row(*map(Text, row), f"{known.score:.4f}", "observed" if known.observed else "inferred")
    return table


def _is_number(term: Term | None) -> bool:
    return term is not None and term.datatype in _RIGHT


class LoadingBar(Bars):
    """A bar on stderr for triples that are loaded, if that takes a while."""

    def __init__(self) -> None:
        columns = progress.BarColumn(), progress.MofNCompleteColumn(), progress.TimeRemainingColumn()
        super().__init__(progress.TextColumn("{task.description}"), *columns)
        self._start = time.monotonic()

    def __call__(self, given: int, count: int) -> None:
        """The bar moves."""
        if self._bars.tasks:
            self._bars.update(self._bars.tasks[0].id, completed=given)
        elif time.monotonic() > self._start + _SHORT:
            self._add("loading triples for SPARQL", count, given)
