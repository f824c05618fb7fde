"""Estimates in words: numbers with the digits that their interval justifies, and sentences that say what moved them."""

from __future__ import annotations

import math

from kgreckon.graph.literals import is_calendar, nearest_day, write_date
from kgreckon.graph.naming import GraphVocabulary
from kgreckon.models.interface import Formula, FormulaSource, Influence, Prediction
from kgreckon.query.datatypes import is_said, with_unit

_YEARS = ("year", "years")
_SHORT = ((1e12, "trillion"), (1e9, "billion"), (1e6, "million"))
_DAYS = 1.0  # years that an interval is wide, up to which days are shown
_LONGEST = 1e15  # from here on numbers are written with an exponent


def number_text(number: float, step: float, unit: str) -> str:
    """A number to the nearest step's digit: `53,000`, `1.25 million`, `1984-06-02`; a year where a step is a month."""
    if not math.isfinite(number):
        return str(number)
    if is_calendar(unit):
        if 10 * step <= _DAYS:
            return write_date(nearest_day(number))
        return str(math.floor(number))
    digits = -math.floor(math.log10(step)) if step > 0 else 12
    if number:
        digits = min(digits, 11 - math.floor(math.log10(abs(number))))  # what a float can hold, without its last digits
    rounded = round(number, digits)
    if rounded == 0:
        return "0"
    if unit in _YEARS and 1000 <= abs(rounded) < 10_000:
        return f"{rounded:.{max(0, digits)}f}"
    if abs(rounded) >= _LONGEST or abs(rounded) < 1e-6:
        return f"{rounded:.3g}"
    for size, name in _SHORT:
        if abs(rounded) >= size and 10.0 ** (2 - digits) >= size / 100:
            return f"{_trimmed(rounded / size, max(0, min(6, digits + int(math.log10(size)))))} {name}"
    return _trimmed(rounded, max(0, digits))


def _trimmed(number: float, digits: int) -> str:
    text = f"{number:,.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def interval_texts(middle: float, low: float, high: float, unit: str) -> tuple[str, str, str]:
    """A number within an interval, and its ends, each to a tenth of the distance between them."""
    below, above = middle - low, high - middle
    steps = (max(min(below, above), max(below, above) / 100), max(below, above / 100), max(above, below / 100))
    texts = [number_text(number, step / 10, unit) for number, step in zip((middle, low, high), steps, strict=True)]
    return texts[0], texts[1], texts[2]


def influence_text(influence: Influence, found: Prediction, names: GraphVocabulary) -> str:
    """What moved an estimate and by how much: `in country → Japan: 12.4 more`."""
    size = abs(influence.effect)
    step = 10.0 ** (math.floor(math.log10(size)) - 1) if size else 1.0
    unit = "years" if is_calendar(found.unit) else found.unit
    amount = number_text(size, step, "")
    direction = "more" if influence.effect > 0 else "less"
    if is_calendar(found.unit):
        direction = f"{'year' if amount == '1' else 'years'} {'later' if influence.effect > 0 else 'earlier'}"
    elif is_said(unit):
        direction = f"{unit} {direction}"
    return f"{subject_text(influence, names)}: {amount} {direction}"


def subject_text(influence: Influence, names: GraphVocabulary) -> str:
    """The facts of an influence: `in country → Japan`, `population 1,200`, `starring → A, B and 12 more`."""
    if influence.attribute is not None:
        unit = names.graph.values.units[int(names.graph.attribute_units[influence.attribute])]
        assert influence.number is not None
        number = number_text(influence.number, 0.0, unit)
        return f"{names.attribute_label(influence.attribute)} {with_unit(number, unit)}"
    assert influence.relation is not None
    ends = ", ".join(names.entity_label(entity) for entity in influence.entities)
    more = influence.facts - len(influence.entities)
    ends += f" and {more} more" if more > 0 else ""
    label = names.relation_label(influence.relation & ~1)
    return f"{label} → {ends}" if influence.relation % 2 == 0 else f"{ends} → {label} → this"


def formula_text(formula: Formula, attribute: int, names: GraphVocabulary) -> str:
    """The line that made an estimate: `mass = 1.0025 × nucleon number − 0.03`."""
    parts = [_source_text(source, names) for source in formula.sources]
    sign = {"alone": "", "sum": " + ", "difference": " − ", "product": " × ", "ratio": " ÷ "}[formula.form]
    said = sign.join(parts)
    if len(parts) > 1 and not formula.logarithmic and formula.slope != 1:
        said = f"({said})"
    label = names.attribute_label(attribute)
    if formula.logarithmic:
        factor = math.exp(min(formula.offset, 700.0))
        power = "" if abs(formula.slope - 1) < 1e-9 else f"^{formula.slope:.4g}"
        said = f"({said}){power}" if power and len(parts) > 1 else f"{said}{power}"
        return f"{label} = {said}" if abs(factor - 1) < 1e-9 else f"{label} = {factor:.5g} × {said}"
    text = said if abs(formula.slope - 1) < 1e-9 else f"{formula.slope:.5g} × {said}"
    if abs(formula.offset) > 1e-9:
        text += f" {'+' if formula.offset > 0 else '−'} {abs(formula.offset):.5g}"
    return f"{label} = {text}"


def _source_text(source: FormulaSource, names: GraphVocabulary) -> str:
    label = names.attribute_label(source.attribute)
    if source.relation is None:
        return label
    relation = names.relation_label(source.relation & ~1)
    return f"{label} of (this → {relation} → x)" if source.relation % 2 == 0 else f"{label} of (x → {relation} → this)"
