"""Calculations on the numbers of answers: sums, differences, products and ratios of what is stated of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from kgreckon.answers.answer_columns import Cell, Column
from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.literals import measured
from kgreckon.models.interface import Candidates, Draws, Model
from kgreckon.query import Number, Order, Pause
from kgreckon.query.question import Question
from kgreckon.query.terms import Calculated, Elsewhere, Operation, Own, Term, TermComparison, own_attributes, unit_of
from kgreckon.query.words.lexicon import lexicon_of


@dataclass(frozen=True)
class TermValues:
    """The values of a term on some things; of a number that no thing of them has, one place, -1."""

    places: np.ndarray  # (values,) int, rising: which of the things
    numbers: np.ndarray  # (values,)

    @property
    def is_fixed(self) -> bool:
        """Whether it is the same number for all things."""
        return len(self.places) == 1 and self.places[0] == -1


def term_values(graph: KnowledgeGraph, term: Term | int, entities: np.ndarray) -> TermValues:
    """The values that the graph states for a term, or an attribute, on some entities, which rise."""
    match term:
        case int() | Own():
            return _stated(graph, term if isinstance(term, int) else term.attribute, entities)
        case Number(value, _):
            return _fixed(value)
        case Elsewhere(attribute, entity):
            values = graph.values.numbers[graph.values_of.row(entity, attribute)]
            if len(values) != 1:
                names = graph.vocabulary
                stated = f"{'no' if not len(values) else 'more than one'} stated {names.attribute_label(attribute)}"
                raise UserError(f"{names.entity_label(entity)} has {stated} to calculate with")
            return _fixed(float(values[0]))
        case Calculated(operation, left, right):
            places, one, other = _joined(*(term_values(graph, part, entities) for part in (left, right)))
            return _finite(places, _apply(operation, one, other))
    assert_never(term)


def meeting(graph: KnowledgeGraph, comparison: TermComparison, entities: np.ndarray) -> np.ndarray:
    """Which of some entities meet a comparison, by what the graph states: a mask."""
    left, right = (term_values(graph, term, entities) for term in (comparison.left, comparison.right))
    places, one, other = _joined(left, right)
    held = _holds(comparison.order, one, other)
    found = np.zeros(len(entities), dtype=bool)
    if len(places) == 1 and places[0] == -1:
        found[:] = bool(held[0])
    else:
        found[places[held]] = True
    return found


def calculated_ones(
    graph: KnowledgeGraph,
    model: Model,
    question: Question,
    candidates: Candidates,
    proved: np.ndarray,
    pause: Pause | None,
) -> tuple[Candidates, np.ndarray]:
    """The candidates that meet the calculations of a question, and those of them that are proved.

    Where a number is missing, the probability comes from graphs that are drawn from the facts' probabilities.
    """
    ids = candidates.ids
    met, stated = np.ones(len(ids), dtype=bool), np.ones(len(ids), dtype=bool)
    for comparison in question.where:
        met &= meeting(graph, comparison, ids)
        for attribute in own_attributes(comparison.left, comparison.right):
            known = np.zeros(len(ids), dtype=bool)
            known[_stated(graph, attribute, ids).places] = True
            stated &= known
    scores = np.where(met, candidates.scores, 0).astype(np.float32)
    if not stated.all():
        draws = draws_of(graph, model, question, None, pause)
        if draws is not None:
            places = np.searchsorted(ids, draws.ids)
            own = (np.append(ids, -1)[places] == draws.ids) & ~np.append(stated, True)[places]
            scores[places[own]] = draws.members.mean(axis=0)[own]
    of_them = proved[np.isin(proved, ids[met & stated], assume_unique=True)]
    kept = (scores > 0) | np.isin(ids, of_them, assume_unique=True)
    return Candidates(ids[kept], scores[kept]), of_them


def said_of(term: Term, graph: KnowledgeGraph) -> str:
    """What a term is called: the attribute, or the calculation."""
    return lexicon_of(graph.vocabulary).attributes[term.attribute] if isinstance(term, Own) else term_name(term, graph)


def term_name(term: Term, graph: KnowledgeGraph) -> str:
    """A term with the readable names of its attributes and things."""
    names = graph.vocabulary
    match term:
        case Own():
            return said_of(term, graph)
        case Elsewhere(attribute, entity):
            return f"{lexicon_of(names).attributes[attribute]} of {names.entity_label(entity)}"
        case Calculated(operation, left, right):
            one, other = (f"({term_name(part, graph)})" if isinstance(part, Calculated) else term_name(part, graph)
                          for part in (left, right))  # fmt: skip
            return f"{one} {operation.value} {other}"
    return names.write_number(term)


def term_cells(
    graph: KnowledgeGraph, question: Question, chosen: Sequence[int]
) -> tuple[list[Column], list[tuple[Cell | None, ...]]]:
    """A column for each calculation that a question sorts by or compares, with its values for some things."""
    asked: list[Term | int] = [] if question.sorting is None else [question.sorting.attribute]
    asked += [each.left for each in question.where]
    ids = np.unique(np.array(chosen, dtype=np.int64))
    columns, cells = [], []
    for term in dict.fromkeys(asked):
        if isinstance(term, Calculated) and own_attributes(term):
            unit = unit_of(term, graph.vocabulary)
            found = term_values(graph, term, ids)
            first = dict(zip(ids[found.places[::-1]].tolist(), found.numbers[::-1].tolist(), strict=True))
            columns.append(Column(term_name(term, graph), term_name(term, graph), unit))
            cells.append([_cell(first.get(entity), unit) for entity in chosen])
    return columns, list(zip(*cells, strict=True)) if cells else [() for _ in chosen]


def _cell(number: float | None, unit: str) -> Cell | None:
    return None if number is None else Cell(measured(number, unit), number)


def draws_of(
    graph: KnowledgeGraph, model: Model, question: Question, what: Calculated | int | None, pause: Pause | None
) -> Draws | None:
    """The answers that meet a question's calculations in drawn graphs, with their values of a term or attribute."""
    wanted = [what] if isinstance(what, int) else [] if what is None else list(own_attributes(what))
    compared = [one for each in question.where for one in own_attributes(each.left, each.right)]
    values: dict[int, np.ndarray] = {}
    draws: Draws | None = None
    for attribute in dict.fromkeys([*wanted, *compared]) or [None]:
        draws = model.draws(question.query, attribute, pause)
        if draws is None:
            return None
        if attribute is not None and draws.values is not None:
            values[attribute] = draws.values
    assert draws is not None
    held = draws.members.copy()
    for each in question.where:
        left, right = (_of_draws(graph, term, values) for term in (each.left, each.right))
        held &= np.broadcast_to(_holds(each.order, left, right), held.shape)
    if what is None:
        return Draws(draws.ids, held)
    term = Own(what) if isinstance(what, int) else what
    return Draws(draws.ids, held, np.broadcast_to(_of_draws(graph, term, values), held.shape))


def _of_draws(graph: KnowledgeGraph, term: Term, values: dict[int, np.ndarray]) -> np.ndarray:
    """The values of a term in drawn graphs, NaN where a number is missing."""
    match term:
        case Own(attribute):
            return values[attribute]
        case Calculated(operation, left, right):
            return _apply(operation, _of_draws(graph, left, values), _of_draws(graph, right, values))
    return term_values(graph, term, np.zeros(0, dtype=np.int64)).numbers


def _fixed(number: float) -> TermValues:
    return TermValues(np.array([-1]), np.array([number]))


def _stated(graph: KnowledgeGraph, attribute: int, entities: np.ndarray) -> TermValues:
    facts = graph.attribute_facts
    own = np.flatnonzero(facts.labels == attribute)
    places = np.searchsorted(entities, facts.sources[own])
    own = own[np.append(entities, -1)[places] == facts.sources[own]]
    places = np.searchsorted(entities, facts.sources[own])
    order = np.argsort(places, kind="stable")
    return TermValues(places[order], graph.values.numbers[facts.targets[own[order]]])


def _joined(one: TermValues, other: TermValues) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All pairs of values of the same thing; a fixed number goes with all."""
    if one.is_fixed:
        return other.places, np.full(len(other.numbers), one.numbers[0]), other.numbers
    if other.is_fixed:
        return one.places, one.numbers, np.full(len(one.numbers), other.numbers[0])
    low = np.searchsorted(other.places, one.places, side="left")
    counts = np.searchsorted(other.places, one.places, side="right") - low
    left = np.repeat(np.arange(len(one.places)), counts)
    right = np.arange(counts.sum()) - np.repeat(counts.cumsum() - counts, counts) + np.repeat(low, counts)
    return one.places[left], one.numbers[left], other.numbers[right]


def _finite(places: np.ndarray, numbers: np.ndarray) -> TermValues:
    finite = np.isfinite(numbers)
    if len(places) == 1 and places[0] == -1 and not finite[0]:
        raise UserError("the calculation divides by zero, or its result is too large")
    return TermValues(places[finite], numbers[finite])


def _apply(operation: Operation, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        match operation:
            case Operation.PLUS:
                return one + other
            case Operation.MINUS:
                return one - other
            case Operation.TIMES:
                return one * other
            case Operation.OVER:
                return np.where(other == 0, np.nan, one / np.where(other == 0, 1, other))
    assert_never(operation)


def _holds(order: Order, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return _compared(order, one, other)


def _compared(order: Order, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    match order:
        case Order.LESS:
            return one < other
        case Order.GREATER:
            return one > other
        case Order.AT_MOST:
            return one <= other
        case Order.AT_LEAST:
            return one >= other
        case Order.EQUAL:
            return one == other
        case Order.UNEQUAL:
            return (one != other) & ~np.isnan(one) & ~np.isnan(other)
    assert_never(order)
