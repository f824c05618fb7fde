"""Changes over HTTP: off without a token for them, durable, and seen by the next request."""

import re
from pathlib import Path

import pytest

from kgreckon.graph import GraphBuilder, open_graph_folder
from kgreckon.runs.changing import standing_changes
from kgreckon.server import Limits, open_service
from served import client_of

TOKEN = "a-token-for-changes-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
UPDATE = {"Content-Type": "application/sparql-update"}
IN_NORWAY = "(rp,(^in),(e,(Norway)))"


@pytest.fixture
def folder(tmp_path) -> Path:
    builder = GraphBuilder()
    for city, country, people in (("Oslo", "Norway", 700.0), ("Bergen", "Norway", 280.0), ("Kyoto", "Japan", 1_460.0)):
        builder.add_fact(city, "in", country)
        builder.add_value(city, "population", people, "persons")
    builder.build().save(tmp_path / "graph")
    return tmp_path / "graph"


@pytest.fixture
def client(folder):
    return client_of(open_service(folder, Limits()), change_token=TOKEN)


def asked(client, query=IN_NORWAY) -> set[str]:
    return {answer["name"] for answer in client.post("/api/ask", json={"query": query}).json()["answers"]}


class TestChanges:
    def test_the_next_request_sees_it(self, client, folder):
        assert asked(client) == {"Oslo", "Bergen"} and client.get("/api/info").json()["changes_in_the_log"] == 0
        statements = [
            {"subject": "Tromsø", "predicate": "in", "object": "Norway"},
            {"subject": "Tromsø", "predicate": "population", "object": 78},
            {"subject": "Tromsø", "predicate": "area", "object": "2521 km2"},
        ]
        moved = {"subject": "Bergen", "predicate": "in", "object": "Japan"}
        body = {"add": statements, "replace": [moved], "labels": [{"name": "Tromsø", "label": "Romsa"}], "new": True}
        made = client.post("/api/change", json=body, headers=BEARER)
        assert made.status_code == 200 and made.json() == {
            "facts_removed": 1,
            "values_removed": 0,
            "facts_added": 2,
            "values_added": 2,
            "labels": 1,
            "new_things": 1,
            "new_relations": 0,
            "new_attributes": 1,
            "things": ["Tromsø"],
            "changes_in_the_log": 1,
        }
        assert asked(client) == {"Oslo", "Tromsø"} and standing_changes(folder) == 1
        info = client.get("/api/info").json()
        assert client.get("/api/names", params={"text": "romsa"}).json()["names"][0]["name"] == "Tromsø"
        assert client.get("/api/entity", params={"name": "Romsa"}).status_code == 200
        assert info["changes_in_the_log"] == 1

    def test_sparql_updates(self, client, folder):
        text = "DELETE { ?c :in :Norway } INSERT { ?c :in :Scandinavia } WHERE { ?c :in :Norway }"
        made = client.post("/sparql", content=text, headers=BEARER | UPDATE)
        assert made.status_code == 200 and made.json()["things"] == ["Scandinavia"]
        form = {"update": 'INSERT DATA { :Tromsø :in :Norway ; :population 78 ; rdfs:label "Romsa" }'}
        assert client.post("/sparql", data=form, headers=BEARER).json()["values_added"] == 1
        assert asked(client) == {"Tromsø"} and standing_changes(folder) == 2
        query = "SELECT ?l WHERE { ?c :in :Norway ; rdfs:label ?l }"
        assert client.get("/sparql", params={"query": query}).json()["results"]["bindings"][0]["l"]["value"] == "Romsa"

    def test_what_others_change_is_seen_too(self, client, folder):
        import kgreckon as kg

        assert len(asked(client)) == 2
        with kg.change(folder) as change:
            change.add("Kyoto", "in", "Norway")
        assert asked(client) == {"Oslo", "Bergen", "Kyoto"}


class TestRefusals:
    @pytest.mark.parametrize("body", [{"add": [{"subject": "Oslo", "predicate": "in", "object": "Japan"}]}])
    def test_it_is_off_without_a_token_for_it(self, folder, body):
        client = client_of(open_service(folder, Limits()), token="another-token-0123456789")
        reading = {"Authorization": "Bearer another-token-0123456789"}
        refused = client.post("/api/change", json=body, headers=reading)
        assert refused.status_code == 403 and "changes are off" in refused.json()["error"]
        assert client.post("/sparql", content="DELETE WHERE { ?s ?p ?o }", headers=reading | UPDATE).status_code == 403
        client = client_of(open_service(folder, Limits()), token="another-token-0123456789", change_token=TOKEN)
        assert client.post("/api/change", json=body, headers=reading).status_code == 401
        assert client.post("/api/change", json=body, headers=BEARER).status_code == 200  # which may read too
        assert len(open_graph_folder(folder).facts) == 4

    @pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer something-else-0123"}, {"Authorization": TOKEN}])
    def test_another_token_is_refused(self, client, folder, headers):
        refused = client.post("/sparql", content="DELETE WHERE { ?s ?p ?o }", headers=headers | UPDATE)
        assert refused.status_code == 401 and "token" in refused.json()["error"]
        assert refused.headers["www-authenticate"].startswith("Bearer ") and standing_changes(folder) == 0

    @pytest.mark.parametrize(
        ("body", "said"),
        [
            ({}, "changes nothing"),
            (
                {"add": [{"subject": "Olso", "predicate": "in", "object": "Japan"}]},
                "did you mean 'Oslo'?; if it is new",
            ),
            ({"add": [{"subject": "Oslo", "predicate": "population", "object": "5 kg"}]}, "cannot be converted"),
            ({"remove": [{"subject": "Oslo", "predicate": "in", "object": "Japan"}]}, "nothing to remove"),
            ({"add": [{"subject": "Oslo", "predicate": "in"}]}, "object"),
            ({"erase": []}, "unknown field 'erase'"),
        ],
    )
    def test_a_mistake_is_one_line_and_changes_nothing(self, client, folder, body, said):
        refused = client.post("/api/change", json=body, headers=BEARER)
        assert refused.status_code == 400 and said in refused.json()["error"] and standing_changes(folder) == 0

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("CLEAR ALL", "CLEAR is not supported"),
            ("LOAD <http://a.example/>", "LOAD is not supported"),
            ("INSERT DATA { ?c :in :Norway }", "takes no variables"),
            ("INSERT DATA { _:a :in :Norway }", "a blank node is not a thing"),
            ('INSERT DATA { :Oslo :in "Norway" }', "not texts"),
            ("INSERT DATA { :Oslo :in :Norway", "not closed"),
            ("DELETE DATA { :a :b :c } ; DELETE WHERE { ?a :b ?c }", "only the first operation"),
            ("DELETE { ?a :b ?c }", "expected WHERE"),
            ("DELETE WHERE { ?c :in }", "SPARQL update, line 1, near '}': syntax error"),
            ("INSERT DATA { <Oslo> <in> <Peru> }", "<Oslo> is a relative IRI, which names nothing here: .* :Oslo"),
            (
                "DELETE { ?c :in :Norway }\nINSERT { ?c :in :Peru }\nWHERE { ?c :in ! :Norway }",
                "SPARQL update, line 3, near ':Norway }': syntax error",
            ),
            (
                "DELETE { ?c :in :Norway }\nINSERT { ?c :in; }\nWHERE { ?c :in :Norway }",
                "SPARQL update, line 2, near '; }': syntax error",
            ),
        ],
    )
    def test_a_mistake_in_an_update(self, client, folder, text, said):
        refused = client.post("/sparql", content=text, headers=BEARER | UPDATE)
        assert re.search(said, refused.json()["error"])
        assert refused.status_code == 400 and standing_changes(folder) == 0

    def test_a_graph_that_cannot_change_says_so(self, world):
        client = client_of(world, change_token=TOKEN)
        body = {"add": [{"subject": "Oslo", "predicate": "in", "object": "Japan"}]}
        refused = client.post("/api/change", json=body, headers=BEARER)
        assert "in no folder that can be changed" in refused.json()["error"]
        assert client.get("/api/info").json()["changes_in_the_log"] is None
