"""What a graph folder holds: its files and their columns. docs/formats.md describes them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from kgreckon.errors import UserError

HEADER = "graph.json"
MAPPING = "mapping.toml"  # what the columns of wide tables became; nothing is read from it
FORMAT = "kgreckon-graph"
VERSION = 3  # 1 has no checksums, 2 no compressed rows and no index
NULLABLE = ("label", "phrase")
MOST_TEXT = (1 << 31) - 1  # bytes of all names or labels, beyond which their places take 64 bits

_SYMBOLS = pa.schema([("name", pa.string()), ("label", pa.string())])
TABLES = {
    "entities": _SYMBOLS,
    "relations": pa.schema([("name", pa.string()), ("label", pa.string()), ("phrase", pa.string())]),
    "attributes": pa.schema([("name", pa.string()), ("label", pa.string()), ("unit", pa.int32())]),
    "values": pa.schema([("unit", pa.int32()), ("number", pa.float64())]),
    "facts": pa.schema([("head", pa.int32()), ("relation", pa.int32()), ("tail", pa.int32())]),
    "attribute_facts": pa.schema([("entity", pa.int32()), ("attribute", pa.int32()), ("value", pa.int32())]),
    "comparisons": pa.schema([("value", pa.int32()), ("comparison", pa.int32()), ("result", pa.int32())]),
}
# Beside the tables: what questions are answered from. The rows of a file are the items of one list in each column.
ADJACENCIES = ("follows", "values_of", "having", "compared")
ROWS = pa.schema(
    [
        ("offsets", pa.large_list(pa.int64())),
        ("labels", pa.large_list(pa.int32())),
        ("starts", pa.large_list(pa.int64())),
        ("targets", pa.large_list(pa.int32())),
    ]
)
ENTITY_INDEX = "entity_index"
INDEX = pa.schema([("hash", pa.uint64()), ("place", pa.int32())])


def fitting(schema: pa.Schema, found: pa.Schema) -> pa.Schema:
    """The schema, its texts as wide as they are in another one."""
    for place, field in enumerate(schema):
        wide = place < len(found) and found.field(place).type == pa.large_string()
        if wide and field.type == pa.string():
            schema = schema.set(place, field.with_type(pa.large_string()))
    return schema


def require(holds: bool, path: Path, problem: str) -> None:
    """Raise a UserError about a file where something does not hold."""
    if not holds:
        raise UserError(f"{path} is damaged: {problem}")


def require_rows(found: int, expected: object, path: Path) -> None:
    """Raise a UserError where a table does not have the rows that the header counts."""
    require(expected == found, path, f"it has {found} rows, the header says {expected}")
