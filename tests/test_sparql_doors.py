"""All of SPARQL at the endpoint and on the command line: every format, bounds, and what is said of inference."""
# ruff: noqa: F811  # fixtures of other files

import json
import threading
import time
from collections import Counter

import pyoxigraph as ox
import pytest

from kgreckon.answers import Answerer
from kgreckon.engine.oxigraph import TripleStore
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.sparql import PREFIXES, iri
from kgreckon.server import Limits, Service
from real_sparql import QUESTIONS
from served import client_of
from test_cli import kgreckon  # noqa: F401  # a fixture
from test_sparql_engine import CROSS, said, store  # noqa: F401  # another one


def table(content: bytes, syntax: ox.QueryResultsFormat) -> ox.QuerySolutions:
    """The rows that a text of results holds."""
    found = ox.parse_query_results(content, format=syntax)
    assert isinstance(found, ox.QuerySolutions)
    return found


class TestEndpoint:
    def test_what_the_algebra_does_not_cover_is_answered_and_said(self, client, world, store):
        text = QUESTIONS["airports, with elevation where there is one"]
        expected = list(store.query(text, prefixes=PREFIXES))
        response = client.get("/sparql", params={"query": text})
        assert response.status_code == 200 and response.headers["kgreckon-inferred"] == "no"
        assert "kgreckon-complete" not in response.headers
        bindings = response.json()["results"]["bindings"]
        assert len(bindings) == len(expected) and {len(each) for each in bindings} == {1, 2}
        for form in ("text/csv", "text/tab-separated-values", "application/sparql-results+xml"):
            written = client.get("/sparql", params={"query": text}, headers={"Accept": form}).content
            named = {"xml": ox.QueryResultsFormat.XML, "tab": ox.QueryResultsFormat.TSV}
            syntax = next((each for name, each in named.items() if name in form), None)
            if syntax is not None:
                rows = [tuple(map(said, row)) for row in table(written, syntax)]
                assert Counter(rows) == Counter(tuple(map(said, row)) for row in expected)
            else:
                assert len(written.decode().splitlines()) == len(expected) + 1

    def test_terms_of_all_kinds_in_all_formats(self, client):
        text = r"""SELECT * { VALUES (?a ?b ?c ?d) { ("x" "y<&\"\t\n\\"@en-GB 3 UNDEF) (UNDEF true "2"^^<urn:t> <urn:u>)
            } BIND(BNODE() AS ?n) }"""
        formats = {
            "application/sparql-results+json": ox.QueryResultsFormat.JSON,
            "application/sparql-results+xml": ox.QueryResultsFormat.XML,
            "text/tab-separated-values": ox.QueryResultsFormat.TSV,
        }
        for form, syntax in formats.items():
            content = client.get("/sparql", params={"query": text}, headers={"Accept": form}).content
            rows = [{name: row[name] for name in "abcd"} for row in table(content, syntax)]
            assert rows == [
                {"a": ox.Literal("x"), "b": ox.Literal('y<&"\t\n\\', language="en-gb"), "c": ox.Literal(3), "d": None},
                {"a": None, "b": ox.Literal(True), "c": ox.Literal("2", datatype=ox.NamedNode("urn:t")),
                 "d": ox.NamedNode("urn:u")},
            ], form  # fmt: skip

    def test_triples(self, client, store):
        text = QUESTIONS["a graph of capitals"]
        expected = {tuple(map(said, each)) for each in store.query(text, prefixes=PREFIXES)}
        for form, syntax in {
            "text/turtle": ox.RdfFormat.TURTLE,
            "application/n-triples": ox.RdfFormat.N_TRIPLES,
            "application/rdf+xml": ox.RdfFormat.RDF_XML,
            "application/ld+json": ox.RdfFormat.JSON_LD,
        }.items():
            response = client.get("/sparql", params={"query": text}, headers={"Accept": form})
            assert response.headers["content-type"].startswith(form)
            assert {tuple(map(said, each.triple)) for each in ox.parse(response.content, format=syntax)} == expected
        assert client.get("/sparql", params={"query": text}).headers["content-type"].startswith("text/turtle")
        assert client.get("/sparql", params={"query": text}, headers={"Accept": "text/csv"}).status_code == 406

    def test_ask(self, client):
        text = "ASK { ?a :borders ?b . ?b :borders ?c . ?c :borders ?a }"
        for form, expected in {"application/json": '{"head": {}, "boolean": true}', "text/csv": "true\n"}.items():
            response = client.get("/sparql", params={"query": text}, headers={"Accept": form})
            assert response.text == expected and response.headers["kgreckon-inferred"] == "no"

    def test_what_may_be_inferred_is_said(self, client, reckoner):
        text = {"query": "SELECT ?x { ?x :r0 ?y }"}
        own = client_of(reckoner)
        relation = reckoner.graph.relations.name(0)
        inferred = own.get("/sparql", params={"query": f"SELECT ?x ?score {{ ?x <{iri(relation)}> ?y }}"})
        assert inferred.headers["kgreckon-inferred"] == "yes", text
        assert own.get("/sparql", params={"query": "SELECT ?x ?y { ?x ?p ?y }"}).headers["kgreckon-inferred"] == "no"
        query = {"query": "SELECT ?x { ?x :borders :France }"}
        assert client.get("/sparql", params=query).headers["kgreckon-inferred"] == "no"
        reckoner.answerer.triples.close()

    @pytest.mark.parametrize(
        "text",
        [
            "SELECT ?c ?scored { ?c :r0 :e1 ; :r1 ?scored }",
            "SELECT ?c ?d { ?c :r0 :e1 ; :r1 ?d } # ?score",
            "SELECT ?c ?d { ?c :r0 :e1 ; :r1 ?d } ORDER BY DESC(?score)",
            "SELECT ?c ?score { ?c :r0 :e1 ; :r1 ?score }",  # a variable of the pattern marks nothing
        ],
    )
    def test_no_guess_goes_unmarked_among_several_variables(self, reckoner, text):
        with client_of(reckoner) as own:
            response = own.get("/sparql", params={"query": text})
            marked = text.replace("{", "?observed {").partition("#")[0]
            guesses = own.get("/sparql", params={"query": marked, "floor": "0"})
        assert response.headers["kgreckon-inferred"] == "no"
        found = response.json()["results"]["bindings"]
        stated = list(reckoner.answerer.sparql(text))
        assert len(found) == len(stated) and [row["c"]["value"] for row in found] == [row[0].text for row in stated]
        assert guesses.headers["kgreckon-inferred"] == "yes"
        assert "false" in {row["observed"]["value"] for row in guesses.json()["results"]["bindings"]}

    def test_a_runaway_query_frees_its_worker(self, world_graph):
        service = Service(Answerer(ExactModel(world_graph)), Limits(seconds=3.0, at_once=1, sparql_answers=50))
        service.answerer.sparql("ASK {}")
        with client_of(service) as client:  # one event loop, in which a worker can be free again
            start = time.monotonic()
            response = client.get("/sparql", params={"query": CROSS})
            assert response.status_code == 503 and "takes longer than 3 s" in response.json()["error"]
            assert time.monotonic() - start < 10
            bounded = client.get("/sparql", params={"query": "SELECT * { ?x ?y ?z }"})
        assert bounded.headers["kgreckon-complete"] == "no" and len(bounded.json()["results"]["bindings"]) == 50
        service.answerer.triples.close()

    def test_a_graph_beyond_the_bound_is_not_loaded(self, world_graph):
        client = client_of(Service(Answerer(ExactModel(world_graph)), Limits(sparql_triples=1000)))
        response = client.get("/sparql", params={"query": "SELECT ?x ?y { ?x ?p ?y }"})
        assert response.status_code == 400 and "graphs of at most 1,000 triples" in response.json()["error"]
        assert client.get("/sparql", params={"query": "SELECT ?x { ?x :borders :France }"}).status_code == 200

    def test_a_graph_that_is_being_loaded(self, world_graph):
        service = Service(Answerer(ExactModel(world_graph)), Limits(seconds=1.0))
        wait = threading.Event()

        def slow():
            wait.wait(30)
            yield b"<a:a> <a:b> <a:c> .\n"

        service.answerer._triples = TripleStore(slow, 1)
        client = client_of(service)
        response = client.get("/sparql", params={"query": "SELECT ?x ?y { ?x ?p ?y }"})
        assert response.status_code == 503 and response.headers["retry-after"] == "5"
        assert "being loaded" in response.json()["error"]
        wait.set()
        deadline = time.monotonic() + 30  # loading takes as long as it takes on a busy machine
        while response.status_code == 503 and time.monotonic() < deadline:
            response = client.get("/sparql", params={"query": "SELECT ?x ?y { ?x ?p ?y }"})
        assert response.status_code == 200
        service.answerer.triples.close()


class TestCommandLine:
    def test_a_table_a_truth_and_triples(self, kgreckon):
        result = kgreckon("ask", "world", "SELECT ?c ?p { ?c :capital_of :Japan ; :population ?p }")
        assert "│ Tokyo │ 9,733,276 │" in result.out and "1 row of what is stated; nothing is inferred" in result.out
        many = kgreckon("ask", "world", "SELECT ?a ?b { ?a :borders ?b }").out
        assert "the first 20 rows of what is stated" in many and "--limit shows them" in many
        assert kgreckon("ask", "world", "ASK { :Tokyo ?p :Japan }").out.splitlines()[0] == "true"
        triples = kgreckon("ask", "world", "CONSTRUCT WHERE { ?c :capital_of :Japan }")
        assert ":Tokyo :capital_of :Japan ." in triples.out and "nothing is inferred" in triples.err

    def test_json(self, kgreckon):
        query = "SELECT ?c ?p { ?c :capital_of :Japan ; :population ?p }"
        found = json.loads(kgreckon("ask", "world", query, "--json").out)
        assert found["inferred"] is False and found["complete"] is True and found["head"] == {"vars": ["c", "p"]}
        assert found["results"]["bindings"][0]["c"] == {"type": "uri", "value": "urn:kgreckon:Tokyo"}
        assert json.loads(kgreckon("ask", "world", "ASK { :Tokyo ?p :Nowhere }", "--json").out)["unknown"]

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("SELECT ?x ?y {",), "syntax error"),
            (("ASK { :Tokyo ?p :Japan }", "--explain"), "--explain"),
            (("DESCRIBE :Tokyo", "--comparisons", "sampled"), "--comparisons"),
        ],
    )
    def test_what_is_refused(self, kgreckon, arguments, message):
        assert message in kgreckon("ask", "world", *arguments).problem
