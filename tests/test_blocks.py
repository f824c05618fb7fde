"""Queries as blocks: reading inverts writing, and whatever is wrong is said in one line."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder
from kgreckon.query import SEVEN, Compare, Comparison, Entity, Follow, HavingValue, Number, Order, blocks
from kgreckon.query.words.phrases import comparison_label
from strategies import graphs, queries


@pytest.fixture(scope="module")
def graph():
    builder = GraphBuilder()
    builder.add_fact("Sapporo", "in_country", "Japan")
    builder.add_fact("Sapporo", "^odd", "Japan")
    builder.phrase_relation("in_country", "is in")
    builder.add_value("Sapporo", "latitude", 43.06, "degrees")
    builder.add_value("Sapporo", "founded", 1869.0, "date")
    return builder.build()


def in_japan(**changed):
    return {
        "op": "follow",
        "relation": "in_country",
        "inverse": True,
        "of": {"op": "entity", "name": "Japan"},
    } | changed


def warmer(number):
    return {
        "op": "having_value",
        "attribute": "latitude",
        "of": {"op": "compare", "comparison": "SmallerThan", "of": number},
    }


@settings(max_examples=300)
@given(st.data())
def test_reading_inverts_writing_also_through_json(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph))
    written = blocks.write(query, graph.vocabulary)
    assert blocks.read(written, graph.vocabulary) == query
    assert blocks.read(json.loads(json.dumps(written)), graph.vocabulary) == query


def test_an_inverse_is_followed_backwards(graph):
    names = graph.vocabulary
    forwards, japan = names.relation_id("in_country"), Entity(names.entity_id("Japan"))
    assert blocks.read(in_japan(), names) == Follow(forwards ^ 1, japan)
    assert blocks.read(in_japan(inverse=False), names) == Follow(forwards, japan)
    odd = Follow(names.relation_id("^odd") ^ 1, japan)
    assert blocks.read(blocks.write(odd, names), names) == odd


def test_labels_are_written_and_not_read(graph):
    written = blocks.write(blocks.read(in_japan(), graph.vocabulary), graph.vocabulary)
    assert written["label"] == "in country" and written["phrase"] == "is in" and written["of"]["label"] == "Japan"
    assert blocks.read(written | {"label": "nonsense"}, graph.vocabulary) == blocks.read(in_japan(), graph.vocabulary)


@pytest.mark.parametrize("number", [{"value": 43}, {"value": 43.0, "unit": "degrees"}, {"value": "43", "unit": None}])
def test_a_number_takes_the_unit_of_what_it_is_compared_with(graph, number):
    names = graph.vocabulary
    expected = HavingValue(names.attribute_id("latitude"), Compare(SEVEN["SmallerThan"], Number(43.0, "degrees")))
    assert blocks.read(warmer({"op": "number"} | number), names) == expected


def test_a_date_is_a_number_too(graph):
    found = blocks.read({"op": "number", "value": "1869-07-01", "unit": "date"}, graph.vocabulary)
    assert isinstance(found, Number) and 1869.4 < found.value < 1869.6


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (None, "a block is an object"),
        ([in_japan()], "a block is an object with an 'op', not a list"),
        ({}, "unknown op nothing"),
        ({"op": "fly"}, "unknown op 'fly': use entity, number"),
        ({"op": ["and"]}, "unknown op a list"),
        ({"op": "entity"}, "needs a text 'name', not nothing"),
        ({"op": "entity", "name": 7}, "needs a text 'name', not 7"),
        ({"op": "entity", "name": "Japn"}, "unknown entity 'Japn'; did you mean 'Japan'"),
        ({"op": "entity", "name": "Japan", "of": {}}, "has no field 'of'"),
        (in_japan(inverse="yes"), "'inverse' is true or false, not 'yes'"),
        (in_japan(of=None), "needs a block 'of'"),
        (in_japan(of={"op": "number", "value": 1, "unit": "degrees"}), "followed from entities"),
        ({"op": "and", "parts": []}, "at least one block"),
        ({"op": "or", "parts": in_japan()}, "a list 'parts'"),
        ({"op": "not"}, "needs a block 'of'"),
        ({"op": "number", "value": True, "unit": "degrees"}, "finite number, not true"),
        ({"op": "number", "value": float("inf"), "unit": "degrees"}, "finite number, not inf"),
        ({"op": "number", "value": 10**400, "unit": "degrees"}, "finite number, not a number that large"),
        ({"op": "number", "value": "7 apples", "unit": "degrees"}, "'7 apples' is not a number"),
        ({"op": "number", "value": 7, "unit": "apples"}, "unknown unit 'apples'"),
        ({"op": "number", "value": 7, "unit": 3}, "'unit' is a text"),
        ({"op": "number", "value": 7}, "needs a unit"),
        (warmer({"op": "number", "value": 7, "unit": "date"}), "cannot be compared"),
        ({"op": "compare", "comparison": "x > 1e999y", "of": {"op": "number", "value": 1}}, "too large"),
    ],
)
def test_a_mistake_is_named(graph, wrong, message):
    with pytest.raises(UserError) as error:
        blocks.read(wrong, graph.vocabulary)
    assert message in str(error.value)


def test_depth_and_size_are_bounded(graph):
    deep: dict[str, object] = {"op": "entity", "name": "Japan"}
    for _ in range(10_000):
        deep = {"op": "not", "of": deep}
    with pytest.raises(UserError, match="at most 32 levels"):
        blocks.read(deep, graph.vocabulary)
    wide = {"op": "or", "parts": [in_japan()] * 100}
    blocks.read(wide, graph.vocabulary)
    with pytest.raises(UserError, match="at most 200 nodes"):
        blocks.read(wide, graph.vocabulary, nodes=200)


def nested(leaves):
    fields = ("op", "of", "parts", "name", "value", "unit", "relation", "attribute", "comparison", "inverse", "x")
    return st.recursive(
        leaves,
        lambda below: st.one_of(
            st.lists(below, max_size=3), st.dictionaries(st.sampled_from(fields), below, max_size=5)
        ),
        max_leaves=12,
    )


WORDS = ("entity", "number", "follow", "value_of", "having_value", "compare", "and", "or", "not")
NAMES = ("Japan", "in_country", "latitude", "degrees", "GreaterThan", "x > 2y", "", "\ud800", "#1", "^in_country")
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.sampled_from(WORDS + NAMES)
)


@settings(max_examples=300)
@given(blocks_=nested(LEAVES))
def test_anything_is_read_or_refused_with_a_message(graph, blocks_):
    try:
        query = blocks.read(blocks_, graph.vocabulary)
    except UserError as error:
        assert str(error) and "\n" not in str(error)
    else:
        assert blocks.read(blocks.write(query, graph.vocabulary), graph.vocabulary) == query


def test_comparisons_have_labels():
    assert comparison_label(SEVEN["TwiceGreaterThan"]) == "greater than twice"
    assert comparison_label(Comparison(Order.AT_MOST, 2.0, 3.0)) == "at most twice … plus 3"
