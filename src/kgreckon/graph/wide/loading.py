"""Wide tables from files: delimited text, Parquet, Arrow, Excel, JSON, SQLite and DuckDB, each by its library."""

from __future__ import annotations

import contextlib
import io
import json
import re
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.json

from kgreckon.errors import UserError
from kgreckon.graph.unpacking import (
    MOST_LINE,
    DecodedBound,
    bounded_table,
    check_zip,
    content_of,
    long_cell,
    suffix_of,
)
from kgreckon.graph.wide.delimited import encoding_of, read_delimited
from kgreckon.graph.wide.mapping import TableMapping
from kgreckon.graph.wide.networks import NETWORK_ENDINGS, read_network
from kgreckon.graph.wide.wide_table import WideTable, check_names, from_values, joined, plain, wide_table

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

TEXT_ENDINGS = {".csv": ",", ".tsv": "\t", ".tab": "\t", ".txt": "\t", ".psv": "|", ".ssv": ";"}
_MOST_ROWS, _PIECE = 2**14, 2**26  # rows of a database, and bytes of their texts, that are read at once
_FIXED = re.compile(
    r"BOOLEAN|U?\w*INT\d*|FLOAT|DOUBLE|DECIMAL\(.*\)|DATE|TIME\b.*|TIMESTAMP\w*\b.*|INTERVAL|UUID"
)  # types
_DUCKDB_MEMORY = "1GiB"  # it unpacks 2,048 rows at once, however long they are
_ARROW_MAGIC, _PARQUET_MAGIC, _SQLITE_MAGIC = b"ARROW1", b"PAR1", b"SQLite format 3\x00"


def table_name(path: Path | str) -> str:
    """What a mapping calls the table of a file: its name without endings."""
    return plain_name(Path(path).name.lstrip(".").partition(".")[0])


def plain_name(name: str) -> str:
    """A name that a mapping can call a table by, and a reference its columns: without dots and blanks."""
    return re.sub(r"[\s.]+", "_", name.strip()) or "table"


def load(path: Path, mapping: dict[str, TableMapping] | None = None) -> list[WideTable]:
    """The wide tables of a file."""
    reader = READERS[suffix_of(path)]
    try:
        return reader(path, mapping or {})
    except UserError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise UserError(f"{path} cannot be read: {str(error).partition(chr(10))[0]}") from None


def _text(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    own = mapping.get(table_name(path), TableMapping())
    return [read_delimited(path, table_name(path), TEXT_ENDINGS[suffix_of(path)], own.separator, own.encoding)]


def _bytes(path: Path) -> pa.NativeFile | io.BytesIO:
    return io.BytesIO(content_of(path)) if path.suffix.lower() == ".gz" else pa.memory_map(str(path))


def _parquet(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    import pyarrow.parquet as pq

    with _bytes(path) as source:
        file = pq.ParquetFile(source)
        table = bounded_table(file.iter_batches(), file.schema_arrow, DecodedBound(path))
    return [wide_table(table_name(path), str(path), _without_index(table))]


def _arrow(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    with _bytes(path) as source:
        magic = source.read(len(_ARROW_MAGIC))
        source.seek(0)
        if magic == _ARROW_MAGIC:
            file = pa.ipc.open_file(source)
            batches = (file.get_batch(place) for place in range(file.num_record_batches))
            table = bounded_table(batches, file.schema, DecodedBound(path))
        elif magic[:4] == b"FEA1":
            table = pyarrow.feather.read_table(str(path))
        else:
            stream = pa.ipc.open_stream(source)
            table = bounded_table(stream, stream.schema, DecodedBound(path))
    return [wide_table(table_name(path), str(path), _without_index(table))]


def _without_index(table: pa.Table) -> pa.Table:
    """A table without the row numbers that pandas keeps beside the columns."""
    kept = [name for name in table.column_names if not re.fullmatch(r"__index_level_\d+__", name)]
    return table.select(kept) if len(kept) < len(table.column_names) else table


def is_json_of_records(path: Path) -> bool:
    """Whether a `.json` file holds records, and not JSON-LD: objects without keys that begin with `@`."""
    try:
        head = content_of(path, most=1 << 16).decode(errors="replace").lstrip("\ufeff \t\r\n")
    except UserError:
        return False
    return re.match(r"(?:\[\s*)?\{", head) is not None and not re.search(r'"@(?:context|id|graph|type)"\s*:', head)


def _json(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    content = content_of(path, b'"')
    text = content.decode(encoding_of(content))
    if suffix_of(path) in (".json", ".geojson"):
        try:
            data = json.loads(text)
        except json.JSONDecodeError as error:
            if "Extra data" not in str(error):
                raise UserError(f"{path}:{error.lineno}: {error.msg}") from None
        else:
            return [_records(_list_in(data, path), path)]
    try:
        options = pyarrow.json.ReadOptions(block_size=max(1 << 20, min(len(content), 1 << 30)))
        table = pyarrow.json.read_json(io.BytesIO(text.encode()), read_options=options)
        return [
            wide_table(table_name(path), str(path), table, first_line=1 if _one_per_line(content, len(table)) else None)
        ]
    except pa.ArrowInvalid:
        pass  # a column of several types, or bad lines: read one by one
    records = []
    for line, one in enumerate(text.splitlines(), 1):
        if not one.strip():
            continue
        try:
            records.append(json.loads(one))
        except json.JSONDecodeError as error:
            raise UserError(f"{path}:{line}: not JSON: {error.msg} at column {error.colno}") from None
        if not isinstance(records[-1], dict):
            raise UserError(f'{path}:{line}: expected an object such as {{"name": ...}}, found {one.strip():.40}')
    return [_records(records, path, 1 if _one_per_line(content, len(records)) else None)]


def _one_per_line(content: bytes, rows: int) -> bool:
    return content.count(b"\n") + (not content.endswith(b"\n")) == rows


def _list_in(data: Any, path: Path) -> list[Any]:
    """The records of a JSON document: a list, or the one list in an object."""
    if isinstance(data, dict):
        lists = [value for value in data.values() if isinstance(value, list) and value and isinstance(value[0], dict)]
        if len(lists) == 1:
            return lists[0]
        if data and all(isinstance(value, dict) for value in data.values()):
            return [{"key": key} | value for key, value in data.items()]
        raise UserError(f"{path} holds one object: expected a list of them, or one on each line")
    if not isinstance(data, list) or not all(isinstance(record, dict) for record in data):
        raise UserError(f"{path} is not a list of objects")
    return data


def _records(records: list[dict[str, Any]], path: Path, first_line: int | None = None) -> WideTable:
    if not records:
        raise UserError(f"{path} is empty")
    flat = [_flat(_of_feature(record)) for record in records]
    names = list(dict.fromkeys(name for record in flat for name in record))
    columns = {name: from_values(record.get(name) for record in flat) for name in names}
    return WideTable(table_name(path), str(path), columns, first_line=first_line, row_word="record")


def _of_feature(record: dict[str, Any]) -> dict[str, Any]:
    """The properties of a GeoJSON feature beside its id and its point; other shapes are left out."""
    properties = record.get("properties")
    if record.get("type") != "Feature" or not isinstance(properties, dict):
        return record
    geometry = record.get("geometry")
    place: dict[str, Any] = {}
    if isinstance(geometry, dict) and geometry.get("type") == "Point" and isinstance(geometry.get("coordinates"), list):
        place = dict(zip(("longitude", "latitude", "third coordinate"), geometry["coordinates"], strict=False))
    own = {"id": record["id"]} if "id" in record else {}
    return {**own, **place, **properties}


def _flat(record: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """A record whose own records are columns `a.b`."""
    result: dict[str, Any] = {}
    for name, value in record.items():
        if isinstance(value, dict):
            result |= _flat(value, f"{prefix}{name}.")
        else:
            result[f"{prefix}{name}"] = value
    return result


def _excel(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    import fastexcel

    check_zip(path)
    try:
        book = fastexcel.read_excel(str(path))
    except fastexcel.FastExcelError as error:
        raise UserError(f"{path} cannot be read as a workbook: {str(error).partition(chr(10))[0]}") from None
    tables = []
    for sheet in book.sheet_names:
        name = table_name(path) if len(book.sheet_names) == 1 else plain_name(sheet)
        if mapping.get(name, TableMapping()).skip:
            tables.append(WideTable(name, str(path), {}))
            continue
        loaded = book.load_sheet(sheet, dtypes=None)
        if not loaded.height:
            continue
        batch = pa.record_batch(loaded.to_arrow())
        names = [" ".join(str(column).split()) for column in batch.schema.names]
        check_names(names, f"{path}: sheet {sheet!r}")
        table = pa.table({column: batch.column(place) for place, column in enumerate(names)})
        tables.append(wide_table(name, str(path), table, row_word=f"sheet {sheet!r}, row"))
    if not tables:
        raise UserError(f"{path} holds no rows")
    return tables


def _sqlite(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    bound = DecodedBound(path)
    with contextlib.closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as base:
        base.text_factory = _text_of
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_LINE)  # a small file can compute an enormous cell
        try:
            found = base.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
            names = [name for (name,) in found]
            return _of_database(path, names, mapping, lambda name: _sqlite_table(base, name, bound))
        except sqlite3.DatabaseError as error:
            raise UserError(f"{path} cannot be read as a SQLite database: {error}") from None


def _sqlite_table(base: sqlite3.Connection, name: str, bound: DecodedBound) -> dict[str, Any]:
    table = _quoted(name)
    headers = [column[0] for column in base.execute(f"SELECT * FROM {table} LIMIT 0").description]  # noqa: S608  # a name that the database itself gave
    quoted = [_quoted(header) for header in headers]
    lengths = ", ".join(
        f"max(CASE typeof({cell}) WHEN 'text' THEN length(CAST({cell} AS BLOB)) END)" for cell in quoted
    )
    # Pictures and the like are not read at all.
    cells = ", ".join(f"CASE typeof({cell}) WHEN 'blob' THEN NULL ELSE {cell} END" for cell in quoted)
    pieces: list[list[pa.Array]] = [[] for _ in headers]
    try:
        rows_at_once = _rows_at_once(base.execute(f"SELECT {lengths} FROM {table}").fetchone())  # noqa: S608  # see above
        cursor = base.execute(f"SELECT {cells} FROM {table}")  # noqa: S608  # see above
        base.text_factory = bytes  # Arrow makes texts of them, a column at once
        while rows := cursor.fetchmany(rows_at_once):
            columns = [_sqlite_column(cells) for cells in zip(*rows, strict=True)]
            bound.take(columns)
            for own, column in zip(pieces, columns, strict=True):
                own.append(column)
    except sqlite3.DataError:
        raise long_cell(f"{bound.path}: table {name}") from None
    finally:
        base.text_factory = _text_of
    keys = sorted((row[5], row[1]) for row in base.execute(f"PRAGMA table_info({table})") if row[5])
    links = {row[3]: (row[2], row[4]) for row in base.execute(f"PRAGMA foreign_key_list({table})")}
    types = {row[1]: str(row[2]).upper() for row in base.execute(f"PRAGMA table_info({table})")}
    loaded = {}
    for header, own in zip(headers, pieces, strict=True):
        column = joined(own)
        own.clear()
        loaded[header] = (
            column.cast(pa.bool_()) if types.get(header) in ("BOOLEAN", "BOOL") and _is_truth(column) else column
        )
    return {"columns": loaded, "primary_key": tuple(column for _, column in keys), "references": links}


def _sqlite_column(cells: tuple[Any, ...]) -> pa.Array:
    try:
        column = pa.array(cells)
        return plain(column.cast(pa.string()) if pa.types.is_binary(column.type) else column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):  # several types, or what is no UTF-8
        return from_values(_text_of(cell) if isinstance(cell, bytes) else cell for cell in cells)


def _text_of(content: bytes) -> str:
    return content.decode(errors="replace")


def _rows_at_once(longest: Iterable[int | None]) -> int:
    """How many rows may be read at once whose texts have no more bytes than that."""
    return max(1, min(_MOST_ROWS, _PIECE // max(1, sum(length or 0 for length in longest))))


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_truth(column: pa.Array) -> bool:
    return pa.types.is_integer(column.type) and set(column.unique().to_pylist()) <= {0, 1, None}


def _duckdb(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    import duckdb

    bound = DecodedBound(path)
    try:
        with duckdb.connect(str(path), read_only=True, config={"memory_limit": _DUCKDB_MEMORY}) as base:
            base.execute("SET enable_progress_bar = false").fetchall()
            names = [name for (name,) in base.execute(
                "SELECT table_name FROM duckdb_tables() WHERE NOT internal ORDER BY table_oid").fetchall()]  # fmt: skip

            def table(name: str) -> dict[str, Any]:
                arrow = _duckdb_table(base, name, bound)
                rules = base.execute(
                    "SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names "
                    "FROM duckdb_constraints() WHERE table_name = ?", [name]).fetchall()  # fmt: skip
                loaded = wide_table(name, str(path), arrow)
                keys = [tuple(columns) for kind, columns, _, _ in rules if kind == "PRIMARY KEY"]
                links = {columns[0]: (other, others[0]) for kind, columns, other, others in rules
                         if kind == "FOREIGN KEY" and len(columns) == 1}  # fmt: skip
                return {"columns": loaded.columns, "primary_key": keys[0] if keys else (), "references": links}

            return _of_database(path, names, mapping, table)
    except duckdb.Error as error:
        raise UserError(f"{path} cannot be read as a DuckDB database: {str(error).partition(chr(10))[0]}") from None


def _duckdb_table(base: DuckDBPyConnection, name: str, bound: DecodedBound) -> pa.Table:
    """A table in batches of as many rows as take some memory, which depends on its longest cells."""
    described = base.execute(f"DESCRIBE {_quoted(name)}").fetchall()
    types = {_quoted(row[0]): str(row[1]) for row in described}
    texts = [column for column, kind in types.items() if kind != "BLOB" and not _FIXED.fullmatch(kind)]
    rows = _MOST_ROWS
    if texts:
        lengths = ", ".join(f"max(strlen({column}::VARCHAR))" for column in texts)
        (found,) = base.execute(f"SELECT {lengths} FROM {_quoted(name)}").fetchall()  # noqa: S608  # a name that the database itself gave
        if any(length is not None and length > MOST_LINE for length in found):
            raise long_cell(f"{bound.path}: table {name}")
        rows = _rows_at_once(found)
    cells = ", ".join(f"NULL AS {column}" if kind == "BLOB" else column for column, kind in types.items())
    batches = base.sql(f"SELECT {cells} FROM {_quoted(name)}").to_arrow_reader(rows)  # noqa: S608  # see above
    return bounded_table(batches, batches.schema, bound)


def _of_database(
    path: Path, names: list[str], mapping: dict[str, TableMapping], read: Callable[[str], dict[str, Any]]
) -> list[WideTable]:
    """The tables of a database that have rows, with their declared keys; one to be skipped without its columns."""
    called = {name: plain_name(name) for name in names}
    loaded, skipped = [], []
    for name in names:
        if mapping.get(called[name], TableMapping()).skip:
            skipped.append(WideTable(called[name], str(path), {}))
            continue
        parts = read(name)
        if not parts["columns"] or not len(next(iter(parts["columns"].values()))):
            continue
        links = {
            column: (called[other], target)
            for column, (other, target) in parts["references"].items()
            if other in called
        }
        loaded.append((called[name], parts, links))
    keys = {name: parts["primary_key"] for name, parts, _ in loaded}
    tables = []
    for name, parts, links in loaded:
        # SQLite names no column where the primary key of the other table is meant.
        whole = {
            column: (other, target or (keys[other][0] if keys.get(other) else ""))
            for column, (other, target) in links.items()
            if other in keys and (target or keys[other])
        }
        tables.append(WideTable(name, str(path), parts["columns"], row_word=f"table {name}, row",
                                primary_key=parts["primary_key"], references=whole))  # fmt: skip
    if not tables:
        raise UserError(f"{path} holds no table with rows")
    return [*tables, *skipped]


def _network(path: Path, mapping: dict[str, TableMapping]) -> list[WideTable]:
    return read_network(path, table_name(path))


READERS: dict[str, Callable[[Path, dict[str, TableMapping]], list[WideTable]]] = {
    **dict.fromkeys(TEXT_ENDINGS, _text),
    ".parquet": _parquet,
    ".pq": _parquet,
    **dict.fromkeys((".arrow", ".feather", ".ipc", ".arrows"), _arrow),
    **dict.fromkeys((".xlsx", ".xls", ".xlsm", ".xlsb", ".ods"), _excel),
    **dict.fromkeys((".jsonl", ".ndjson", ".json", ".geojson"), _json),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db"), _sqlite),
    **dict.fromkeys((".duckdb", ".ddb"), _duckdb),
    **dict.fromkeys(NETWORK_ENDINGS, _network),
}
