"""Exact answers equal brute force, for every operator, whatever the query."""

from dataclasses import replace
from typing import cast

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, answer, ask
from kgreckon.graph import GraphBuilder, Triples
from kgreckon.query import (
    SEVEN,
    And,
    Batch,
    Builder,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Number,
    Or,
    Order,
    Shape,
    greater_than,
    sort_of,
)
from kgreckon.query.algebra import Not, ValueOf
from oracle import Oracle
from strategies import entity_queries, graphs, number_queries, queries


@settings(max_examples=600)
@given(st.data())
def test_answers_equal_brute_force(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph))
    answers = ask(graph, query)
    assert answers.tolist() == sorted(Oracle(graph).answers(query))


@settings(max_examples=60)
@given(st.data())
def test_a_batch_of_one_equals_its_row(data):
    graph = data.draw(graphs())
    relations, entities = st.integers(0, 2 * len(graph.relations) - 1), st.integers(0, len(graph.entities) - 1)
    attributes = st.integers(0, len(graph.attributes) - 1)
    numbers = st.integers(0, len(graph.values) - 1)
    comparison = st.integers(0, len(SEVEN) - 1)
    row = st.tuples(attributes, comparison, numbers, relations, entities)
    ids = np.array(data.draw(st.lists(row, min_size=1, max_size=20)), dtype=np.int32)
    batch = Batch(Shape.parse("(i,(rap,(np,(nv))),(n,(rp,(e))))"), ids)
    together = answer(graph, batch, chunk=7, workers=2)
    assert len(together) == len(batch)
    for index in range(len(batch)):
        alone = answer(graph, batch[index : index + 1])[0]
        assert together[index].tolist() == alone.tolist()


@given(st.data())
def test_intersection_and_union_do_not_depend_on_order(data):
    graph = data.draw(graphs())
    parts = data.draw(st.lists(queries(graph, 2), min_size=2, max_size=3))
    parts = [part for part in parts if sort_of(part, graph.vocabulary) == sort_of(parts[0], graph.vocabulary)]
    for join in (And, Or):
        answers = ask(graph, join(tuple(parts)))
        assert answers.tolist() == ask(graph, join(tuple(reversed(parts)))).tolist()


@given(st.data())
def test_what_is_denied_twice_is_said(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph, 2))
    assert ask(graph, Not(Not(query))).tolist() == ask(graph, query).tolist()


@given(st.data(), st.sampled_from([(Or, And), (And, Or)]))
def test_de_morgan(data, joints):
    graph = data.draw(graphs())
    unit = data.draw(st.sampled_from(graph.values.units))
    some = data.draw(st.sampled_from([entity_queries(graph, 2), number_queries(graph, unit, 2)]))
    parts = data.draw(st.lists(some, min_size=2, max_size=3))
    assume(len({sort_of(part, graph.vocabulary) for part in parts}) == 1)  # what is denied is denied of its units
    joined, denied = joints
    expected = ask(graph, denied(tuple(Not(part) for part in parts)))
    assert ask(graph, Not(joined(tuple(parts)))).tolist() == expected.tolist()


@pytest.mark.parametrize(
    "query",
    [
        Follow(0, Entity(10**9)),
        Follow(0, Entity(-5)),
        Entity(cast(int, 1.5)),
        Not(Entity(6)),
        Follow(999, Entity(0)),
        Follow(-1, Entity(0)),
        ValueOf(500, Entity(0)),
        HavingValue(-1, Number(1.0, "metres")),
    ],
)
def test_ids_that_the_graph_has_not_are_an_error(query):
    """Compiled code would read past its arrays."""
    builder = GraphBuilder()
    for number in range(6):
        builder.add_fact(f"e{number}", "near", f"e{(number + 1) % 6}")
        builder.add_value(f"e{number}", "height", float(number), "metres")
    graph = builder.build()
    with pytest.raises(UserError, match=r"the graph has no (entity|relation|attribute) #"):
        ask(graph, query)
    wrong = {"(rp,(e))": [0, -7], "(rp,(rp,(e)))": [0, 2, 1], "(rap,(nv))": [0, 6], "(np,(nv))": [7, 0]}
    for shape, row in wrong.items():
        with pytest.raises(UserError, match=r"an id in column \d \(\w+\) is out of range"):
            answer(graph, Batch(Shape.parse(shape), np.array([[0] * len(row), row], dtype=np.int32)))


def test_where_numbers_come_from_may_be_written():
    builder = GraphBuilder()
    builder.add_value("a", "height", 1.0, "metres")
    graph = builder.build()
    query = Compare(SEVEN["GreaterThan"], Number(0.0, "metres"))
    assert ask(graph, query, "computed").tolist() == [0]
    with pytest.raises(UserError, match="no numerical edges"):
        ask(graph, query, "sampled")
    with pytest.raises(UserError, match="computed, sampled or released, not 'foo'"):
        ask(graph, query, "foo")


def test_projection_over_many_entities_of_a_wide_graph():
    """Unions of many runs, both where the result is dense in the graph and where it is sparse."""
    rng = np.random.default_rng(0)
    builder = GraphBuilder()
    facts = {(int(h), int(t)) for h, t in rng.integers(0, 50_000, (4_000, 2))}
    facts |= {(100_000, h) for h, _ in facts} | {(100_001, int(t)) for t in rng.integers(0, 50_000, 45_000)}
    facts |= {(100_002, h) for h, _ in list(facts)[:5]}
    for head, tail in sorted(facts):
        builder.add_fact(f"e{head}", "to", f"e{tail}")
    graph = builder.build()
    _, the = Builder(graph.vocabulary).words()
    for start in ("e100000", "e100001", "e100002"):
        once = the("to", of=start)
        expected = {tail for head, tail in facts if f"e{head}" == start}
        assert {graph.entities.name(e) for e in ask(graph, once)} == {f"e{tail}" for tail in expected}
        twice = ask(graph, the("to", of=once))
        expected = {tail for head, tail in facts if head in expected}
        assert {graph.entities.name(e) for e in twice} == {f"e{tail}" for tail in expected}
        assert (np.diff(twice) > 0).all()


def toy():
    builder = GraphBuilder()
    builder.add_fact("Sapporo", "in", "Japan")
    builder.add_fact("Naha", "in", "Japan")
    builder.add_fact("Oslo", "in", "Norway")
    for city, latitude in (("Sapporo", 43.06), ("Naha", 26.2), ("Oslo", 59.9)):
        builder.add_value(city, "latitude", latitude, "degrees")
    builder.add_value("Oslo", "population", 700_000, "persons")
    return builder.build()


def test_cities_north_of_a_japanese_city():
    graph = toy()
    which, the = Builder(graph.vocabulary).words()
    query = which("latitude", greater_than(the("latitude", of=which("in", "Japan"))))
    assert {graph.entities.name(entity) for entity in ask(graph, query)} == {"Sapporo", "Oslo"}


def test_a_number_that_the_graph_does_not_hold_can_be_compared_with():
    graph = toy()
    latitude = graph.vocabulary.attribute_id("latitude")
    north = HavingValue(latitude, Compare(Comparison(Order.GREATER), Number(50.0, "degrees")))
    assert [graph.entities.name(entity) for entity in ask(graph, north)] == ["Oslo"]
    assert ask(graph, HavingValue(latitude, Number(50.0, "degrees"))).tolist() == []
    assert ask(graph, Number(50.0, "degrees")).tolist() == []


def test_units_are_checked_before_anything_is_answered():
    graph = toy()
    which, the = Builder(graph.vocabulary).words()
    with pytest.raises(UserError, match="latitude is measured in degrees, population in persons"):
        which("latitude", the("population", of="Oslo"))
    wrong = HavingValue(graph.vocabulary.attribute_id("population"), Number(1.0, "degrees"))
    with pytest.raises(UserError, match="they cannot be compared"):
        ask(graph, wrong)


class TestSampled:
    """Numerical edges that a graph carries."""

    def graph(self):
        graph = toy()
        row = {number: index for index, number in enumerate(graph.values.numbers.tolist())}
        greater = list(SEVEN).index("GreaterThan")
        edges = Triples.from_arrays(
            np.array([row[26.2], row[26.2]]), np.array([greater, greater]), np.array([row[59.9], row[43.06]])
        )
        return replace(graph, comparisons=edges[edges.targets != row[43.06]])

    def query(self, graph):
        vocabulary = graph.vocabulary
        latitude = vocabulary.attribute_id("latitude")
        japanese = Follow(vocabulary.relation_id("^in"), Entity(vocabulary.entity_id("Japan")))
        return HavingValue(latitude, Compare(SEVEN["GreaterThan"], ValueOf(latitude, japanese)))

    def test_only_the_edges_count(self):
        graph = self.graph()
        names = [graph.entities.name(entity) for entity in ask(graph, self.query(graph), ComparisonMode.SAMPLED)]
        assert names == ["Oslo"]
        assert len(ask(graph, self.query(graph), ComparisonMode.COMPUTED)) == 2

    def test_a_graph_without_edges_says_so(self):
        graph = toy()
        with pytest.raises(UserError, match="no numerical edges"):
            ask(graph, self.query(graph), ComparisonMode.SAMPLED)

    def test_a_comparison_outside_the_seven_says_so(self):
        graph = self.graph()
        query = Compare(Comparison(Order.GREATER, offset=3.0), Number(26.2, "degrees"))
        with pytest.raises(UserError, match="know only"):
            ask(graph, query, ComparisonMode.SAMPLED)
