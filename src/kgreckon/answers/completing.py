"""Filling the gaps of a graph: the facts and values that it does not state and that a model finds likely."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from kgreckon.answers.answerer import COVERAGE, Answerer
from kgreckon.answers.predicted_numbers import number_reasons
from kgreckon.errors import UserError
from kgreckon.models.interface import ScoreMeaning
from kgreckon.processes import ALONE, Processes
from kgreckon.query import Entity, Follow

_AT_ONCE = 64  # things asked together
_UNMOVED = "as of most things: nothing that is known of this one moves the estimate"
Advance = Callable[[int, int], None]  # so many more questions, of so many in all


@dataclass(frozen=True)
class MissingFact:
    """A fact that is not stated, with its probability and, if asked for, the reason in words."""

    head: str
    relation: str
    tail: str
    probability: float
    reason: str | None = None


@dataclass(frozen=True)
class MissingValue:
    """A number that is not stated: what to expect, and how likely it is that there is one."""

    entity: str
    attribute: str
    value: float
    low: float
    high: float
    coverage: float
    unit: str
    probability: float
    reason: str | None = None  # what moved the estimate, if asked for


@dataclass(frozen=True)
class Gaps:
    """What is to be filled: relations and attributes by name, all if None, and only of some things if any are named."""

    above: float = 0.8
    relations: Sequence[str] | None = None
    attributes: Sequence[str] | None = None
    things: Sequence[str] | None = None
    explain: bool = False


def complete(
    answerer: Answerer,
    gaps: Gaps,
    advance: Advance = lambda count, total: None,
    processes: Processes = ALONE,
) -> Iterator[MissingFact | MissingValue]:
    """The missing facts of at least that probability, then the missing values, one after the other.

    Each fact comes once, with the probability that it has from either end. Of several processes each asks some of the
    questions, and the first gets all answers.
    """
    if not 0 < gaps.above <= 1:
        raise UserError(f"the least probability must be above 0 and at most 1, not {gaps.above:g}")
    if answerer.model.calibration is not ScoreMeaning.PROBABILITY:
        raise UserError(
            f"the model {answerer.model.name} has no probabilities of facts: learn a reckoner, kgreckon learn"
        )
    names = answerer.graph.vocabulary
    # Naming relations alone leaves out the values, and attributes alone the facts.
    only_named = gaps.relations is not None or gaps.attributes is not None
    relations = [names.relation_id(name) for name in gaps.relations or ()]
    attributes = [names.attribute_id(name) for name in gaps.attributes or ()]
    if not only_named:
        relations = [2 * relation for relation in range(len(answerer.graph.relations))]
        attributes = list(range(len(answerer.graph.attributes)))
    things = np.arange(len(answerer.graph.entities))
    if gaps.things is not None:
        things = np.unique([names.entity_id(name) for name in gaps.things])
    return _missing(answerer, gaps, relations, attributes, things, advance, processes)


def _missing(
    answerer: Answerer,
    gaps: Gaps,
    relations: Sequence[int],
    attributes: Sequence[int],
    things: np.ndarray,
    advance: Advance,
    processes: Processes,
) -> Iterator[MissingFact | MissingValue]:
    total = len(things) * (len(relations) + bool(attributes))
    some_heads = [things[first : first + _AT_ONCE] for first in range(0, len(things), _AT_ONCE)]
    for relation in relations:
        found = processes.in_turns(some_heads, partial(_facts, answerer, gaps, relation))
        for heads, facts in zip(some_heads, found, strict=False):  # nothing is found by others than the first
            yield from (MissingFact(*fact) for fact in facts)
            advance(len(heads), total)
    if attributes:
        for values in processes.in_turns(things.tolist(), partial(_values, answerer, gaps, attributes)):
            yield from (MissingValue(*value) for value in values)
            advance(1, total)


def _facts(answerer: Answerer, gaps: Gaps, relation: int, heads: np.ndarray) -> list[tuple[Any, ...]]:
    """The fields of each missing fact, which travel between processes."""
    facts = []
    names = answerer.graph.vocabulary
    rows, tails, probabilities = answerer.model.likely_facts(relation, heads, gaps.above)
    for row, tail, probability in zip(rows.tolist(), tails.tolist(), probabilities.tolist(), strict=True):
        head = int(heads[row])
        reason = None
        if gaps.explain:
            reason = "; ".join(answerer.explain_id(Follow(relation, Entity(head)), tail).lines())
        facts.append(
            (names.entity_name(head), names.relation_name(relation), names.entity_name(tail), probability, reason)
        )
    return facts


def _values(answerer: Answerer, gaps: Gaps, attributes: Sequence[int], thing: int) -> list[tuple[Any, ...]]:
    """The fields of each missing value."""
    model, names = answerer.model, answerer.graph.vocabulary
    chances = model.attribute_chances(thing)
    values: list[tuple[Any, ...]] = []
    if chances is None:
        return values
    for attribute in attributes:
        if chances[attribute] < gaps.above:
            continue
        found = model.predict(thing, attribute, COVERAGE, reasons=gaps.explain)
        if found is not None and not found.stated and found.has_it >= gaps.above:
            reasons = ("; ".join(number_reasons(found, attribute, names)) or _UNMOVED) if gaps.explain else None
            interval = found.estimate, found.low, found.high, found.coverage
            named = names.entity_name(thing), names.attribute_name(attribute)
            values.append((*named, *interval, found.unit, found.has_it, reasons))
    return values
