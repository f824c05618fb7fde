"""Attribute completion: what an entity's missing number is likely to be, and how unlikely stated ones are."""

from __future__ import annotations

import numpy as np

from kgreckon.errors import UserError
from kgreckon.graph.literals import is_calendar
from kgreckon.models.interface import JudgedNumbers, Prediction
from kgreckon.models.reckoner.numbers.influences import formula_of, influences
from kgreckon.models.reckoner.predicted import PredictedFacts

_CHANCES = np.logspace(-9, 0, 181)  # that are told apart


def predict(
    facts: PredictedFacts, entity: int, attribute: int, coverage: float = 0.9, reasons: bool = False
) -> Prediction:
    """The value of an attribute on an entity, from everything but the value itself."""
    if not 0 < coverage < 1:
        raise UserError("coverage must be above 0 and below 1")
    graph = facts.observed.graph
    stated = graph.values.numbers[graph.values_of.row(entity, attribute)]
    model = facts.attributes[attribute]
    numbers = model.numbers(np.array([entity]))
    unit = graph.values.units[int(graph.attribute_units[attribute])]
    low, middle, high = (float(numbers.quantile(share)[0]) for share in ((1 - coverage) / 2, 0.5, (1 + coverage) / 2))
    known = model.scale.numbers[model.scale.counts > 0]
    if is_calendar(unit) and not (known % 1).any():  # where only years are known, no day is estimated
        low, middle, high = (float(round(number)) for number in (low, middle, high))
    return Prediction(
        stated=tuple(stated.tolist()),
        unit=unit,
        has_it=1.0 if len(stated) else float(facts.existence(attribute)[entity]),
        estimate=middle,
        low=low,
        high=high,
        coverage=coverage,
        formula=formula_of(model, entity),
        reasons=influences(model, entity, high - low) if reasons else (),
    )


def judge_numbers(
    facts: PredictedFacts, attribute: int, entities: np.ndarray, numbers: np.ndarray, coverage: float
) -> JudgedNumbers:
    """What is to be expected of numbers that are stated, each from everything but itself, and how far out they are."""
    expected = facts.attributes[attribute].numbers(entities)
    chances = np.zeros(len(entities))
    for chance in _CHANCES:  # rising: the intervals grow narrower
        inside = (expected.quantile(chance / 2) <= numbers) & (numbers <= expected.quantile(1 - chance / 2))
        if not inside.any():
            break
        chances[inside] = chance
    low, middle, high = (expected.quantile(share) for share in ((1 - coverage) / 2, 0.5, (1 + coverage) / 2))
    return JudgedNumbers(middle, low, high, chances)
