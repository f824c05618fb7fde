"""Where the numbers are likely to be that a question asks for and the graph does not state."""

from __future__ import annotations

import numpy as np

from kgreckon.answers.answer_table import Estimate
from kgreckon.models.interface import Candidates, Model, ScoreMeaning
from kgreckon.query import Entity, Query, ValueOf

_LEAST_EXPECTED = 0.01  # numbers that are not observed, below which there is no estimate of them


def expected_number(
    model: Model, query: Query, candidates: Candidates, proved: np.ndarray, coverage: float
) -> Estimate | None:
    """The middle of the mass that is left to the values that are not observed, within the likeliest unit.

    None where the model infers nothing, or where no further number is to be expected.
    """
    if model.calibration is ScoreMeaning.CERTAIN:
        return None
    if isinstance(query, ValueOf) and isinstance(query.of, Entity):
        if len(proved):  # an entity has one value
            return None
        predicted = model.predict(query.of.entity, query.attribute, coverage)
        if predicted is not None:
            return Estimate(
                predicted.estimate, predicted.low, predicted.high, predicted.unit, predicted.has_it, coverage
            )
    graph, values = model.graph, model.graph.values
    mass = candidates.dense(len(values)).astype(np.float64)
    mass[proved] = 0
    if isinstance(query, ValueOf):  # other attributes may have the same unit
        stated = graph.attribute_facts.targets[graph.attribute_facts.labels == query.attribute]
        mass[: stated.min(initial=len(mass))] = 0
        mass[stated.max(initial=-1) + 1 :] = 0
    starts = values.unit_starts
    by_unit = np.add.reduceat(mass, starts[:-1]) if len(starts) > 1 else np.zeros(0)
    if not len(by_unit) or by_unit.max() < _LEAST_EXPECTED:
        return None
    unit = int(by_unit.argmax())
    numbers = values.numbers[int(starts[unit]) : int(starts[unit + 1])]
    below = np.cumsum(mass[int(starts[unit]) : int(starts[unit + 1])]) / by_unit[unit]
    shares = ((1 - coverage) / 2, 0.5, (1 + coverage) / 2)
    low, middle, high = (float(numbers[min(int(np.searchsorted(below, share)), len(below) - 1)]) for share in shares)
    # Shares of a softmax add up to 1, whether there is a value or not.
    expected = float(by_unit[unit]) if model.calibration is ScoreMeaning.PROBABILITY else 1.0
    return Estimate(middle, low, high, values.units[unit], expected, coverage)
