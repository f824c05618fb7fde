"""A graph as RDF, for engines that answer SPARQL."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.graph.changes.change import Change
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.literals import calendar_type, is_calendar, write_calendar
from kgreckon.graph.symbols import Symbols
from kgreckon.query.sparql import LABEL, PREFIXES, iri, number_literal

_BLOCK = 100_000  # lines that are written at once
_XSD = PREFIXES["xsd"]
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"})


def n_triples(graph: KnowledgeGraph, dates: bool = False, labels: bool = False) -> Iterator[str]:
    """The facts and values of a graph in N-Triples, many lines at a time: names as IRIs, values as xsd:double.

    With `dates` the values of attributes that are measured in dates are dates of XML Schema, else fractional years.
    With `labels` every name has an rdfs:label. Units are not RDF.
    """
    entities, relations, attributes = map(_iris, (graph.entities, graph.relations, graph.attributes))
    facts, values = graph.facts, graph.attribute_facts
    for rows in _blocks(len(facts)):
        yield _lines(
            entities.take(pa.array(facts.sources[rows])),
            relations.take(pa.array(facts.labels[rows])),
            entities.take(pa.array(facts.targets[rows])),
        )
    calendars = _calendars(graph) if dates else {}
    for rows in _blocks(len(values)):
        numbers = graph.values.numbers[values.targets[rows]].tolist()
        written = [
            _literal(number, calendars.get(attribute))
            for number, attribute in zip(numbers, values.labels[rows].tolist(), strict=True)
        ]
        subjects, predicates = (
            names.take(pa.array(column[rows]))
            for names, column in ((entities, values.sources), (attributes, values.labels))
        )
        yield _lines(subjects, predicates, pa.array(written, pa.large_string()))
    if labels:
        for symbols, iris in zip(
            (graph.entities, graph.relations, graph.attributes), (entities, relations, attributes), strict=True
        ):
            for rows in _blocks(len(symbols)):
                told = [_text(symbols.label(place)) for place in range(rows.start, rows.stop)]
                yield _lines(
                    iris[rows.start : rows.stop],
                    pa.scalar(f"<{LABEL}>", pa.large_string()),
                    pa.array(told, pa.large_string()),
                )


def changed_lines(
    before: KnowledgeGraph, after: KnowledgeGraph, changes: Iterable[Change]
) -> tuple[list[str], list[str]] | None:
    """The lines that some changes take from a graph with dates and labels, and those that they add.

    None where dates are written in another datatype than before.
    """
    changes = list(changes)
    stated: dict[str, bool] = {}
    touched = {one.predicate for change in changes for one in (*change.removed, *change.added) if one.is_value}
    dated = {name for name in touched if is_calendar(_unit_of(after, name))}
    types = [_calendar_types(graph, dated) for graph in (before, after)]
    if any(name in types[0] and types[0][name] != kind for name, kind in types[1].items()):
        return None
    written = types[0] | types[1]
    for change in changes:
        for statements, is_stated in ((change.removed, False), (change.added, True)):
            for one in statements:
                object_ = (
                    f"<{iri(one.object)}>"
                    if isinstance(one.object, str)
                    else _literal(one.object, written.get(one.predicate))
                )
                stated[f"<{iri(one.subject)}> <{iri(one.predicate)}> {object_} .\n"] = is_stated
    for kind in ("entities", "relations", "attributes"):
        old, new = getattr(before, kind), getattr(after, kind)
        labelled = {old.place_of(name) for change in changes for name, _ in change.labels if kind == "entities"}
        for place in {*range(len(old), len(new)), *(place for place in labelled if place is not None)}:
            if place < len(old):
                stated[f"<{iri(old.name(place))}> <{LABEL}> {_text(old.label(place))} .\n"] = False
            stated[f"<{iri(new.name(place))}> <{LABEL}> {_text(new.label(place))} .\n"] = True
    return [line for line, own in stated.items() if not own], [line for line, own in stated.items() if own]


def _unit_of(graph: KnowledgeGraph, attribute: str) -> str:
    place = graph.attributes.place_of(attribute)
    return "" if place is None else graph.values.units[int(graph.attribute_units[place])]


def _calendar_types(graph: KnowledgeGraph, names: set[str]) -> dict[str, str]:
    """The datatypes of some attributes that are measured in dates."""
    if not names:
        return {}
    calendars = _calendars(graph)
    places = {name: graph.attributes.place_of(name) for name in names}
    return {name: calendars[place] for name, place in places.items() if place in calendars}


def _literal(number: float, calendar: str | None) -> str:
    return number_literal(number) if calendar is None else f'"{write_calendar(number, calendar)}"^^<{_XSD}{calendar}>'


def _text(label: str) -> str:
    return f'"{label.translate(_ESCAPES)}"'


def _iris(symbols: Symbols) -> pa.Array:
    """The names in angle brackets."""
    parts = [
        pa.array([f"<{iri(name)}>" for name in symbols.names[rows.start : rows.stop].to_pylist()], pa.large_string())
        for rows in _blocks(len(symbols))
    ]
    return pa.concat_arrays(parts) if parts else pa.array([], pa.large_string())


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, min(start + _BLOCK, count)) for start in range(0, count, _BLOCK))


def _lines(subjects: pa.Array, predicates: pa.Array | pa.Scalar, objects: pa.Array) -> str:
    written = pc.binary_join_element_wise(
        subjects, predicates, objects, pa.scalar(".\n", pa.large_string()), pa.scalar(" ", pa.large_string())
    )
    return "".join(written.to_pylist())


def _calendars(graph: KnowledgeGraph) -> dict[int, str]:
    """The datatype of each attribute that is measured in dates."""
    units, facts = graph.values.units, graph.attribute_facts
    measured = {attribute: units[unit] for attribute, unit in enumerate(graph.attribute_units.tolist())}
    dated = np.array([is_calendar(measured[attribute]) for attribute in measured], dtype=bool)
    rows = np.flatnonzero(dated[facts.labels]) if dated.any() else np.zeros(0, dtype=np.int64)
    rows = rows[np.argsort(facts.labels[rows], kind="stable")]
    attributes, starts = np.unique(facts.labels[rows], return_index=True)
    return (
        {
            attribute: calendar_type(measured[attribute], np.unique(graph.values.numbers[facts.targets[part]]).tolist())
            for attribute, part in zip(attributes.tolist(), np.split(rows, starts[1:]), strict=True)
        }
        if len(rows)
        else {}
    )
