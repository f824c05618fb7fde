"""Agents: the package's own client asks World and a reckoner, in memory, over stdio and over HTTP."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult
from typer.testing import CliRunner

from kgreckon.answers import Answerer
from kgreckon.cli import app
from kgreckon.errors import UserError
from kgreckon.graph import GraphBuilder, open_graph
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.sparql import iri
from kgreckon.server import Limits, Service
from kgreckon.server.agent_tools import MOST_CHARACTERS
from kgreckon.server.agents import agent_server
from kgreckon.server.headers import TokenCheck
from kgreckon.server.serving import config, open_service
from served import running
from test_sparql_engine import CROSS

CAPITALS = "SELECT ?c { ?c :capital_of/:borders :France }"


def run(server, conversation):
    """A conversation with a server, which gets what calls a tool, and the client."""

    async def talk():
        async with Client(server) as client:
            return await conversation(lambda name, /, **arguments: client.call_tool(name, arguments), client)

    return asyncio.run(talk())


def called(server, name, /, **arguments):
    """What a tool answers: the same as text and as data."""

    async def conversation(call, client):
        return await call(name, **arguments)

    result = run(server, conversation)
    assert not result.is_error, result.content[0].text
    return data_of(result)


def data_of(result: CallToolResult):
    text = result.content[0].text  # type: ignore[union-attr]
    assert json.loads(text) == result.structured_content and len(text) <= MOST_CHARACTERS
    return result.structured_content


def refused(server, name, /, **arguments) -> str:
    """What a tool says to a mistake."""

    async def conversation(call, client):
        return await call(name, **arguments)

    result = run(server, conversation)
    assert result.is_error
    return result.content[0].text


@pytest.fixture(scope="module")
def server(world):
    return agent_server(world)


@pytest.fixture(scope="module")
def inferring(reckoner):
    return agent_server(reckoner)


class TestTools:
    def test_they_are_described_and_change_nothing(self, server):
        async def conversation(call, client):
            return await client.list_tools(), client.instructions

        listed, instructions = run(server, conversation)
        assert [tool.name for tool in listed.tools] == ["search", "describe", "ask", "explain", "predict", "complete"]
        for tool in listed.tools:
            assert tool.annotations.read_only_hint and not tool.annotations.destructive_hint
            assert tool.description and tool.output_schema and "pause" not in tool.input_schema["properties"]
        about = listed.tools[2].description
        assert "in_country" in about and "population" in about and len(about) < 4000
        assert "10,829 entities" in instructions and "proved" in instructions and "no model" in instructions

    def test_search(self, server):
        names = called(server, "search", text="switz")["names"]
        assert names[0]["name"] == "Switzerland" and "is a Country" in names[0]["detail"]
        relations = called(server, "search", text="country", kind="relation")["names"]
        assert [each["name"] for each in relations].count("in_country") == 1
        (attribute,) = called(server, "search", text="popul", kind="attribute", limit=1)["names"]
        assert attribute["name"] == "population" and "persons" in attribute["detail"]
        assert "names" not in called(server, "search", text="no such name")

    def test_describe(self, server):
        found = called(server, "describe", name="Liechtenstein")
        texts = {fact["text"] for fact in found["facts"]}
        assert "Liechtenstein — borders → Austria" in texts and "Vaduz — capital of → Liechtenstein" in texts
        assert {each["status"] for each in [*found["facts"], *found["values"]]} == {"proved"}
        values = {each["attribute"]: (each["value"], each["unit"]) for each in found["values"]}
        assert values["population"][1] == "persons" and int(values["population"][0]) > 30_000

    def test_ask_with_reasons(self, server):
        found = called(server, "ask", query=CAPITALS, limit=3)
        assert (found["status"], found["proved"], found["more"], found["inferred"]) == ("proved", 8, True, False)
        assert len(found["answers"]) == 3 and all("probability" not in each for each in found["answers"])
        rome = next(each for each in called(server, "ask", query=CAPITALS)["answers"] if each["name"] == "Rome")
        assert rome["reasons"] == [
            "The graph states that Rome is the capital of Italy and that Italy borders France.",
            "Rome — capital of → Italy (observed)",
            "Italy — borders → France (observed)",
        ]
        number = called(server, "ask", query="(ap,(latitude),(e,(Tokyo)))", explain=False)
        assert number["answers"] == [{"answer": "35.6895 degrees", "status": "proved"}]

    def test_what_rests_on_what_is_not_stated_is_found_and_not_proved(self, server, inferring, reckoner):
        query = "countries that do not border France"
        found = called(server, "ask", query=query, limit=2)
        assert (found["status"], found["proved"], found["found"]) == ("found", 0, 241)
        assert {each["status"] for each in found["answers"]} == {"found"} and "not stated" in found["notes"][0]
        count = called(server, "ask", query=f"how many {query}")
        assert (count["status"], count["found"], count["notes"][0]) == ("found", 241, "241")
        assert called(server, "explain", query=query, answer="Norway")["status"] == "found"
        otherwise = called(server, "ask", query="airports in Japan with elevation not > 5 metres")
        assert (otherwise["status"], otherwise["proved"]) == ("proved", 7) and "found" not in otherwise
        unbound = "SELECT ?a ?e { ?a :capital_of ?c OPTIONAL { ?a :elevation ?e } FILTER(!BOUND(?e)) }"
        for text in (unbound, "ASK { :Oslo :capital_of ?c FILTER NOT EXISTS { ?c :borders :France } }"):
            rows = called(server, "ask", query=text, limit=3)
            assert rows["status"] == "found" and rows["proved"] == 0 < rows["found"]
        relation = iri(reckoner.graph.relations.name(0))
        denied = f"SELECT ?x ?y {{ ?x <{relation}> ?y FILTER NOT EXISTS {{ ?y <{relation}> ?x }} }}"
        several = called(inferring, "ask", query=denied, limit=50)
        assert several["status"] == "found" and several["proved"] == 0 < several["found"]
        one = f"SELECT ?x {{ ?x <{relation}> ?y MINUS {{ ?x <{iri(reckoner.graph.relations.name(1))}> ?z }} }}"
        run = called(inferring, "ask", query=one, limit=50)
        assert run["found"] > 0
        for each in run["answers"]:
            assert each["status"] != "proved" and 0 <= each["probability"] <= 1

    def test_answers_carry_the_values_that_are_spoken_of(self, server):
        found = called(server, "ask", query="top 2 cities by population in Japan")
        assert found["columns"] == ["population (persons)"]
        for each in found["answers"]:
            stated = {one["attribute"]: one["value"] for one in called(server, "describe", name=each["name"])["values"]}
            assert each["values"] == [f"{int(stated['population']):,}"]
        people = [int(each["values"][0].replace(",", "")) for each in found["answers"]]
        assert people == sorted(people, reverse=True) and people[0] > 5_000_000
        numbers = called(server, "ask", query="the population of the capitals of countries in South America", limit=1)
        assert numbers["columns"] == ["capital"] and numbers["answers"][0]["values"] == ["Stanley"]

    def test_a_predicted_value_says_about(self, inferring, reckoner):
        graph = reckoner.graph
        found = called(inferring, "ask", query="things with width at least -1000000", limit=50)
        assert found["columns"][0].startswith("width")
        predicted = set()
        for each in found["answers"]:
            entity = graph.vocabulary.entity_id(each["name"])
            stated = len(graph.values_of.row(entity, graph.attributes.find("width"))) > 0
            assert each["values"][0].startswith("about ") is not stated
            predicted.add(not stated)
        assert predicted == {True, False}

    def test_ask_what_is_only_stated(self, server):
        text = "SELECT ?c ?p { ?c :capital_of ?k ; :population ?p } ORDER BY DESC(?p)"
        found = called(server, "ask", query=text, limit=2)
        assert found["variables"] == ["c", "p"] and found["rows"][0] == ["Beijing", "18,960,744"] and found["more"]
        assert found["inferred"] is False and "nothing is inferred" in found["notes"][0]
        assert called(server, "ask", query="ASK { :Tokyo :capital_of :Japan }")["status"] == "proved"
        false = called(server, "ask", query="ASK { :Tokyo :capital_of :Frence }")
        assert false["status"] == "unknown" and "does not mean that it is false" in false["notes"][-1]
        assert any("'Frence'; did you mean" in note and "'France'" in note for note in false["notes"])
        assert called(server, "ask", query="DESCRIBE :Vaduz")["variables"] == ["subject", "predicate", "object"]

    def test_explain_and_predict_what_is_stated(self, server):
        assert called(server, "explain", query=CAPITALS, answer="Rome")["status"] == "proved"
        assert called(server, "explain", query=CAPITALS, answer="Oslo") == {
            "answer": "Oslo", "status": "unknown", "reasons": ["Nothing speaks for it."],
        }  # fmt: skip
        stated = called(server, "predict", entity="Tokyo", attribute="latitude")
        assert stated == {"attribute": "latitude", "value": "35.6895", "unit": "degrees", "status": "proved"}
        unknown = called(server, "predict", entity="Tokyo", attribute="literacy")
        assert unknown == {"attribute": "literacy", "unit": "percent", "status": "unknown"}

    def test_what_a_model_infers_has_a_probability(self, inferring, reckoner):
        graph = reckoner.graph
        relation, entity = graph.relations.name(0), graph.entities.name(int(graph.facts.sources[0]))
        query = f"SELECT ?x {{ <{iri(entity)}> <{iri(relation)}> ?x }}"
        found = called(inferring, "ask", query=query, limit=50)
        assert found["inferred"] is True
        statuses = [each["status"] for each in found["answers"]]
        assert statuses.count("proved") == found["proved"] >= 1
        for each in found["answers"]:
            if each["status"] == "proved":
                assert "probability" not in each
            else:
                assert 0.1 <= each["probability"] <= 1
                assert (each["status"] == "likely") is (each["probability"] > 0.5)
            why = called(inferring, "explain", query=query, answer=each["name"])
            assert (why["status"], why.get("probability")) == (each["status"], each.get("probability"))

    def test_rows_of_several_variables_are_inferred_too(self, inferring, reckoner):
        graph = reckoner.graph
        relation, attribute = iri(graph.relations.name(0)), iri("width")
        text = f"SELECT ?x ?y ?v {{ ?x <{relation}> ?y ; <{attribute}> ?v }} ORDER BY ?score"
        everything = reckoner.answerer.solutions(text)
        found = called(inferring, "ask", query=text, limit=50)
        assert found["inferred"] is True and len(found["known"]) == len(found["rows"])
        assert found["rows"] == everything.cells(with_names=True)[: len(found["rows"])]
        statuses = [each["status"] for each in found["known"]]
        assert statuses.count("proved") == found["proved"] < len(found["rows"])
        for each, known in zip(found["known"], everything.known, strict=False):
            assert (each["status"] == "proved") is known.observed
            assert known.observed or each["probability"] == pytest.approx(known.score, rel=0.01)
        beyond = called(inferring, "ask", query=f"SELECT ?x ?y {{ ?x <{relation}> ?y . ?y <{relation}> ?x }}")
        assert beyond["inferred"] is False and "nothing is inferred" in beyond["notes"][0] and "known" not in beyond

    def test_predicted_numbers_have_an_interval(self, inferring, reckoner):
        graph, seen = reckoner.graph, set()
        for attribute in range(len(graph.attributes)):
            for entity in range(0, len(graph.entities), 5):
                names = {"entity": graph.entities.name(entity), "attribute": graph.attributes.name(attribute)}
                found = reckoner_says = called(inferring, "predict", **names)
                seen.add(found["status"])
                if found["status"] == "proved":
                    assert len(graph.values_of.row(entity, attribute)) and "low" not in reckoner_says
                else:
                    low, value, high = (float(found[name].replace(",", "")) for name in ("low", "value", "high"))
                    assert low <= value <= high and 0 <= found["probability"] <= 1
                if len(seen) > 1:
                    return
        raise AssertionError(f"all are {seen}")

    def test_complete_gives_what_is_likely_and_not_stated(self, inferring, reckoner):
        graph, names = reckoner.graph, reckoner.graph.vocabulary
        things = graph.entities.names.to_pylist()[:50]
        found = called(inferring, "complete", things=things, above=0.001, limit=10)
        facts, values = found["facts"], found["values"]
        assert len(facts) == len(values) == 10 and found["more"] is True
        for each in facts:
            head, tail, relation = each["subject"], each["object"], names.relation_id(each["relation"])
            stated = graph.follows.row(names.entity_id(head), relation).tolist()
            assert head in things and names.entity_id(tail) not in stated
            assert tail in each["text"] and each["reasons"]
        for each in values:
            entity, attribute = names.entity_id(each["entity"]), names.attribute_id(each["attribute"])
            assert each["entity"] in things and not len(graph.values_of.row(entity, attribute))
            predicted = called(inferring, "predict", entity=each["entity"], attribute=each["attribute"])
            assert predicted == {name: each[name] for name in predicted} and each["reasons"][0].startswith("expected")
        for some in (facts, values):
            chances = [each["probability"] for each in some]
            assert chances == sorted(chances, reverse=True) and min(chances) >= 0.001
            assert all((each["status"] == "likely") is (each["probability"] > 0.5) for each in some)

    def test_complete_keeps_to_a_relation_or_an_attribute(self, inferring, reckoner):
        things = reckoner.graph.entities.names.to_pylist()[:20]
        facts = called(inferring, "complete", things=things, relation="r1", above=0.001, limit=5)
        assert {each["relation"] for each in facts["facts"]} == {"r1"} and "values" not in facts
        values = called(inferring, "complete", things=things, attribute="age", above=0.01, limit=5)
        assert {each["attribute"] for each in values["values"]} == {"age"} and "facts" not in values


class TestChanges:
    @pytest.fixture
    def folder(self, tmp_path):
        builder = GraphBuilder()
        builder.add_fact("Oslo", "in", "Norway")
        builder.add_value("Oslo", "population", 700.0, "persons")
        builder.build().save(tmp_path / "graph")
        return tmp_path / "graph"

    def test_the_next_call_sees_a_change(self, folder):
        server = agent_server(open_service(folder, Limits()), changes=True)

        async def conversation(call, client):
            tool = (await client.list_tools()).tools[-1]
            added = [
                {"subject": "Bergen", "predicate": "in", "object": "Norway"},
                {"subject": "Bergen", "predicate": "population", "object": 280, "unit": "persons"},
            ]
            made = await call("change", add=added, new=True)
            asked = await call("ask", query="(rp,(^in),(e,(Norway)))")
            new = {"subject": "Oslo", "predicate": "population", "object": "720 persons"}
            replaced = await call("change", replace=[new], remove=added[:1])
            return (
                tool,
                made,
                asked,
                replaced,
                await call("describe", name="Oslo"),
                await call("change", add=[new | {"subject": "Oslu"}]),
            )

        tool, made, asked, replaced, oslo, mistake = run(server, conversation)
        assert tool.name == "change" and not tool.annotations.read_only_hint and tool.annotations.destructive_hint
        assert data_of(made) == {
            "facts_added": 1, "values_added": 1, "facts_removed": 0, "values_removed": 0, "new_names": ["Bergen"],
        }  # fmt: skip
        assert {each["name"] for each in data_of(asked)["answers"]} == {"Oslo", "Bergen"}
        assert data_of(replaced)["facts_removed"] == data_of(replaced)["values_removed"] == 1
        assert [each["value"] for each in data_of(oslo)["values"]] == ["720"]
        assert mistake.is_error and "did you mean 'Oslo'" in mistake.content[0].text
        graph = open_graph(folder)  # it is durable
        assert len(graph.facts) == 1 and graph.entities.has("Bergen")

    def test_without_it_there_is_no_such_tool(self, folder):
        server = agent_server(open_service(folder, Limits()))
        assert "Unknown tool" in refused(server, "change", add=[])

    def test_only_what_can_be_changed_and_over_http_only_with_a_token(self, folder, monkeypatch):
        monkeypatch.delenv("KGRECKON_TOKEN", raising=False)
        for arguments, message in (
            (["world", "--changes"], "'world' is part of the program"),
            ([str(folder), "--changes", "--http"], "needs a token"),
        ):
            done = CliRunner().invoke(app, ["mcp", *arguments])
            assert isinstance(done.exception, UserError) and message in str(done.exception)


class TestBounds:
    @pytest.mark.parametrize(
        ("name", "arguments", "message"),
        [
            ("ask", {"query": "SELECT ?x { ?x :borders :Japn }"}, "unknown entity 'Japn'; did you mean 'Japan'"),
            ("ask", {"query": "((" * 500}, "nested too deeply"),
            ("ask", {"query": "SELECT ?x {"}, "syntax error"),
            ("ask", {"query": "INSERT DATA { :a :b :c }"}, "INSERT is not supported"),
            ("ask", {"query": "x" * 4001}, "at most 4000 characters"),
            ("ask", {"query": CAPITALS, "limit": 51}, "less than or equal to 50"),
            ("ask", {"question": CAPITALS}, "query"),
            ("describe", {"name": "Atlantis"}, "unknown entity 'Atlantis'"),
            ("predict", {"entity": "Japan", "attribute": "borders"}, "is a relation"),
            ("explain", {"query": CAPITALS, "answer": "Romee"}, "did you mean 'Rome'"),
            ("complete", {"things": ["Japan"]}, "has no probabilities of facts: learn a reckoner"),
            ("complete", {"things": []}, "at least 1 item"),
            ("complete", {"things": ["Japan"], "limit": 51}, "less than or equal to 50"),
            ("explain", {"query": "ASK {}", "answer": "Rome"}, "ASK is not supported"),
        ],
    )
    def test_mistakes_are_one_message(self, server, name, arguments, message):
        said = refused(server, name, **arguments)
        assert message in said and "Traceback" not in said

    def test_replies_have_a_bounded_size(self):
        builder = GraphBuilder()
        for place in range(300):
            builder.add_fact(f"{'long' * 50} {place}", "leads_to", "end")
            builder.label(f"{'long' * 50} {place}", f"{'label' * 100} {place}")
        server = agent_server(Service(Answerer(ExactModel(builder.build())), Limits()))
        for name, arguments in (
            ("ask", {"query": "(rp,(^leads_to),(e,(end)))", "limit": 50}),
            ("describe", {"name": "end"}),
            ("search", {"text": "", "limit": 50}),
        ):
            found = called(server, name, **arguments)  # which looks at the size
            assert found["more"] is True and any(isinstance(each, list) and len(each) > 5 for each in found.values())

    def test_a_call_ends_in_time(self, world_graph):
        service = Service(Answerer(ExactModel(world_graph)), Limits(seconds=1.0))
        service.answerer.sparql("ASK {}")
        start = time.monotonic()
        assert "takes longer than 1 s" in refused(agent_server(service), "ask", query=CROSS)
        assert time.monotonic() - start < 10
        service.answerer.triples.close()

    def test_calls_wait_for_their_turn(self, world, monkeypatch):
        running_now, most = 0, 0
        lock, original = threading.Lock(), world.search

        def slow(request, pause):
            nonlocal running_now, most
            with lock:
                running_now += 1
                most = max(most, running_now)
            time.sleep(0.05)
            with lock:
                running_now -= 1
            return original(request, pause)

        monkeypatch.setattr(world, "search", slow)

        async def conversation(call, client):
            return await asyncio.gather(*(call("search", text="a") for _ in range(8)))

        assert all(not each.is_error for each in run(agent_server(world), conversation))
        assert most == world.limits.at_once


class TestTransports:
    def test_stdio(self):
        command = StdioServerParameters(
            command=sys.executable,
            args=["-m", "kgreckon", "mcp", "world", "--seconds", "60"],
            env={"PYTHONPATH": path()},
        )

        async def conversation(call, client):
            return await client.list_tools(), await call("ask", query=CAPITALS), await call("search", text="jap")

        listed, found, names = run(command, conversation)
        assert len(listed.tools) == 6 and data_of(found)["proved"] == 8
        assert data_of(names)["names"][0]["name"] == "Japan"

    @pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
    def test_http_from_the_command_line_until_a_signal(self, sent):
        command = [sys.executable, "-m", "kgreckon", "mcp", "world", "--http", "--port", "0"]
        environment = os.environ | {"PYTHONPATH": path()}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            assert process.stdout is not None and process.stderr is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:") and address.endswith("/mcp")

            async def conversation(call, client):
                return await call("search", text="jap")

            assert data_of(run(address, conversation))["names"][0]["name"] == "Japan"
            process.send_signal(sent)
            assert process.wait(20) == 0 and process.stderr.read().count("\n") == 1

    def test_ctrl_c_ends_it_on_stdio(self):
        command = [sys.executable, "-m", "kgreckon", "mcp", "world"]
        body = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": body})
        environment = os.environ | {"PYTHONPATH": path()}
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=environment) as process:
            assert process.stdin is not None and process.stdout is not None and process.stderr is not None
            process.stdin.write(f"{line}\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "kgreckon"
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == -signal.SIGINT and process.stderr.read() == ""

    def test_http(self, world):
        app = agent_server(world).streamable_http_app(json_response=True, stateless_http=True)
        with running(app) as port:
            address = f"http://127.0.0.1:{port}/mcp"

            async def conversation(call, client):
                return await asyncio.gather(call("ask", query=CAPITALS), call("describe", name="Japan"))

            found, described = run(address, conversation)
            assert data_of(found)["proved"] == 8 and data_of(described)["label"] == "Japan"
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            headers = {"Accept": "application/json, text/event-stream", "Host": "elsewhere.example"}
            assert httpx2.post(address, json=body, headers=headers).status_code == 421  # DNS rebinding

    def test_http_with_a_token(self, world):
        app = TokenCheck(agent_server(world).streamable_http_app(json_response=True, stateless_http=True), "s" * 16)
        with running(app) as port:
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
            assert httpx2.post(f"http://127.0.0.1:{port}/mcp", json=body).status_code == 401

    def test_settings_of_the_server_fit_the_application(self, world):
        assert config(agent_server(world).streamable_http_app(), Limits()).lifespan == "auto"


def path() -> str:
    """Where this process finds the package."""
    return os.pathsep.join(each for each in sys.path if each)
