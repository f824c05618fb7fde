"""What stands beside each answer: the values that a question speaks of, and in its reason the one that places it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from kgreckon.answers.answer_columns import Cell, Column, ColumnWriter, attributes_asked
from kgreckon.answers.calculated import term_cells, term_name
from kgreckon.answers.nearness import Nearness
from kgreckon.answers.reason import Reason, with_value
from kgreckon.answers.selecting import Ranking
from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Model
from kgreckon.query import NumberSort, Pause, ValueOf
from kgreckon.query.question import Question
from kgreckon.query.terms import Calculated

Beside: TypeAlias = tuple[tuple[Column, ...], list[tuple[Cell | None, ...]]]  # columns, and a row for each answer


def values_beside(
    model: Model,
    question: Question,
    ranking: Ranking,
    chosen: Sequence[int],
    coverage: float,
    further: Sequence[int] = (),
    nearness: Nearness | None = None,
    pause: Pause | None = None,
) -> Beside:
    """Beside each chosen answer its distance, if one is asked for, and the values of the question."""
    columns, rows = _values(model, question, ranking, chosen, coverage, further, pause)
    if nearness is None:
        return columns, rows
    return (nearness.column, *columns), [(nearness.cell(id_), *row) for id_, row in zip(chosen, rows, strict=True)]


def _values(
    model: Model,
    question: Question,
    ranking: Ranking,
    chosen: Sequence[int],
    coverage: float,
    further: Sequence[int],
    pause: Pause | None,
) -> Beside:
    attributes = list(dict.fromkeys([*attributes_asked(question), *further]))
    writer = ColumnWriter(model.graph, model, question, attributes)
    if not isinstance(ranking.sort, NumberSort):
        calculated, terms = term_cells(model.graph, question, chosen)
        stated_or_predicted = []
        for entity in chosen:
            if pause is not None:
                pause()
            stated_or_predicted.append(writer.cells(entity, coverage))
        rows = [(*one, *other) for one, other in zip(terms, stated_or_predicted, strict=True)]
        return (*calculated, *writer.of_things()), rows
    if further:
        raise UserError("the answers are numbers, which have no attributes: columns are for things")
    columns = writer.of_numbers()
    if not columns:
        return (), [() for _ in chosen]
    assert isinstance(ranking.query, ValueOf)
    return columns, writer.holders(model.proved(ranking.query.of), chosen)


def with_places(
    graph: KnowledgeGraph, question: Question, reasons: Sequence[Reason | None], ids: Sequence[int], beside: Beside
) -> list[Reason | None]:
    """The reasons of some answers with the value that gives each its place in the order of the question."""
    columns, rows = beside
    if question.sorting is None:
        by = columns[0].name if question.near is not None else None
    else:
        term = question.sorting.attribute
        by = term_name(term, graph) if isinstance(term, Calculated) else graph.vocabulary.attribute_name(term)
    place = next((place for place, column in enumerate(columns) if column.name == by), None)
    if place is None:
        return list(reasons)
    labels = map(graph.vocabulary.entity_label, ids)
    return [
        reason and with_value(reason, label, columns[place], row[place])
        for reason, label, row in zip(reasons, labels, rows, strict=True)
    ]
