"""A graph as RDF, for the triple store that a query written as SPARQL is run on."""

from __future__ import annotations

from collections.abc import Iterator

from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.query.sparql import iri, number_literal


def n_triples(graph: KnowledgeGraph) -> Iterator[str]:
    """The facts and values of a graph as lines of N-Triples: names as IRIs, values as xsd:double. Units are not RDF."""
    entities, relations, attributes = (
        [f"<{iri(name)}>" for name in symbols.names.to_pylist()]
        for symbols in (graph.entities, graph.relations, graph.attributes)
    )
    facts, values = graph.facts, graph.attribute_facts
    for head, relation, tail in zip(facts.sources, facts.labels, facts.targets, strict=True):
        yield f"{entities[head]} {relations[relation]} {entities[tail]} .\n"
    for entity, attribute, row in zip(values.sources, values.labels, values.targets, strict=True):
        yield f"{entities[entity]} {attributes[attribute]} {number_literal(graph.values.numbers[row])} .\n"
