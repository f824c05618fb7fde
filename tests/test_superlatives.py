"""The first, the nearest and the totals of exact answers, against brute force on random graphs."""

import math
import statistics
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.answers import Answerer
from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder
from kgreckon.graph.places import EARTH_RADIUS
from kgreckon.models.exact_model import ExactModel
from kgreckon.query import Entity, Number
from kgreckon.query.question import Aggregate, Near, Question, Sorting
from kgreckon.query.words import read
from strategies import entity_queries, graphs

TOTALS: dict[Aggregate, Callable[[list[float]], float]] = {
    Aggregate.SUM: math.fsum, Aggregate.MEAN: statistics.fmean, Aggregate.MEDIAN: statistics.median,
    Aggregate.MINIMUM: min, Aggregate.MAXIMUM: max,
}  # fmt: skip


def stated(graph, entity: int, attribute: int) -> list[float]:
    """The values of an attribute that are stated of a thing, fact by fact."""
    facts = graph.attribute_facts
    own = (facts.sources == entity) & (facts.labels == attribute)
    return [float(graph.values.numbers[row]) for row in facts.targets[own]]


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_the_first_are_those_with_the_largest_smallest_or_nearest_values(data):
    graph = data.draw(graphs())
    query = data.draw(entity_queries(graph, 2))
    attribute = data.draw(st.integers(0, len(graph.attributes) - 1))
    limit = data.draw(st.integers(1, 4))
    skip = data.draw(st.integers(0, 3)) if limit == 1 else 0
    near = data.draw(st.none() | st.integers(-20, 20))
    descending = data.draw(st.booleans()) if near is None else False
    unit = graph.vocabulary.attribute_unit(attribute)
    sorting = Sorting(attribute, descending, None if near is None else Number(float(near), unit))
    found = Answerer(ExactModel(graph)).ask(Question(query, sorting, limit, skip), limit=100)
    keys = {}
    for entity in ask(graph, query).tolist():
        values = stated(graph, entity, attribute)
        if values:
            if near is not None:
                keys[entity] = min(abs(value - near) for value in values)
            else:
                keys[entity] = -max(values) if descending else min(values)
    expected = sorted(keys, key=lambda entity: (keys[entity], entity))[skip : skip + limit]
    assert [graph.vocabulary.entity_id(answer.name) for answer in found] == expected
    assert found.unordered == len(ask(graph, query)) - len(keys)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_totals_are_those_of_the_values_of_all_answers(data):
    graph = data.draw(graphs())
    query = data.draw(entity_queries(graph, 2))
    attribute = data.draw(st.integers(0, len(graph.attributes) - 1))
    kind = data.draw(st.sampled_from(list(TOTALS)))
    answers = ask(graph, query).tolist()
    values = [values for entity in answers if (values := stated(graph, entity, attribute))]
    total = Answerer(ExactModel(graph)).ask(Question(query, aggregate=kind, of=attribute)).total
    assert total is not None and (total.counted, total.without) == (len(values), len(answers) - len(values))
    if values:  # a thing with several values counts once, with their mean
        assert total.value == pytest.approx(TOTALS[kind]([math.fsum(each) / len(each) for each in values]))
    else:
        assert total.value == (0 if kind is Aggregate.SUM and not answers else None)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-89, 89), st.floats(-180, 180)), min_size=2, max_size=12, unique=True),
    st.none() | st.floats(1e4, 1e7),
)
def test_the_nearest_things_are_those_with_the_least_angle_between_them(places, within):
    builder = GraphBuilder()
    for number, (latitude, longitude) in enumerate(places):
        builder.add_fact(f"p{number}", "is_a", "Place")
        builder.add_value(f"p{number}", "latitude", round(latitude, 4), "degrees")
        builder.add_value(f"p{number}", "longitude", round(longitude, 4), "degrees")
    graph = builder.build()
    names = graph.vocabulary
    first = names.entity_id("p0")
    question = Question(read("places", names), near=Near(Entity(first), within))
    found = Answerer(ExactModel(graph)).ask(question, limit=100)

    def point(number: int) -> np.ndarray:
        latitude, longitude = (math.radians(round(degrees, 4)) for degrees in places[number])
        return np.array(
            [math.cos(latitude) * math.cos(longitude), math.cos(latitude) * math.sin(longitude), math.sin(latitude)]
        )

    metres = {}
    for number in range(len(places)):
        cross = np.linalg.norm(np.cross(point(0), point(number)))
        metres[f"p{number}"] = EARTH_RADIUS * math.atan2(cross, float(point(0) @ point(number)))
    shown = {answer.name: 1000 * float(answer.values[0].datum) for answer in found if answer.values[0] is not None}
    for name, distance in metres.items():
        if name == "p0" and within is None:
            assert name not in shown  # nothing is nearest to itself
        elif within is None or abs(distance - within) > 1:
            assert (name in shown) == (within is None or distance < within)
        if name in shown:
            assert shown[name] == pytest.approx(distance, abs=1)
    order = [metres[answer.name] for answer in found]
    assert all(one <= other + 1 for one, other in pairwise(order))
