"""A mapping: what each column of a wide table becomes. It is guessed, shown, written as TOML, edited and given back."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kgreckon.errors import UserError, first_problem, unknown_name
from kgreckon.graph.wide.calendars import SINCE_1970
from kgreckon.graph.wide.column_headers import name_of
from kgreckon.graph.wide.wide_table import WideTable

GIVEN = "as the mapping says"  # why a column becomes what it does
ROW = "row number"  # what a key may be where no column names the rows
_HEADER = """\
# How kgreckon reads these tables: edit and give it back with --mapping.
#
# key      the column whose values name the rows; further columns tell rows of one name apart; "row number" numbers them
# type     states of each row that it is_a thing of this type; "" for none
# columns  what each becomes: number (unit, to, factor, decimal), date (order, unit), time (clock), duration, boolean,
#          relation (separator, things, references, phrase), label, "unit of another column" (of), or "left out"
"""


class Becomes(StrEnum):
    """What a column becomes."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    DURATION = "duration"
    BOOLEAN = "boolean"
    RELATION = "relation"
    LABEL = "label"
    UNIT = "unit of another column"
    LEFT_OUT = "left out"

    @property
    def is_value(self) -> bool:
        """Whether it is an attribute."""
        return self in (Becomes.NUMBER, Becomes.DATE, Becomes.TIME, Becomes.DURATION)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnMapping(_Strict):
    """What one column becomes."""

    kind: Becomes
    name: str = ""  # of the attribute or relation; the column's own where it is empty
    unit: str = ""  # of numbers that have none of their own; of dates that are counted since 1970
    to: str = ""  # the unit that the graph measures in; `unit` where it is empty
    factor: float = 1.0  # what the numbers are multiplied by, such as 1e6 where a header says millions
    decimal: Literal[".", ","] = "."
    order: Literal["dmy", "mdy"] = "mdy"  # of 01/02/2020
    clock: Literal["h:m", "m:s"] = "h:m"  # of 10:30
    separator: str = ""  # between the things in one cell
    phrase: str = ""  # of relations: how one reads between a row and what its cell names, "was directed by"
    things: str = ""  # what the things are: those of one class and one name are one thing
    references: str = ""  # the `table.column` whose rows the cells name
    of: str = ""  # the column that this one has the units of

    def described(self, header: str, given: bool) -> dict[str, Any]:
        """What a mapping file has to say of a column: what is neither a default nor what the header says anyway.

        Of a column that a mapping has `given`, all that it said.
        """
        usual = {"name": name_of(header), "things": self.name}
        return {
            name: value
            for name, value in self.model_dump(mode="json").items()
            if name == "kind"
            or (given and name == "unit" and self.kind is Becomes.NUMBER and name in self.model_fields_set)
            or (value != type(self).model_fields[name].default and value != usual.get(name))
        }


class TableMapping(_Strict):
    """What one table becomes."""

    source: str = ""
    key: tuple[str, ...] = ()
    things: str = ""  # what the rows are; the table's name where it is empty
    type: str = ""
    references: str = ""  # the `table.column` whose rows the key names, where they are not the table's own
    skip: bool = False
    separator: str = ""
    encoding: str = ""
    columns: dict[str, ColumnMapping] = Field(default_factory=dict)

    @field_validator("key", mode="before")
    @classmethod
    def _one_or_more(cls, key: Any) -> Any:
        return (key,) if isinstance(key, str) else key


Mapping = dict[str, TableMapping]  # by the name of the table


@dataclass(frozen=True)
class ColumnGuess:
    """What a column becomes, and why."""

    column: str
    mapping: ColumnMapping
    why: str
    examples: tuple[str, ...] = ()


@dataclass(frozen=True)
class TableGuess:
    """What a table becomes, and why."""

    table: str
    source: str
    rows: int
    mapping: TableMapping
    key_why: str
    columns: tuple[ColumnGuess, ...]
    remarks: tuple[str, ...] = ()


def read_mapping(path: Path) -> Mapping:
    """The mapping in a TOML file."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; --dry-run --write-mapping {path} makes one") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path} cannot be read as TOML: {error}") from None
    return checked(data, str(path))


def checked(data: Any, source: str) -> Mapping:
    """A mapping of plain dictionaries, checked."""
    if not isinstance(data, dict):
        raise UserError(f"{source} is not a mapping: a table's name to what becomes of it")
    mapping = {}
    for table, own in data.items():
        if isinstance(own, TableMapping):
            mapping[table] = own
            continue
        if not isinstance(own, dict):
            raise UserError(f"{source}: [{table}] must be a section that says what becomes of the table {table!r}")
        columns = own.get("columns", {})
        if not isinstance(columns, dict):
            raise UserError(f"{source}: [{table}.columns] must be a section with a line for each column")
        read = {}
        for column, given in columns.items():
            said = {"kind": given} if isinstance(given, str) else given
            read[column] = _model(ColumnMapping, said, f"{source}: column {column!r} of {table!r}")
        mapping[table] = _model(TableMapping, {**own, "columns": read}, f"{source}: table {table!r}")
    return mapping


def _model(model: type[Any], data: Any, place: str) -> Any:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        if problem["type"] == "extra_forbidden":
            raise UserError(f"{place}: {unknown_name('setting', str(problem['loc'][0]), model.model_fields)}") from None
        if not problem["loc"]:
            raise UserError(f"{place} must be a section of settings, not {data!r:.80}") from None
        raise UserError(f"{place}: {first_problem(error)}") from None


def check_columns(mapping: Mapping, tables: Sequence[WideTable], source: str) -> None:
    """Raise a UserError where a mapping names a table or a column that there is not."""
    by_name = {table.name: table for table in tables}
    for name, own in mapping.items():
        if name not in by_name:
            raise UserError(f"{source}: {unknown_name('table', name, by_name)}")
        if own.skip:  # not even read
            continue
        known = by_name[name].columns
        for column in (*own.columns, *(key for key in own.key if key != ROW)):
            if column not in known:
                raise UserError(f"{source}: {name!r} has no such column: {unknown_name('column', column, known)}")
        for column, said in own.columns.items():
            place = f"{source}: column {column!r} of {name!r}"
            if said.of and said.of not in known:
                raise UserError(f"{place}: {unknown_name('column', said.of, known)}")
            _check_reference(said.references, by_name, place)
            if said.kind is Becomes.DATE and said.unit and said.unit not in SINCE_1970:
                counted = " or ".join(map(repr, SINCE_1970))
                raise UserError(f"{place}: dates are counted in {counted} since 1970, not in {said.unit!r}")
            if said.phrase and said.kind not in (Becomes.RELATION, Becomes.BOOLEAN):
                raise UserError(f"{place}: `phrase` says how a relation reads, and a {said.kind} is none")
            if bool(said.of) != (said.kind is Becomes.UNIT):
                raise UserError(f'{place}: `of` names the column that a "{Becomes.UNIT}" belongs to')
        _check_reference(own.references, by_name, f"{source}: table {name!r}")


def _check_reference(reference: str, tables: dict[str, WideTable], place: str) -> None:
    if reference:
        table, column = parted(reference)
        if table not in tables:
            raise UserError(f"{place}: {unknown_name('table', table, tables)}")
        if column not in tables[table].columns:
            raise UserError(f"{place}: {unknown_name('column', column, tables[table].columns)}")


def parted(reference: str) -> tuple[str, str]:
    """The table and the column that `table.column` names."""
    table, _, column = reference.partition(".")
    return table, column


def write_mapping(guesses: Sequence[TableGuess]) -> str:
    """The mapping file of what was guessed, each column with its reason and examples beside it."""
    parts = [_HEADER]
    for guess in guesses:
        own = guess.mapping
        parts.append(f"\n[{_key(guess.table)}]\n")
        parts += [f"# {_line(remark)}\n" for remark in guess.remarks]
        settings = own.model_dump(mode="json", exclude={"columns"})
        for name, value in settings.items():
            if value or (name == "type" and not own.skip):
                why = f"  # {_line(guess.key_why)}" if name == "key" and guess.key_why else ""
                parts.append(f"{name} = {_toml(value)}{why}\n")
        if guess.columns and not own.skip:
            parts.append(f"\n[{_key(guess.table)}.columns]\n")
            for column in guess.columns:
                told = "; ".join(filter(None, (column.why, " · ".join(column.examples))))
                said = _toml(column.mapping.described(column.column, column.why == GIVEN))
                parts.append(f"{_key(column.column)} = {said}  # {_line(told)}\n")
    return "".join(parts)


def _line(text: str) -> str:
    return "".join(sign if sign.isprintable() else " " for sign in " ".join(text.split()))


def _key(text: str) -> str:
    plain = text and all(sign.isascii() and (sign.isalnum() or sign in "_-") for sign in text)
    return text if plain else _toml(text)


def _toml(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case list() | tuple():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return f"{{ {', '.join(f'{_key(name)} = {_toml(one)}' for name, one in value.items())} }}"
    return json.dumps(value)
