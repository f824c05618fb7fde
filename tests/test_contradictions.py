"""Queries that ask for something and for its opposite: nothing answers them, however uncertain a model is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.query import And, Entity, Follow, HavingValue, Not, Number, Or, is_contradiction, sort_of
from strategies import graphs, queries

A, B, C = (Follow(relation, Entity(0)) for relation in range(3))


@pytest.mark.parametrize(
    "query",
    [
        And((A, Not(A))),
        And((Not(A), B, A)),
        And((And((A, B)), And((C, Not(A))))),
        And((A, B, Not(And((B, A))))),
        And((A, Not(Or((B, A))))),
        And((Or((A, B)), Not(Or((B, A))))),
        And((And((A, Or((B, C)))), Not(And((Or((C, B)), A))))),
        Follow(1, And((A, Not(A)))),
        Or((And((A, Not(A))), And((B, Not(B))))),
        And((C, Follow(1, And((A, Not(A)))))),
    ],
)
def test_what_contradicts_itself(query):
    assert is_contradiction(query)


@pytest.mark.parametrize(
    "query",
    [
        A,
        And((A, Not(B))),
        And((A, Not(And((A, B))))),
        Or((A, Not(A))),
        Or((A, And((B, Not(B))))),
        And((A, Not(And((B, Not(B)))))),
        And((Follow(0, Entity(0)), Not(Follow(0, Entity(1))))),
        HavingValue(0, Number(1.0, "m")),
    ],
)
def test_what_something_may_answer(query):
    assert not is_contradiction(query)


@settings(max_examples=150)
@given(st.data())
def test_nothing_answers_a_contradiction_and_what_it_stands_in(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph))
    part = And((query, Not(query)))
    assert is_contradiction(part) and not len(ask(graph, part))
    asked = data.draw(queries(graph))
    try:
        sort_of(And((asked, query)), graph.vocabulary)
    except UserError:  # entities and numbers, or numbers of two units
        return
    both = And((asked, Not(Or((query, asked)))))
    assert is_contradiction(both) and not len(ask(graph, both))
    assert not is_contradiction(asked) or not len(ask(graph, asked))
