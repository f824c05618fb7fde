"""What is filled in, as a table or as RDF with the probability beside each statement: streamed, whole or not there.

What is doubtful is written as a table.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgreckon.answers.completing import MissingFact, MissingValue
from kgreckon.answers.doubting import DoubtfulFact, DoubtfulNumber, Doubts
from kgreckon.errors import UserError
from kgreckon.files import new_file
from kgreckon.query.sparql.names import NAMESPACE, iri

TABLES = (".parquet", ".csv", ".tsv")
SUFFIXES = (*TABLES, ".nt", ".ttl")
_SCHEMA = pa.schema(
    [
        ("subject", pa.string()),
        ("predicate", pa.string()),
        ("object", pa.string()),  # of a fact
        ("value", pa.float64()),  # of a number, with the bounds of its interval and its unit
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("unit", pa.string()),
        ("probability", pa.float64()),
        ("reason", pa.string()),
    ]
)
_DOUBTS = pa.schema(
    [
        ("subject", pa.string()),
        ("predicate", pa.string()),
        ("object", pa.string()),  # of a fact
        ("value", pa.float64()),  # of a number, as it is stated
        ("unit", pa.string()),
        ("chance", pa.float64()),
        ("probability", pa.float64()),  # of the fact, if it were not stated
        ("instead", pa.string()),  # what is likelier in the place of the object or, where it says so, of the subject
        ("instead_of", pa.string()),
        ("instead_probability", pa.float64()),
        ("expected", pa.float64()),  # the number that is expected, and the interval
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)
_ROWS = 10_000  # in a group of a Parquet file
_REIFIES = "http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies"


@dataclass
class Filled:
    """What was written: how many facts and values, and how many of them are expected to be true."""

    facts: int = 0
    values: int = 0
    expected: float = 0.0

    def count(self, item: MissingFact | MissingValue) -> MissingFact | MissingValue:
        """Count one more."""
        if isinstance(item, MissingFact):
            self.facts += 1
        else:
            self.values += 1
        self.expected += item.probability
        return item


def write_completed(path: Path, items: Iterable[MissingFact | MissingValue]) -> Filled:
    """Write facts and values as they come, in the form that the ending of the name says."""
    check_suffix(path)
    filled = Filled()
    counted = map(filled.count, items)
    with new_file(path) as temporary:
        match path.suffix:
            case ".nt" | ".ttl":
                _write_rdf(temporary, counted)
            case _:
                _write_table(temporary, path.suffix, map(_row, counted), _SCHEMA)
    return filled


def write_doubts(path: Path, doubts: Doubts) -> None:
    """Write the doubtful facts, then the doubtful numbers, as a table."""
    check_suffix(path, TABLES)
    rows = chain(map(_doubt_row, doubts.facts), map(_doubt_row, doubts.numbers))
    with new_file(path) as temporary:
        _write_table(temporary, path.suffix, rows, _DOUBTS)


def check_suffix(path: Path, known: Sequence[str] = SUFFIXES) -> None:
    """Raise a UserError where the ending of a name does not say how to write."""
    if path.suffix not in known:
        raise UserError(f"{path}: cannot tell how to write this; known endings are {', '.join(known)}")


def _row(item: MissingFact | MissingValue) -> dict[str, Any]:
    if isinstance(item, MissingFact):
        return {
            "subject": item.head,
            "predicate": item.relation,
            "object": item.tail,
            "probability": item.probability,
            "reason": item.reason,
        }
    return {
        "subject": item.entity,
        "predicate": item.attribute,
        "value": item.value,
        "low": item.low,
        "high": item.high,
        "unit": item.unit,
        "probability": item.probability,
        "reason": item.reason,
    }


def _doubt_row(doubt: DoubtfulFact | DoubtfulNumber) -> dict[str, Any]:
    if isinstance(doubt, DoubtfulFact):
        return {
            "subject": doubt.head,
            "predicate": doubt.relation,
            "object": doubt.tail,
            "chance": doubt.chance,
            "probability": doubt.probability,
            "instead": doubt.instead,
            "instead_of": "subject" if doubt.of_head else "object",
            "instead_probability": doubt.instead_probability,
        }
    return {
        "subject": doubt.entity,
        "predicate": doubt.attribute,
        "value": doubt.number,
        "unit": doubt.unit,
        "chance": doubt.chance,
        "expected": doubt.expected,
        "low": doubt.low,
        "high": doubt.high,
    }


def _write_table(path: Path, suffix: str, rows: Iterator[dict[str, Any]], schema: pa.Schema) -> None:
    if suffix == ".parquet":
        with pq.ParquetWriter(path, schema) as parquet:
            while group := list(islice(rows, _ROWS)):
                parquet.write_table(pa.Table.from_pylist(group, schema))
        return
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, schema.names, delimiter="," if suffix == ".csv" else "\t", restval="")
        writer.writeheader()
        writer.writerows(rows)


def _write_rdf(path: Path, items: Iterable[MissingFact | MissingValue]) -> None:
    """RDF 1.2: each statement, and what is known of it on a node that reifies it."""
    from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

    def statements() -> Iterator[Triple]:
        for place, item in enumerate(items):
            row = _row(item)
            subject, predicate = NamedNode(iri(row["subject"])), NamedNode(iri(row["predicate"]))
            if isinstance(item, MissingFact):
                triple = Triple(subject, predicate, NamedNode(iri(item.tail)))
            else:
                triple = Triple(subject, predicate, Literal(item.value))
            about = BlankNode(f"s{place}")
            yield triple
            yield Triple(about, NamedNode(_REIFIES), triple)
            for name in ("probability", "low", "high", "unit", "reason"):
                if row.get(name) is not None:
                    yield Triple(about, NamedNode(NAMESPACE + name), Literal(row[name]))

    serialize(statements(), str(path), format=RdfFormat.N_TRIPLES if path.name.endswith(".nt") else RdfFormat.TURTLE)
