"""The numbers that the cells of a column write, all in one unit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.errors import UserError
from kgreckon.graph.readers.import_report import ImportReport
from kgreckon.graph.wide.calendars import (
    BadDateError,
    in_unit,
    is_iso,
    iso_years,
    read_clock,
    read_day,
    read_duration,
    seconds_of,
    years_of,
    years_since_1970,
)
from kgreckon.graph.wide.mapping import Becomes, ColumnMapping
from kgreckon.graph.wide.units import converted, same_dimension, unit_named
from kgreckon.graph.wide.wide_table import WideTable, cells, distinct
from kgreckon.graph.wide.written import read_quantity

# What needs no reading by this package: a bare point may part thousands where the decimals follow a comma.
_PLAIN = {".": r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$", ",": r"^[-+]?\d+$"}
# Around a number stand no digits, nor marks that may be a part of it.
_SURROUNDED = {
    mark: rf"^(?P<before>[^\d.,\[]{{0,9}})(?P<number>(?:\d{{1,3}}(?:{group}\d{{3}})+|\d+)(?:{own}\d+)?)"
    r"(?P<behind>[^\d.,]{0,20})$"
    for mark, own, group in ((".", r"\.", ","), (",", ",", r"\."))
}
_LEFT_OUT = '; --skip-bad-lines leaves such cells out, a mapping can make the column a relation or "left out"'


@dataclass(frozen=True)
class ColumnNumbers:
    """A number for each row, NaN where it has none, and their unit."""

    numbers: np.ndarray
    unit: str


class _NotReadError(ValueError):
    """A cell that cannot be read, and why."""


def numbers_of(
    table: WideTable, header: str, mapping: ColumnMapping, units: str, report: ImportReport
) -> ColumnNumbers:
    """The numbers of a column; `units` is the column that says the unit of each, if there is one."""
    column = table.columns[header]
    match mapping.kind:
        case Becomes.DATE:
            return ColumnNumbers(_dates(table, header, mapping, report), "date")
        case Becomes.TIME:
            unit = "hours" if mapping.clock == "h:m" else "minutes"
            read = _read_with(lambda text: read_clock(text, mapping.clock), "is not a time such as 10:30")
            return _in_one(
                ColumnNumbers(_each(table, header, cells(column, numeric=True), read, report), unit), mapping
            )
        case Becomes.DURATION:
            return _in_one(ColumnNumbers(_durations(table, header, report), "seconds"), mapping)
    return _quantities(table, header, mapping, units, report)


def _in_one(numbers: ColumnNumbers, mapping: ColumnMapping) -> ColumnNumbers:
    """The same in the unit that the mapping asks for."""
    to = canonical(mapping.to or mapping.unit) or numbers.unit
    if not same_dimension(numbers.unit, to):
        raise UserError(f"{mapping.name!r} is measured in {numbers.unit}, which cannot be converted to {to}")
    if numbers.unit == "seconds" and to in ("minutes", "hours", "days", "years"):
        return ColumnNumbers(in_unit(numbers.numbers, to), to)
    return ColumnNumbers(converted(numbers.numbers, numbers.unit, to), to)


def canonical(unit: str) -> str:
    """A unit by the name that a graph gives it; one that nobody knows as it stands."""
    return unit_named(unit) or unit


def _read_with(read: Callable[[str], float | None], problem: str) -> Callable[[str], float]:
    def checked(text: str) -> float:
        number = read(text)
        if number is None:
            raise _NotReadError(f"{text!r:.60} {problem}")
        return number

    return checked


def _each(
    table: WideTable, header: str, texts: pa.Array, read: Callable[[str], float], report: ImportReport
) -> np.ndarray:  # (rows,) float64
    """Read each different cell once; what cannot be read is a bad line."""
    found = distinct(texts)
    numbers = np.full(len(found) + 1, np.nan)
    for place, text in enumerate(found.texts):
        try:
            numbers[place] = read(text)
        except (_NotReadError, BadDateError) as error:
            for row in np.flatnonzero(found.codes == place).tolist():
                report.reject_at(table.place(row), f"column {header!r}: {error}{_LEFT_OUT}")
    return numbers[found.codes]


def _dates(table: WideTable, header: str, mapping: ColumnMapping, report: ImportReport) -> np.ndarray:
    column = table.columns[header]
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        years = np.full(len(column), np.nan)
        valid = pc.is_valid(column).to_numpy(zero_copy_only=False)
        years[valid] = years_of(pc.drop_null(column))
        return years

    if mapping.unit:
        counts = _each(table, header, cells(column, numeric=True), _read_with(_whole, "is not a whole number"), report)
        return years_since_1970(counts, mapping.unit)

    def read(text: str) -> float | None:
        return float(text) if text.lstrip("-").isdecimal() and len(text) <= 6 else read_day(text, mapping.order)

    texts = cells(column, numeric=True)
    fast = pc.fill_null(is_iso(texts), False)
    years = np.full(len(texts), np.nan)
    try:
        years[fast.to_numpy(zero_copy_only=False)] = iso_years(texts.filter(fast))
        texts = pc.if_else(fast, pa.scalar(None, pa.string()), texts)
    except pa.ArrowInvalid:
        pass  # some day that there was not: read one by one, which names it
    rest = _each(table, header, texts, _read_with(read, "is not a date"), report)
    return np.where(np.isnan(years), rest, years)


def _whole(text: str) -> float | None:
    return float(text) if text.lstrip("-").isdecimal() and len(text) <= 18 else None


def _durations(table: WideTable, header: str, report: ImportReport) -> np.ndarray:
    column = table.columns[header]
    if pa.types.is_duration(column.type):
        seconds = np.full(len(column), np.nan)
        seconds[pc.is_valid(column).to_numpy(zero_copy_only=False)] = seconds_of(column)
        return seconds
    return _each(table, header, cells(column, numeric=True), _read_with(read_duration, "is not a duration"), report)


def _quantities(
    table: WideTable, header: str, mapping: ColumnMapping, units: str, report: ImportReport
) -> ColumnNumbers:
    column = table.columns[header]
    unit = canonical(mapping.unit)
    to = canonical(mapping.to) or unit
    if unit and not same_dimension(unit, to):
        raise UserError(f"column {header!r} of {table.name!r} is measured in {unit}, which cannot be converted to {to}")
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        numbers = np.array(column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False))
    else:
        texts = cells(column, numeric=True)
        plain = pc.fill_null(pc.match_substring_regex(texts, _PLAIN[mapping.decimal]), False)
        mask = plain.to_numpy(zero_copy_only=False)
        numbers = np.full(len(texts), np.nan)
        numbers[mask] = pc.cast(texts.filter(plain), pa.float64()).to_numpy()
        if len(others := np.flatnonzero(~mask & pc.is_valid(texts).to_numpy(zero_copy_only=False))):
            numbers[others] = _surrounded(texts.take(pa.array(others)), mapping.decimal, unit)
        others = pc.if_else(pa.array(np.isnan(numbers)), texts, pa.scalar(None, pa.string()))
        if others.null_count < len(others):

            def read(text: str) -> float:
                quantity = read_quantity(text, mapping.decimal)
                if quantity is None:
                    raise _NotReadError(f"{text!r:.60} is not a number")
                return _to(quantity.number, quantity.unit, unit, text)

            rest = _each(table, header, others, read, report)
            numbers = np.where(np.isnan(numbers), rest, numbers)
    if units:
        numbers = _by_row(table, header, numbers, units, unit, report)
    infinite = np.isinf(numbers)
    for row in np.flatnonzero(infinite).tolist():
        report.reject_at(table.place(row), f"column {header!r}: the number is too large{_LEFT_OUT}")
    numbers = np.where(infinite, np.nan, numbers * mapping.factor)
    return ColumnNumbers(converted(numbers, unit, to) if unit and unit != to else numbers, to)


def _surrounded(texts: pa.Array, decimal: str, unit: str) -> np.ndarray:  # (texts,) float64
    """Numbers with something before or behind them, such as `$1,200` or `117 min`, in the unit of their column.

    What stands around them is read once, around a 1; NaN where that is not read, or where digits stand in it.
    """
    parts = pc.extract_regex(texts, _SURROUNDED[decimal])
    before, number, behind = parts.flatten()
    digits = pc.replace_substring(pc.replace_substring(number, "," if decimal == "." else ".", ""), ",", ".")
    found = distinct(pc.binary_join_element_wise(before, behind, "1"))
    factors = np.full(len(found) + 1, np.nan)
    for place, text in enumerate(found.texts):
        quantity = read_quantity(text, decimal)
        # A conversion is taken cell by cell: it may be more than a factor, as that of degrees.
        if quantity is not None and quantity.unit in (None, unit):
            factors[place] = quantity.number
    numbers = pc.cast(digits, pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False)
    scaled = numbers * factors[found.codes]
    return np.where(np.isfinite(scaled), scaled, np.nan)


def _to(number: float, own: str | None, unit: str, text: str) -> float:
    """A number in the unit of its column."""
    if own is None or own == unit:
        return number
    if unit and unit_named(own) and same_dimension(own, unit):
        return float(converted(np.array([number]), own, unit)[0])
    if not unit:
        raise _NotReadError(f"{text!r:.60} is in {own}, but the column has no unit: give it one in a mapping")
    raise _NotReadError(f"{text!r:.60} is in {own}, which cannot be converted to {unit}, the unit of the column")


def _by_row(
    table: WideTable, header: str, numbers: np.ndarray, units: str, unit: str, report: ImportReport
) -> np.ndarray:
    """ColumnNumbers in the units that another column says, row by row, all converted to one."""
    found = distinct(cells(table.columns[units]))
    result = np.where(found.codes < 0, numbers, np.nan)
    for place, text in enumerate(found.texts):
        rows = np.flatnonzero((found.codes == place) & np.isfinite(numbers))
        own = unit_named(text)
        if own is not None and same_dimension(own, unit):
            result[rows] = converted(numbers[rows], own, unit)
            continue
        what = "is not a known unit" if own is None else f"cannot be converted to {unit}, the unit of most"
        for row in rows.tolist():
            report.reject_at(table.place(row), f"column {units!r}: {text!r} {what} in {header!r}{_LEFT_OUT}")
    return result
