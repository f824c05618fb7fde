"""What a negation rests on: facts that are stated otherwise, or facts that are not stated."""

from __future__ import annotations

from kgreckon.query.algebra import Follow, HavingValue, Not, Query, ValueOf, nodes


def is_stated_otherwise(query: Query) -> bool:
    """Whether a `not` about a number asks for another one that is stated: things without one are no answers."""
    return any(isinstance(node, HavingValue) and isinstance(node.of, Not) for node in nodes(query))


def rests_on_absence(query: Query) -> bool:
    """Whether what is not stated counts as false somewhere in a query.

    A complement of numbers that the query itself names does not: a value outside them is stated. A complement of what
    facts lead to does: one more fact could end it.
    """
    return any(
        isinstance(node, Not) and any(isinstance(below, Follow | HavingValue | ValueOf) for below in nodes(node.of))
        for node in nodes(query)
    )
