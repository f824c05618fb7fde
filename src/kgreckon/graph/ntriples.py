"""A graph as RDF, for engines that answer SPARQL."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
            f'"{write_calendar(number, calendars[attribute])}"^^<{_XSD}{calendars[attribute]}>'
            if attribute in calendars
            else number_literal(number)
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
                told = [f'"{symbols.label(place).translate(_ESCAPES)}"' for place in range(rows.start, rows.stop)]
                yield _lines(
                    iris[rows.start : rows.stop],
                    pa.scalar(f"<{LABEL}>", pa.large_string()),
                    pa.array(told, pa.large_string()),
                )


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
