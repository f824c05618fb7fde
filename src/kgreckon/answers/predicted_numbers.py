"""What is expected of a number that is not stated, and what moved it, in words."""

from __future__ import annotations

from collections.abc import Callable

from kgreckon.answers.estimates import formula_text, influence_text, interval_texts
from kgreckon.graph.naming import GraphVocabulary
from kgreckon.models.interface import Prediction
from kgreckon.query.datatypes import with_unit
from kgreckon.query.vocabulary import Vocabulary
from kgreckon.query.words.claims import percent

Predict = Callable[[int, int], Prediction | None]  # of an entity and an attribute
_POINTS = 3  # that moved an estimate


def expected_number(found: Prediction) -> str:
    """`about 2,100 metres, between 1,500 and 2,600`."""
    middle, low, high = interval_texts(found.estimate, found.low, found.high, found.unit)
    return f"about {with_unit(middle, found.unit)}, between {low} and {high}"


def number_points(found: Prediction | None, attribute: int, names: Vocabulary) -> list[str]:
    """What is expected, with which probability, and what moved it most."""
    if found is None or found.stated:
        return []
    if_any = "" if found.has_it > 0.995 else f", if there is one ({percent(found.has_it)})"
    points = [f"expected is {expected_number(found)} with a probability of {percent(found.coverage)}{if_any}"]
    assert isinstance(names, GraphVocabulary)  # whoever predicts has a graph
    return points + number_reasons(found, attribute, names)


def number_reasons(found: Prediction, attribute: int, names: GraphVocabulary) -> list[str]:
    """The formula of an estimate, if it has one, and what moved it most."""
    formula = [formula_text(found.formula, attribute, names)] if found.formula is not None else []
    return formula + [influence_text(each, found, names) for each in found.reasons[:_POINTS]]
