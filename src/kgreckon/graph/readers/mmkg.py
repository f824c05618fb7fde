"""The MMKG folders FB15K, DB15K and YAGO15K as they are published: two tables of triples, perhaps one of names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.graph.literals import NotANumberError, UnknownDateError, is_calendar, read_cell, read_decimal_date
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.readers.tables import Row, TableKind, add_rows, read_rows
from kgreckon.query.datatypes import PLAIN_UNIT

_FREEBASE = "http://rdf.freebase.com/ns/"
# FB15k's numbers carry no type; what they measure follows from the attribute. Patterns are tried in this order.
_FREEBASE_UNITS = (
    ("geocode.l", "degrees"),
    ("population_number", "persons"),
    ("location.area", "square metres"),
    ("height_meters", "metres"),
    ("weight_kg", "kilograms"),
    ("running_time", "minutes"),
    ("number_of_", "count"),
    ("date", "years"),
    ("founded", "years"),
    ("active_", "years"),
    ("ceased_operations", "years"),
)


def is_mmkg_folder(folder: Path) -> bool:
    """Whether `folder` holds the two tables of an MMKG graph."""
    return all(_table(folder, name) is not None for name in ("EntityTriples", "NumericalTriples"))


def read_mmkg(folder: Path, builder: GraphBuilder, report: ImportReport) -> None:
    """Add an MMKG graph."""
    facts, values = _table(folder, "EntityTriples"), _table(folder, "NumericalTriples")
    if facts is None or values is None:
        raise UserError(f"{folder} does not hold EntityTriples.tsv.gz and NumericalTriples.tsv.gz")
    report.files += [facts.name, values.name]
    for path in (facts, values):
        if next(read_rows(path, report), None) is None:
            raise UserError(f"{path} is empty")
    add_rows(_without_brackets(read_rows(facts, report)), facts, TableKind.FACTS, builder, report)
    _add_values(values, builder, report)
    names = _table(folder, "EntityNames")
    if names is not None:
        report.files.append(names.name)
        spaced = ((line, [fields[0], *(field.replace("_", " ") for field in fields[1:])])
                  for line, fields in read_rows(names, report))  # fmt: skip
        add_rows(spaced, names, TableKind.NAMES, builder, report)


def _table(folder: Path, name: str) -> Path | None:
    paths = [folder / f"{name}{ending}" for ending in (".tsv.gz", ".tsv", ".txt")]
    return next((path for path in paths if path.is_file()), None)


def _without_brackets(rows: Iterable[Row]) -> Iterator[Row]:
    for line, fields in rows:
        yield line, [field[1:-1] if field.startswith("<") and field.endswith(">") else field for field in fields]


def _add_values(path: Path, builder: GraphBuilder, report: ImportReport) -> None:
    """Add the table of values: typed literals, or plain numbers measured as their attribute says."""
    rows = list(_without_brackets(read_rows(path, report)))
    # YAGO types some dates as degrees: an attribute with any date is one of dates, and its decimals are decimal dates.
    dated = {fields[1] for _, fields in rows if len(fields) == 3 and fields[2].endswith("XMLSchema#date>")}
    for line, fields in rows:
        if len(fields) != 3:
            report.reject(path, line, f"expected 3 tab-separated fields, found {len(fields)}")
            continue
        entity, attribute, text = fields
        try:
            number, unit = read_cell(text)
            if unit is None:
                unit = _freebase_unit(attribute)
            elif attribute in dated and not is_calendar(unit):
                number, unit = read_decimal_date(text.split('"')[1]), "date"
            builder.add_value(entity, attribute, number, unit)
        except UnknownDateError:
            report.unknown_dates += 1
        except (NotANumberError, UserError) as error:
            report.reject(path, line, str(error))
    _label_freebase_attributes({fields[1] for _, fields in rows if len(fields) == 3}, builder)


def _freebase_unit(attribute: str) -> str:
    if attribute.startswith(_FREEBASE):
        for pattern, unit in _FREEBASE_UNITS:
            if pattern in attribute:
                return unit
    return PLAIN_UNIT


def _label_freebase_attributes(attributes: set[str], builder: GraphBuilder) -> None:
    """Call an attribute by the last word of its path, or the last two where the last is shared."""
    freebase = [attribute for attribute in attributes if attribute.startswith(_FREEBASE)]
    lasts = [attribute.rsplit(".", 1)[-1] for attribute in freebase]
    for attribute, last in zip(freebase, lasts, strict=True):
        label = last if lasts.count(last) == 1 else " ".join(attribute.rsplit(".", 2)[-2:])
        builder.label(attribute, label.replace("_", " "))
