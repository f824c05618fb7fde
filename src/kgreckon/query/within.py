"""Questions within a question: `the capital of the country with the smallest area`.

A superlative is asked of a whole set, so it is no node of the algebra. Where one stands within a query, the query has a
hole: an entity with a negative id. The answers of the inner question fill it before the query is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from kgreckon.query.algebra import (
    And,
    Compare,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Query,
    ValueOf,
    children,
)
from kgreckon.query.question import Question


def hole(number: int) -> Entity:
    """What stands in a query for the answers of the inner question of that number."""
    return Entity(-1 - number)


def holes(query: Query) -> list[int]:
    """The numbers of the inner questions that a query needs, as they stand in it."""
    if isinstance(query, Entity):
        return [-1 - query.entity] if query.entity < 0 else []
    return [number for child in children(query) for number in holes(child)]


def with_entities(query: Query, put: Callable[[Entity], Query]) -> Query:
    """The same query with something else for each entity."""
    match query:
        case Entity():
            return put(query)
        case Number():
            return query
        case Follow() | ValueOf() | HavingValue() | Compare() | Not():
            return replace(query, of=with_entities(query.of, put))
        case And(parts) | Or(parts):
            return replace(query, parts=tuple(with_entities(part, put) for part in parts))
    assert_never(query)


def filled(question: Question, sets: Sequence[Query]) -> Question:
    """The question with a set for each of its inner questions."""
    return replace(
        _each_query(
            question, lambda query: with_entities(query, lambda it: sets[-1 - it.entity] if it.entity < 0 else it)
        ),
        inner=(),
    )


def in_order(question: Question) -> Question:
    """The same with the inner questions numbered as they stand, each after those within it; others are left out."""
    numbers: dict[int, int] = {}
    kept: list[Question] = []

    def number(asked: Question) -> Question:
        for one in (one for query in _queries(asked) for one in holes(query) if one not in numbers):
            inner = number(question.inner[one])
            if inner not in kept:  # what is asked twice is answered once
                kept.append(inner)
            numbers[one] = kept.index(inner)
        return _each_query(
            asked, lambda query: with_entities(query, lambda it: hole(numbers[-1 - it.entity]) if it.entity < 0 else it)
        )

    return replace(number(question), inner=tuple(kept))


def _queries(question: Question) -> list[Query]:
    """The queries in a question, as they are written."""
    found = [question.query]
    if question.near is not None:
        found.append(question.near.of)
    if question.sorting is not None and question.sorting.nearest is not None:
        found.append(question.sorting.nearest)
    return found


def _each_query(question: Question, change: Callable[[Query], Query]) -> Question:
    near, sorting = question.near, question.sorting
    if near is not None:
        near = replace(near, of=change(near.of))
    if sorting is not None and sorting.nearest is not None:
        sorting = replace(sorting, nearest=change(sorting.nearest))
    return replace(question, query=change(question.query), near=near, sorting=sorting)
