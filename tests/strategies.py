"""Random small graphs and random queries over them."""

from hypothesis import strategies as st

from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.query import SEVEN, And, Compare, Comparison, Entity, Follow, HavingValue, Not, Number, Or, Order, ValueOf

# Few numbers, close together and around zero, so that comparisons meet ties, signs and the edges of the tolerance.
NUMBERS = st.sampled_from([-200.0, -100.0, -1.0, -0.5, 0.0, 0.5, 1.0, 1.005, 1.01, 2.0, 3.0, 99.5, 100.0, 200.0, 300.0])
UNITS = {"height": "metres", "depth": "metres", "age": 'years (of "Earth"'}


@st.composite
def graphs(draw) -> KnowledgeGraph:
    """A graph of up to six entities, three relations and three attributes in two units."""
    builder = GraphBuilder()
    entity = st.sampled_from([f"e{index}" for index in range(6)])
    relation = st.sampled_from(["likes", "knows", "near"])
    for head, label, tail in draw(st.lists(st.tuples(entity, relation, entity), min_size=1, max_size=14)):
        builder.add_fact(head, label, tail)
    attribute = st.sampled_from(sorted(UNITS))
    for head, label, number in draw(st.lists(st.tuples(entity, attribute, NUMBERS), min_size=1, max_size=12)):
        builder.add_value(head, label, number, UNITS[label])
    return builder.build()


def comparisons() -> st.SearchStrategy[Comparison]:
    linear = st.builds(
        Comparison,
        st.sampled_from(list(Order)),
        st.sampled_from([1.0, -1.0, 2.0, 0.0, 0.5, -3.0]),
        st.sampled_from([0.0, 1.0, -100.0, 0.25]),
        st.sampled_from([0.01, 0.0, 0.5]),
    )
    return st.one_of(st.sampled_from(list(SEVEN.values())), linear)


def queries(graph: KnowledgeGraph, depth: int = 3) -> st.SearchStrategy:
    """Any well-sorted query over `graph`, with either target."""
    units = st.sampled_from(graph.values.units)
    return st.one_of(entity_queries(graph, depth), units.flatmap(lambda unit: number_queries(graph, unit, depth)))


def entity_queries(graph: KnowledgeGraph, depth: int) -> st.SearchStrategy:
    anchor = st.builds(Entity, st.integers(0, len(graph.entities) - 1))
    if depth == 0:
        return anchor
    below = entity_queries(graph, depth - 1)
    relation = st.integers(0, 2 * len(graph.relations) - 1)
    attribute = st.integers(0, len(graph.attributes) - 1)
    return st.one_of(
        anchor,
        st.builds(Follow, relation, below),
        attribute.flatmap(
            lambda label: st.builds(
                HavingValue,
                st.just(label),
                number_queries(graph, graph.vocabulary.attribute_unit(label), depth - 1),
            )
        ),
        *_logic(below),
    )


def number_queries(graph: KnowledgeGraph, unit: str, depth: int) -> st.SearchStrategy:
    anchor = st.builds(Number, NUMBERS, st.just(unit))
    if depth == 0:
        return anchor
    below = number_queries(graph, unit, depth - 1)
    attributes = [a for a in range(len(graph.attributes)) if graph.vocabulary.attribute_unit(a) == unit]
    others = st.sampled_from(graph.values.units).flatmap(lambda other: number_queries(graph, other, depth - 1))
    return st.one_of(
        anchor,
        st.builds(lambda one, other: Or((one, other)), below, others),  # a union may mix units
        st.builds(ValueOf, st.sampled_from(attributes), entity_queries(graph, depth - 1)),
        st.builds(Compare, comparisons(), below),
        *_logic(below),
    )


def _logic(below: st.SearchStrategy) -> list[st.SearchStrategy]:
    parts = st.lists(below, min_size=1, max_size=3).map(tuple)
    return [st.builds(And, parts), st.builds(Or, parts), st.builds(Not, below)]
