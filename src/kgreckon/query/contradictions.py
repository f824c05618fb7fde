"""Queries that nothing can answer, whatever is true, because they ask for something and for its opposite."""

from __future__ import annotations

from collections.abc import Hashable
from typing import assert_never

from kgreckon.query.algebra import And, Compare, Entity, Follow, HavingValue, Not, Number, Or, Query, ValueOf


def is_contradiction(query: Query) -> bool:
    """Whether a query asks for what is in a set and not in it, at a place on which all its answers depend."""
    match query:
        case Entity() | Number() | Not():
            return False
        case Follow(of=of) | ValueOf(of=of) | HavingValue(of=of) | Compare(of=of):
            return is_contradiction(of)
        case Or(parts):
            return all(map(is_contradiction, parts))
        case And():
            asked = _conjuncts(query)
            wanted = {_form(part) for part in asked}
            return any(
                _is_refused(part.of, wanted) if isinstance(part, Not) else is_contradiction(part) for part in asked
            )
    assert_never(query)


def _is_refused(of: Query, wanted: set[Hashable]) -> bool:
    """Whether all that is wanted is in a set, which is refused."""
    if isinstance(of, Or) and any(_is_refused(part, wanted) for part in of.parts):
        return True
    return all(_form(part) in wanted for part in _conjuncts(of))


def _conjuncts(query: Query) -> list[Query]:
    """What an intersection asks for, however it is nested."""
    return [part for each in query.parts for part in _conjuncts(each)] if isinstance(query, And) else [query]


def _form(query: Query) -> Hashable:
    """The same for queries that differ only in the order and nesting of their parts."""
    match query:
        case Entity() | Number():
            return query
        case Follow(label, of) | ValueOf(label, of) | HavingValue(label, of) | Compare(label, of):
            return type(query), label, _form(of)
        case Not(of):
            return Not, _form(of)
        case And():
            return And, frozenset(map(_form, _conjuncts(query)))
        case Or(parts):
            return Or, frozenset(map(_form, parts))
    assert_never(query)
