"""Statistics of a graph: the same as counting its facts one by one."""

import json
from statistics import median

from hypothesis import given, settings

from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.graph.statistics import graph_statistics
from strategies import graphs


def counted(graph: KnowledgeGraph) -> dict:
    """Relations, attributes and units, fact by fact."""
    facts, values = (
        list(zip(part.sources.tolist(), part.labels.tolist(), part.targets.tolist(), strict=True))
        for part in (graph.facts, graph.attribute_facts)
    )
    relations, attributes = [], []
    for place in range(len(graph.relations)):
        own = [(head, tail) for head, relation, tail in facts if relation == place]
        heads, tails = ({edge[side] for edge in own} for side in (0, 1))
        relations.append((graph.relations.name(place), len(own), len(heads), len(tails)))
    for place in range(len(graph.attributes)):
        own = [(entity, row) for entity, attribute, row in values if attribute == place]
        numbers = sorted(float(graph.values.numbers[row]) for _, row in own)
        if own:
            unit = graph.values.units[graph.attribute_units[place]]
            held = len(own), len({entity for entity, _ in own}), len(set(numbers))
            middle = 2 * median(number / 2 for number in numbers)
            attributes.append((graph.attributes.name(place), unit, *held, numbers[0], middle, numbers[-1]))
    by_count = {"relations": sorted(relations, key=lambda row: -row[1])}
    return by_count | {"attributes": sorted(attributes, key=lambda row: -row[2])}


@settings(max_examples=80)
@given(graph=graphs())
def test_statistics_are_what_counting_gives(graph):
    found, expected = graph_statistics(graph), counted(graph)
    relations = [(each.name, each.facts, each.heads, each.tails) for each in found.most_frequent_relations]
    attributes = [
        (each.name, each.unit, each.facts, each.entities, each.values, each.smallest, each.median, each.largest)
        for each in found.most_frequent_attributes
    ]
    assert relations == expected["relations"] and attributes == expected["attributes"]
    assert (found.facts, found.attribute_facts) == (len(graph.facts), len(graph.attribute_facts))
    assert json.loads(json.dumps(found.as_json())) is not None


def test_the_largest_numbers_have_a_median():
    builder = GraphBuilder()
    for name, number in (("a", 1.7e308), ("b", 1.5e308)):
        builder.add_value(name, "size", number)
    builder.add_fact("a", "next to itself", "a")
    found = graph_statistics(builder.build())
    assert found.most_frequent_attributes[0].median == 1.6e308
    assert found.most_frequent_relations[0].heads == found.most_frequent_relations[0].tails == 1
