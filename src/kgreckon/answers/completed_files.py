"""What is filled in, as a table or as RDF with the probability beside each statement: streamed, whole or not there."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgreckon.answers.completing import MissingFact, MissingValue
from kgreckon.errors import UserError
from kgreckon.files import new_file
from kgreckon.query.sparql.names import NAMESPACE, iri

SUFFIXES = (".parquet", ".csv", ".tsv", ".nt", ".ttl")
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
            case ".parquet":
                _write_parquet(temporary, counted)
            case ".csv" | ".tsv":
                _write_text(temporary, counted, "," if path.suffix == ".csv" else "\t")
            case _:
                _write_rdf(temporary, counted)
    return filled


def check_suffix(path: Path) -> None:
    """Raise a UserError where the ending of a name does not say how to write."""
    if path.suffix not in SUFFIXES:
        raise UserError(f"{path}: cannot tell how to write this; known endings are {', '.join(SUFFIXES)}")


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


def _write_parquet(path: Path, items: Iterable[MissingFact | MissingValue]) -> None:
    rows = map(_row, items)
    with pq.ParquetWriter(path, _SCHEMA) as writer:
        while group := list(islice(rows, _ROWS)):
            writer.write_table(pa.Table.from_pylist(group, _SCHEMA))


def _write_text(path: Path, items: Iterable[MissingFact | MissingValue], delimiter: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, _SCHEMA.names, delimiter=delimiter, restval="")
        writer.writeheader()
        writer.writerows(map(_row, items))


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
