"""Answers in the order of an attribute's values, or of how near these are to a number."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kgreckon.answers.calculated import term_values
from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Model
from kgreckon.query.question import Sorting

Scored = tuple[int, float]  # an entity and its score


def in_order(model: Model, answers: Sequence[Scored], sorting: Sorting) -> tuple[list[Scored], list[Scored]]:
    """The answers whose value is stated, in order, the surer of equal ones first; and those without a stated value."""
    near = None if sorting.nearest is None else _numbers(model, sorting)
    keyed, without = [], []
    numbers = _values(model.graph, [entity for entity, _ in answers], sorting)
    for place, (entity, score) in enumerate(answers):
        values = numbers.get(entity, np.zeros(0))
        if not len(values):
            without.append((entity, score))
            continue
        if near is not None:
            key = float(np.abs(values[:, None] - near[None, :]).min())
        else:
            key = -float(values[-1]) if sorting.descending else float(values[0])
        keyed.append((key, place, (entity, score)))
    return [answer for _, _, answer in sorted(keyed)], without


def _values(graph: KnowledgeGraph, entities: Sequence[int], sorting: Sorting) -> dict[int, np.ndarray]:
    """The values of each thing that has any, rising."""
    ids = np.unique(np.array(entities, dtype=np.int64))
    found = term_values(graph, sorting.attribute, ids)
    order = np.lexsort((found.numbers, found.places))
    held, starts = np.unique(found.places[order], return_index=True)
    return dict(zip(ids[held].tolist(), np.split(found.numbers[order], starts[1:]), strict=True)) if len(held) else {}


def _numbers(model: Model, sorting: Sorting) -> np.ndarray:
    """The numbers that answers should be near to, in the unit of the attribute."""
    assert sorting.nearest is not None
    from kgreckon.query import Number

    if isinstance(sorting.nearest, Number):
        return np.array([sorting.nearest.value])
    graph, rows = model.graph, model.proved(sorting.nearest)
    assert isinstance(sorting.attribute, int), "nearness is asked of an attribute"
    rows = rows[graph.values.unit_ids[rows] == graph.attribute_units[sorting.attribute]]
    if not len(rows):
        raise UserError("what the answers should be near to is not stated: there is no number to compare with")
    return graph.values.numbers[rows]
