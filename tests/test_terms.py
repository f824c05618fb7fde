"""Calculations with the numbers of answers: read and written, exact by brute force and by Oxigraph, and inferred."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from films import films
from kgreckon.answers import Answerer
from kgreckon.answers.calculated import draws_of, meeting
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph import world
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.reckoner.drawing import GRAPHS, draw
from kgreckon.query import Entity, Follow, Not, Number, Or, Order, sentence
from kgreckon.query.notations import read_question
from kgreckon.query.paper import parse
from kgreckon.query.question import Question, Sorting
from kgreckon.query.terms import Calculated, Dimension, Elsewhere, Operation, Own, TermComparison, unit_of
from kgreckon.query.words import WordsError
from random_graph import random_graph
from test_drawing import ALL_HEADS, DRAWN, Likely, drawn_graphs

SIGNS = {
    Order.LESS: lambda x, y: x < y,
    Order.GREATER: lambda x, y: x > y,
    Order.AT_MOST: lambda x, y: x <= y,
    Order.AT_LEAST: lambda x, y: x >= y,
    Order.EQUAL: lambda x, y: x == y,
    Order.UNEQUAL: lambda x, y: x != y,
}
METRES = st.sampled_from(["height", "width"])
GRAPH = random_graph(7, entities=20, facts=60, values=60)
EVERYTHING = Or((Entity(0), Not(Entity(0))))


@pytest.fixture(scope="module")
def earth():
    return world()


def attribute(name):
    return GRAPH.vocabulary.attribute_id(name)


def terms(depth=2):
    """Terms in metres."""
    leaf = st.one_of(
        METRES.map(lambda name: Own(attribute(name))), st.integers(-9, 60).map(lambda n: Number(float(n), "metres"))
    )
    if not depth:
        return leaf
    below = terms(depth - 1)
    sums = st.builds(Calculated, st.sampled_from([Operation.PLUS, Operation.MINUS]), below, below)
    factors = st.sampled_from([0.0, 2.0, 0.5]).map(lambda factor: Number(factor, "number"))
    return st.one_of(
        leaf,
        sums,
        st.builds(lambda factor, term: Calculated(Operation.TIMES, factor, term), factors, below),
        st.builds(lambda factor, term: Calculated(Operation.OVER, term, factor), factors, below),
    )


def values_by_hand(term, entity):
    """All values of a term on one thing, by trying all that is stated."""
    if isinstance(term, Own):
        return GRAPH.values.numbers[GRAPH.values_of.row(entity, term.attribute)].tolist()
    if isinstance(term, Number):
        return [term.value]
    found = []
    for one, other in product(values_by_hand(term.left, entity), values_by_hand(term.right, entity)):
        if term.operation is Operation.OVER and other == 0:
            continue
        found.append({"+": one + other, "-": one - other, "×": one * other}.get(term.operation.value) if term.operation
                     is not Operation.OVER else one / other)  # fmt: skip
    return found


@settings(max_examples=300, deadline=None)
@given(terms(), st.sampled_from(list(Order)), terms(1))
def test_what_meets_a_comparison_is_what_brute_force_finds(left, order, right):
    entities = np.arange(len(GRAPH.entities))
    by_hand = [
        any(SIGNS[order](x, y) for x in values_by_hand(left, entity) for y in values_by_hand(right, entity))
        for entity in entities.tolist()
    ]
    try:
        found = meeting(GRAPH, TermComparison(left, order, right), entities)
    except UserError as error:
        assert "divides by zero" in str(error)
        return
    assert found.tolist() == by_hand


@settings(max_examples=100, deadline=None)
@given(terms(), st.sampled_from(list(Order)), terms(), st.booleans())
def test_reading_inverts_writing(left, order, right, nested):
    if not isinstance(left, Calculated) or not any(isinstance(one, Own) for one in _leaves(left)):
        left = Calculated(Operation.MINUS, Own(attribute("height")), left)
    things = Follow(0, Follow(1, Entity(3))) if nested else EVERYTHING
    question = Question(things, where=(TermComparison(left, order, right),))
    assert read_question(sentence(question, GRAPH.vocabulary), GRAPH.vocabulary) == question
    for question in (Question(things, Sorting(left)), Question(things, Sorting(left, False), 3)):
        assert read_question(sentence(question, GRAPH.vocabulary), GRAPH.vocabulary) == question


def _leaves(term):
    return [*_leaves(term.left), *_leaves(term.right)] if isinstance(term, Calculated) else [term]


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (
            "countries where population / area > 500 people per km² and in Europe",
            "countries in Europe with population / area > 500 persons per square kilometre",
        ),
        ("top 5 countries by population per area", "top 5 countries by population / area"),
        (
            "average population / area of countries in Europe",
            "average population / area of countries in Europe",
        ),
        (
            "countries with population > population of France + population of Germany",
            "countries with population > the population of France + the population of Germany",
        ),
        (
            "countries in Europe with population / area > Japan's population / Japan's area",
            "countries in Europe with population / area > the population of Japan / the area of Japan",
        ),
        (
            "airports where longest runway - elevation is between 2 and 3 km",
            "airports with longest runway - elevation ≥ 2 metres and with longest runway - elevation ≤ 3000 metres",
        ),
        ("airports where its longest runway > 500 × its elevation", "airports with longest runway > 500 × elevation"),
        ("countries with area > 2 × the area of France", "countries with area > 2 × the area of France"),
    ],
)
def test_calculations_in_words(earth, words, written):
    question = read_question(words, earth.vocabulary)
    assert sentence(question, earth.vocabulary) == written
    assert read_question(written, earth.vocabulary) == question


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("countries with area > population", "area is measured in square kilometres, population in persons"),
        ("countries with area + population > 5", "persons cannot be added to square kilometres"),
        ("cities in countries with population / area > 500", "asked of the answers"),
        ("countries with population / area ≈ 500", "unknown name or word"),
        ("films with release date × 2 > 5", "neither multiplied nor divided"),
    ],
)
def test_what_cannot_be_calculated_is_said(earth, words, message):
    with pytest.raises(WordsError, match=message):
        read_question(words, (films() if words.startswith("films") else earth).vocabulary)


def test_units_are_derived():
    person, km2 = Dimension.of("persons"), Dimension.of("square kilometres")
    assert str(person * km2.inverse()) == "persons per square kilometre"
    assert str(person * km2.inverse() * km2) == "persons" and str(person * person.inverse()) == "number"
    names = films().vocabulary
    released, length = (Own(names.attribute_id(name)) for name in ("releaseDate", "length"))
    since = Calculated(Operation.MINUS, released, Number(1930.0, "date"))
    assert unit_of(since, names) == "years" and unit_of(Calculated(Operation.TIMES, length, length), names) == (
        "minutes × minutes"
    )


SPARQL = [  # words, and what Oxigraph is asked
    ("countries with population / area > 500", ":Country", ":population ?x ; :area ?y", "?x / ?y > 500"),
    ("countries with population > 400 persons per square kilometre × area", ":Country", ":population ?x ; :area ?y",
     "?x > 400 * ?y"),
    ("airports with longest runway - 2 × elevation < 100 metres", ":Airport", ":longest_runway ?x ; :elevation ?y",
     "?x - 2 * ?y < 100"),
    ("cities with (latitude - longitude) / 2 between 80 and 85", ":City", ":latitude ?x ; :longitude ?y",
     "(?x - ?y) / 2 >= 80 && (?x - ?y) / 2 <= 85"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "kind", "values", "condition"), SPARQL)
def test_calculations_are_those_of_an_independent_engine(earth, words, kind, values, condition):
    answerer = Answerer(ExactModel(earth))
    pattern = f"?c :is_a {kind} ; {values} ; rdfs:label ?label"
    prefix = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
    found = answerer.sparql(f"{prefix} SELECT ?label {{ {pattern} FILTER({condition}) }}", limit=2000)
    expected = sorted(found.to_pandas()["label"])
    assert sorted(answer.label for answer in answerer.ask(words, limit=2000)) == expected and len(expected) > 3


def test_orders_and_totals_of_what_is_calculated(earth):
    answerer = Answerer(ExactModel(earth))
    densest = answerer.ask("top 3 countries by population / area")
    assert [answer.label for answer in densest] == ["Monaco", "Singapore", "Hong Kong"]
    assert densest.columns[0].unit == "persons per square kilometre"
    mean = answerer.ask("average population / area of countries in Europe").total
    assert mean is not None and mean.value == pytest.approx(1021.13, abs=0.01) and mean.counted == 52


class LikelyModel(ExactModel):
    """A model that draws graphs from made-up probabilities."""

    def __init__(self, facts):
        super().__init__(facts.observed.graph)
        self.facts = facts

    def draws(self, query, attribute, pause=None):
        return draw(self.facts, ALL_HEADS, query, attribute)


def test_missing_numbers_are_reckoned_in_as_in_whole_drawn_graphs():
    graph = random_graph(3, entities=14, facts=40, values=30)
    facts, names = Likely(graph, 5), graph.vocabulary
    query = parse("(rp,(r0),(e,(e1)))", names)
    height, width = (Own(names.attribute_id(name)) for name in ("height", "width"))
    comparison = TermComparison(Calculated(Operation.MINUS, height, width), Order.GREATER, Number(3.0, "metres"))
    draws = draws_of(graph, LikelyModel(facts), Question(query, where=(comparison,)), None, None)
    assert draws is not None

    def values(one, entity):
        return [len(one.values_of.row(entity, term.attribute)) for term in (height, width)]

    counts = []
    for one in drawn_graphs(facts, graph, np.random.default_rng(1)):
        single = np.array([entity for entity in ask(one, query).tolist() if values(one, entity) == [1, 1]], dtype=int)
        counts.append(int(meeting(one, comparison, single).sum()))
    several = {entity for entity in range(len(graph.entities)) if max(values(graph, entity)) > 1}
    own = np.array([entity not in several for entity in draws.ids.tolist()])
    found = draws.members[:, own].sum(axis=1)
    error = np.std(counts) * math.sqrt(1 / GRAPHS + 1 / DRAWN)
    assert abs(found.mean() - np.mean(counts)) < 4 * error


def test_an_elsewhere_that_is_not_stated_is_an_error(earth):
    names = earth.vocabulary
    question = read_question("countries with population > population of France + population of Bouvet Island", names)
    assert isinstance(question.where[0].right, Calculated) and isinstance(question.where[0].right.right, Elsewhere)
    with pytest.raises(UserError, match="Bouvet Island has no stated population"):
        Answerer(ExactModel(earth)).ask(question)
