"""What was guessed of wide tables, and the first facts that they state."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.text import Text

from kgreckon.cli.console import print_table
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import exactly_with_unit
from kgreckon.graph.wide.column_headers import name_of
from kgreckon.graph.wide.mapping import ROW, Becomes, ColumnGuess, ColumnMapping, TableGuess

_SHOWN_THINGS = 3


def print_guesses(guesses: list[TableGuess], out: Console) -> None:
    """A table for each wide table: what its columns become, and why."""
    for guess in guesses:
        for remark in guess.remarks:
            out.print(Text(f"{guess.source}: {remark}"), soft_wrap=True)
        if guess.mapping.skip:
            continue
        rows = [
            (column.column, _become(column), _unit(column.mapping), " · ".join(column.examples),
             _why(column.mapping, column.why))
            for column in guess.columns
        ]  # fmt: skip
        print_table(out, _title(guess), ("column", "becomes", "unit", "examples", "why"), rows)


def _title(guess: TableGuess) -> str:
    key = guess.mapping.key
    first = guess.mapping.references if guess.mapping.references else guess.mapping.things
    if key[0] == ROW:
        named = "its rows are numbered"
    elif guess.mapping.references:
        named = f"{key[0]} names rows of {first}"
    else:
        named = f"its rows are named by {key[0]}"
    why = f" ({guess.key_why})" if guess.key_why else ""
    kind = f", each is_a {guess.mapping.type}" if guess.mapping.type else ""
    rows = "1 row" if guess.rows == 1 else f"{guess.rows:,} rows"
    return f"{guess.table}, {rows}{kind}: {named}{why}"


def _become(column: ColumnGuess) -> str:
    mapping = column.mapping
    called = f" {mapping.name}" if mapping.name and mapping.name != name_of(column.column) else ""
    if mapping.kind is Becomes.RELATION and mapping.things != mapping.name:
        return f"{mapping.kind}{called} to {mapping.things}"
    return f"{mapping.kind}{called}"


def _unit(mapping: ColumnMapping) -> str:
    if mapping.to and mapping.to != mapping.unit:
        return f"{mapping.unit} as {mapping.to}"
    return mapping.unit


def _why(mapping: ColumnMapping, why: str) -> str:
    parts = [why]
    if mapping.factor != 1:
        parts.append(f"times {mapping.factor:,g}")
    if mapping.separator and mapping.kind is Becomes.RELATION:
        parts = [f"lists, parted by {mapping.separator!r}" if why == "lists" else why]
    return "; ".join(filter(None, parts))


def print_first_facts(graph: KnowledgeGraph, out: Console) -> None:
    """All that is stated of the first things that have values or facts."""
    facts, values = graph.facts, graph.attribute_facts
    first = np.union1d(facts.sources, values.sources)[:_SHOWN_THINGS].tolist()
    rows: list[tuple[str, str, str]] = []
    for thing in first:
        name = graph.entities.label(thing)
        for place in np.flatnonzero(facts.sources == thing).tolist():
            rows.append(
                (name, graph.relations.name(int(facts.labels[place])), graph.entities.label(int(facts.targets[place])))
            )
        for place in np.flatnonzero(values.sources == thing).tolist():
            number, unit = graph.values.number_at(int(values.targets[place]))
            told = exactly_with_unit(number, unit)
            rows.append((name, graph.attributes.name(int(values.labels[place])), told))
    print_table(out, "The first facts", ("thing", "relation", "value"), rows)
