"""Comparisons within intersections: looked up for few entities, gathered for many, and the same answers both ways."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.exact import answer, projections, semantics
from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.query import Batch
from kgreckon.query.paper import parse


@pytest.fixture(scope="module")
def graph() -> KnowledgeGraph:
    """Two thousand things of which each has a size, some have two, and few are in the hall."""
    builder = GraphBuilder()
    for number in range(2000):
        builder.add_fact(f"thing {number}", "is_in", "hall" if number % 500 == 7 else "store")
        builder.add_value(f"thing {number}", "size", number % 97, "metres")
        if number % 3 == 0:
            builder.add_value(f"thing {number}", "size", number % 11 + 0.5, "metres")
        if number % 2 == 0:
            builder.add_value(f"thing {number}", "age", number % 7, "years")
    return builder.build()


CONDITIONS = (
    "(rap,(size),(np,(GreaterThan),(nv,({number} metres))))",
    "(n,(rap,(size),(np,(GreaterThan),(nv,({number} metres)))))",
    "(rap,(size),(nv,({number} metres)))",
    "(rap,(size),(np,(EqualTo),(ap,(size),(rp,(^is_in),(e,(hall))))))",
    "(rap,(age),(np,(x != y),(nv,(3 years))))",
    "(n,(rap,(age),(np,(SmallerThan),(nv,(2 years)))))",
)


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from(CONDITIONS), min_size=1, max_size=3),
    st.sampled_from(["(rp,(^is_in),(e,(hall)))", "(rp,(^is_in),(e,(store)))", "(n,(rp,(^is_in),(e,(store))))"]),
    st.lists(st.integers(-1, 97), min_size=1, max_size=4),
)
def test_looking_up_and_gathering_give_the_same(graph, conditions, start, numbers):
    texts = [f"(i,{start},{','.join(conditions)})".format(number=number) for number in numbers]
    batch = Batch.of([parse(text, graph.vocabulary) for text in texts], graph.values)
    answers = []
    for factor in (0, 10**9):  # always looked up, or never
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(semantics, "_LOOKED_UP", factor)
            answers.append([items.tolist() for items in answer(graph, batch)])
    assert answers[0] == answers[1] == [items.tolist() for items in answer(graph, batch)]


def test_few_entities_are_looked_up_and_many_are_not(graph, monkeypatch):
    gathered = []
    project = projections.project_intervals

    def counted(*parts):
        gathered.append(parts)
        return project(*parts)

    monkeypatch.setattr(projections, "project_intervals", counted)
    query = "(i,(rp,(^is_in),(e,({place}))),(rap,(size),(np,(GreaterThan),(nv,(50 metres)))))"
    for place, expected in (("hall", 0), ("store", 1)):
        gathered.clear()
        batch = Batch.of([parse(query.format(place=place), graph.vocabulary)], graph.values)
        found = answer(graph, batch)[0]
        sizes = [int(graph.entities.name(item).split()[1]) % 97 for item in found.tolist()]
        assert len(gathered) == expected and len(sizes) and min(sizes) > 50
