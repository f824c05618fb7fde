"""How the cells of a column are written: as numbers, dates, times, durations, truth values, lists or other text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.graph.wide.calendars import (
    SINCE_1970,
    BadDateError,
    clock_of,
    date_order,
    duration_unit,
    read_clock,
    read_day,
    read_duration,
    seconds_of,
)
from kgreckon.graph.wide.column_headers import is_id, is_time, is_year, read_header
from kgreckon.graph.wide.mapping import Becomes, ColumnMapping
from kgreckon.graph.wide.units import unit_named
from kgreckon.graph.wide.wide_table import Distinct, cells, distinct
from kgreckon.graph.wide.written import Quantity, decimal_mark, read_quantity

_LOOKED_AT = 2000  # different cells of a column
_LISTS_LOOKED_AT = 20_000  # whether the things in lists repeat is seen in many only
REPEATED = 0.2  # of the rows whose text another row has too, where texts name things
MOST = 0.8  # of the cells that a form must fit; others are bad ones
TRUTHS = {"true": True, "false": False, "yes": True, "no": False, "y": True, "n": False, "t": True, "f": False,
          "1": True, "0": False}  # fmt: skip
_PAIRS = (("true", "false"), ("yes", "no"), ("y", "n"), ("t", "f"))
_LIST_SEPARATORS = ("|", ";", ", ", ",", " / ", "/")
_MANY_YEARS, _FEW_YEARS = 10, 5  # cells, and different ones, of a column of years whose header does not say so
_ITEM = 40  # characters that a thing's name has at most, on average
_WORDS = 8  # that nearly all names have at most


@dataclass(frozen=True)
class CellForm:
    """What the cells of a column are read as, and why."""

    mapping: ColumnMapping
    why: str = ""


class Profile:
    """A column and what is known of its cells."""

    def __init__(self, header: str, column: pa.Array, decimal: str) -> None:
        self.header = header
        self.column = column
        self.decimal = decimal

    @cached_property
    def texts(self) -> pa.Array:
        """The cells as text."""
        return cells(self.column)

    @cached_property
    def distinct(self) -> Distinct:
        """The different cells."""
        return distinct(self.texts)

    @cached_property
    def sample(self) -> list[tuple[str, int]]:
        """Some different cells from all over the column, and how often each occurs."""
        found = self.distinct
        step = max(1, len(found) // _LOOKED_AT)
        return list(zip(found.some(step=step), found.counts[::step].tolist(), strict=True))

    @cached_property
    def numeric_sample(self) -> list[tuple[str, int]]:
        """The same without words that say that a number is missing."""
        kept = set(
            pc.drop_null(cells(pa.array([text for text, _ in self.sample], pa.string()), numeric=True)).to_pylist()
        )
        return [(text, count) for text, count in self.sample if text in kept]

    @property
    def examples(self) -> tuple[str, ...]:
        """A few cells, shortened: the commonest where they repeat, else the first."""
        found = self.distinct
        first = found.some(most=_LOOKED_AT)
        commonest = sorted(range(len(first)), key=lambda place: -found.counts[place])
        return tuple(_shortened(first[place]) for place in (commonest if found.repeated else range(len(first)))[:3])

    @property
    def is_whole(self) -> bool:
        """Whether all cells are whole numbers."""
        if pa.types.is_integer(self.column.type):
            return True
        return bool(self.sample) and all(re.fullmatch(r"[-+]?\d{1,18}", text, re.ASCII) for text, _ in self.sample)

    @property
    def is_since_1970(self) -> bool:
        """Whether it holds times that are counted from the beginning of 1970."""
        return self.form is not None and self.form.mapping.kind is Becomes.DATE and bool(self.form.mapping.unit)

    @property
    def mean_length(self) -> float:
        """The mean number of characters of a cell."""
        return sum(len(text) for text, _ in self.sample) / max(1, len(self.sample))

    @cached_property
    def form(self) -> CellForm | None:
        """What all or most cells are read as; None where they are other text."""
        if pa.types.is_list(self.column.type):
            return self._typed_lists()
        if pa.types.is_boolean(self.column.type):
            return CellForm(ColumnMapping(kind=Becomes.BOOLEAN))
        if pa.types.is_temporal(self.column.type):
            if pa.types.is_duration(self.column.type):
                return CellForm(ColumnMapping(kind=Becomes.DURATION, unit=duration_unit(seconds_of(self.column))))
            return CellForm(ColumnMapping(kind=Becomes.DATE))
        return self._truths() or self._numbers() or self._dates() or self._times() or self._lists()

    def _typed_lists(self) -> CellForm:
        """Lists as JSON and Parquet hold them: of things, or of numbers, which are no things."""
        items = cells(pc.list_flatten(self.column).slice(0, _LOOKED_AT)).drop_null().to_pylist()
        measured = [item for item in items if read_quantity(item) is not None]
        if len(measured) >= MOST * len(items) and any("." in item for item in measured):
            return CellForm(ColumnMapping(kind=Becomes.LEFT_OUT), "lists of numbers")
        return CellForm(ColumnMapping(kind=Becomes.RELATION), "lists")

    def _truths(self) -> CellForm | None:
        values = {text.lower() for text in self.distinct.some(most=3)}
        if len(self.distinct) == 2 and any(values == set(pair) for pair in _PAIRS):
            return CellForm(ColumnMapping(kind=Becomes.BOOLEAN))
        if values == {"0", "1"} and len(self.distinct) == 2 and self.distinct.total >= 10:
            return CellForm(ColumnMapping(kind=Becomes.BOOLEAN), "only 0 and 1")
        return None

    def _numbers(self) -> CellForm | None:
        header = read_header(self.header)
        if since := self._since_1970():
            return CellForm(ColumnMapping(kind=Becomes.DATE, unit=since), f"{since} since 1970")
        if pa.types.is_integer(self.column.type) or pa.types.is_floating(self.column.type):
            if self.is_whole and (years := self._years()):
                return CellForm(ColumnMapping(kind=Becomes.DATE), years)
            return CellForm(ColumnMapping(kind=Becomes.NUMBER, unit=header.unit, factor=header.scale), header.why)
        sample = self.numeric_sample
        if not sample or any(re.fullmatch(r"0\d+", text) for text, _ in sample):
            return None  # codes, such as 00501
        mark = decimal_mark((text for text, _ in sample), self.decimal)
        found = [(read_quantity(text, mark.mark), count) for text, count in sample]
        words = {quantity.unit for quantity, _ in found if quantity is not None and _is_word(quantity)}
        if words and self._with_words(found) < MOST:
            return None
        fit = [quantity is not None and (not _is_word(quantity) or len(words) == 1) for quantity, _ in found]
        total = sum(count for _, count in sample)
        if sum(count for (_, count), fits in zip(sample, fit, strict=True) if fits) < MOST * total:
            return None
        odd = next((text for (text, _), fits in zip(sample, fit, strict=True) if not fits), None)
        but = f"but {odd!r:.40} is not a number" if odd is not None else ""
        if years := self._years():
            return CellForm(ColumnMapping(kind=Becomes.DATE), "; ".join(filter(None, (years, but))))
        units = Counter[str]()
        for quantity, count in found:
            if quantity is not None and quantity.unit:
                units[quantity.unit] += count
        unit, why = header.unit, [header.why]
        if units:
            unit = unit or units.most_common(1)[0][0]
            why = [header.why, _told_units(units)]
        why.append(but)
        mapping = ColumnMapping(kind=Becomes.NUMBER, unit=unit, factor=header.scale, decimal=mark.mark)  # type: ignore[arg-type]
        return CellForm(mapping, "; ".join(filter(None, (*why, mark.why))))

    def _years(self) -> str:
        """Why numbers are taken for years; nothing where they are not."""
        sample = self.numeric_sample
        if is_year(self.header) and sum(n for text, n in sample if _is_year(text)) >= MOST * sum(n for _, n in sample):
            return "years, by its header"
        if (
            self.distinct.total < _MANY_YEARS
            or len(sample) < _FEW_YEARS
            or is_id(self.header)
            or read_header(self.header).unit
            or not all(re.fullmatch(r"19\d\d|20[0-4]\d", text) for text, _ in sample)
        ):
            return ""
        return "years, as all are between 1900 and 2049"

    def _since_1970(self) -> str:
        """The unit of whole numbers that count from the beginning of 1970, as computers keep times; else nothing."""
        if not self.sample or not is_time(self.header) or not self.is_whole:
            return ""
        numbers, counts = np.array([(float(text), count) for text, count in self.sample]).T
        return next((unit for unit, (low, high) in SINCE_1970.items()
                     if counts[(low <= numbers) & (numbers < high)].sum() >= MOST * counts.sum()), "")  # fmt: skip

    @staticmethod
    def _with_words(found: Sequence[tuple[Quantity | None, int]]) -> float:
        """The share of cells with a word that is no unit: 12 seats is one if all are seats."""
        total = sum(count for _, count in found)
        return sum(count for quantity, count in found if quantity is not None and quantity.unit) / total

    def _dates(self) -> CellForm | None:
        order = date_order(text for text, _ in self.sample)

        def is_date(text: str, of_any_day: bool = False) -> bool:
            try:
                return read_day(text, order.order) is not None
            except BadDateError:
                return of_any_day

        written = self._share(lambda text: is_date(text, of_any_day=True)) if self.sample else 0
        if written >= MOST and self._share(is_date) >= MOST / 2:
            return CellForm(ColumnMapping(kind=Becomes.DATE, order=order.order), order.why)  # type: ignore[arg-type]
        return None

    def _times(self) -> CellForm | None:
        clock, why = clock_of(text for text, _ in self.sample)
        if self.sample and self._share(lambda text: read_clock(text, clock) is not None) >= MOST:
            unit = "hours" if clock == "h:m" else "minutes"
            return CellForm(ColumnMapping(kind=Becomes.TIME, clock=clock, unit=unit), why)  # type: ignore[arg-type]
        if self.sample and self._share(lambda text: read_duration(text) is not None) >= MOST:
            seconds = np.array([read for text, _ in self.sample if (read := read_duration(text)) is not None])
            return CellForm(ColumnMapping(kind=Becomes.DURATION, unit=duration_unit(seconds)))
        return None

    def _lists(self) -> CellForm | None:
        if self.sample and self._share(lambda text: text[:1] in "[{" and text[-1:] in "]}") >= MOST:
            separator = "; " if self._share(lambda text: ";" in text) > 0.3 else ","
            return CellForm(ColumnMapping(kind=Becomes.RELATION, separator=separator.strip()), "lists in brackets")
        for separator in _LIST_SEPARATORS:
            if self._is_list(separator):
                return CellForm(ColumnMapping(kind=Becomes.RELATION, separator=separator.strip() or separator), "lists")
        return None

    def _is_list(self, separator: str) -> bool:
        """Whether cells name several things each: they are short, repeat, and stand in any place of a list."""
        if sum(separator in text for text, _ in self.sample) < max(2, 0.03 * len(self.sample)):
            return False
        surrounded = self._share(lambda text: len(text) > 2 and text[0] == text[-1] == separator) >= MOST  # ,a,b,
        found = self.distinct
        texts = zip(found.some(most=_LISTS_LOOKED_AT), found.counts.tolist(), strict=False)
        items, first, later = Counter[str](), set[str](), set[str]()
        places, ends = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)  # from the first and the last
        for text, count in texts:
            parts = split(text, separator.strip() or separator)
            items.update(dict.fromkeys(parts, count))
            first.update(parts[:1])
            later.update(parts[1:])
            for place, part in enumerate(parts):
                places[part].add(place)
                ends[part].add(len(parts) - place)
        if separator.strip() == "/" and sum(part.isdecimal() for part in items) > len(items) / 2:
            return False  # 3/2 is a fraction
        if (
            not (later or surrounded)
            or sum(map(len, items)) / len(items) > _ITEM
            or sum(len(part.split()) > _WORDS for part in items) > 0.01 * len(items)
        ):
            return False
        repeated = sum(count for count in items.values() if count > 1) / items.total()
        if repeated < REPEATED:
            return False
        # Names as in "Last, First", or "City, Country", stand always in the same place.
        again = {part: len(places[part]) > 1 < len(ends[part]) for part in later if items[part] > 1}
        anywhere = sum(items[part] for part, moves in again.items() if moves)
        return (
            surrounded or len(first & later) >= 0.5 * len(later) or anywhere > 0.5 * sum(items[part] for part in again)
        )

    def _share(self, fits: Callable[[str], bool]) -> float:
        return sum(count for text, count in self.sample if fits(text)) / max(1, sum(count for _, count in self.sample))


def split(text: str, separator: str) -> list[str]:
    """The things that one cell names; brackets and quotes around them are not theirs."""
    if text[:1] in ("[", "{") and text[-1:] in ("]", "}"):
        text = text[1:-1]
    parts = (part.strip() for part in text.split(separator))
    return [part for part in (_unquoted(part) for part in parts) if part]


def _unquoted(part: str) -> str:
    return part[1:-1].strip() if len(part) >= 2 and part[0] == part[-1] and part[0] in "'\"" else part


def _shortened(text: str) -> str:
    if len(text) > 12 and re.fullmatch(r"-?\d+\.\d+", text):
        return f"{float(text):.6g}"
    return text if len(text) <= 24 else text[:23] + "…"


def _is_word(quantity: Quantity) -> bool:
    """Whether a quantity has a word behind it that is no unit."""
    return quantity.unit is not None and unit_named(quantity.unit) is None


def _told_units(units: Counter[str]) -> str:
    most = [unit for unit, _ in units.most_common(3)]
    more = f" and {len(units) - 3} more" if len(units) > 3 else ""
    return f"its cells are in {', '.join(most)}{more}"


def _is_year(text: str) -> bool:
    return re.fullmatch(r"[12]\d{3}", text) is not None
