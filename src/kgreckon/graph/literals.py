"""Literals: how a written value becomes a number with a unit, and back. Dates become fractional years."""

from __future__ import annotations

import calendar
import math
import re

from kgreckon.errors import UserError, shortened
from kgreckon.query.algebra import plain_number
from kgreckon.query.datatypes import CALENDAR, NUMERIC_TYPES, with_unit

_EXACT_BELOW = 1e15  # beyond it not every digit of a float is one
_XSD = "http://www.w3.org/2001/XMLSchema#"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"  # its datatypes are text in a language, HTML, XML and JSON
# Datatypes whose literals are words, even where they happen to look like numbers.
_WORDS = frozenset(
    ("string", "boolean", "langString", "anyURI", "token", "normalizedString", "hexBinary", "base64Binary")
)

_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_ZONE = r"(?:Z|[-+]\d\d:\d\d)?"
_FARTHEST_ZONE = 14 * 60  # minutes; XML Schema has none further from Greenwich
_SIGNED_YEAR, _MONTH_OF = r"(?P<sign>[-+]?)(?P<year>\d{1,9}|[\d#]{2,9})", r"-(?P<month>\d{1,2}|##)"
_DATE = re.compile(
    _SIGNED_YEAR + _MONTH_OF + r"-(?P<day>\d{1,2}|##)(?:[T ](?P<time>[\d:.]+))?" + f"(?P<zone>{_ZONE})", re.ASCII
)
_TIME = re.compile(r"(\d\d):(\d\d)(?::(\d\d(?:\.\d*)?))?", re.ASCII)
_MONTH = re.compile(f"{_SIGNED_YEAR}{_MONTH_OF}(?P<zone>{_ZONE})", re.ASCII)
_YEAR = re.compile(f"{_SIGNED_YEAR}(?P<zone>{_ZONE})", re.ASCII)
_DAY = 24 * 60 * 60
# What a date and time ends with if it can be said in a narrower datatype.
_ENDINGS = {"gYear": "-01-01T00:00:00", "gYearMonth": "-01T00:00:00", "date": "T00:00:00", "dateTime": ""}
_TYPED = re.compile(r'"(.*)"\^\^<([^<>]*)>', re.DOTALL)


class UnknownDateError(ValueError):
    """A date whose year is not known (`15##-##-##`): it says nothing that can be compared."""


class NotANumberError(ValueError):
    """A literal that denotes no number."""


class OutOfRangeError(NotANumberError):
    """A literal that denotes a number which is too large or too close to 0 to be kept."""


def read_number(text: str) -> float:
    """The finite number that `text` writes."""
    stripped = text.strip()
    if _NUMBER.fullmatch(stripped):
        number = float(stripped)
        if not math.isfinite(number):
            raise OutOfRangeError(f"{shortened(text)!r} is too large for a number")
        if number == 0 and any(digit in "123456789" for digit in re.split("[eE]", stripped)[0]):
            raise OutOfRangeError(f"{shortened(text)!r} is too close to 0 for a number")
        return number + 0.0  # -0.0 and 0.0 are one value
    if stripped.lower().lstrip("+-") in ("nan", "inf", "infinity"):
        raise NotANumberError(f"{shortened(text)!r} is not a finite number")
    raise NotANumberError(f"{shortened(text)!r} is not a number")


def is_rounded(text: str, number: float) -> bool:
    """Whether `text` writes an integer that `number`, which was read of it, is not: beyond 2^53 not all are there."""
    digits = text.strip().lstrip("+-")
    return abs(number) >= 2**53 and digits.isdecimal() and int(digits.lstrip("0")) != abs(number)


def read_cell(text: str) -> tuple[float, str | None]:
    """The number in a cell of a table and its unit, if it has one: a number, a date or a typed literal."""
    if text.startswith('"'):
        match = _TYPED.fullmatch(text)
        if match is None:
            raise NotANumberError(f'{shortened(text)!r} is neither a number nor a literal "value"^^<type>')
        return read_literal(match[1], match[2])
    if date := _DATE.fullmatch(text.strip()):
        sign, year = date["sign"], date["year"]
        if not sign and len(year) < 4 and year.isdigit():
            raise NotANumberError(f"the year of {text.strip()!r} has fewer than four digits")
        return read_date(text), "date"
    return read_number(text), None


def looks_like_a_date(text: str) -> bool:
    """Whether `text` is written as a date, be it a day that there was or not."""
    return _DATE.fullmatch(text.strip()) is not None


def read_literal(lexical: str, datatype: str) -> tuple[float, str]:
    """The number that a typed literal denotes, and its datatype as unit."""
    unit = local_name(datatype)
    if datatype.startswith(_RDF):
        raise NotANumberError(f"a literal of type {unit} is not a number")
    if datatype.startswith(_XSD):
        if unit in _WORDS:
            raise NotANumberError(f"a literal of type {unit} is not a number")
        if unit in CALENDAR:
            return read_date(lexical), unit
    return read_number(lexical), unit


def read_date(text: str) -> float:
    """The fractional year of a date with or without a time, of a month or a year.

    An unknown month or day counts as the first. The zone of a time counts, that of a day does not.
    """
    text = text.strip()
    match = _DATE.fullmatch(text) or _YEAR.fullmatch(text) or _MONTH.fullmatch(text)
    if match is None:
        raise NotANumberError(f"{shortened(text)!r} is not a date")
    parts = match.groupdict()
    if "#" in parts["year"] or text == "0000-00-00":  # the latter is how MySQL writes that there is none
        raise UnknownDateError(f"the year of {text!r} is not known")
    ahead = _minutes_ahead(parts["zone"])
    seconds = _seconds(parts["time"]) - 60 * ahead if parts.get("time") else 0.0
    month, day = (_part(parts.get(name, "1")) for name in ("month", "day"))
    return fractional_year(int(parts["sign"] + parts["year"]), month, day, seconds)


def read_decimal_date(text: str) -> float:
    """The fractional year of a date written as YAGO does: `1961.0718` is 18 July 1961, `1950.0000` the year 1950."""
    match = re.fullmatch(r"(-?\d{1,9})\.(\d\d)(\d\d)", text)
    if match is None:
        raise NotANumberError(f"{shortened(text)!r} is not a decimal date")
    return fractional_year(int(match[1]), _part(match[2]), _part(match[3]))


def fractional_year(year: int, month: int, day: int, seconds: float = 0.0) -> float:
    """The year plus the share of it that has passed by then, in the Gregorian calendar carried backwards.

    The seconds may lead to the day before or after, as zones do.
    """
    if not 1 <= month <= 12 or not 1 <= day <= _days_in_month(year, month):
        raise NotANumberError(f"there is no day {day} in month {month} of {year}")
    days, seconds = divmod(seconds, _DAY)
    passed = sum(_days_in_month(year, earlier) for earlier in range(1, month)) + day - 1 + int(days)
    if passed < 0:
        year -= 1
        passed += _days_in_year(year)
    elif passed >= _days_in_year(year):
        passed -= _days_in_year(year)
        year += 1
    return year + (passed + seconds / _DAY) / _days_in_year(year)


def _seconds(time: str) -> float:
    """Seconds since midnight."""
    match = _TIME.fullmatch(time)
    hours, minutes, seconds = (int(match[1]), int(match[2]), float(match[3] or 0)) if match else (99, 0, 0)
    if not (hours < 24 and minutes < 60 and seconds < 60) and (hours, minutes, seconds) != (24, 0, 0):
        raise NotANumberError(f"{time!r} is not a time of the day")
    return (hours * 60 + minutes) * 60 + seconds


def _minutes_ahead(zone: str) -> int:
    """How far a zone is ahead of Greenwich, where it is if none is told."""
    if zone in ("", "Z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[4:6])
    if minutes > 59 or hours * 60 + minutes > _FARTHEST_ZONE:
        raise NotANumberError(f"{zone!r} is not a time zone")
    return (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)


def nearest_day(value: float) -> float:
    """The fractional year of the day that lies nearest."""
    year = math.floor(value)
    length = _days_in_year(year)
    return year + round((value - year) * length) / length


def write_date(value: float) -> str:
    """The year, date or time that `value` stands for, such that `read_date` gives it back; else the plain number."""
    year = math.floor(value)
    if value == year:
        return str(year)
    seconds = (value - year) * _days_in_year(year) * _DAY
    for step in (_DAY, 1):
        text = _written(year, round(seconds / step) * step)
        if text is not None and _DATE.fullmatch(text) and read_date(text) == value:  # years have nine digits at most
            return text
    return plain_number(value)


def calendar_type(unit: str, values: list[float]) -> str:
    """The datatype of XML Schema that dates in a unit are written in: the narrowest in which all can be said."""
    kinds = {"gYear": ("gYear", "date"), "gYearMonth": ("gYearMonth", "date"), "date": ("date",)}.get(unit, ())
    texts = [_to_the_second(value) for value in values] if kinds else []
    return next((kind for kind in kinds if all(text.endswith(_ENDINGS[kind]) for text in texts)), "dateTime")


def write_calendar(value: float, kind: str) -> str:
    """A fractional year as a literal of a datatype of XML Schema, to the second, in Greenwich."""
    return _to_the_second(value).removesuffix(_ENDINGS[kind]) + "Z" * (kind == "dateTime")


def _to_the_second(value: float) -> str:
    """The date and time that lie nearest."""
    year = math.floor(value)
    text = _written(year, round((value - year) * _days_in_year(year) * _DAY)) or _written(year + 1, 0)
    assert text is not None, "a year has a first day"
    return text if "T" in text else f"{text}T00:00:00"


def _written(year: int, second: int) -> str | None:
    """The day in which that second of the year lies, and the time if it is not midnight."""
    day, second = divmod(second, _DAY)
    if day >= _days_in_year(year):
        return None
    month = 1
    while day >= _days_in_month(year, month):
        day -= _days_in_month(year, month)
        month += 1
    date = f"{year:05d}-{month:02d}-{day + 1:02d}" if year < 0 else f"{year:04d}-{month:02d}-{day + 1:02d}"
    return f"{date}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}" if second else date


def local_name(iri: str) -> str:
    """The last part of an IRI or path: what a person calls it."""
    trimmed = iri.rstrip("/#")
    for separator in ("#", "/"):
        if separator in trimmed:
            return trimmed.rsplit(separator, 1)[1]
    return trimmed


def is_calendar(unit: str) -> bool:
    """Whether values of `unit` are years."""
    return unit in CALENDAR


def is_numeric_type(datatype: str) -> bool:
    """Whether literals of an XML Schema datatype are numbers or dates, if they are well formed."""
    return datatype.startswith(_XSD) and datatype.removeprefix(_XSD) in NUMERIC_TYPES | CALENDAR


def is_plain_number_type(datatype: str) -> bool:
    """Whether a literal of a datatype is a number if its text is one, measured in what the datatype is called."""
    if datatype.startswith(_RDF):
        return False
    return not datatype.startswith(_XSD) or local_name(datatype) not in _WORDS | CALENDAR


def same_family(unit: str, other: str) -> bool:
    """Whether two datatypes measure the same thing, so that one attribute may mix them: both numbers, or both dates."""
    return unit == other or {unit, other} <= NUMERIC_TYPES or {unit, other} <= CALENDAR


def read_with_unit(text: str, unit: str | None, known_units: tuple[str, ...]) -> tuple[float, str]:
    """The number and unit of `1927`, `1927 years` or `1969-03-01 date`; `unit` is what a bare number takes."""
    number, _, named = text.strip().partition(" ")
    named = named.strip()
    if named:
        if named not in known_units:
            raise UserError(f"unknown unit {named!r}: the graph measures in {', '.join(known_units) or 'nothing'}")
        unit = named
    elif unit is None and len(known_units) == 1:
        unit = known_units[0]
    if unit is None:
        raise UserError(f"{text!r} needs a unit, such as '{number} {known_units[0]}'" if known_units else
                        f"{text!r} cannot be meant: the graph holds no numbers")  # fmt: skip
    try:
        if is_calendar(unit) and not _NUMBER.fullmatch(number):
            return read_date(number), unit
        return read_number(number), unit
    except (NotANumberError, UnknownDateError) as error:
        raise UserError(str(error)) from None


def _part(text: str) -> int:
    return 1 if text == "##" else int(text) or 1


def _days_in_year(year: int) -> int:
    return 366 if calendar.isleap(year) else 365


def _days_in_month(year: int, month: int) -> int:
    return 29 if month == 2 and calendar.isleap(year) else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def measured(number: float, unit: str) -> str:
    """A number for people, rounded: dates as dates, large numbers with their thousands set off."""
    if is_calendar(unit):
        text = write_date(number)
        return write_date(nearest_day(number)) if text == plain_number(number) else text
    if unit == "years":
        return f"{number:g}" if number.is_integer() else f"{number:.2f}"
    if number.is_integer() and abs(number) < _EXACT_BELOW:
        return f"{int(number):,}"
    return f"{number:,.1f}" if 1e6 <= abs(number) < _EXACT_BELOW else f"{number:,.6g}"


def exactly_with_unit(number: float, unit: str) -> str:
    """A number for people, with all its digits and its unit: `46,723,749 persons`, `1984-06-02`, `500`."""
    return with_unit(exactly(number, unit), unit)


def exactly(number: float, unit: str) -> str:
    """A number for people, with all its digits."""
    if is_calendar(unit):
        return write_date(number)
    if unit in ("years", "year"):
        return plain_number(number)
    return f"{int(number):,}" if number.is_integer() and abs(number) < _EXACT_BELOW else f"{number:,}"
