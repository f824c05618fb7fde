"""Units of measurement: how people write them, what they are called here, and converting between them.

pint knows the units. Here stand the names that a graph gives them (in full and in the plural: `square kilometres`), the
spellings that pint does not read, and currencies, which have no rates and so are never converted.
"""

from __future__ import annotations

import re
import tokenize
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pint

PERCENT = "percent"
CURRENCIES = {
    "$": "dollars",
    "us$": "US dollars",
    "usd": "US dollars",
    "us dollar": "US dollars",
    "us dollars": "US dollars",
    "dollar": "dollars",
    "dollars": "dollars",
    "€": "euros",
    "eur": "euros",
    "euro": "euros",
    "euros": "euros",
    "£": "pounds sterling",
    "gbp": "pounds sterling",
    "pounds sterling": "pounds sterling",
    "¥": "yen",
    "jpy": "yen",
    "yen": "yen",
    "cny": "yuan",
    "rmb": "yuan",
    "yuan": "yuan",
    "₹": "rupees",
    "inr": "rupees",
    "rupees": "rupees",
    "chf": "Swiss francs",
    "₩": "won",
    "₽": "roubles",
    "₺": "lira",
    "cad": "Canadian dollars",
    "aud": "Australian dollars",
}
# Spellings that pint does not know, or reads as something else (`C` is the coulomb, `F` the farad).
_SPELLINGS = {
    "%": "percent",
    "pct": "percent",
    "percentage": "percent",
    "perc": "percent",
    "‰": "permille",
    "o/oo": "permille",
    "°": "degree",
    "deg": "degree",
    "°c": "degC",
    "℃": "degC",
    "celsius": "degC",
    "degrees celsius": "degC",
    "degree celsius": "degC",
    "deg c": "degC",
    "degc": "degC",
    "c": "degC",
    "°f": "degF",
    "℉": "degF",
    "fahrenheit": "degF",
    "degrees fahrenheit": "degF",
    "degree fahrenheit": "degF",
    "deg f": "degF",
    "degf": "degF",
    "f": "degF",
    "°k": "kelvin",
    "k": "kelvin",
    "sqkm": "km**2",
    "sqmi": "mile**2",
    "sqft": "foot**2",
    "sqm": "m**2",
    "cc": "cm**3",
    "ccm": "cm**3",
    "mps": "m/s",
    "kmh": "km/h",
    "kmph": "km/h",
    "mpg": "mile/gallon",
    "hp": "horsepower",
    "l": "litre",
    "lbs": "pound",
    "g": "gram",
    "h": "hour",
    "hrs": "hour",
    "hr": "hour",
    "sec": "second",
    "secs": "second",
    "mins": "minute",
    "yrs": "year",
    "yr": "year",
    "d": "day",
    "u": "dalton",
    "amu": "dalton",
    "µm": "micrometer",
    "μm": "micrometer",
    "mya": "megayear",
    "feet": "foot",
    "inches": "inch",
    "au": "astronomical_unit",
}
# pint reads one letter as a unit, a prefix or a constant (c is the speed of light): of those only what tables mean.
_LETTERS = frozenset("mgshKkAVWNJlLtCFdu%°€$£¥₹‰ÅΩ")
_IRREGULAR = {"foot": "feet", "inch": "inches"}
_UNCHANGED = (
    *(
        "henry",
        "hertz",
        "percent",
        "permille",
        "lux",
        "siemens",
        "ppm",
        "horsepower",
        "kelvin",
        "celsius",
        "fahrenheit",
    ),
    *("degrees Celsius", "degrees Fahrenheit"),
)
_POWERS = {2: "square", 3: "cubic"}


@cache
def _registry() -> pint.UnitRegistry[Any]:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


@cache
def unit_named(text: str) -> str | None:
    """What a graph calls the unit that a text writes: `km²`, `sq km` and `square kilometres` are one; None where it is
    none.
    """
    text = " ".join(text.split())
    if text == "o/oo":
        return "permille"
    if currency := CURRENCIES.get(text.lower()):
        return currency
    unit = _parsed(text)
    if unit is None:
        return None
    name = _full_name(unit)
    again = _parsed(name)  # a name that cannot be read back is of something nobody means
    return name if again is not None and _full_name(again) == name else None


def is_currency(unit: str) -> bool:
    """Whether a unit, by the name that a graph gives it, is of money."""
    return unit in CURRENCIES.values()


def same_dimension(unit: str, other: str) -> bool:
    """Whether numbers in one unit can be converted to the other."""
    if unit == other:
        return True
    one, two = _parsed(unit), _parsed(other)
    return one is not None and two is not None and one.dimensionality == two.dimensionality and not _is_ratio(one, two)


def _is_ratio(*units: Any) -> bool:
    """Whether something without a dimension is none of a share: degrees are not percent."""
    names = {str(unit) for unit in units}
    return all(unit.dimensionless for unit in units) and not names <= {"percent", "permille", "ppm"} and (
        not names <= {"degree", "radian", "arcminute", "arcsecond", "turn"}
    )  # fmt: skip


def converted(numbers: np.ndarray, unit: str, to: str) -> np.ndarray:
    """Numbers in one unit, measured in another of its dimension."""
    if unit == to:
        return numbers
    one, two = _parsed(unit), _parsed(to)
    assert one is not None and two is not None
    result = _registry().Quantity(np.asarray(numbers, dtype=np.float64), one).to(two).magnitude
    if "degrees" in f"{unit} {to}":
        result = np.round(result, 10)  # 32 °F are 0 °C, not 5.7e-14
    # A conversion is a product of factors, whose last digits are noise: 5 km are 5000 m, not 5000.000000000001.
    return np.array([float(f"{number:.15g}") for number in np.atleast_1d(result)], dtype=np.float64)


@cache
def _parsed(text: str) -> Any | None:
    """What pint makes of a unit as people write it."""
    import pint

    if not text or len(text) > 60 or (len(text) == 1 and text not in _LETTERS):
        return None
    for spelling in dict.fromkeys((text, text.lower())):
        try:
            unit = _registry().Unit(_for_pint(spelling))
        except (pint.errors.PintError, tokenize.TokenError, ValueError, TypeError, AttributeError, KeyError):
            continue
        except (SyntaxError, AssertionError, RecursionError, ZeroDivisionError, OverflowError):
            continue
        return None if str(unit) == "dimensionless" else unit
    return None


def _for_pint(text: str) -> str:
    text = text.strip().strip(".").replace("²", "**2").replace("³", "**3").replace("·", "*").replace("^", "**")
    text = text.replace("⁻¹", "**-1").replace("⁻²", "**-2").replace("⁻³", "**-3").replace("−", "-")
    if not re.fullmatch(r"[\w %‰°℃℉$€µμΩ/*().-]+", text) or re.match(r"[\d.-]", text):
        raise ValueError(text)
    text = re.sub(r"[\s_]+per[\s_]+", " / ", text, flags=re.IGNORECASE)
    text = re.sub(r"(?<=[A-Za-z])(-[123])\b", r"**\1", text)  # cm-3
    return "".join(
        part if part in "/*()" else _one(part) for part in re.split(r"(/|(?<!\*)\*(?!\*)|[()])", text) if part.strip()
    )


def _one(text: str) -> str:
    """One factor of a unit, its power after two asterisks."""
    text = text.strip()
    if power := re.fullmatch(r"(?:(sq|square)|(?:cu|cubic))[ .]+(.+)", text):
        return f"{_one(power[2])}**{2 if power[1] else 3}"
    if power := re.fullmatch(r"([^\W\d_]{1,12})([23])", text):  # km2
        return f"{_one(power[1])}**{power[2]}"
    known = _SPELLINGS.get(text) or (_SPELLINGS.get(text.lower()) if len(text) > 1 else _LETTER_UNITS.get(text))
    if known is None and "**" in text:
        return "*".join(text.split())  # g cm**-3
    if known is None and re.fullmatch(
        r"(?:[A-Za-zµμΩ]{2,3}|[mgsKWNJAVh])(?: (?:[A-Za-zµμΩ]{2,3}|[mgsKWNJAVh]))+", text
    ):
        return "*".join(map(_one, text.split()))  # m K
    return known or text.replace(" ", "_")


_LETTER_UNITS = {"C": "degC", "F": "degF", "K": "kelvin", "L": "litre"}


def _full_name(unit: Any) -> str:
    """`square kilometres`, `miles per gallon`; what has more parts is written as pint writes it."""
    parts = list(unit._units.items())
    above = [(name, power) for name, power in parts if power > 0]
    below = [(name, -power) for name, power in parts if power < 0]
    if len(above) == 1 and len(below) <= 1 and all(power in (1, 2, 3) for _, power in parts if power > 0) and (
        all(power in (1, 2, 3) for _, power in below)
    ):  # fmt: skip
        first, per, rest = above[0][0].partition("_per_")  # mile_per_hour
        name = _powered(_plural(_spelt(first)), above[0][1]) + (f" per {_spelt(rest)}" if per else "")
        return f"{name} per {_powered(_spelt(below[0][0]), below[0][1])}" if below else name
    return f"{unit:~P}"


def _powered(name: str, power: float) -> str:
    return f"{_POWERS[int(power)]} {name}" if power > 1 else name


def _spelt(name: str) -> str:
    name = {"degree_Celsius": "degrees Celsius", "degree_Fahrenheit": "degrees Fahrenheit"}.get(name, name)
    if name.endswith(("ometer", "imeter")) or name == "meter":
        name = name.removesuffix("meter") + "metre"
    if name.endswith("liter"):
        name = name.removesuffix("liter") + "litre"
    return name.replace("metric_ton", "tonne").replace("_", " ")


def _plural(name: str) -> str:
    if name in _UNCHANGED or name.endswith("s"):
        return name
    return _IRREGULAR.get(name, f"{name}s")
