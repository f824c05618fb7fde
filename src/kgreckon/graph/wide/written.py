"""Numbers as people write them: `$1,200`, `1 200 000`, `45 %`, `5 km`, `1.234,5`, `2.5 million`, `(1,200)`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kgreckon.graph.wide.units import CURRENCIES, unit_named

_GROUPS = "[ '\u2019\u00a0\u202f\u2009]"  # blanks of three widths and apostrophes part thousands in any style
_SIGNS = str.maketrans("\u2212\u2013", "--")
_SCALES = {
    "thousand": 1e3,
    "million": 1e6,
    "millions": 1e6,
    "mio": 1e6,
    "mn": 1e6,
    "billion": 1e9,
    "billions": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
}
_MONEY_SCALES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}  # after a currency alone: elsewhere m is the metre
_SYMBOLS = "|".join(re.escape(sign) for sign in sorted(CURRENCIES, key=len, reverse=True) if not sign[-1].isalpha())
_CODES = "|".join(code.upper() for code in CURRENCIES if len(code) == 3 and code.isalpha() and code not in ("yen",))
_UNCERTAIN = re.compile(r"(?<=\d)(?:\s?±\s?[\d.]+|\(\d{1,3}\))((?:[eE][-+]?\d+)?)(?=\D*$)")  # 1.00794(7), 5.1 ± 0.2
_FOOTNOTE = re.compile(r"\s*\[[^\]]{1,6}\]$")


def _style(decimal: str) -> re.Pattern[str]:
    mark, group = (re.escape(sign) for sign in (".,", ",.")[decimal == ","])
    whole = rf"\d{{1,3}}(?:{group}\d{{2,3}})*{group}\d{{3}}|\d{{1,3}}(?:{_GROUPS}\d{{3}})+|\d+"
    return re.compile(
        rf"(?P<open>\()?(?P<sign>[-+]?)\s?(?P<money>{_SYMBOLS}|(?:{_CODES})\s)?\s?(?P<after>[-+]?)"
        rf"(?P<whole>{whole}|(?={mark}\d))(?:{mark}(?P<part>\d*))?(?P<power>[eE][-+]?\d+)?(?P<close>\))?"
        r"(?P<unit>\s*[^\d\s].*)?",
        re.DOTALL,
    )


_STYLES = {decimal: _style(decimal) for decimal in (".", ",")}
_PLAIN = re.compile(r"[-+]?\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number and what it is measured in: a unit by the name that a graph gives it, or any other word as it stands."""

    number: float
    unit: str | None = None


@lru_cache(maxsize=100_000)
def read_quantity(text: str, decimal: str = ".") -> Quantity | None:
    """The quantity that a cell writes, with a point or a comma before its decimals; None where it writes none."""
    text = text.strip().translate(_SIGNS)
    text = _FOOTNOTE.sub("", _UNCERTAIN.sub(r"\1", text)) or text[1:-1]  # [247]
    found = _STYLES[decimal].fullmatch(text)
    if found is None or (found["open"] is None) != (found["close"] is None) or (found["sign"] and found["after"]):
        return None
    digits = re.sub(r"\D", "", found["whole"]) or "0"
    number = float(f"{digits}.{found['part'] or '0'}{found['power'] or ''}")
    if found["open"] or "-" in (found["sign"], found["after"]):
        number = -number
    scale, unit = _unit_after(found["unit"] or "", bool(found["money"]))
    if unit is None:
        return None
    number *= scale
    if found["money"]:
        if unit:
            return None  # $5 per kilogram
        unit = CURRENCIES[found["money"].strip().lower()]
    return Quantity(number + 0.0, unit or None) if math.isfinite(number) else None


def _unit_after(text: str, money: bool) -> tuple[float, str | None]:
    """The factor and the unit that stand behind a number; None where that is neither."""
    if not text.strip():
        return 1.0, ""
    if text in ("st", "nd", "rd", "th"):
        return 1.0, None  # a rank: 3rd
    scale, rest = 1.0, text.strip()
    word, _, more = rest.partition(" ")
    if word.lower() in _SCALES or (money and word.lower() in _MONEY_SCALES):
        scale, rest = (_SCALES | _MONEY_SCALES)[word.lower()], more.strip()
        if not rest:
            return scale, ""
    if unit := unit_named(rest):
        return scale, unit
    # A word that names no unit may count something (12 seats); whether it does is seen from the column.
    return scale, rest if text != rest and re.fullmatch(r"[^\W\d_]{2,20}", rest) else None


@dataclass(frozen=True)
class DecimalMark:
    """Which mark stands before the decimals in a column, and how that is known."""

    mark: str
    why: str = ""


def decimal_mark(cells: Iterable[str], likely: str = ".") -> DecimalMark:
    """The mark that the cells of a column speak for; where none does, a comma before three digits parts thousands."""
    only: dict[str, str] = {}
    counts = {".": 0, ",": 0}
    ambiguous: str | None = None
    for cell in cells:
        if _PLAIN.fullmatch(cell):
            continue
        point, comma = read_quantity(cell, "."), read_quantity(cell, ",")
        if point is not None and comma is None:
            counts["."] += 1
            only.setdefault(".", cell)
        elif comma is not None and point is None:
            counts[","] += 1
            only.setdefault(",", cell)
        elif point is not None and comma is not None and point.number != comma.number and "," in cell:
            ambiguous = ambiguous or cell
    if counts[","] != counts["."]:
        mark = max(counts, key=lambda one: counts[one])
        shown, other = only[mark], only.get("," if mark == "." else ".")
        if mark == ",":
            why = f"{shown!r} has a decimal comma"
        elif "," in shown:
            why = f"in {shown!r} a comma parts thousands"
        else:
            why = f"{shown!r} has a decimal point, so {ambiguous!r} is a thousand" if ambiguous else ""
        return DecimalMark(mark, f"{why}, but {other!r} does not fit".lstrip(", ") if other is not None else why)
    if ambiguous is not None:
        meaning = "thousands are taken" if likely == "." else "decimals are taken"
        return DecimalMark(likely, f"{ambiguous!r} may be thousands or decimals, no cell says: {meaning}")
    return DecimalMark(".")
