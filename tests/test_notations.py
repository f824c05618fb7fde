"""The paper's notation and the Python builder."""

from functools import reduce
from operator import and_, or_
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgreckon
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder
from kgreckon.query import (
    SEVEN,
    And,
    Builder,
    Compare,
    Comparison,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    ValueOf,
    at_least,
    at_most,
    equal_to,
    greater_than,
    less_than,
    sentence,
)
from kgreckon.query.algebra import EntitySort, sort_of
from kgreckon.query.paper import parse, write
from kgreckon.query.sparql import write as write_sparql
from strategies import comparisons, graphs, queries

NORTH_OF_JAPAN = "(rap,(latitude),(np,(GreaterThan),(ap,(latitude),(rp,(^in_country),(e,(Japan))))))"


@pytest.fixture(scope="module")
def graph():
    builder = GraphBuilder()
    builder.add_fact("Sapporo", "in_country", "Japan")
    builder.add_fact("Cork (city)", "in_country", "Ireland")
    builder.add_fact("#1", "in_country", 'the "odd" (one')
    builder.add_fact(" blank ", "borders", "1984")
    builder.phrase_relation("in_country", "is in")
    builder.add_value("Sapporo", "latitude", 43.06, "degrees")
    builder.add_value("Sapporo", "population", 1_973_832, "persons")
    builder.add_value("Japan", "founded", 1947.25, "date")
    builder.label("Sapporo", "City of Sapporo")
    return builder.build()


def test_the_papers_example_reads_and_writes(graph):
    vocabulary = graph.vocabulary
    query = parse(NORTH_OF_JAPAN, vocabulary)
    latitude, inverse = vocabulary.attribute_id("latitude"), vocabulary.relation_id("^in_country")
    japan = Entity(vocabulary.entity_id("Japan"))
    assert query == HavingValue(latitude, Compare(SEVEN["GreaterThan"], ValueOf(latitude, Follow(inverse, japan))))
    assert write(query, vocabulary) == NORTH_OF_JAPAN


@settings(max_examples=300)
@given(st.data())
def test_parsing_inverts_printing_by_name_and_by_id(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph))
    for ids in (False, True):
        assert _same(parse(write(query, graph.vocabulary, ids=ids), graph.vocabulary), query)


@settings(max_examples=80)
@given(st.data())
def test_one_question_has_the_same_answers_in_every_notation(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph) | having_values(graph))
    answerer, names = kgreckon.load(graph), graph.vocabulary
    asked = {
        "words": sentence(query, names),
        "the paper's notation": write(query, names),
        "SPARQL": write_sparql(query, names),
        "the builder": built(query, Builder(names)),
    }
    proved = ask(graph, query)
    if isinstance(sort_of(query, names), EntitySort):
        expected = {(names.entity_name(place), None) for place in proved.tolist()}
    else:
        expected = {graph.values.number_at(row) for row in proved.tolist()}
    for notation, question in asked.items():
        found = answerer.ask(question, limit=10_000)
        ones = [(answer.name, None) if answer.value is None else (answer.value, answer.unit) for answer in found]
        assert set(ones) == expected and len(ones) == len(expected) and all(answer.observed for answer in found), (
            notation,
            question,
        )


@st.composite
def having_values(draw, graph):
    """The things with a value that stands in some relation to one that is stated: ties and nothings are frequent."""
    attribute = draw(st.integers(0, len(graph.attributes) - 1))
    unit = graph.vocabulary.attribute_unit(attribute)
    rows = graph.values.rows_of(unit)
    row = st.integers(rows.start, rows.stop - 1)
    parts = [
        Compare(draw(comparisons()), Number(*graph.values.number_at(draw(row)))) for _ in range(draw(st.integers(1, 2)))
    ]
    return HavingValue(attribute, parts[0] if len(parts) == 1 else draw(st.sampled_from([And, Or]))(tuple(parts)))


def built(query, builder):
    """A query as one builds it from names with `which`, `the`, conditions, `&`, `|` and `~`."""
    names = builder.vocabulary
    which, the = builder.words()
    match query:
        case Entity(entity):
            return builder.entity(names.entity_name(entity))
        case Number(value, unit):
            return builder.number(value, unit)
        case Follow(relation, of) if relation % 2:  # backwards
            return which(names.relation_name(relation ^ 1), built(of, builder))
        case Follow(relation, of):
            return the(names.relation_name(relation), built(of, builder))
        case ValueOf(attribute, of):
            return the(names.attribute_name(attribute), built(of, builder))
        case HavingValue(attribute, of):
            return which(names.attribute_name(attribute), condition(of, builder) or built(of, builder))
        case Compare(comparison, of):
            return Compare(comparison, built(of, builder))
        case And(parts):
            return reduce(and_, (built(part, builder) for part in parts))
        case Or(parts):
            return reduce(or_, (built(part, builder) for part in parts))
        case Not(of):
            return ~built(of, builder)


CONDITIONS = {
    Order.LESS: less_than,
    Order.GREATER: greater_than,
    Order.AT_MOST: at_most,
    Order.AT_LEAST: at_least,
}


def condition(query, builder):
    """A set of numbers as a condition on an attribute, where all of it is comparisons; else None."""
    match query:
        case Compare(Comparison(order, factor, offset), of) if order in CONDITIONS:
            return CONDITIONS[order](built(of, builder), times=factor, plus=offset)
        case Compare(Comparison(Order.EQUAL, factor, offset, tolerance), of):
            return equal_to(built(of, builder), times=factor, plus=offset, within=tolerance)
        case And(parts) | Or(parts):
            below = [condition(part, builder) for part in parts]
            return None if None in below else reduce(and_ if isinstance(query, And) else or_, below)
        case Not(of):
            below = condition(of, builder)
            return below and ~below
    return None


def _same(one, other):
    """Equal, where the tolerance of an inequality, which means nothing, is not written."""
    return str(one) == str(other) or repr(_without_idle_tolerance(one)) == repr(_without_idle_tolerance(other))


def _without_idle_tolerance(query):
    match query:
        case Compare(comparison, of):
            if comparison.order not in (Order.EQUAL, Order.UNEQUAL):
                comparison = Comparison(comparison.order, comparison.factor, comparison.offset)
            return Compare(comparison, _without_idle_tolerance(of))
        case Follow(label, of) | ValueOf(label, of) | HavingValue(label, of):
            return type(query)(label, _without_idle_tolerance(of))
        case And(parts) | Or(parts):
            return type(query)(tuple(_without_idle_tolerance(part) for part in parts))
        case Not(of):
            return Not(_without_idle_tolerance(of))
    return query


@given(st.text(max_size=8).filter(lambda text: text and not any("\ud800" <= c <= "\udfff" for c in text)))
def test_any_name_can_be_written_and_read_back(name):
    builder = GraphBuilder()
    builder.add_fact(name, "r", "x")
    graph = builder.build()
    query = Entity(graph.vocabulary.entity_id(name))
    assert parse(write(query, graph.vocabulary), graph.vocabulary) == query


def test_an_inverse_is_not_written_as_another_relation_that_is_called_so():
    builder = GraphBuilder()
    builder.add_fact("a", "r", "b")
    builder.add_fact("b", "^r", "c")
    vocabulary = builder.build().vocabulary
    for relation in range(4):
        query = Follow(relation, Entity(0))
        assert parse(write(query, vocabulary), vocabulary) == query


@given(st.text(alphabet='()enrapiuv,#"^x1 \\Japan', max_size=40))
def test_any_text_is_a_query_or_a_clear_error(graph, text):
    try:
        parse(text, graph.vocabulary)
    except UserError as error:
        assert str(error)


def test_names_in_parentheses_quotes_labels_and_ids(graph):
    vocabulary = graph.vocabulary
    for text in ("(e,(Cork (city)))", '(e,("Cork (city)"))', "( e , ( cork (CITY) ) )"):
        assert parse(text, vocabulary) == Entity(vocabulary.entity_id("Cork (city)"))
    assert parse("(e,(City of Sapporo))", vocabulary) == parse("(e,(Sapporo))", vocabulary)
    assert parse('(e,("#1"))', vocabulary) == Entity(vocabulary.entity_id("#1"))
    assert parse("(e,(#1))", vocabulary) == Entity(1)
    assert write(Entity(vocabulary.entity_id("#1")), vocabulary) == '(e,("#1"))'


def test_a_bare_number_takes_the_unit_of_the_attribute_it_is_compared_with(graph):
    query = parse(
        "(rap,(latitude),(i,(np,(GreaterThan),(nv,(40))),(np,(x < 2y + 5),(nv,(40 degrees)))))", graph.vocabulary
    )
    forty = Number(40.0, "degrees")
    parts = (Compare(SEVEN["GreaterThan"], forty), Compare(Comparison(Order.LESS, 2.0, 5.0), forty))
    assert query == HavingValue(graph.vocabulary.attribute_id("latitude"), And(parts))


def test_dates_are_read_and_written_as_dates(graph):
    query = parse("(rap,(founded),(np,(SmallerThan),(nv,(1947-05-03))))", graph.vocabulary)
    founded, day = graph.vocabulary.attribute_id("founded"), Number(1947 + 122 / 365, "date")
    assert query == HavingValue(founded, Compare(SEVEN["SmallerThan"], day))
    assert write(query, graph.vocabulary) == "(rap,(founded),(np,(SmallerThan),(nv,(1947-05-03 date))))"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"expected '\(' at the end"),
        ("(e,(Japn))", "unknown entity 'Japn'; did you mean 'Japan'"),
        ("(rp,(in_contry),(e,(Japan)))", "unknown relation 'in_contry'; did you mean 'in_country'"),
        ("(rp,(in contry),(e,(Japan)))", r"unknown relation 'in contry'; did you mean 'in.country'\?$"),
        ("(ap,(latitud),(e,(Japan)))", "unknown attribute 'latitud'; did you mean 'latitude'"),
        ("(xp,(in_country),(e,(Japan)))", "unknown operator 'xp'"),
        ("(e,(Japan)", r"expected '\)' at the end"),
        ("(e,(Japan)))", "goes on after"),
        ("(e,())", "a name is missing"),
        ('(e,("Japan))', "not closed"),
        ("(e,(#99))", "no entity #99"),
        ("(e,(#-1))", "no entity #-1"),
        ("(nv,(#99999999999999999999))", "no value"),
        ("(nv,(5))", "needs a unit"),
        ("(nv,(5 parsecs))", "unknown unit 'parsecs'"),
        ("(nv,(nan degrees))", "not a finite number"),
        ("(rap,(latitude),(nv,(five)))", "'five' is not a number"),
        ("(rap,(latitude),(ap,(population),(e,(Japan))))", "latitude is measured in degrees, population in persons"),
        ("(rp,(in_country),(nv,(5 degrees)))", "followed from entities"),
        ("(i,(e,(Japan)),(nv,(5 degrees)))", "all entities or all numbers"),
        ("(np,(Near),(nv,(5 degrees)))", "unknown comparison 'Near'"),
        ("(n," * 40 + "(e,(Japan))" + ")" * 40, "at most 32 levels"),
        ("(e,(" + "x" * 70_000 + "))", "at most 65,536 characters"),
    ],
)
def test_a_wrong_query_names_what_is_wrong(graph, text, message):
    with pytest.raises(UserError, match=message):
        parse(text, graph.vocabulary)


class TestBuilder:
    def test_it_reads_like_the_sentence(self, graph):
        which, the = Builder(graph.vocabulary).words()
        query = which("latitude", greater_than(the("latitude", of=which("in_country", "Japan"))))
        assert write(query, graph.vocabulary) == NORTH_OF_JAPAN

    def test_logic_and_literals(self, graph):
        vocabulary = graph.vocabulary
        which, the = Builder(vocabulary).words()
        query = which("in_country", "Japan") & ~which("population", less_than(5000) | at_least(2, times=3, plus=1))
        expected = (
            "(i,(rp,(^in_country),(e,(Japan))),"
            "(n,(rap,(population),(u,(np,(SmallerThan),(nv,(5000 persons))),(np,(x >= 3y + 1),(nv,(2 persons)))))))"
        )
        assert write(query, vocabulary) == expected
        assert parse(expected, vocabulary) == query
        either = which("founded", equal_to("1947-05-03", within=0.0) & at_most(2000)) | the("borders", of="Japan")
        assert parse(write(either, vocabulary), vocabulary) == either

    def test_the_follows_a_relation_forwards(self, graph):
        _, the = Builder(graph.vocabulary).words()
        assert the("in_country", of="Sapporo") == parse("(rp,(in_country),(e,(Sapporo)))", graph.vocabulary)

    def test_mistakes_are_named(self, graph):
        which, the = Builder(graph.vocabulary).words()
        with pytest.raises(
            UserError, match=r"unknown relation 'latitudes'.*unknown attribute 'latitudes'; did you mean"
        ):
            which("latitudes", 5)
        with pytest.raises(UserError, match="leads to entities"):
            which("in_country", 5)
        with pytest.raises(UserError, match="'latitude' is asked of entities"):
            the("latitude", of=5)
        with pytest.raises(UserError, match="expected a number"):
            which("latitude", None)
        with pytest.raises(UserError, match="cannot be compared"):
            which("latitude", greater_than(the("population", of="Sapporo")))

    def test_numbers_of_numpy_are_numbers(self, graph):
        which, _ = Builder(graph.vocabulary).words()
        plain = which("latitude", greater_than(40, times=0.5))
        cases: list[tuple[Any, Any]] = [(np.int64(40), np.float32(0.5)), (np.float32(40), np.float64(0.5))]
        for number, times in cases:
            assert which("latitude", greater_than(number, times=times)) == plain

    @pytest.mark.parametrize(
        "make",
        [
            lambda: greater_than(1, times=cast(float, "twice")),
            lambda: greater_than(1, times=float("inf")),
            lambda: equal_to(9, plus=float("nan")),
            lambda: equal_to(9, within=-1),
            lambda: equal_to(9, within=float("inf")),
            lambda: greater_than(10**400),
            lambda: greater_than(float("nan")),
        ],
    )
    def test_numbers_are_finite(self, make, graph):
        which, _ = Builder(graph.vocabulary).words()
        with pytest.raises(UserError, match=r"finite|at least 0"):
            which("latitude", make())
