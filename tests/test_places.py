"""Distances: exact against brute force, in words and in SPARQL, whatever a graph calls its coordinates."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.answers import Answerer
from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, world
from kgreckon.graph.places import EARTH_RADIUS, Places, distances
from kgreckon.models.exact_model import ExactModel
from kgreckon.query import sentence
from kgreckon.query.notations import read_question
from kgreckon.query.question import Near, Question
from kgreckon.query.sparql import name_of
from kgreckon.query.words.sentences import _asked
from kgreckon.query.words.strict import StrictWriter
from strategies import queries


@pytest.fixture(scope="module")
def earth():
    return Answerer(ExactModel(world()))


def haversine(one, other):
    """The distance in metres, in plain Python."""
    (a, b), (c, d) = ((math.radians(each) for each in place) for place in (one, other))
    share = math.sin((c - a) / 2) ** 2 + math.cos(a) * math.cos(c) * math.sin((d - b) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(min(1.0, share)))


points = st.lists(
    st.tuples(st.floats(-90, 90).map(lambda x: round(x, 3)), st.floats(-180, 180).map(lambda x: round(x, 3))),
    min_size=2,
    max_size=30,
)


def graph_of(places, names=("latitude", "longitude"), unit="degrees"):
    builder = GraphBuilder()
    for number, place in enumerate(places):
        builder.add_fact(f"p{number}", "is_a", "Place")
        for name, value in zip(names, place, strict=True):
            builder.add_value(f"p{number}", name, value, unit)
    builder.add_fact("nowhere", "is_a", "Place")
    return builder.build()


@settings(max_examples=60, deadline=None)
@given(points, st.integers(1, 12), st.floats(0, 2e7))
def test_distances_equal_brute_force(places, count, bound):
    graph = graph_of(places)
    known, everything = Places(graph), np.arange(len(graph.entities))
    of = np.array([graph.entities.find(f"p{number}") for number in range(min(count, len(places)))])
    found = known.from_nearest(of, everything)
    within = known.from_nearest(of, everything, bound)
    for number, place in enumerate(places):
        entity = graph.entities.find(f"p{number}")
        expected = min(haversine(places[other], place) for other in range(len(of)))
        assert found[entity] == pytest.approx(expected, rel=1e-9, abs=0.02)  # a chord of a few metres
        if expected <= bound:
            assert within[entity] == found[entity]
    assert np.isinf(found[graph.entities.find("nowhere")])


def test_what_is_known_of_the_earth():
    """A quarter of a meridian, half of the equator, and Paris to New York within the error of a sphere."""
    assert distances(0, 0, np.array([90.0]), np.array([0.0]))[0] == pytest.approx(math.pi / 2 * EARTH_RADIUS)
    assert distances(0, -90, np.array([0.0]), np.array([90.0]))[0] == pytest.approx(math.pi * EARTH_RADIUS)
    assert distances(48.8567, 2.3508, np.array([40.7128]), np.array([-74.006]))[0] == pytest.approx(5_837e3, rel=0.006)


@pytest.mark.parametrize(
    ("names", "unit", "factor"),
    [
        (("lat", "long"), "number", 1),
        (("geo lat", "geo lng"), "degrees", 1),
        (("hasLatitude", "hasLongitude"), "number", 1),
        (("latitude_deg", "longitude_deg"), "number", 1),
        (("latitude", "longitude"), "radians", math.pi / 180),
    ],
)
def test_coordinates_are_found_by_name_and_unit(names, unit, factor):
    graph = graph_of([(10 * factor, 20 * factor), (11 * factor, 21 * factor)], names, unit)
    places = Places(graph)
    assert places.of(graph.entities.find("p0")) == pytest.approx((10, 20))
    assert places.of(graph.entities.find("nowhere")) is None


def test_coordinates_of_one_kind_go_together():
    builder = GraphBuilder()
    for name, value in (("birth_latitude", 1.0), ("latitude", 2.0), ("birth_longitude", 3.0), ("longitude", 4.0)):
        builder.add_value("x", name, value, "degrees")
    graph = builder.build()
    assert Places(graph).of(0) in ((1.0, 3.0), (2.0, 4.0))


def test_within_a_distance_in_words(earth):
    found = earth.ask("cities within 300 km of Rome", limit=1000)
    assert found.columns[0].header == "distance to Rome (kilometres)"
    names, places = earth.graph.vocabulary, earth.places
    rome, expected = places.of(names.entity_id("Rome")), {}
    for city in earth.ask("cities", limit=100_000):
        place = places.of(names.entity_id(city.name))
        if place is not None and haversine(rome, place) <= 300_000:
            expected[city.name] = haversine(rome, place) / 1000
    assert [answer.name for answer in found] == sorted(expected, key=expected.__getitem__)
    for answer in found:
        assert answer.values[0].value == pytest.approx(expected[answer.name], abs=6e-4)
    assert earth.ask("how many cities within 300 km of Rome").total.value == len(expected)


def test_nearest_in_words(earth):
    nearest = earth.ask("the nearest airports to Oslo", limit=3)
    assert [answer.name for answer in nearest] == [answer.name for answer in earth.ask("3 nearest airports to Oslo")]
    (one,) = earth.ask("nearest airport to Oslo")
    assert one.name == nearest[0].name and one.label == "Oslo Airport, Gardermoen"
    assert earth.ask("countries that border France, nearest to Rome").notes() == [
        "8 things that were asked about have no stated latitude and longitude"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "cities within 300 km of Rome",
        "how many airports within 100 miles of London",
        "top 3 cities by population within 0.5 million km of Rome",
        "airports within 20 km of cities in Switzerland",
        "cities in countries that border France, within 50 km of the capital of Italy",
        "average population of cities within 50 km of Rome",
        "the 5 nearest airports in Germany to Zürich",
        "(cities in Italy or airports in Spain) within 900 m of Rome",
        "nearest airport to Oslo",
    ],
)
def test_reading_inverts_writing(earth, text):
    names = earth.graph.vocabulary
    question = read_question(text, names)
    assert question.near is not None
    for written in (sentence(question, names), _asked(question, StrictWriter(names))):
        assert read_question(written, names) == question


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_reading_inverts_writing_of_any_distance(earth, data):
    graph = earth.graph
    things = queries(graph).filter(lambda query: not is_number(query, graph))
    near = Near(data.draw(things), data.draw(st.none() | st.floats(0, 1e8).map(lambda x: round(x, 6))))
    question = Question(data.draw(things), limit=data.draw(st.none() | st.integers(1, 50)), near=near)
    assert read_question(sentence(question, graph.vocabulary), graph.vocabulary) == question


def is_number(query, graph):
    from kgreckon.query import NumberSort, sort_of

    return isinstance(sort_of(query, graph.vocabulary), NumberSort)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cities within 300 of Rome", "how far. Write: within 300 km of"),
        ("cities within 2 degrees of Rome", "within 2 degrees of the latitude"),
        ("cities not within 10 km of Rome", "cannot be denied"),
        ("cities in Italy or airports within 10 km of Rome", "put what stands beside .or. in brackets"),
        ("countries that border countries nearest to Rome, within 3 km of Rome", "asked of the answers"),
        ("cities within 10 km of Rome within 10 km of Oslo", "near to one thing"),
        ("nearest cities", "expected 'to'"),
        ("cities within -3 km of Rome", "not negative"),
    ],
)
def test_mistakes(earth, text, message):
    with pytest.raises(UserError, match=message):
        earth.ask(text)


def test_distances_in_sparql(earth):
    names, places = earth.graph.vocabulary, earth.places
    rome = places.of(names.entity_id("Rome"))
    text = "SELECT ?c (geof:distance(?c, :Rome, uom:kilometre) AS ?km) { ?c :is_a :City FILTER(geof:{}) } ORDER BY ?km"
    rows = list(earth.sparql(text.replace("{}", "metricDistance(?c, :Rome) <= 300000")))
    words = earth.ask("cities within 300 km of Rome", limit=100)
    assert [name_of(row[0].text) for row in rows] == [answer.name for answer in words]
    for row, answer in zip(rows, words, strict=True):
        assert float(row[1].text) * 1000 == pytest.approx(haversine(rome, places.of(names.entity_id(answer.name))))
    point = f'"POINT({rome[1]} {rome[0]})"^^geo:wktLiteral'
    for asked in (
        f"geof:distance({point}, :Rome) < 1",
        f"geof:distance({point}, {point}, uom:degree) = 0",
        'ABS(geof:distance("POINT(0 0)"^^geo:wktLiteral, "POINT(0 1)"^^geo:wktLiteral, uom:degree) - 1) < 1e-9',
    ):
        assert earth.sparql(f"ASK {{ FILTER({asked}) }}").truth
    for nowhere in ("geof:distance(:Japan, :Rome)", "geof:distance(:Oslo, :Rome, uom:parsec)", 'geof:distance("x", 3)'):
        assert list(earth.sparql(f"SELECT ?d {{ BIND({nowhere} AS ?d) }}")) == [(None,)]


def test_a_graph_without_coordinates_says_so():
    builder = GraphBuilder()
    builder.add_fact("Rome", "is_a", "City")
    with pytest.raises(UserError, match="has no attributes that are called so"):
        Answerer(ExactModel(builder.build())).ask("cities within 3 km of Rome")


def test_a_place_that_is_not_stated_says_so(earth):
    with pytest.raises(UserError, match="states no latitude and longitude"):
        earth.ask("cities within 3 km of Japan")
