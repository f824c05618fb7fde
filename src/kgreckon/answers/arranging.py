"""A part of all answers, in the order of a column: what someone looks at who turns the pages of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgreckon.answers.calculated import term_name
from kgreckon.answers.nearness import Nearness
from kgreckon.answers.ordering import Scored, in_order
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.interface import Model
from kgreckon.query.question import Question, Sorting
from kgreckon.query.terms import Calculated

NAME, VALUE, PROBABILITY = "name", "value", "probability"  # what a table has beside its columns


@dataclass(frozen=True)
class TablePart:
    """Which of all answers are wanted: those from `offset` on, in the order of a column where one is named."""

    offset: int = 0
    order: str | None = None
    descending: bool = False


def arranged(
    model: Model, question: Question, answers: list[Scored], part: TablePart, nearness: Nearness | None
) -> list[Scored]:
    """The answers in the order of a column, surer ones first where it has the same; then those that lack it."""
    graph, ids = model.graph, np.array([id_ for id_, _ in answers], dtype=np.int64)
    by = _column(graph, question, part, nearness)
    match by:
        case None if nearness is not None and part.order == nearness.column.name:
            keys = np.array([nearness.metres[id_] for id_ in ids.tolist()])
        case None if part.order == VALUE:  # rows of the value table rise with their numbers
            keys = ids
        case None if part.order == PROBABILITY:
            keys = np.array([score for _, score in answers])
        case None:
            labels = pa.array([graph.vocabulary.entity_label(id_) for id_ in ids.tolist()], pa.large_string())
            plain = pc.replace_substring_regex(pc.utf8_normalize(labels, "NFKD"), r"[\p{Mn}'’]", "")  # ō stands with o
            keys = pc.rank(pc.utf8_lower(plain), tiebreaker="dense").to_numpy().astype(np.int64)
        case _:
            ordered, without = in_order(model, answers, Sorting(by, part.descending))
            return [*ordered, *without]
    order = np.argsort(-keys if part.descending else keys, kind="stable")
    return [answers[place] for place in order.tolist()]


def _column(
    graph: KnowledgeGraph, question: Question, part: TablePart, nearness: Nearness | None
) -> int | Calculated | None:
    """The attribute or the calculation of a column; None for what a table has besides."""
    assert part.order is not None
    terms = [each.left for each in question.where]
    terms += (
        [] if question.sorting is None or isinstance(question.sorting.attribute, int) else [question.sorting.attribute]
    )
    for term in terms:
        if isinstance(term, Calculated) and term_name(term, graph) == part.order:
            return term
    besides = [NAME, VALUE, PROBABILITY, *([] if nearness is None else [nearness.column.name])]
    return None if part.order in besides else graph.vocabulary.attribute_id(part.order)
