"""The server's answers: questions, names, distributions, and a description that is true."""

import csv
import io
import json
import signal
import socket
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.routing import Route

from kgreckon.answers import Answerer, answer_files
from kgreckon.benchmark import BuildSettings, build
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.exact.semantics import ExactSemantics
from kgreckon.graph import GraphBuilder
from kgreckon.graph.literals import read_date
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import ScoreMeaning
from kgreckon.query import GENERAL_TYPES, Batch, Compare, Comparison, Not, Number, NumberSort, Order, interpret, sort_of
from kgreckon.query.paper import parse
from kgreckon.query.words.inflection import of_class
from kgreckon.runs import train
from kgreckon.server import Limits, Service, serve
from kgreckon.server.catalogue import Catalogue, NameIndex
from kgreckon.server.distributions import Interval, distributions, interval
from kgreckon.server.gate import TimeLimitError, deadline
from kgreckon.server.page import ROUTES
from kgreckon.server.schemas import AskRequest, ModelInfo, TableRequest
from kgreckon.server.serving import open_service
from served import IN_JAPAN, NORTH, POPULATIONS, client_of, no_pause
from small_world import small_world
from strategies import graphs, queries


def named(answer):
    """An answer as a request to explain it gives it."""
    if answer["value"] is None:
        return {"answer": answer["name"]}
    return {"answer": answer["value"], "unit": answer["unit"]}


class TestDescription:
    def test_it_has_all_routes_with_their_methods_and_no_others(self, client):
        app = client.app
        while not isinstance(app, Starlette):
            app = app.application
        routes = {
            route.path: {method.lower() for method in route.methods or ()} - {"head"}
            for route in app.routes
            if isinstance(route, Route) and route.path not in (*ROUTES, "/page/{name:path}")
        }
        paths = client.get("/api").json()["paths"]
        assert {path: set(methods) for path, methods in paths.items()} == routes

    def test_answers_are_what_it_says(self, client, reckoner):
        numbers = {"op": "value_of", "attribute": "height", "of": {"op": "entity", "name": "e1"}}
        for each, texts, name in (
            (client, (NORTH, POPULATIONS, IN_JAPAN), "Japan"),
            (client_of(reckoner), ("(rp,(r0),(e,(e1)))", numbers), "e1"),
        ):
            described = each.get("/api").json()

            def check(path, response, described=described):
                method = response.request.method.lower()
                found = described["paths"][path][method]["responses"][str(response.status_code)]
                schema = found["content"]["application/json"]["schema"]
                Draft202012Validator({**schema, "components": described["components"]}).validate(response.json())

            check("/api", each.get("/api"))
            check("/health", each.get("/health"))
            check("/api/info", each.get("/api/info"))
            for path in ("/api/entity", "/api/missing"):
                check(path, each.get(path, params={"name": name}))
                check(path, each.get(path, params={"name": "?"}))
            check("/api/quality", each.get("/api/quality"))
            check("/api/places", each.get("/api/places"))
            for kind in ("entity", "relation", "attribute"):
                check("/api/names", each.get("/api/names", params={"kind": kind, "limit": 5}))
            for begun in ("", name, "things in ", "how many"):
                check("/api/propose", each.get("/api/propose", params={"text": begun}))
            check("/api/ask", each.post("/api/ask", json={"query": "cities in Jpan"}))
            check("/api/complete", each.post("/api/complete", json={"query": None}))
            for text in texts:
                check("/api/complete", each.post("/api/complete", json={"query": text}))
                check("/api/translate", each.post("/api/translate", json={"query": text}))
                found = each.post("/api/ask", json={"query": text, "explain": True})
                assert found.status_code == 200 and found.json()["answers"]
                check("/api/ask", found)
                first = found.json()["answers"][0]
                explained = each.post("/api/explain", json={"query": text} | named(first))
                assert explained.status_code == 200 and explained.json()["reason"] == first["reason"]
                check("/api/explain", explained)
            check("/api/ask", each.post("/api/ask", content="{"))
            check("/api/ask", each.post("/api/ask", json={"query": "(e,(nobody at all))"}))

    def test_blocks_satisfy_its_tree(self, client):
        described = client.get("/api").json()
        tree = Draft202012Validator({"$ref": "#/components/schemas/Tree", "components": described["components"]})
        tree.validate(client.post("/api/translate", json={"query": NORTH}).json()["tree"])
        assert not tree.is_valid({"op": "entity", "nam": "Japan"})


class TestQuestions:
    def test_answers_are_the_answerers(self, reckoner):
        text = "(i,(rp,(r0),(e,(e1))),(rap,(height),(np,(GreaterThan),(nv,(3)))))"
        found = client_of(reckoner).post("/api/ask", json={"query": text, "limit": 40, "explain": True}).json()
        expected = reckoner.answerer.ask(text, 40, explain=True)
        everywhere = json.loads(json.dumps(expected.as_json()))
        assert {name: found[name] for name in everywhere} == everywhere and found["notes"] == expected.notes()
        assert {each["observed"] for each in found["answers"]} == {True, False}
        assert found["observed"] == expected.observed and found["words"] == expected.words
        for each in found["answers"]:
            reason = reckoner.answerer.explain(text, each["name"]).as_json()
            assert each["reason"] == json.loads(json.dumps(reason))

    @pytest.mark.parametrize(
        "words",
        [
            "top 3 airports by elevation",
            "top 3 countries by population / area",
            "cities near Oslo",
            "the 2nd largest city",
        ],
    )
    def test_a_reason_that_is_asked_for_alone_names_what_gives_an_answer_its_place(self, client, words):
        found = client.post("/api/ask", json={"query": words, "explain": True}).json()
        for each in found["answers"]:
            assert found["columns"][0]["label"] in each["reason"]["sentence"]
            alone = client.post("/api/explain", json={"query": words, "answer": each["name"]}).json()
            assert alone["reason"] == each["reason"]

    @pytest.mark.parametrize(
        ("words", "look"),
        [
            ("cities in Japan", {}),
            ("cities in Japan", {"order": "name", "descending": True}),
            ("cities in Japan", {"order": "population", "columns": ["population"]}),
            ("cities within 300 km of Tokyo", {"order": "distance to Tokyo", "descending": True}),
            ("countries by population / area", {"order": "population / area"}),
            ("top 30 cities in Japan by population", {"order": "name"}),
            ("population of cities in Norway", {"order": "value"}),
        ],
    )
    def test_parts_of_the_answers_make_the_whole_in_their_order(self, client, words, look):
        def part(**asked):
            return client.post("/api/ask", json={"query": words, **look, **asked}).json()

        whole = part(limit=1000)
        joined: list[dict[str, Any]] = []
        while len(joined) < whole["count"]:
            joined += part(limit=70, offset=len(joined))["answers"]
        assert joined == whole["answers"] and len(joined) == len({answer["name"] for answer in joined}) > 2
        assert part(limit=5, offset=whole["count"])["answers"] == []
        if look.get("order") == "value":
            keys = [answer["value"] for answer in joined]
        elif look.get("order") == "name" or not look:
            keys = []
        else:
            (place,) = [at for at, column in enumerate(whole["columns"]) if column["name"] == look["order"]]
            cells = [answer["values"][place] for answer in joined]
            keys = [cell["value"] for cell in cells if cell is not None]
            assert all(cell is not None for cell in cells[: len(keys)])  # those without a value come last
        assert keys == sorted(keys, reverse=look.get("descending", False))
        assert {answer["name"] for answer in joined} == {
            answer["name"] for answer in part(limit=1000, order=None)["answers"]
        }

    def test_names_stand_as_in_a_dictionary(self, client):
        asked = {"query": "cities in Norway", "limit": 1000, "order": "name"}
        labels = [answer["label"] for answer in client.post("/api/ask", json=asked).json()["answers"]]
        plain = [label for label in labels if label.isascii()]
        assert plain == sorted(plain, key=str.casefold) and len(plain) > 5

    def test_an_order_and_a_bound_of_what_is_inferred(self, reckoner):
        asked = {"query": "(rp,(r0),(e,(e1)))", "limit": 1000, "above": 0}
        client = client_of(reckoner)
        rising = client.post("/api/ask", json=asked | {"order": "probability"}).json()
        scores = [answer["score"] for answer in rising["answers"]]
        assert scores == sorted(scores) and rising["count"] == len(scores)
        above = sorted(scores)[len(scores) // 2]
        likely = client.post("/api/ask", json=asked | {"above": above}).json()
        kept = sum(answer["observed"] or answer["score"] > above for answer in rising["answers"])
        assert likely["count"] == kept < rising["count"]
        assert {one["name"] for one in likely["answers"]} < {one["name"] for one in rising["answers"]}

    @pytest.mark.parametrize("form", ["csv", "json", "parquet"])
    def test_all_answers_as_a_file(self, client, world, form):
        words = "cities in Japan with population > 1 million"
        asked = {"query": words, "format": form, "order": "latitude", "columns": "latitude, longitude"}
        found = client.get("/api/table", params=asked)
        assert found.headers["content-disposition"] == f'attachment; filename="answers.{form}"'
        answers = world.answerer.ask(words, 1000, columns=["latitude", "longitude"])
        latitude = answers.headers().index("latitude (degrees)")
        expected = sorted(answers.rows(), key=lambda row: row[latitude])
        if form == "csv":
            rows = [list(row) for row in csv.reader(io.StringIO(found.text))]
            assert rows[1:] == [[str(cell) for cell in row] for row in expected]
            headers = rows[0]
        else:
            records = found.json() if form == "json" else pq.read_table(io.BytesIO(found.content)).to_pylist()
            assert [list(record.values()) for record in records] == expected
            headers = list(records[0])
        assert headers == answers.headers()

    @pytest.mark.parametrize("form", ["csv", "json"])
    def test_a_long_file_is_written_and_sent_in_pieces(self, world, form, monkeypatch):
        asked = {"query": "cities", "format": form}
        whole = client_of(world).get("/api/table", params=asked)
        request = TableRequest.model_validate(asked, context=world.limits)
        monkeypatch.setattr(answer_files, "_ROWS", 7)
        pieces = list(world.table(request, no_pause))
        assert b"".join(pieces) == whole.content and max(map(len, pieces)) * 10 < len(whole.content)
        sent = client_of(world).get("/api/table", params=asked)
        assert sent.content == whole.content and int(sent.headers["content-length"]) == len(whole.content)

    def test_a_file_that_takes_too_long_to_write_is_refused_as_a_whole(self, world, monkeypatch):
        class Slow(Service):
            def table(self, request, pause):
                pieces = super().table(request, lambda: late() if written else None)
                for piece in pieces:
                    written.append(piece)
                    yield piece

        def late():
            raise TimeLimitError

        written: list[bytes] = []
        monkeypatch.setattr(answer_files, "_ROWS", 7)
        refused = client_of(Slow(world.answerer, world.limits)).get("/api/table", params={"query": "cities"})
        assert refused.status_code == 503 and "takes longer" in refused.json()["error"] and len(written) == 1

    def test_a_file_of_no_answers(self, client):
        none = {"query": "cities with population > 100 billion"}
        assert client.get("/api/table", params=none | {"format": "json"}).text == "[]"
        (headers,) = csv.reader(io.StringIO(client.get("/api/table", params=none).text))
        assert headers == ["name", "label", "population (persons)", "score", "observed"]
        assert (
            pq.read_table(io.BytesIO(client.get("/api/table", params=none | {"format": "parquet"}).content)).shape[0]
            == 0
        )

    def test_a_total_is_a_table_of_one_row_and_a_file_has_bounds(self, client, world):
        total = client.get("/api/table", params={"query": "how many cities in Japan", "format": "json"}).json()
        proved = client.post("/api/ask", json={"query": "cities in Japan"}).json()["observed"]
        assert [(row["kind"], row["value"]) for row in total] == [("count", proved)]
        few = client_of(Service(world.answerer, Limits(table_rows=5)))
        assert len(few.get("/api/table", params={"query": "cities", "format": "json"}).json()) == 5
        assert client.get("/api/table", params={"query": "cities", "format": "xls"}).status_code == 400
        assert "mistake" in client.get("/api/table", params={"query": "cities in Jpan"}).json()
        many = {"query": "cities", "columns": ["population"] * 13}
        assert client.post("/api/ask", json=many).status_code == 400
        assert "unknown attribute" in client.post("/api/ask", json={"query": "cities", "order": "no"}).json()["error"]

    def test_only_what_is_proved_or_only_what_is_inferred(self, reckoner):
        for only in ("observed", "inferred"):
            asked = {"query": "(rp,(r0),(e,(e1)))", "limit": 30, "only": only, "above": 0}
            found = client_of(reckoner).post("/api/ask", json=asked).json()
            assert {each["observed"] for each in found["answers"]} == {only == "observed"}

    def test_a_number_has_an_estimate_and_the_answers_spread(self, reckoner):
        found = client_of(reckoner).post("/api/ask", json={"query": "(ap,(height),(rp,(r0),(e,(e1))))"}).json()
        assert found["sort"] == "numbers" and found["units"] == ["metres"]
        assert found["estimate"]["low"] <= found["estimate"]["value"] <= found["estimate"]["high"]
        (spread,) = found["distributions"]
        assert len(spread["answers"]) == len(spread["counts"]) == len(spread["edges"]) - 1
        assert sum(spread["answers"]) > 0

    def test_the_three_notations_are_one_query(self, client):
        one = client.post("/api/translate", json={"query": NORTH}).json()
        for notation in ("tree", "paper", "sparql"):
            assert client.post("/api/translate", json={"query": one[notation]}).json() == one

    def test_a_mistake_in_words_has_its_place_and_what_may_be_meant(self, client):
        text = "cities in Jpan with population > 3"
        found = client.post("/api/translate", json={"query": text}).json()
        mistake = found["mistake"]
        assert text[mistake["start"] :].startswith("Jpan") and mistake["word"] == "Jpan"
        assert mistake["suggestions"][0] == "Japan" and mistake["message"] in found["error"]
        assert "\n" not in found["error"] and "^" not in found["error"]
        early = client.post("/api/ask", json={"query": "cities in "}).json()["mistake"]
        assert (early["start"], early["word"], early["suggestions"]) == (9, "", [])
        assert "mistake" not in client.post("/api/ask", json={"query": "(e,(Jpan))"}).json()

    @pytest.mark.parametrize(
        ("words", "lost"),
        [
            ("cities in Japan", []),
            ("cities within 300 km of Tokyo", ["the distance"]),
            ("how many cities in Japan", ["the total"]),
            ("top 3 cities in Japan by population", ["the order", "the limit"]),
        ],
    )
    def test_what_only_words_can_say_is_named(self, client, words, lost):
        found = client.post("/api/translate", json={"query": words}).json()
        assert found["only_in_words"] == lost
        again = client.post("/api/translate", json={"query": found["words"]}).json()
        assert again == found
        assert client.post("/api/translate", json={"query": found["tree"]}).json()["only_in_words"] == []

    def test_what_can_come_next_in_words(self, client):
        def proposed(text, **more):
            found = client.get("/api/propose", params={"text": text, **more}).json()["proposals"]
            assert all(one["text"].casefold().startswith(text[one["start"] :].casefold()) for one in found)
            return found

        first = proposed("")[0]
        members = client.post("/api/ask", json={"query": "cities"}).json()["observed"]
        assert first == {"text": "cities", "kind": "class", "start": 0, "count": members, "detail": None}
        by_name = [one for one in proposed("cities in Ja") if one["kind"] == "entity"]
        assert by_name[0]["text"] == "Japan" and by_name[0]["start"] == 10 and "Country" in by_name[0]["detail"]
        assert [one["count"] for one in by_name] == sorted((one["count"] for one in by_name), reverse=True)
        attributes = {one["text"]: one["count"] for one in proposed("the ") if one["kind"] == "attribute"}
        held = client.get("/api/attribute", params={"name": "population"}).json()
        assert attributes["population"] == held["values"]
        assert len(proposed("", limit=3)) == 3

    @pytest.mark.parametrize("kind", ["City", "Country", "Airport", "Language"])
    def test_a_condition_is_completed_by_what_things_of_the_kind_have(self, client, world_graph, kind):
        """The most frequent first, and how many of them have it."""
        graph, names = world_graph, world_graph.vocabulary
        members = ask(graph, parse(f"(rp,(^is_a),(e,({kind})))", names)).tolist()
        attributes = Counter({names.attribute_label(one): sum(names.has_value(one, member) for member in members)
                              for one in range(len(graph.attributes))})  # fmt: skip
        text = f"{of_class(kind)} with "
        found = client.get("/api/propose", params={"text": text, "limit": 100}).json()["proposals"]
        proposed = {one["text"]: one["count"] for one in found if one["kind"] == "attribute"}
        assert proposed.items() <= attributes.items() and list(proposed.values()) == sorted(proposed.values())[::-1]
        assert len(proposed) == min(8, len(+attributes)) and sum(proposed.values()) == sum(
            count for _, count in attributes.most_common(8)
        )
        for one in found:  # who has a relation is who is found by asking for it
            if one["kind"] == "relation":
                words = f"{of_class(kind)} whose {one['text']} is known"
                having = client.post("/api/ask", json={"query": words, "limit": 1}).json()
                assert having["observed"] == one["count"] > 0

    def test_what_no_thing_of_a_kind_has_is_not_proposed(self, client):
        def texts(text):
            found = client.get("/api/propose", params={"text": text, "limit": 100}).json()["proposals"]
            return {one["text"] for one in found}

        assert "population" in texts("cities with pop") and "population" not in texts("airports with pop")
        assert "spoken in" in texts("languages spo") and "spoken in" not in texts("airports spo")

    def test_a_limit_in_the_text_counts(self, client):
        query = IN_JAPAN + " LIMIT 3"
        assert len(client.post("/api/ask", json={"query": query, "limit": 20}).json()["answers"]) == 3
        assert len(client.post("/api/ask", json={"query": query, "limit": 2}).json()["answers"]) == 2
        many = client.post("/api/ask", json={"query": IN_JAPAN + " LIMIT 5000"}).json()
        assert many["limit"] == 1000 and len(many["answers"]) > 20

    def test_answers_on_a_map(self, client):
        found = client.post("/api/ask", json={"query": NORTH, "limit": 5}).json()
        assert set(found["places"]) == {answer["name"] for answer in found["answers"]}
        for latitude, longitude in found["places"].values():
            assert -90 <= latitude <= 90 and -180 <= longitude <= 180
        places = client.get("/api/places").json()["places"]
        assert 1000 < len(places) <= 5000
        assert client.get("/api/info").json()["has_map"] is True

    def test_examples_have_answers(self, client, reckoner):
        for each in (client, client_of(reckoner)):
            examples = each.get("/api/info").json()["examples"]
            assert len(examples) >= 3
            for example in examples:
                assert each.post("/api/ask", json={"query": example}).json()["observed"] > 0


class TestNames:
    @settings(max_examples=200)
    @given(
        st.lists(st.text(alphabet="abAB é\n", max_size=4), max_size=8),
        st.text(alphabet="abé ", max_size=3),
        st.integers(1, 5),
    )
    def test_those_that_begin_so_come_before_those_that_contain_it(self, names, text, limit):
        folded = [" ".join(name.casefold().split()) for name in names]
        wanted = " ".join(text.casefold().split())
        begin = [place for place, name in enumerate(folded) if name.startswith(wanted)]
        contain = [place for place, name in enumerate(folded) if wanted in name and place not in begin]
        assert NameIndex.of([(name,) for name in names]).find(text, limit) == [*begin, *contain][:limit]

    def test_the_most_connected_come_first(self, client, world_graph):
        names = [each["name"] for each in client.get("/api/names", params={"limit": 50}).json()["names"]]
        degrees = Catalogue(world_graph).degrees
        found = [int(degrees[world_graph.vocabulary.entity_id(name)]) for name in names]
        assert found == sorted(found, reverse=True) and found[0] == degrees.max()

    def test_relations_come_in_both_directions_and_attributes_with_units(self, client):
        relations = client.get("/api/names", params={"kind": "relation", "text": "CAPITAL"}).json()["names"]
        assert [(each["name"], each["inverse"]) for each in relations] == [("capital_of", True), ("capital_of", False)]
        (latitude,) = client.get("/api/names", params={"kind": "attribute", "text": "latit"}).json()["names"]
        assert latitude["units"] == ["degrees"] and "degrees" in latitude["detail"]

    def test_completion_counts_over_the_exact_answers(self, client, world_graph):
        names = world_graph.vocabulary
        members = ask(world_graph, parse(NORTH, names))
        found = client.post("/api/complete", json={"query": NORTH}).json()
        assert found["count"] == len(members)
        assert found["relations"] and found["attributes"]
        for each in found["relations"]:
            relation = names.relation_id(each["name"]) ^ each["inverse"]
            assert each["count"] == sum(len(world_graph.follows.row(int(one), relation)) > 0 for one in members)
        for each in found["attributes"]:
            attribute = names.attribute_id(each["name"])
            assert each["count"] == sum(len(world_graph.values_of.row(int(one), attribute)) > 0 for one in members)
        whole = client.post("/api/complete", json={}).json()
        assert whole["count"] == len(world_graph.entities)

    def test_completion_of_numbers(self, client):
        found = client.post("/api/complete", json={"query": POPULATIONS}).json()
        assert found["sort"] == "numbers" and found["units"] == ["persons"]
        assert {each["name"] for each in found["attributes"]} == {"population", "speakers"}
        assert len(found["comparisons"]) == 7


class TestDistributions:
    @settings(max_examples=150)
    @given(st.data())
    def test_bins_fit_together(self, data):
        graph = data.draw(graphs())
        query = data.draw(queries(graph))
        answerer = Answerer(ExactModel(graph))
        for each in distributions(Catalogue(graph), answerer.rank(query), no_pause):
            assert sorted(each.edges) == each.edges and len(each.counts) == len(each.edges) - 1
            assert each.answers is None or len(each.answers) == len(each.counts)

    @settings(max_examples=150)
    @given(st.data())
    def test_the_interval_holds_all_values_that_satisfy_it(self, data):
        graph = data.draw(graphs())
        query = data.draw(queries(graph))
        sort = sort_of(query, graph.vocabulary)
        if not isinstance(sort, NumberSort):
            return
        rows = ask(graph, query)
        for unit in sort.units & set(graph.values.units):
            own = graph.values.numbers[rows[graph.values.unit_ids[rows] == graph.values.units.index(unit)]]
            found = interval(graph, query, unit, no_pause)
            assert ((found.low <= own) & (own <= found.high)).all()

    def test_the_interval_of_what_is_not_less_than_about_a_number(self):
        builder = GraphBuilder()
        builder.add_value("a", "depth", -200.0, "m")
        query = Not(Compare(Comparison(Order.LESS), Compare(Comparison(Order.EQUAL), Number(-200.0, "m"))))
        assert interval(builder.build(), query, "m", no_pause) == Interval(low=-200.0)

    def test_the_interval_around_what_equals_zero_or_more(self):
        builder = GraphBuilder()
        for name, dose in (("a", 0.0), ("b", 3.0), ("c", 10.0)):
            builder.add_value(name, "dose", dose, "mg")
        graph = builder.build()
        equal = parse("(np,(EqualTo),(ap,(dose),(u,(e,(a)),(e,(b)),(e,(c)))))", graph.vocabulary)
        found = interval(graph, equal, "mg", no_pause)
        assert found.low <= 3.0 and found.high >= 10.0
        near = parse("(np,(x = y within 1.5),(nv,(10 mg)))", graph.vocabulary)
        assert interval(graph, near, "mg", no_pause) == Interval(0.0)

    def test_one_value_alone_is_in_the_middle_of_its_bin(self):
        builder = GraphBuilder()
        for name in ("a", "b"):
            builder.add_value(name, "dose", 500.0, "mg")
        service = Service(Answerer(ExactModel(builder.build())), Limits())
        query = "(rap,(dose),(np,(GreaterThan),(nv,(100 mg))))"
        (found,) = service.ask(AskRequest.model_construct(query=query), no_pause).distributions
        assert found.edges == [250.0, 750.0] and found.counts == [2]

    def test_bins_of_numbers_whose_difference_is_too_large_for_one(self):
        builder = GraphBuilder()
        for name, size in (("a", -1.5e308), ("b", 5.0), ("c", 1.5e308)):
            builder.add_value(name, "size", size)
        service = Service(Answerer(ExactModel(builder.build())), Limits())
        query = "(rap,(size),(np,(GreaterThan),(nv,(1))))"
        (found,) = service.ask(AskRequest.model_construct(query=query), no_pause).distributions
        assert np.isfinite(found.edges).all() and np.all(np.diff(np.array(found.edges) / 4) >= 0)
        assert sum(found.counts) == 3

    def test_a_date_among_the_answers_is_written_as_one(self):
        builder = GraphBuilder()
        builder.add_value("Ada", "born", read_date("1815-12-10"), "date")
        service = Service(Answerer(ExactModel(builder.build())), Limits())
        (answer,) = service.ask(AskRequest.model_construct(query="(ap,(born),(e,(Ada)))"), no_pause).answers
        assert answer.text == "1815-12-10" and answer.unit == "date"

    def test_what_is_denied_is_left_out(self, client):
        below = "(rap,(population),(np,(SmallerThan),(nv,(1000000 persons))))"
        for query, excluded in ((f"(i,(n,{below}),(rp,(^is_a),(e,(Country))))", True), (f"(n,(n,{below}))", False)):
            (found,) = client.post("/api/ask", json={"query": query}).json()["distributions"]
            assert found["excluded"] is excluded and found["high"] == 1e6

    def test_a_histogram_counts_every_value_and_is_logarithmic_where_skewed(self, client, world_graph):
        query = "(rap,(population),(np,(GreaterThan),(ap,(population),(e,(France)))))"
        (found,) = client.post("/api/ask", json={"query": query}).json()["distributions"]
        assert found["log"] is True and found["attribute"] == "population" and found["high"] is None
        population = world_graph.vocabulary.attribute_id("population")
        assert sum(found["counts"]) == (world_graph.attribute_facts.labels == population).sum()
        row = world_graph.values_of.row(world_graph.vocabulary.entity_id("France"), population)
        assert found["low"] == world_graph.values.numbers[row[0]]


class TestServing:
    def test_the_command_serves_until_it_is_interrupted(self):
        command = [sys.executable, "-m", "kgreckon", "serve", "world", "--port", "0"]
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
            ExitStack() as failed,
        ):
            failed.callback(process.kill)
            assert process.stdout and process.stderr
            address = process.stdout.readline().strip()
            host, port = address.removeprefix("http://").rstrip("/").split(":")
            with socket.create_connection((host, int(port)), timeout=30) as client:
                client.sendall(b"GET /api/info HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                received = b"".join(iter(lambda: client.recv(65536), b""))
            assert received.startswith(b"HTTP/1.1 200") and b'"calibration":"certain"' in received
            assert b"server:" not in received.lower()
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
            failed.pop_all()
            assert "Traceback" not in process.stderr.read()

    def test_what_is_done_before_and_beside_the_first_requests(self, reckoner):
        reckoner.warm_up()
        reckoner.predict_values(no_pause)
        attributes = range(len(reckoner.graph.attributes))
        kept = reckoner.answerer.model.facts.values._missing
        assert all(kept.find(attribute) is not None for attribute in attributes)
        with pytest.raises(TimeLimitError):
            reckoner.predict_values(deadline(-1))

    def test_a_port_that_is_taken_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            with pytest.raises(UserError, match=f"cannot listen at 127.0.0.1, port {port}: .*choose another port"):
                serve("world", port=port)
        with pytest.raises(UserError, match="address of this machine"):
            serve("world", host="203.0.113.1")

    def test_interpreting_with_a_pause_means_the_same(self, world_graph):
        batch = Batch.of([parse(NORTH, world_graph.vocabulary)], world_graph.values)
        semantics = ExactSemantics(world_graph)
        plain, paused = (semantics.answers(interpret(batch, semantics, each)) for each in (None, no_pause))
        assert np.array_equal(plain[0], paused[0])


def test_a_neural_run_is_served_with_examples_that_it_can_answer(world_graph, tmp_path):
    graph = small_world(world_graph, "Japan", "Switzerland")
    types = {name: GENERAL_TYPES[name] for name in ("1p", "2i")}
    made = build(graph, tmp_path / "b", BuildSettings.choose(graph, types=types, queries=20))
    few: dict[str, Any] = {"dimension": 8, "steps": 2, "batch_size": 16, "validation_queries": 2, "device": "cpu"}
    train(made, "gqe", out=tmp_path / "r", encoding="dice", **few)
    service = open_service(tmp_path / "r", Limits())
    service.warm_up()
    assert service.about.model == ModelInfo(name="gqe-dice", calibration=ScoreMeaning.SHARE, any_comparison=False)
    texts = service.about.examples
    assert len(texts) >= 3 and not any(" between " in text for text in texts)  # which takes any comparison
    each = client_of(service)
    for text in texts:
        found = each.post("/api/ask", json={"query": text, "limit": 50, "explain": True}).json()
        assert found["answers"] or found["total"]
        assert all(answer["reason"]["statements"] for answer in found["answers"])
    refused = each.post("/api/ask", json={"query": "(rap,(latitude),(np,(x <= y),(nv,(12.5))))"})
    assert refused.status_code == 400 and "12.5" in refused.json()["error"]
