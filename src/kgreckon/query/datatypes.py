"""Units as people see them: a datatype of RDF says how a number is written, and is no unit."""

from __future__ import annotations

PLAIN_UNIT = "number"
CALENDAR = frozenset(("date", "dateTime", "dateTimeStamp", "gYear", "gYearMonth"))
NUMERIC_TYPES = frozenset(
    (
        *("integer", "decimal", "float", "double", "int", "long", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    )
)
_UNSAID = CALENDAR | NUMERIC_TYPES | {PLAIN_UNIT, ""}


def is_said(unit: str | None) -> bool:
    """Whether a unit says what is measured: `metres` does, `integer` does not."""
    return unit is not None and unit not in _UNSAID


def with_unit(number: str, unit: str | None) -> str:
    """A number that is written already with its unit, where that says something."""
    return f"{number} {unit}" if is_said(unit) else number
