"""Under load and attack: what is refused, what is bounded, and that nothing a client sends is a mistake of ours."""

import asyncio
import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from kgreckon.answers import Answerer
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.models.exact_model import ExactModel
from kgreckon.query import blocks
from kgreckon.query.paper import parse
from kgreckon.server import Gate, Limits, Service, application
from kgreckon.server.gate import BusyError, TimeLimitError, deadline
from kgreckon.server.headers import SECURITY, host_name
from kgreckon.server.schemas import AskRequest, TranslateRequest
from served import IN_JAPAN, NORTH, POPULATIONS, client_of, no_pause, running
from strategies import graphs, queries


class TestRefusals:
    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ("", "not JSON"),
            ("{", "not JSON"),
            (b'{"query": "\xff"}', "not JSON in UTF-8"),
            ('{"query": NaN}', "not JSON"),
            ("[]", "must be a JSON object"),
            ("[" * 30_000, "nested too deeply"),
            ('{"query": ' + '{"op":"not","of":' * 3000 + "1" + "}" * 3001, "nested too deeply"),
            ('{"quary": ""}', "unknown field 'quary'"),
            ("{}", "'query' is missing"),
            ('{"query": 7}', "a block is an object"),
            ('{"query": ""}', "empty"),
            ('{"query": "(e,(Japan))", "limit": 0}', "limit must be at least 1"),
            ('{"query": "(e,(Japan))", "limit": true}', "limit must be a whole number, not True"),
            ('{"query": "(e,(Japan))", "limit": 1e3}', "limit must be a whole number"),
            ('{"query": "(e,(Japan))", "limit": 1000000}', "limit must be at most 1,000"),
            ('{"query": "(e,(Japan))", "explain": 1}', "explain must be true or false"),
            ('{"query": "(e,(\\ud800))"}', "not JSON in UTF-8"),
            (json.dumps({"query": "(" * 5000}), "at most 4,000 characters"),
            (json.dumps({"query": "(n," * 40 + "(e,(Japan))" + ")" * 40}), "levels deep"),
            (json.dumps({"query": "(n," * 20 + "(e,(Japan))" + ")" * 20}), "at most 16 levels"),
            (json.dumps({"query": f"(u,{','.join(['(e,(Japan))'] * 70)})"}), "at most 48 nodes"),
            (json.dumps({"query": "SELECT ?x { VALUES ?x { " + ":Japan " * 70 + "} }"}), "at most 48 nodes"),
            (json.dumps({"query": "SELECT ?x { VALUES ?x { " + "1 " * 1900 + "} }"}), "1,000 words and signs"),
            (
                json.dumps({"query": "SELECT ?x { :Japan " + "/".join(["(:borders|:in_country)"] * 40) + " ?x }"}),
                "nodes",
            ),
            (json.dumps({"query": "SELECT ?x { ?x :a\\' :b . " + "{}" * 1900 + "}"}), "1,000 words and signs"),
            (json.dumps({"query": 'SELECT ?x { ?x :a """a"b""" . ' + "{}" * 1900 + '"x" }'}), "1,000 words"),
            (json.dumps({"query": 'SELECT ?x { ?x :a "\\u0022 . ' + "{}" * 1900 + '" }'}), "1,000 words and signs"),
            (json.dumps({"query": "SELECT ?x { ?x :a \\u005cu0022x }"}), "made of escapes"),
            (json.dumps({"query": "SELECT ?x { ?x :a \\uD800 }"}), "not a character"),
        ],
    )
    def test_a_wrong_body_is_a_400_that_says_why(self, client, body, message):
        response = client.post("/api/ask", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 400
        assert message in response.json()["error"] and "\n" not in response.json()["error"]

    @pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
    def test_content_types_are_strict(self, client, kind):
        headers = {} if kind is None else {"Content-Type": kind}
        assert client.post("/api/ask", content='{"query": "(e,(Japan))"}', headers=headers).status_code == 415

    def test_methods_and_places(self, client):
        assert client.get("/api/ask").status_code == 405
        assert client.post("/api/info").status_code == 405
        assert client.delete("/sparql").status_code == 405
        for path in ("/nothing", "/api/", "/page/", "/page/nothing.js"):
            assert client.get(path).status_code == 404 and "error" in client.get(path).json()

    def test_no_file_but_the_pages_own(self, client):
        for path in ("/page/../application.py", "/page/..%2fapplication.py", "/page/%2e%2e/__init__.py", "//etc/passwd",
                     "/page//etc/passwd", "/page/..%5c..%5cpyproject.toml", "/page/index.html%00.js"):  # fmt: skip
            assert client.get(path).status_code == 404

    @pytest.mark.parametrize(
        "path",
        ["names?limit=0", "names?limit=x", "names?kind=x", "names?x=1", "names?text=a&text=b", "names?text=%ff",
         "info?x=1", "entity", "entity?name=" + "a" * 5000, "names?" + "&".join("a" * 60)],
    )  # fmt: skip
    def test_wrong_parameters(self, client, path):
        assert client.get(f"/api/{path}").status_code == 400

    def test_explaining_what_is_no_answer(self, client):
        for answer in (-1, 10**9, 2**40, "1x", None, 1.5):
            found = client.post("/api/explain", json={"query": NORTH, "answer": answer})
            assert found.status_code == 400

    def test_a_mistake_of_ours_is_500_and_says_nothing(self, world):
        class Broken(Service):
            def translate(self, request, pause):
                raise ZeroDivisionError("secret")

        broken = Broken(world.answerer, Limits())
        client = TestClient(application(broken, Gate(Limits())), raise_server_exceptions=False)
        response = client.post("/api/translate", json={"query": NORTH})
        assert response.status_code == 500 and response.json() == {"error": "internal error"}
        assert SECURITY.items() <= {key: response.headers.get(key) for key in SECURITY}.items()

    def test_security_headers_are_on_everything(self, client):
        for response in (
            client.get("/"),
            client.get("/api/info"),
            client.get("/nothing"),
            client.get("/api/ask"),
            client.post("/api/ask", json={"query": "nonsense"}),
            client.get("/sparql", params={"query": IN_JAPAN}),
        ):
            for name, value in SECURITY.items():
                assert response.headers[name] == value
            assert "unsafe" not in response.headers["content-security-policy"]
            assert response.headers["cache-control"] in ("no-store", "no-cache")
            assert "access-control-allow-origin" not in response.headers

    def test_the_page_is_revalidated(self, client):
        first = client.get("/")
        assert first.status_code == 200 and first.headers["content-type"] == "text/html; charset=utf-8"
        assert client.get("/", headers={"If-None-Match": first.headers["etag"]}).status_code == 304
        script = client.get("/page/main.js")
        assert script.headers["content-type"] == "text/javascript; charset=utf-8"

    @pytest.mark.parametrize(("taken", "is_zipped"), [("gzip, br", True), ("gzip;q=0", False), ("br", False)])
    def test_the_page_is_zipped_for_those_who_take_it(self, client, taken, is_zipped):
        script = client.get("/page/main.js", headers={"Accept-Encoding": taken})
        assert (script.headers.get("content-encoding") == "gzip") is is_zipped
        assert script.headers["vary"] == "Accept-Encoding" and "import" in script.text

    @pytest.mark.parametrize(
        ("host", "status"),
        [("localhost", 200), ("LOCALHOST:8000", 200), ("127.0.0.1:1", 200), ("[::1]:8000", 200), ("[::1]", 200),
         ("evil.example", 421), ("localhost.evil.example", 421), ("127.0.0.1.nip.io:8000", 421), ("", 421)],
    )  # fmt: skip
    def test_only_this_machines_names_are_answered_for(self, world, host, status):
        client = client_of(world, hosts=("localhost", "127.0.0.1", "[::1]"))
        assert client.get("/api/info", headers={"Host": host}).status_code == status

    def test_two_hosts_are_none(self):
        assert host_name(["localhost", "localhost"]) is None and host_name([]) is None

    def test_other_sites_may_ask_only_where_allowed(self, world):
        opened = client_of(world, cross_origin=True)
        found = opened.get("/sparql", params={"query": IN_JAPAN}, headers={"Origin": "http://other.example"})
        assert found.headers["access-control-allow-origin"] == "*"
        assert opened.options("/sparql").status_code == 204
        wrong = opened.get("/sparql", params={"query": "nonsense"}, headers={"Origin": "http://other.example"})
        assert wrong.status_code == 400 and wrong.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-origin" not in opened.get("/api/info").headers
        assert client_of(world).options("/sparql").status_code == 405


class TestBounds:
    def test_a_body_is_bounded_while_it_is_read(self, world):
        limits = Limits(body_bytes=1000)
        sent = 0

        def endless():
            nonlocal sent
            for _ in range(100_000):
                sent += 1000
                yield b" " * 1000

        with running(application(Service(world.answerer, limits), Gate(limits))) as port:
            for head in ("Content-Length: 100000000", "Transfer-Encoding: chunked"):
                lines = ("POST /api/ask HTTP/1.1", "Host: x", "Content-Type: application/json", head, "", "")
                with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                    client.sendall("\r\n".join(lines).encode())
                    if "chunked" in head:
                        client.sendall(b"3e8\r\n" + b" " * 1000 + b"\r\n" + b"1\r\n \r\n")
                    assert client.recv(4096).startswith(b"HTTP/1.1 413")
                with socket.create_connection(("127.0.0.1", port), timeout=10) as client:
                    client.sendall("\r\n".join(lines).encode())
                    with suppress(BrokenPipeError, ConnectionResetError):
                        for part in endless():
                            client.sendall(b"3e8\r\n" + part + b"\r\n" if "chunked" in head else part)
        assert sent < 50_000_000

    def test_a_body_that_is_just_too_large(self, world):
        limits = Limits(body_bytes=200)
        client = client_of(Service(world.answerer, limits))
        assert client.post("/api/ask", json={"query": "x" * 300}).status_code == 413
        chunks = (b" " * 100 for _ in range(3))
        typed = {"Content-Type": "application/json"}
        assert client.post("/api/ask", content=chunks, headers=typed).status_code == 413
        assert client.post("/api/ask", content=b'{"query": "(e,(Japan))"}', headers=typed).status_code == 200

    def test_a_head_that_does_not_end_is_given_up(self, world):
        with running(application(world, Gate(world.limits)), Limits(head_seconds=0.2)) as port:
            for first in (b"", b"GET /api/info HT", b"GET /api/info HTTP/1.1\r\nHost: x\r\n\r\n"):
                with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                    client.sendall(first)
                    received = b""
                    if first.endswith(b"\r\n\r\n"):
                        received = client.recv(1 << 20)
                        client.sendall(b"GET /again")
                    while part := client.recv(1 << 20):  # ends when the server closes the connection
                        received += part
                    assert bool(received) == first.endswith(b"\r\n\r\n")

    def test_more_connections_than_there_may_be_are_sent_away(self, world):
        with running(application(world, Gate(world.limits)), Limits(connections=3)) as port, ExitStack() as held:
            for _ in range(3):
                held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
            time.sleep(0.1)
            with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                received = b""
                while part := client.recv(4096):
                    received += part
            head, _, body = received.decode().partition("\r\n\r\n")
            assert head.startswith("HTTP/1.1 503 ") and "Retry-After: 1" in head and "error" in json.loads(body)
            assert all(f"{name}: {value}" in head for name, value in SECURITY.items())
            held.close()
            time.sleep(0.1)
            with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                client.sendall(b"GET /api/info HTTP/1.1\r\nHost: x\r\n\r\n")
                assert client.recv(4096).startswith(b"HTTP/1.1 200")

    def test_what_is_no_http_is_refused_with_all_headers(self, world):
        with running(application(world, Gate(world.limits))) as port:
            with socket.create_connection(("127.0.0.1", port), timeout=5) as client:
                client.sendall(b"\x16\x03\x01\r\n\r\n")
                head = client.recv(4096).decode()
            assert head.startswith("HTTP/1.1 400 ") and all(f"{n}: {v}" in head for n, v in SECURITY.items())

    def test_more_requests_than_may_wait_are_sent_away_at_once(self, world):
        limits = Limits(at_once=1, waiting=1)
        begun, release = threading.Event(), threading.Event()

        class Slow(Service):
            def translate(self, request, pause):
                begun.set()
                release.wait(10)
                return super().translate(request, pause)

        client = client_of(Slow(world.answerer, limits))

        def ask_one():
            return client.post("/api/translate", json={"query": NORTH})

        with client, ThreadPoolExecutor(8) as pool:
            first = pool.submit(ask_one)
            assert begun.wait(10)
            others = [pool.submit(ask_one) for _ in range(5)]
            refused: list[Any] = []
            while len(refused) < 4:
                refused = [each.result() for each in others if each.done()]
                time.sleep(0.005)
            assert {each.status_code for each in refused} == {503}
            assert all(int(each.headers["retry-after"]) >= 1 for each in refused)
            release.set()
            assert first.result().status_code == 200
            assert sorted(each.result().status_code for each in others) == [200, 503, 503, 503, 503]
            assert ask_one().status_code == 200  # nobody is counted for ever

    def test_a_question_that_takes_too_long_ends_and_frees_its_worker(self, world):
        limits = Limits(seconds=0.2, at_once=1)
        steps = 0

        class Slow(Service):
            def ask(self, request, pause):
                nonlocal steps
                for _ in range(10_000):
                    pause()
                    steps += 1
                    time.sleep(0.005)

        gate = Gate(limits)
        client = TestClient(application(Slow(world.answerer, limits), gate))
        with client:
            start = time.monotonic()
            found = client.post("/api/ask", json={"query": NORTH})
            assert found.status_code == 503 and "takes longer than 0.2 s" in found.json()["error"]
            assert int(found.headers["retry-after"]) >= 1
            while gate.running:
                time.sleep(0.005)
            assert time.monotonic() - start < 5 and 0 < steps < 1000
            assert client.post("/api/complete", json={"query": "(e,(Japan))"}).status_code == 200

    def test_every_node_of_a_query_is_a_chance_to_stop(self, world, reckoner):
        nodes: list[int] = []
        for service, text, count in ((world, NORTH, 8), (reckoner, "(n,(rp,(r0),(rp,(r1),(e,(e1)))))", 8)):
            query = parse(text, service.names)
            nodes.clear()
            service.answerer.rank(query, lambda: nodes.append(1))
            assert len(nodes) == count  # for the proofs, and where there is a model for its scores
            with pytest.raises(TimeLimitError):
                service.answerer.rank(query, deadline(-1))
            with pytest.raises(TimeLimitError):
                service.answerer.explain_id(query, 0, deadline(-1))

    def test_the_gate_counts_work_until_it_ends(self):
        async def play():
            gate = Gate(Limits(at_once=1, waiting=0, seconds=0.05))
            release = threading.Event()
            with pytest.raises(TimeLimitError):  # told at once, though the work does not look at its pause
                await gate.run(lambda pause: release.wait(10))
            with pytest.raises(BusyError):
                await gate.run(lambda pause: 1)
            release.set()
            while gate.running:
                await asyncio.sleep(0.005)
            assert await gate.run(lambda pause: 2) == 2
            with pytest.raises(UserError, match="wrong"):
                await gate.run(lambda pause: (_ for _ in ()).throw(UserError("wrong")))
            gate.close()

        asyncio.run(play())

    def test_who_has_gone_is_not_worked_for(self, world):
        limits = Limits(at_once=1, seconds=60)
        begun, steps = threading.Event(), []

        class Slow(Service):
            def ask(self, request, pause):
                begun.set()
                while True:
                    pause()
                    steps.append(1)
                    time.sleep(0.005)

        gate = Gate(limits)
        body = json.dumps({"query": NORTH})
        lines = ("POST /api/ask HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {len(body)}")
        with running(application(Slow(world.answerer, limits), gate)) as port:
            clients = [socket.create_connection(("127.0.0.1", port), timeout=10) for _ in range(4)]
            for client in clients:
                client.sendall("\r\n".join([*lines, "", body]).encode())
            assert begun.wait(10)
            for client in clients:
                client.close()
            start = time.monotonic()
            while gate.running and time.monotonic() < start + 10:
                time.sleep(0.005)
            assert gate.running == 0 and steps

    def test_limits_can_be_meant(self):
        for wrong in ("at_once", "seconds", "query_nodes"):
            with pytest.raises(UserError, match=f"{wrong} must be above 0"):
                Limits(**{wrong: 0})
        assert Limits(waiting=0).waiting == 0


def alike(one, other):
    """Whether data is the same, but for the last bits of numbers, which depend on what a sum was computed with."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(alike(value, other[key]) for key, value in one.items())
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(alike, one, other))
    return one == (pytest.approx(other, rel=1e-5) if isinstance(other, float) else other)


class TestThreads:
    def test_answers_from_many_threads_are_those_of_one(self, world, reckoner):
        heights = "(i,(rp,(r0),(e,(e{}))),(rap,(height),(np,(GreaterThan),(nv,({})))))"
        texts = [heights.format(place, place) for place in range(6)]
        texts += [f"(ap,(age),(rp,(^r1),(e,(e{place}))))" for place in range(6)]
        texts += [f"SELECT ?x {{ ?x :r0 :e{place} ; :height ?h FILTER(?h > 2 * {place}) }}" for place in range(6)]
        fresh = Service(Answerer(reckoner.answerer.model), Limits())
        for service, asked in ((fresh, texts), (world, [NORTH, POPULATIONS, IN_JAPAN])):

            def answers(text, service=service):
                asked = AskRequest.model_construct(query=text, limit=30, explain=True)
                return service.ask(asked, no_pause).model_dump(exclude={"seconds"})

            with ThreadPoolExecutor(8) as pool:
                together = list(pool.map(answers, asked * 5))
            assert alike(together, [answers(text) for text in asked] * 5)


PAPER = st.text(alphabet='(),eirapnu#^"\\ 0123456789.x><=ySapJnd_\n', max_size=60)
WORDS = """SELECT ?x ?y { } ( ) . ; , :borders :France :latitude ^ / | FILTER < > = != <= + - * 2 1e3 && || ! UNION
MINUS EXISTS NOT VALUES "a" 'b' <urn:x> [ ] a LIMIT OFFSET DISTINCT OPTIONAL PREFIX : BASE # \\ ABS isNumeric ?score"""
SPARQL_WORDS = st.sampled_from(WORDS.split())
SPARQL = st.lists(SPARQL_WORDS, max_size=25).map(lambda words: "SELECT ?x { ?x :borders " + " ".join(words))
TEXTS = st.one_of(PAPER, SPARQL, st.lists(SPARQL_WORDS, max_size=12).map(" ".join), st.text(max_size=30))
FUZZED = settings(max_examples=120)
OPERATORS = st.sampled_from(["entity", "number", "follow", "value_of", "having_value", "compare", "and", "or", "not"])
FIELDS = ("name", "of", "parts", "value", "unit", "relation", "attribute", "comparison", "inverse")
NAMES = st.sampled_from(["Japan", "in_country", "latitude", "degrees", "GreaterThan", "x > 2y", "", "é"])
FINITE = st.floats(allow_nan=False, allow_infinity=False)
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), FINITE, NAMES)
JSON_TEXT = st.text(alphabet='{}[]":,query012eE+-.ntf\\u', max_size=40).map(str.encode)


def nested(below):
    block = st.fixed_dictionaries({"op": OPERATORS}, optional=dict.fromkeys(FIELDS, below))
    return st.one_of(st.lists(below, max_size=3), block)


def encoded(query):
    """The bytes as they would stand in an address, percent-encoded only where a client cannot help it."""
    return "".join(chr(byte) if 32 < byte < 127 and byte not in b"#\\" else f"%{byte:02x}" for byte in query)


class TestFuzzing:
    """Whatever arrives, the answer is an answer or a refusal; a traceback would be raised by the client here."""

    @FUZZED
    @given(text=TEXTS)
    def test_texts_of_queries(self, client, text):
        found = client.post("/api/translate", json={"query": text})
        assert found.status_code in (200, 400) and ("error" in found.json()) == (found.status_code == 400)

    @FUZZED
    @given(text=TEXTS, accept=st.text(alphabet="abctex/+*;,q=01. \tsparql-jn", max_size=40))
    def test_the_protocol(self, client, text, accept):
        found = client.get("/sparql", params={"query": text}, headers={"Accept": accept})
        assert found.status_code in (200, 400, 406)

    @FUZZED
    @given(query=st.binary(max_size=60), kind=st.sampled_from(["application/sparql-query", "", "a/b; charset=\xff"]))
    def test_raw_parameters_and_bodies(self, client, query, kind):
        assert client.get("/sparql?" + encoded(query)).status_code in (200, 400, 406)
        found = client.post("/sparql", content=query, headers={"Content-Type": kind.encode("latin-1")})
        assert found.status_code in (400, 415)

    @FUZZED
    @given(built=st.recursive(LEAVES, nested, max_leaves=8))
    def test_blocks(self, client, built):
        found = client.post("/api/ask", json={"query": built, "limit": 3})
        assert found.status_code in (200, 400) and ("error" in found.json()) == (found.status_code == 400)

    @FUZZED
    @given(body=st.one_of(st.binary(max_size=40), JSON_TEXT))
    def test_bodies(self, client, body):
        for path in ("/api/ask", "/api/complete", "/api/explain"):
            found = client.post(path, content=body, headers={"Content-Type": "application/json"})
            assert found.status_code in (200, 400)

    @settings(max_examples=40)
    @given(st.data())
    def test_any_query_of_the_algebra_is_answered_exactly(self, data):
        graph = data.draw(graphs())
        query = data.draw(queries(graph))
        service = Service(Answerer(ExactModel(graph)), Limits())
        asked = service.translate(TranslateRequest(query=blocks.write(query, graph.vocabulary)), no_pause)
        wanted = AskRequest.model_construct(query=asked.tree, limit=1000, explain=True)
        found = service.ask(wanted, no_pause).model_dump(mode="json")
        expected = ask(graph, query)
        places = [
            service.answerer.id_of(
                query, *((each["name"],) if each["value"] is None else (each["value"], each["unit"]))
            )
            for each in found["answers"]
        ]
        assert places == sorted(expected.tolist())
        assert found["observed"] == len(expected) and all(answer["observed"] for answer in found["answers"])
        json.dumps(found, allow_nan=False)
