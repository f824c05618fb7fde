"""Dates, times and durations as people write them: `5 June 1998`, `06/12/98`, `2020-03`, `10:30`, `PT2H`, `1h 5min`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.graph.literals import NotANumberError, UnknownDateError, fractional_year, read_date

_MONTHS = {name: place for place, name in enumerate(re.findall("...", "janfebmaraprmayjunjulaugsepoctnovdec"), 1)}
_MONTH = r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|" \
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"  # fmt: skip
_TIME = r"(?:[ T,]+(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d(?:\.\d+)?))?\s?(?P<half>[AaPp]\.?[Mm]\.?)?)?"
_WEEKDAY = r"(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\.?,? )?"
_YEAR = r"(?P<year>\d{4}|'?\d\d)"
_NAMED = tuple(
    re.compile(_WEEKDAY + form + _TIME, re.IGNORECASE | re.ASCII)
    for form in (
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ -](?:of )?{_MONTH},?[ -]{_YEAR}",
        rf"{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}",
        rf"{_MONTH},?[ -](?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}})[ -]{_MONTH}(?:[ -](?P<day>\d{{1,2}}))?",
    )
)
_FIGURES = re.compile(
    rf"(?P<one>\d{{1,2}})(?P<mark>[/.-])(?P<two>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d\d){_TIME}", re.ASCII
)
_YEAR_FIRST = re.compile(rf"(?P<year>\d{{4}})[/.](?P<month>\d{{1,2}})[/.](?P<day>\d{{1,2}}){_TIME}", re.ASCII)
_QUARTER = re.compile(r"(\d{4})[ -]?[Qq]([1-4])", re.ASCII)
_ISO = re.compile(
    r"[-+]?(?:\d{4,9}|[\d#]{4})-(?:\d{1,2}|##)(?:-(?:\d{1,2}|##)(?:[T ][\d:.]+)?(?:Z|[-+]\d\d:\d\d)?)?", re.ASCII
)
_PIVOT = 69  # a year of two digits below it is of this century: 68 is 2068, 69 is 1969
_ISO_FAST = r"^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?$"

_CLOCK = re.compile(r"(\d{1,3}):(\d\d)(?::(\d\d(?:\.\d+)?))?(?:\s?([AaPp])\.?[Mm]\.?)?", re.ASCII)
_DURATION = re.compile(
    r"([-+]?)P(?=.)(?:([\d.]+)Y)?(?:([\d.]+)M)?(?:([\d.]+)W)?(?:([\d.]+)D)?"
    r"(?:T(?=.)(?:([\d.]+)H)?(?:([\d.]+)M)?(?:([\d.]+)S)?)?",
    re.ASCII,
)
_SPOKEN = re.compile(
    r"(?:(\d+(?:\.\d+)?)\s?d(?:ays?)?)?,?\s?(?:(\d+(?:\.\d+)?)\s?h(?:rs?|ours?)?)?,?\s?"
    r"(?:(\d+(?:\.\d+)?)\s?m(?:in(?:ute)?s?)?)?,?\s?(?:(\d+(?:\.\d+)?)\s?s(?:ec(?:ond)?s?)?)?",
    re.ASCII | re.IGNORECASE,
)
# What times are counted in since the beginning of 1970, and the counts that are likely times: of 1987 to 2100.
SINCE_1970 = {"seconds": (5.4e8, 4.1e9), "milliseconds": (5.4e11, 4.1e12)}
_SECONDS = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0, "days": 86400.0, "years": 365.25 * 86400.0}
_ISO_SECONDS = (365.25 * 86400.0, 365.25 / 12 * 86400.0, 7 * 86400.0, 86400.0, 3600.0, 60.0, 1.0)


class BadDateError(ValueError):
    """A cell that looks like a date, of a day that there was not."""


@dataclass(frozen=True)
class DateOrder:
    """Whether the day or the month comes first in a column's dates, and how that is known."""

    order: str  # "dmy" or "mdy"
    why: str = ""


def date_order(cells: Iterable[str]) -> DateOrder:
    """The order that the cells of a column speak for."""
    speaks: dict[str, str] = {}
    open_cell, mark, short = None, "", None
    for cell in cells:
        found = _FIGURES.fullmatch(cell.strip())
        if found is None:
            continue
        one, two = int(found["one"]), int(found["two"])
        if one > 12 >= two:
            speaks.setdefault("dmy", cell)
        elif two > 12 >= one:
            speaks.setdefault("mdy", cell)
        else:
            open_cell, mark = open_cell or cell, found["mark"]
        short = short or (cell if len(found["year"]) == 2 else None)
    years = f"; years of two digits below {_PIVOT} are 20.." if short else ""
    if len(speaks) == 1:
        ((order, cell),) = speaks.items()
        return DateOrder(order, f"{cell!r} shows that the {'day' if order == 'dmy' else 'month'} comes first{years}")
    if speaks:
        return DateOrder("mdy", f"{speaks['dmy']!r} begins with the day, {speaks['mdy']!r} with the month{years}")
    if open_cell is not None:
        order = "mdy" if mark == "/" else "dmy"
        first = "month" if order == "mdy" else "day"
        return DateOrder(order, f"{open_cell!r} may begin with day or month, no cell says: the {first} is taken{years}")
    return DateOrder("mdy", years.removeprefix("; "))


@lru_cache(maxsize=100_000)
def read_day(text: str, order: str = "mdy") -> float | None:
    """The fractional year of a date as people write it; None where it writes none, an error where no such day is."""
    text = " ".join(text.split())
    if _ISO.fullmatch(text):
        try:
            return read_date(text)
        except UnknownDateError:
            return None
        except NotANumberError as error:
            raise BadDateError(str(error)) from None
    if quarter := _QUARTER.fullmatch(text):
        return fractional_year(int(quarter[1]), 3 * int(quarter[2]) - 2, 1)
    found = _YEAR_FIRST.fullmatch(text) or next(filter(None, (form.fullmatch(text) for form in _NAMED)), None)
    if found is not None:
        parts = found.groupdict()
        written = parts["month"].lower()
        month = int(written) if written.isdigit() else _MONTHS[written[:3]]
        return _on(parts, month, int(parts.get("day") or 1), text)
    if found := _FIGURES.fullmatch(text):
        one, two = int(found["one"]), int(found["two"])
        day, month = (one, two) if order == "dmy" else (two, one)
        return _on(found.groupdict(), month, day, text)
    return None


def _on(parts: dict[str, str | None], month: int, day: int, text: str) -> float:
    year = int((parts["year"] or "").lstrip("'"))
    if len((parts["year"] or "").lstrip("'")) == 2:
        year += 2000 if year < _PIVOT else 1900
    hour, minute, second = int(parts["hour"] or 0), int(parts["minute"] or 0), float(parts["second"] or 0)
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"].lower().startswith("p") else 0)
    if hour > 24 or minute > 59 or second >= 60:
        raise BadDateError(f"{text!r} is not a time of the day")
    try:
        return fractional_year(year, month, day, (hour * 60 + minute) * 60 + second)
    except NotANumberError as error:
        raise BadDateError(f"{text!r}: {error}") from None


def is_iso(texts: pa.Array) -> pa.Array:
    """Which cells are dates, with or without a time, that `iso_years` reads at once."""
    return pc.match_substring_regex(texts, _ISO_FAST)


def iso_years(texts: pa.Array) -> np.ndarray:
    """The fractional years of cells that `is_iso` finds; raises pa.ArrowInvalid where one is of no day."""
    return years_of(pc.cast(pc.utf8_trim_whitespace(texts), pa.timestamp("ns")))


def years_of(times: pa.Array) -> np.ndarray:
    """The fractional years of typed dates or times, as `read_date` gives them for the same written ones."""
    stamps = times.to_numpy(zero_copy_only=False)
    if not np.issubdtype(stamps.dtype, np.datetime64):
        stamps = stamps.astype("datetime64[us]")
    years = stamps.astype("datetime64[Y]")
    starts, ends = years.astype("datetime64[D]"), (years + 1).astype("datetime64[D]")
    days = stamps.astype("datetime64[D]")
    unit, step = np.datetime_data(stamps.dtype)
    per_second = {"D": 1.0, "s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[unit] / step
    inside = (stamps - days).astype(np.int64) / per_second if unit != "D" else np.zeros(len(stamps))
    passed = (days - starts).astype(np.int64) + inside / 86400
    return years.astype(np.int64) + 1970 + passed / (ends - starts).astype(np.int64)


def years_since_1970(counts: np.ndarray, unit: str) -> np.ndarray:  # (n,) float64 -> (n,) float64
    """The fractional years of times that are counted from the beginning of 1970, NaN where there is no count."""
    years = np.full(len(counts), np.nan)
    known = np.abs(counts) < SINCE_1970[unit][1]
    per_second = 1 if unit == "seconds" else 1000
    stamps = (counts[known] * (1000 // per_second)).astype(np.int64).astype("datetime64[ms]")
    years[known] = years_of(pa.array(stamps)) if len(stamps) else 0.0
    return years


@lru_cache(maxsize=100_000)
def read_clock(text: str, clock: str = "h:m") -> float | None:
    """`10:30` as hours of the day or, where the clock is `m:s`, as minutes; `1:02:30` is 1 hour and more in both."""
    found = _CLOCK.fullmatch(text.strip())
    if found is None:
        return None
    one, two, three = int(found[1]), int(found[2]), float(found[3] or 0)
    if two > 59 or three >= 60:
        return None
    if found[4]:
        if not 1 <= one <= 12:
            return None
        one = one % 12 + (12 if found[4].lower() == "p" else 0)
    if clock == "h:m":
        return (one * 3600 + two * 60 + three) / 3600
    return (one * 3600 + two * 60 + three) / 60 if found[3] else (one * 60 + two) / 60


def clock_of(cells: Iterable[str]) -> tuple[str, str]:
    """Whether `10:30` is hours and minutes or minutes and seconds in a column, and how that is known."""
    beyond = next(
        (cell for cell in cells if (found := _CLOCK.fullmatch(cell.strip())) and not found[3] and int(found[1]) > 24),
        None,
    )
    if beyond is not None:
        return "m:s", f"{beyond!r} is beyond a day: minutes and seconds"
    return "h:m", "hours and minutes"


@lru_cache(maxsize=100_000)
def read_duration(text: str) -> float | None:
    """The seconds of `PT2H30M`, `1h 30min` or `P1Y2M`, a year being 365.25 days; None where it writes none."""
    text = text.strip()
    if found := _DURATION.fullmatch(text):
        try:
            total = sum(float(part) * unit for part, unit in zip(found.groups()[1:], _ISO_SECONDS, strict=True) if part)
        except ValueError:
            return None
        return -total if found[1] == "-" else total
    found = _SPOKEN.fullmatch(text)
    if found is None or sum(part is not None for part in found.groups()) < 2:
        return None  # of one part alone, `5 h`, the number has a unit like any other
    return sum(
        float(part) * unit for part, unit in zip(found.groups(), (86400.0, 3600.0, 60.0, 1.0), strict=True) if part
    )


def duration_unit(seconds: np.ndarray) -> str:
    """The unit in which durations of about that length are told."""
    middle = float(np.median(np.abs(seconds))) if len(seconds) else 0.0
    return next((unit for unit in ("years", "days", "hours", "minutes") if middle >= 2 * _SECONDS[unit]), "seconds")


def in_unit(seconds: np.ndarray, unit: str) -> np.ndarray:
    """Seconds in another unit of time."""
    return seconds / _SECONDS[unit]


def seconds_of(durations: pa.Array) -> np.ndarray:
    """The seconds of typed durations, those that are missing left out."""
    per_second = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[durations.type.unit]
    return pc.drop_null(durations).cast(pa.int64()).to_numpy() / per_second
