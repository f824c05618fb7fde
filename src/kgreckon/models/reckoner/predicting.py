"""Attribute completion: what an entity's missing number is likely to be."""

from __future__ import annotations

import numpy as np

from kgreckon.errors import UserError
from kgreckon.models.interface import Prediction
from kgreckon.models.reckoner.numbers.influences import formula_of, influences
from kgreckon.models.reckoner.predicted import PredictedFacts


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
    low, middle, high = (float(numbers.quantile(share)[0]) for share in ((1 - coverage) / 2, 0.5, (1 + coverage) / 2))
    return Prediction(
        stated=tuple(stated.tolist()),
        unit=graph.values.units[int(graph.attribute_units[attribute])],
        has_it=1.0 if len(stated) else float(facts.existence(attribute)[entity]),
        estimate=middle,
        low=low,
        high=high,
        coverage=coverage,
        formula=formula_of(model, entity),
        reasons=influences(model, entity, high - low) if reasons else (),
    )
