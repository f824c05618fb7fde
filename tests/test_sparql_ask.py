"""ASK: an independent engine says the same, and whatever lies outside the subset is named."""

import random
import re

import pyoxigraph as ox
import pytest

from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph.ntriples import n_triples
from kgreckon.query import GENERAL_TYPES, specific_shapes
from kgreckon.query.sparql import iri, is_ask, parse_ask, write
from reference import Reference
from test_exact_sparql import draw

PREFIX = "PREFIX : <urn:kgreckon:>\n"


@pytest.fixture(scope="module")
def engine(world_graph):
    """An independent engine that holds World's RDF."""
    store = ox.Store()
    store.bulk_load(input="".join(n_triples(world_graph)).encode(), format=ox.RdfFormat.N_TRIPLES)

    def says(text):
        found = store.query(text)
        assert isinstance(found, ox.QueryBoolean)
        return bool(found)

    return says


@pytest.fixture(scope="module")
def proves(world_graph):
    """What the graph proves of an ASK."""
    return lambda text: all(len(ask(world_graph, each)) for each in parse_ask(text, world_graph.vocabulary))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", True),
        (":Tokyo :capital_of :Japan", True),
        (":Tokyo :capital_of :France", False),
        (":Japan ^:capital_of :Tokyo", True),
        (":Tokyo :capital_of/:borders :Japan", False),
        (":Paris :capital_of/:borders|:is_a :Spain", True),
        (":Tokyo :capital_of :Japan . :Paris :capital_of :France", True),
        (":Tokyo :capital_of :Japan . :Paris :capital_of :Spain", False),
        (":Tokyo :capital_of :Japan ; :population ?p FILTER(?p > 1000000)", True),
        (":Tokyo :capital_of :Japan ; :population ?p FILTER(?p > 1000000000)", False),
        ("?x :borders :France . ?y :borders :Spain . :Tokyo :capital_of ?c", True),
        ("?x :borders :France . ?y :borders :Spain . ?c :capital_of :Tokyo", False),
        ("?x :borders ?y . ?y :borders ?z . ?z :borders :Portugal", True),
        ("[] :borders :France", True),
        ("?x :borders :France FILTER NOT EXISTS { ?x :borders :Spain }", True),
        ("?x :borders :Portugal FILTER NOT EXISTS { ?x :borders :France }", False),
        ("{ ?x :borders :Tokyo } UNION { ?x :borders :France }", True),
        ("?x :borders :France MINUS { ?x :borders :Portugal } ?x :capital_of ?y", False),
        ("VALUES ?x { :Japan :France } ?x :borders ?y", True),
        ("VALUES ?x { :Japan :Iceland } ?x :borders ?y", False),
        ("?c :latitude ?a . ?j :in_country :Japan ; :latitude ?b FILTER(?a > ?b)", True),
        (":Tokyo :latitude ?a . :Paris :latitude ?b FILTER(?a > ?b)", False),
        (":Tokyo :latitude ?a . :Paris :latitude ?b FILTER(?a < ?b)", True),
    ],
)
def test_the_engine_says_the_same(engine, proves, pattern, expected):
    text = f"{PREFIX}ASK {{ {pattern} }}"
    assert proves(text) is engine(text) is expected


def test_random_questions_are_answered_as_the_engine_does(world_graph, engine, proves):
    """What has an answer as SELECT, and, with a name that does not fit, mostly has none."""
    reference, chance = Reference(world_graph), random.Random(5)
    names = [iri(world_graph.entities.name(place)) for place in range(len(world_graph.entities))]
    seen = set()
    for shape in [shape for general in GENERAL_TYPES.values() for shape in specific_shapes(general)]:
        text = write(draw(reference, shape, chance, world_graph), world_graph.vocabulary)
        asked = re.sub(r"SELECT DISTINCT \?x WHERE", "ASK", text)
        assert is_ask(asked) and not is_ask(text)
        for each in (asked, re.sub(r" :[A-Z][\w%-]*", f" <{chance.choice(names)}>", asked)):
            seen.add(proves(each))
            assert proves(each) is engine(each), each
    assert seen == {True, False}


def test_every_stated_fact_and_value_is_true(world_graph, proves):
    chance, names = random.Random(7), world_graph.vocabulary
    facts, values = world_graph.facts, world_graph.attribute_facts
    for place in chance.sample(range(len(facts)), 20):
        head, relation, tail = (int(each[place]) for each in (facts.sources, facts.labels, facts.targets))
        named = (names.entity_name(head), names.relation_name(2 * relation), names.entity_name(tail))
        assert proves("ASK { " + " ".join(f"<{iri(name)}>" for name in named) + " }")
    for place in chance.sample(range(len(values)), 20):
        entity, attribute, row = (int(each[place]) for each in (values.sources, values.labels, values.targets))
        start = f"<{iri(names.entity_name(entity))}> <{iri(names.attribute_name(attribute))}>"
        number = world_graph.values.numbers[row]
        assert proves(f"ASK {{ {start} {number:.17e} }}")
        assert not proves(f"ASK {{ {start} {number + 1e9:.17e} }}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ASK { :Tokyo :capital_of :Nowhere }", "unknown entity 'Nowhere'"),
        ("ASK { :Tokyo ?p :Japan }", r"a variable as predicate \(\?p\)"),
        ("ASK { ?x :borders ?y . ?y :borders ?x }", "a cyclic pattern"),
        ("ASK { ?x :borders ?x }", "a cyclic pattern"),
        ("ASK { FILTER(1 < 2) }", "a comparison without a variable"),
        ("ASK { { :Tokyo :capital_of :Japan } }", "needs a variable that all its groups have"),
        ("ASK { { ?x :borders :Japan } UNION { ?y :borders :Japan } }", "needs a variable that all its groups have"),
        ("ASK { FILTER NOT EXISTS { ?x :borders :Japan } }", "never bound"),
        ("ASK { ?x :borders :Japan } LIMIT 1", "LIMIT and OFFSET are not supported in ASK"),
        ("ASK { ?x :borders :Japan } OFFSET 1", "LIMIT and OFFSET are not supported in ASK"),
        ("ASK { ?x :borders :Japan } ORDER BY ?x", "ORDER BY is not supported"),
        ("ASK FROM :g { ?x :borders :Japan }", "FROM is not supported"),
        ("ASK { ?x :borders :Japan } VALUES ?x { :Japan }", "VALUES after the pattern"),
        ("SELECT ?x { ?x :borders :Japan }", "the query is not an ASK"),
        ("ASK ?x { ?x :borders :Japan }", "syntax error"),
        ("ASK { :Tokyo :capital_of 3 }", "a number where an entity belongs"),
        ("ASK { :Tokyo :latitude :Japan }", "'Japan' is a name where a number belongs"),
        ("ASK { ?x " + "/".join(["(:borders|:in_country)"] * 40) + " :Japan }", "nodes"),
    ],
)
def test_what_is_refused(world_graph, text, message):
    with pytest.raises(UserError, match=message):
        parse_ask(text, world_graph.vocabulary)


def test_what_begins_like_one():
    for text in ("ASK{}", " ask {}", "# no\nPREFIX a: <urn:a>\n PREFIX : <x> Ask WHERE {}", "BASE <urn:x>ASK {}"):
        assert is_ask(text)
    for text in ("SELECT ?ask {}", "", "ASKED {}", "PREFIX ASK: <urn:a> SELECT ?x {}", "# ASK"):
        assert not is_ask(text)
