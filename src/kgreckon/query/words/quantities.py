"""Numbers as people write them: magnitudes such as `million`, and units by their short names, converted."""

from __future__ import annotations

from functools import cache

MAGNITUDES = {
    "m": 1e6, "b": 1e9, "mio": 1e6, "mln": 1e6, "hundred": 1e2, "thousand": 1e3, "k": 1e3, "million": 1e6,
    "millions": 1e6, "mn": 1e6, "billion": 1e9, "billions": 1e9, "bn": 1e9, "trillion": 1e12, "trillions": 1e12,
}  # fmt: skip

# Each dimension in a unit of its own: how much of it one of each is. The first spelling is the one that is shown.
_DIMENSIONS: tuple[dict[str, float], ...] = (
    {
        "m metre metres meter meters": 1.0, "km kilometre kilometres kilometer kilometers": 1e3,
        "cm centimetre centimetres centimeter centimeters": 1e-2,
        "mm millimetre millimetres millimeter millimeters": 1e-3,
        "mi mile miles": 1609.344, "ft foot feet": 0.3048, "inch inches": 0.0254, "yd yard yards": 0.9144,
        "nmi": 1852.0, "nm nanometre nanometres nanometer nanometers": 1e-9,
        "µm um micrometre micrometres micrometer micrometers": 1e-6, "au": 149597870700.0, "ly": 9460730472580800.0,
    },
    {
        "m2 m² sqm square_metre square_metres square_meter square_meters": 1.0,
        "km2 km² square_kilometre square_kilometres square_kilometer square_kilometers": 1e6,
        "ha hectare hectares": 1e4, "acre acres": 4046.8564224, "mi2 mi² square_mile square_miles": 2589988.110336,
    },
    {
        "kg kilogram kilograms kilogramme kilogrammes": 1.0, "g gram grams gramme grammes": 1e-3,
        "mg milligram milligrams": 1e-6, "t tonne tonnes metric_ton metric_tons": 1e3,
        "lb lbs pound pounds": 0.45359237,
        "oz ounce ounces": 0.028349523125,
    },
    {
        "s sec second seconds": 1.0, "ms millisecond milliseconds": 1e-3, "min minute minutes": 60.0,
        "h hr hour hours": 3600.0, "d day days": 86400.0, "week weeks": 604800.0,
    },
    {"m/s": 1.0, "km/h kph": 1 / 3.6, "mph": 0.44704},
    {"persons person people inhabitants": 1.0},
    {"degrees degree deg °": 1.0},
    {"percent % per_cent": 1.0},
    {"years year yr yrs": 1.0},
    {"w watt watts": 1.0, "kw kilowatt kilowatts": 1e3, "mw megawatt megawatts": 1e6, "gw gigawatt gigawatts": 1e9},
    {"l litre litres liter liters": 1.0, "ml millilitre millilitres milliliter milliliters": 1e-3},
    {"b byte bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12},
)  # fmt: skip


@cache
def _sizes() -> dict[str, tuple[int, float]]:
    """The dimension and the size of each unit, by each of its names."""
    return {
        spelling.replace("_", " "): (dimension, size)
        for dimension, units in enumerate(_DIMENSIONS)
        for spellings, size in units.items()
        for spelling in spellings.split()
    }


def converted(unit: str, into: str) -> float | None:
    """How many of one unit one of another is; None where they do not measure the same thing."""
    if unit.casefold() == into.casefold():
        return 1.0
    one, other = (_sizes().get(name if name in _sizes() else name.casefold()) for name in (unit, into))
    if one is not None and other is not None and one[0] == other[0]:
        return one[1] / other[1]
    short, long = unit.casefold().split(), into.casefold().split()
    whole = len(short) < len(long) and (long[-len(short) :] == short or long[: len(short)] == short)
    return 1.0 if whole else None  # `dollars` for `US dollars`


@cache
def unit_spellings() -> tuple[str, ...]:
    """All names of units that are known."""
    return tuple(_sizes())
