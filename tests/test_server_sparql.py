"""The SPARQL 1.1 protocol: three ways to ask, four forms of an answer, and clients that others wrote."""

import io
from typing import Any

import pyoxigraph as ox
import pytest
from rdflib import RDF, VOID, Literal, Namespace, URIRef
from rdflib import Graph as RdfGraph
from rdflib.query import Result, ResultRow
from SPARQLWrapper import CSV, GET, JSON, POST, POSTDIRECTLY, TSV, URLENCODED, XML, SPARQLWrapper
from SPARQLWrapper.SPARQLExceptions import QueryBadFormed

from kgreckon.exact import ask
from kgreckon.query.paper import parse
from kgreckon.server import Gate, Limits, Service, application
from kgreckon.server.negotiation import preferred
from kgreckon.server.sparql_results import FORMATS
from served import IN_JAPAN, client_of, running


class TestSparql:
    def test_three_ways_to_ask_one_answer(self, client):
        by_get = client.get("/sparql", params={"query": IN_JAPAN})
        form = client.post("/sparql", data={"query": IN_JAPAN})
        direct = client.post("/sparql", content=IN_JAPAN, headers={"Content-Type": "application/sparql-query"})
        assert by_get.status_code == 200
        assert by_get.headers["content-type"] == "application/sparql-results+json"
        assert by_get.json() == form.json() == direct.json()

    def test_the_formats_say_the_same_to_an_independent_reader(self, client):
        rows = {}
        for media_type, name in (
            ("application/sparql-results+json", "json"),
            ("application/sparql-results+xml", "xml"),
            ("text/tab-separated-values", "tsv"),
            ("text/csv", "csv"),
        ):
            response = client.get("/sparql", params={"query": IN_JAPAN}, headers={"Accept": media_type})
            assert response.headers["content-type"].partition(";")[0] == media_type
            result = Result.parse(io.BytesIO(response.content), format=name)
            assert [str(variable) for variable in result.vars or ()] == ["c", "score", "observed"]
            rows[name] = [tuple(row) for row in result if isinstance(row, ResultRow)]
        assert len(rows["json"]) > 100
        assert rows["json"] == rows["xml"] == rows["tsv"]
        assert [[str(term) for term in row] for row in rows["csv"]] == [
            [str(term) for term in row] for row in rows["json"]
        ]

    def test_rows_are_the_exact_answers_then_likely_ones(self, reckoner):
        client, names = client_of(reckoner), reckoner.graph.vocabulary
        query = "SELECT ?x ?observed ?score { :e1 :r0 ?x }"
        bindings = client.get("/sparql", params={"query": query}).json()["results"]["bindings"]
        proved = ask(reckoner.graph, parse("(rp,(r0),(e,(e1)))", names))
        observed = [row for row in bindings if row["observed"]["value"] == "true"]
        assert {row["x"]["value"] for row in observed} == {f"urn:kgreckon:{names.entity_name(one)}" for one in proved}
        assert observed == bindings[: len(proved)] and len(bindings) > len(proved)
        assert all(0 < float(row["score"]["value"]) <= 1 for row in bindings)

    @pytest.mark.parametrize("limit", ["", " LIMIT 50", " LIMIT 1"])
    def test_who_asks_for_no_score_gets_facts_alone(self, reckoner, limit):
        """Clients that know only SPARQL, such as rdflib's store, cannot tell a guess from a fact."""
        client, names = client_of(reckoner), reckoner.graph.vocabulary
        proved = {
            f"urn:kgreckon:{names.entity_name(id_)}"
            for id_ in ask(reckoner.graph, parse("(rp,(r0),(e,(e1)))", names)).tolist()
        }
        response = client.get("/sparql", params={"query": f"SELECT ?score {{ :e1 :r0 ?score }}{limit}"})
        bindings = response.json()["results"]["bindings"]
        assert {row["score"]["value"] for row in bindings} <= proved
        assert len(bindings) == (1 if limit == " LIMIT 1" else len(proved)) > 0
        assert response.headers["Kgreckon-Inferred"] == "no"

    def test_guesses_have_a_floor(self, reckoner):
        plain, query = client_of(reckoner), "SELECT ?x ?score ?observed { :e1 :r0 ?x } LIMIT 1000"

        def scores(asked=None, **floor):
            found = (asked or plain).get("/sparql", params={"query": query, **floor}).json()["results"]["bindings"]
            return [float(row["score"]["value"]) for row in found if row["observed"]["value"] == "false"]

        every = scores(floor="0")
        assert min(every) < 0.02 < max(every) and Limits().sparql_floor == 0.01
        assert scores() == [score for score in every if score >= 0.01]
        assert scores(floor="0.02") == [score for score in every if score >= 0.02]
        client = client_of(Service(reckoner.answerer, Limits(sparql_floor=0.03)))
        assert scores(client) == [score for score in every if score >= 0.03]
        facts = client.get("/sparql", params={"query": query, "floor": "1"}).json()["results"]["bindings"]
        assert facts and all(row["observed"]["value"] == "true" for row in facts)
        for wrong in ("", "-0.1", "1.1", "nan", "many"):
            response = client.get("/sparql", params={"query": query, "floor": wrong})
            assert response.status_code == 400 and "floor must be one number from 0 to 1" in response.json()["error"]
        body = {"query": query, "floor": "0.03"}
        assert client.post("/sparql", data=body).json() == client.get("/sparql", params=body).json()

    @pytest.mark.parametrize("opposite", ["MINUS { :e1 :r0 ?x }", "FILTER NOT EXISTS { :e1 :r0 ?x }"])
    def test_a_contradiction_has_no_answers(self, reckoner, opposite):
        query = f"SELECT ?x ?score {{ :e1 :r0 ?x {opposite} }}"
        found = client_of(reckoner).get("/sparql", params={"query": query, "floor": "0"})
        assert found.json()["results"]["bindings"] == []

    def test_without_a_limit_nothing_proved_is_lost_and_the_table_stays_short(self, world):
        few = Service(world.answerer, Limits(sparql_default=5, sparql_answers=1000))
        client = client_of(few)

        def rows(query):
            return len(client.get("/sparql", params={"query": query}).json()["results"]["bindings"])

        proved = len(ask(world.graph, parse("(rp,(^in_country),(e,(Japan)))", world.names)))
        assert proved > 100
        assert rows("SELECT ?c { ?c :in_country :Japan }") == proved
        assert rows("SELECT ?c { ?c :in_country :Japan } LIMIT 7") == 7
        assert rows("SELECT ?c { ?c :in_country :Japan } LIMIT 0") == 0
        assert rows("SELECT ?c { ?c :is_a :City }") == 1000

    def test_numbers_are_typed_literals(self, client):
        query = "SELECT ?p { ?c :capital_of :Japan ; :population ?p }"
        (row,) = client.get("/sparql", params={"query": query}).json()["results"]["bindings"]
        assert row["p"]["type"] == "literal" and row["p"]["datatype"] == "http://www.w3.org/2001/XMLSchema#double"
        assert float(row["p"]["value"]) > 1e6

    def test_score_in_a_pattern_is_a_variable_like_others(self, client):
        found = client.get("/sparql", params={"query": "SELECT ?score { ?score :capital_of :Japan }"}).json()
        assert found["results"]["bindings"][0]["score"]["value"] == "urn:kgreckon:Tokyo"

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"questions": "one"}, "give one parameter 'query'"),
            ({"query": ["SELECT ?x { ?x :a ?y }"] * 2}, "not 2"),
            ({"query": IN_JAPAN, "default-graph-uri": "urn:x"}, "default-graph-uri is not supported"),
            ({"query": IN_JAPAN, "named-graph-uri": "urn:x"}, "named-graph-uri is not supported"),
            ({"update": "DROP ALL"}, "an update is sent by POST, alone"),
            ({"query": "DELETE WHERE { ?x ?y ?z }"}, "DELETE is not supported"),
            ({"query": "SELECT ?x ?y { ?x :borders ?y"}, "syntax error"),
            ({"query": "SELECT ?x ?x { ?x :borders :France }"}, "SELECT takes each variable once"),
            ({"query": "SELECT ?x { SERVICE <http://127.0.0.1/> { ?x ?y ?z } }"}, "SERVICE is not supported"),
            ({"query": "SELECT ?score { ?x :borders :France }"}, "?score is selected but does not occur"),
            ({"query": ""}, "empty"),
        ],
    )
    def test_what_is_refused(self, client, parameters, message):
        response = client.get("/sparql", params=parameters)
        assert response.status_code == 400 and message in response.json()["error"]

    def test_an_update_is_refused_whatever_its_form(self, client):
        typed = {"Content-Type": "application/sparql-update"}
        assert client.post("/sparql", content="DROP ALL", headers=typed).status_code == 403
        assert client.post("/sparql", data={"update": "DROP ALL"}).status_code == 403
        wrong = client.post("/sparql", content=IN_JAPAN, headers={"Content-Type": "text/plain"})
        assert wrong.status_code == 415
        latin = {"Content-Type": "application/sparql-query; charset=latin-1"}
        assert client.post("/sparql", content=IN_JAPAN, headers=latin).status_code == 415

    def test_several_accept_headers_are_one(self, client):
        headers = [("Accept", "image/png"), ("Accept", "text/csv")]
        response = client.get("/sparql", params={"query": IN_JAPAN + " LIMIT 1"}, headers=headers)
        assert response.headers["content-type"] == "text/csv; charset=utf-8"

    @pytest.mark.parametrize(
        ("accept", "expected"),
        [
            (None, "application/sparql-results+json"),
            ("*/*", "application/sparql-results+json"),
            ("text/*", "text/csv"),
            ("application/json", "application/json"),
            ("text/csv;q=0.2, application/sparql-results+xml;q=0.9", "application/sparql-results+xml"),
            ("text/html, application/xhtml+xml, */*;q=0.1", "application/sparql-results+json"),
            ("*/*, application/sparql-results+json;q=0", "application/sparql-results+xml"),
            ("text/*;q=0.9, text/csv;q=0.1", "text/tab-separated-values"),
            ("TEXT/CSV", "text/csv"),
            ("image/png", None),
            ("text/csv;q=0", None),
            ("text/csv;q=nonsense", None),
        ],
    )
    def test_negotiation(self, client, accept, expected):
        assert preferred(accept, tuple(FORMATS)) == expected
        if accept is not None:
            response = client.get("/sparql", params={"query": IN_JAPAN + " LIMIT 1"}, headers={"Accept": accept})
            assert response.status_code == (200 if expected else 406)
            assert response.headers["content-type"].partition(";")[0] == (expected or "application/json")

    @pytest.mark.parametrize(("capital", "truth"), [("Tokyo", True), ("Paris", False)])
    def test_ask_is_answered_in_every_format(self, client, capital, truth):
        query = f"ASK {{ :{capital} :capital_of :Japan }}"
        for media_type, name in (
            ("application/sparql-results+json", "json"),
            ("application/json", "json"),
            ("application/sparql-results+xml", "xml"),
            ("text/xml", "xml"),
        ):
            for response in (
                client.get("/sparql", params={"query": query}, headers={"Accept": media_type}),
                client.post("/sparql", data={"query": query}, headers={"Accept": media_type}),
            ):
                assert response.headers["content-type"].partition(";")[0] == media_type
                result = Result.parse(io.BytesIO(response.content), format=name)
                assert result.type == "ASK" and result.askAnswer is truth
        for media_type in ("text/csv", "text/tab-separated-values"):
            response = client.get("/sparql", params={"query": query}, headers={"Accept": media_type})
            assert response.text == f"{str(truth).lower()}\n"
        image = client.get("/sparql", params={"query": query}, headers={"Accept": "image/png"})
        assert image.status_code == 406

    def test_ask_is_true_of_what_is_proved_alone(self, reckoner):
        client, names = client_of(reckoner), reckoner.graph.vocabulary
        query = "SELECT ?x ?observed { :e1 :r0 ?x }"
        bindings = client.get("/sparql", params={"query": query}).json()["results"]["bindings"]
        assert {row["observed"]["value"] for row in bindings} == {"true", "false"}
        for row in bindings:
            asked = {"query": f"ASK {{ :e1 :r0 <{row['x']['value']}> }}"}
            assert client.get("/sparql", params=asked).json()["boolean"] is (row["observed"]["value"] == "true")
        assert len(ask(reckoner.graph, parse("(rp,(r0),(e,(e1)))", names)))

    @pytest.mark.parametrize(
        ("accept", "form", "read_as"),
        [
            ("*/*", "text/turtle", ox.RdfFormat.TURTLE),
            ("text/turtle", "text/turtle", ox.RdfFormat.TURTLE),
            ("application/rdf+xml", "application/rdf+xml", ox.RdfFormat.RDF_XML),
            ("application/ld+json, text/html;q=0.9", "application/ld+json", ox.RdfFormat.JSON_LD),
        ],
    )
    def test_without_a_query_it_describes_itself(self, client, world, accept, form, read_as):
        response = client.get("/sparql", headers={"Accept": accept})
        assert response.status_code == 200 and response.headers["vary"] == "Accept"
        assert response.headers["content-type"].partition(";")[0] == form
        sd = Namespace("http://www.w3.org/ns/sparql-service-description#")
        triples = ox.parse(input=response.content, format=read_as, base_iri="http://there.example/kg/sparql")
        graph = RdfGraph().parse(data=ox.serialize(triples, format=ox.RdfFormat.N_TRIPLES), format="nt")
        (service,) = graph.subjects(RDF.type, sd.Service)
        assert graph.value(service, sd.endpoint) == URIRef("http://there.example/kg/sparql")
        assert graph.value(service, sd.supportedLanguage) == sd.SPARQL11Query
        assert len(set(graph.objects(service, sd.resultFormat))) == 4
        default = graph.value(graph.value(service, sd.defaultDataset), sd.defaultGraph)
        facts = len(world.graph.facts) + len(world.graph.attribute_facts)
        assert graph.value(default, VOID.triples) == Literal(facts)

    def test_a_description_in_no_form_of_rdf_is_refused(self, client):
        assert client.get("/sparql", headers={"Accept": "text/html"}).status_code == 406
        assert client.post("/sparql").status_code == 415

    def test_sparqlwrapper_works_unchanged(self, world):
        query = "SELECT ?c ?score { ?c :borders :France } LIMIT 4"
        with running(application(world, Gate(world.limits), {"127.0.0.1"})) as port:
            for method in (GET, POST):
                for encoding in (URLENCODED, POSTDIRECTLY) if method == POST else (URLENCODED,):
                    endpoint: Any = SPARQLWrapper(f"http://127.0.0.1:{port}/sparql")
                    endpoint.setMethod(method)
                    endpoint.setRequestMethod(encoding)
                    endpoint.setQuery(query)
                    endpoint.setReturnFormat(JSON)
                    bindings = endpoint.queryAndConvert()["results"]["bindings"]
                    assert len(bindings) == 4 and all(float(row["score"]["value"]) == 1 for row in bindings)
                    names = {row["c"]["value"] for row in bindings}
                    endpoint.setReturnFormat(XML)
                    document = endpoint.queryAndConvert()
                    assert {node.firstChild.data for node in document.getElementsByTagName("uri")} == names
                    endpoint.setReturnFormat(CSV)
                    lines = endpoint.queryAndConvert().decode().splitlines()
                    assert lines[0] == "c,score" and {line.split(",")[0] for line in lines[1:]} == names
                    endpoint.setReturnFormat(TSV)
                    assert endpoint.queryAndConvert().decode().startswith("?c\t?score\n")
            endpoint = SPARQLWrapper(f"http://127.0.0.1:{port}/sparql")
            endpoint.setQuery("ASK { :Tokyo :capital_of :Japan }")
            endpoint.setReturnFormat(JSON)
            assert endpoint.queryAndConvert()["boolean"] is True
            endpoint.setQuery("SELECT ?x { ?x :capital_off :France }")
            with pytest.raises(QueryBadFormed, match=r"did you mean .*capital_of"):
                endpoint.query()
