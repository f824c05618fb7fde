"""A part of World that a reckoner learns in seconds: countries, their capitals, and the cities of two countries."""

from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.query.paper import parse

KEPT = "(u,(rp,(^is_a),(e,(Country))),(rp,(^capital_of),(rp,(^is_a),(e,(Country)))),(i,(rp,(^is_a),(e,(City))),{}))"
IN = "(rp,(^in_country),(e,({})))"


def small_world(world: KnowledgeGraph, *countries: str) -> KnowledgeGraph:
    """The facts and numbers of those things alone, with all names and phrases as they are."""
    places = ",".join(IN.format(country) for country in countries)
    kept = set(ask(world, parse(KEPT.format(f"(u,{places})"), world.vocabulary)).tolist())
    names, builder = world.vocabulary, GraphBuilder()
    common = kept | set(ask(world, parse("(rp,(is_a),(rp,(^is_a),(e,(Country))))", names)).tolist())
    common |= set(ask(world, parse("(rp,(is_a),(rp,(^is_a),(e,(City))))", names)).tolist())
    for head, relation, tail in zip(*(column.tolist() for column in _columns(world.facts)), strict=True):
        relation_name = names.relation_name(2 * relation)
        if head in kept and (tail in common or relation_name in ("on_continent", "speaks", "uses_currency")):
            builder.add_fact(names.entity_name(head), relation_name, names.entity_name(tail))
            builder.label(names.entity_name(tail), names.entity_label(tail))
            phrase = names.relation_phrase(2 * relation)
            if phrase is not None:
                builder.phrase_relation(relation_name, phrase)
    for entity, attribute, row in zip(*(column.tolist() for column in _columns(world.attribute_facts)), strict=True):
        if entity in kept:
            number, unit = world.values.number_at(row)
            builder.add_value(names.entity_name(entity), names.attribute_name(attribute), number, unit)
            builder.label(names.entity_name(entity), names.entity_label(entity))
    return builder.build()


def _columns(triples):
    return triples.sources, triples.labels, triples.targets
