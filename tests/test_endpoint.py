"""A graph at a SPARQL endpoint: Oxigraph's own server answers as the exact engine does on the same facts."""

import json
import threading
import time
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote

import pyoxigraph as ox
import pytest
import rdflib
from hypothesis import given, settings
from hypothesis import strategies as st

import kgreckon as kg
from kgreckon.answers import Answerer
from kgreckon.answers.endpoint_answerer import EndpointAnswerer
from kgreckon.engine.endpoint import client as client_module
from kgreckon.engine.endpoint.client import SparqlClient
from kgreckon.engine.endpoint.lookups import Lookups
from kgreckon.engine.endpoint.set_writing import reference, text_literal
from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.ntriples import n_triples
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.paper import write
from kgreckon.query.sparql import name_of
from kgreckon.server import Gate, Limits, Service, application
from oxigraph_server import oxigraph_server
from served import running
from strategies import queries
from test_cli import kgreckon  # noqa: F401  # a fixture

EX = "http://ex.org/"
JSON = "application/sparql-results+json"
XSD = "http://www.w3.org/2001/XMLSchema#"
PREFIXES = f"@prefix : <{EX}> . @prefix xsd: <{XSD}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"


@pytest.fixture(scope="module")
def server():
    with oxigraph_server() as server:
        yield server


@pytest.fixture(scope="module")
def world_there(world_graph):
    """World at an endpoint, with its labels."""
    with oxigraph_server() as server:
        yield kg.load(server.hold("".join(n_triples(world_graph, dates=True, labels=True))))


def asked(answerer: Answerer, question: str) -> set:
    """The names of all answers, or the numbers with their units."""
    found = answerer.ask(question, limit=100_000)
    return {name_of(one.name) if one.value is None else (one.value, one.unit) for one in found}


def address_of(answerer: Answerer) -> str:
    return repr(answerer).rpartition(" ")[2]


def at(server, turtle: str) -> Answerer:
    return kg.load(server.hold(PREFIXES + turtle))


def here(folder: Path, turtle: str) -> KnowledgeGraph:
    """The same triples, imported."""
    file = folder / "graph.ttl"
    file.write_text(PREFIXES + turtle, encoding="utf-8")
    return KnowledgeGraph.from_tables(file)


# ---------------------------------------------------------------------------------------------------------- the law

# One number in several lexical forms, around zero and the edges of the tolerance.
DECIMALS = ["-200.0", "-1", "-0.50", "0", "-0.0", "+1", "01.00", "1.005", "1.01", "2.0", "3", "99.5", "100.0", "300"]
DOUBLES = ["-2e2", "-1.0E0", "0e0", "-0e0", "1", "1.0e0", "1.01", "2", "99.5", "1e2", "INF", "NaN"]
DATES = ["0100-01-01", "0002-07-02", "0001-01-01", "-0100-03-01", "0300-12-31", "0100-02-30"]


@st.composite
def documents(draw) -> str:
    """Triples between six things, with numbers of three kinds; `near` leads to things and to numbers."""
    thing = st.sampled_from([f":e{index}" for index in range(6)])
    lines = [
        f"{head} {predicate} {tail} ."
        for head, predicate, tail in draw(
            st.lists(
                st.tuples(thing, st.sampled_from([":likes", ":knows", ":near", "a"]), thing), min_size=1, max_size=14
            )
        )
    ]
    kinds = {":height": (DECIMALS, "decimal"), ":near": (DOUBLES, "double"), ":depth": (DOUBLES, "double"), ":born":
             (DATES, "date")}  # fmt: skip
    for predicate, (texts, kind) in kinds.items():
        for head, text in draw(st.lists(st.tuples(thing, st.sampled_from(texts)), max_size=6)):
            lines.append(f'{head} {predicate} "{text}"^^xsd:{kind} .')
    lines.append(':e0 :height "1"^^xsd:decimal ; :depth "1"^^xsd:double .')
    return "\n".join(lines)


@settings(max_examples=20)
@given(st.data())
def test_the_endpoint_answers_as_the_exact_engine_does(server, tmp_path_factory, data):
    """Any query of the algebra, on any facts, however their numbers are written."""
    turtle = data.draw(documents())
    graph = here(tmp_path_factory.mktemp("graph"), turtle)
    there, exactly = at(server, turtle), Answerer(ExactModel(graph))
    for _ in range(4):
        text = write(data.draw(queries(graph)), graph.vocabulary)
        assert asked(there, text) == asked(exactly, text), text


class RdflibClient(SparqlClient):
    """Another engine, in this process."""

    def __init__(self, turtle: str) -> None:
        super().__init__("http://127.0.0.1:9/")
        self.graph = rdflib.Graph().parse(data=PREFIXES + turtle, format="turtle")

    def _send(self, query, pause):
        found = self.graph.query(query).serialize(format="json")
        assert found is not None
        headers = Message()
        headers["Content-Type"] = JSON
        return found, headers


SMALL = """
    :a :likes :b , :c ; :height 1 , 2.5 ; :born "1969-07-20"^^xsd:date . :b :likes :c ; :height 2.0 ; a :K .
    :c :knows :a ; :height "3"^^xsd:decimal ; :born "2000"^^xsd:gYear , "2001-02-03"^^xsd:date ; a :K .
"""
OPERATORS = """
    (rp,(E:likes),(rp,(^E:likes),(e,(E:c))))
    (i,(rp,(E:likes),(e,(E:a))),(n,(rp,(E:likes),(e,(E:b)))))
    (u,(rp,(^E:knows),(e,(E:a))),(rap,(E:height),(np,(x >= 2y - 1),(nv,(1.5 decimal)))))
    (rap,(E:height),(np,(x > y),(ap,(E:height),(e,(E:b)))))
    (i,(ap,(E:height),(rap,(E:born),(np,(x < y),(nv,(2000-01-02 date))))),(n,(nv,(1 decimal))))
    (np,(x != y),(ap,(E:born),(e,(E:c))))
    (n,(ap,(E:height),(e,(E:a))))
""".replace("E:", EX).strip().splitlines()  # fmt: skip


@pytest.fixture(scope="module")
def in_rdflib(tmp_path_factory):
    graph = here(tmp_path_factory.mktemp("small"), SMALL)
    return Answerer(ExactModel(graph)), EndpointAnswerer(Lookups(RdflibClient(SMALL)))


@pytest.mark.parametrize("query", [query.strip() for query in OPERATORS])
def test_another_engine_gives_the_same_answers(in_rdflib, query):
    """What is sent does not lean on the ways of one engine."""
    exactly, there = in_rdflib
    assert asked(there, query) == asked(exactly, query) != set()


QUESTIONS = """
    cities in Japan with population > 1 million
    countries that border France but not Spain
    the 3 largest countries by area
    top 5 cities in Germany by population
    how many airports are in Japan
    how many airports in Japan have elevation > 100
    number of countries that do not border France
    (np,(x > 2y),(ap,(population),(e,(France))))
    mean population of countries
    cities within 50 km of Paris
    countries with population > 10 times the population of Austria
    countries without literacy
    countries with gdp / population > 50000
    the population of France - the population of Germany
    the area of the countries that border Germany
    is Paris in France?
    what does Portugal border
    cities with population > 5 million or elevation > 3000
    countries with population about the population of Spain
    the mean elevation of airports in Nepal
    countries that border the 2 largest countries by area
    (i,(rp,(borders),(e,(France))),(n,(rp,(borders),(e,(Spain)))))
    (rap,(population),(np,(x > 2y + 5),(ap,(population),(rp,(borders),(e,(France))))))
    SELECT ?x { ?x :borders :France ; :population ?p FILTER(?p > 1e7) }
    SELECT (COUNT(?x) AS ?n) { ?x :is_a :Country }
""".strip().splitlines()


@pytest.fixture(scope="module")
def world_read(world_graph, tmp_path_factory):
    """World with what RDF keeps of it: neither units nor phrases."""
    text = "".join(n_triples(world_graph, dates=True, labels=True)).replace("urn:kgreckon:", EX)
    with oxigraph_server() as server:
        yield Answerer(ExactModel(here(tmp_path_factory.mktemp("world"), text))), at(server, text)


@pytest.mark.parametrize("question", [question.strip() for question in QUESTIONS])
def test_a_question_in_any_notation_means_the_same_here_and_there(world_read, question):
    exactly, there = world_read
    for name in ("France", "Spain", "borders", "population", "Country", "is_a"):
        if question.startswith("("):
            question = question.replace(f"({name})", f"({EX}{name})")
        elif question.startswith(("SELECT", "ASK")):
            question = question.replace(f":{name} ", f"<{EX}{name}> ")
    one, other = exactly.ask(question, limit=50_000), there.ask(question, limit=50_000)
    assert {tuple(map(str, row)) for row in one.rows()} == {tuple(map(str, row)) for row in other.rows()}
    assert one.headers() == other.headers() and one.words == other.words and one.notes() == other.notes()
    assert one.total == other.total and one.observed == other.observed and one.count == other.count
    if question.startswith(("the 3", "top")):
        assert [answer.name for answer in one] == [answer.name for answer in other]


def test_our_own_server_is_an_endpoint_too(world_graph, world_there):
    """Whatever `kgreckon serve` refuses, such as long queries, is asked in other words."""
    service = Service(Answerer(ExactModel(world_graph)), Limits())
    with running(application(service, Gate(service.limits))) as port:
        own = kg.load(f"http://127.0.0.1:{port}/sparql")
        for question in (QUESTIONS[place].strip() for place in (1, 2, 6, 13, -2)):
            one, other = world_there.ask(question, limit=1_000), own.ask(question, limit=1_000)
            assert {tuple(map(str, row)) for row in one.rows()} == {tuple(map(str, row)) for row in other.rows()}
            assert one.total == other.total and one.observed == other.observed and one.words == other.words


# -------------------------------------------------------------------------------------------------- kinds of literals


def test_numbers_are_equal_whatever_their_datatype_and_have_the_units_of_their_datatypes(server, tmp_path):
    turtle = """
        :a :height 5 ; :depth 5.0 ; :weight "5"^^<http://dt.org/kilogram> ; :likes :b .
        :b :height 5.0 ; :depth 5e0 ; :weight "7.50"^^<http://dt.org/kilogram> .
        :c :height 6 ; :depth "5"^^xsd:byte ; :weight "heavy" , "7.50"^^<http://dt.org/gram> .
        :d :height 5 , 7 ; :depth "5.00"^^xsd:float , 5.0 , 5e0 ; :weight "8"^^<http://dt.org/kilogram> .
    """
    exactly, there = Answerer(ExactModel(here(tmp_path, turtle))), at(server, turtle)
    for text in (
        f"(i,(ap,({EX}height),(e,({EX}a))),(ap,({EX}height),(e,({EX}b))))",
        f"(rap,({EX}height),(ap,({EX}height),(e,({EX}a))))",
        f"(rap,({EX}height),(n,(ap,({EX}height),(e,({EX}b)))))",
        f"(rap,({EX}weight),(np,(GreaterThan),(nv,(6 kilogram))))",
        f"(ap,({EX}weight),(rap,({EX}weight),(np,(x >= y),(nv,(5 kilogram)))))",
    ):
        assert asked(there, text) == asked(exactly, text) != set(), text
    with pytest.raises(UserError, match="measured in"):
        there.ask(f"(rap,({EX}weight),(nv,(5 integer)))")


def test_dates_are_compared_and_shown_as_an_import_has_them(server, tmp_path):
    days = ["1969-07-20", "2000-02-29", "1900-03-01", "0704-12-31", "-0044-03-15", "2023-01-01", "1999-12-31"]
    turtle = "\n".join(f':p{place} :born "{day}"^^xsd:date .' for place, day in enumerate(days))
    turtle += ' :m :seen "2000-03-01T12:30:15.5+02:00"^^xsd:dateTime , "1999-07"^^xsd:gYearMonth , "1998"^^xsd:gYear .'
    turtle += ' :m :seen "2000-03-01T12:30:15Z"^^xsd:dateTime , "soon" .'
    graph = here(tmp_path, turtle)
    exactly, there = Answerer(ExactModel(graph)), at(server, turtle)
    for text in (
        *(f"(np,(EqualTo),(nv,({day} date)))" for day in days),
        *(f"(np,(x >= y),(nv,({day} date)))" for day in days),
        *(f"(rap,({EX}born),(np,(x <= y),(nv,({day} date))))" for day in days),
        f"(np,(x >= y),(ap,({EX}seen),(e,({EX}m))))",
    ):
        assert asked(there, text) == asked(exactly, text) != set(), text
    assert [each.text for each in there.ask(f"(ap,({EX}born),(e,({EX}p0)))")] == ["1969-07-20"]


def test_blank_nodes_are_answers_that_no_query_can_name(server):
    there = at(server, ":me :likes [ :height 3 ] , :b . :b :height 4 .")
    found = there.ask("what does me like")
    assert len(found) == 2 and sum(answer.name.startswith("_:") for answer in found) == 1
    assert all(answer.label in ("b", answer.name) for answer in found)
    assert len(there.ask(f"(ap,({EX}height),(rp,({EX}likes),(e,({EX}me))))")) == 2


# ------------------------------------------------------------------------------------------------------------- names


def test_things_are_called_by_their_labels_or_by_the_end_of_their_iri(server):
    there = at(
        server,
        """:Q1 rdfs:label "Japan"@en , "Japon"@fr ; a :Q6 . :Q2 rdfs:label "New York City" ; a :Q6 ; :in_country :Q1 .
        :Q6 rdfs:label "place"@en . :San_Marino a :Q6 ; :in_country :Q1 . :Q7 rdfs:label "BOTH" ; :size 3 .
        :Q9 rdfs:label "Both" ; :size 4 .
        :Q8 rdfs:label "label alone" . :in_country rdfs:label "in country" .""",
    )
    assert asked(there, "places in country japan") == {f"{EX}Q2", f"{EX}San_Marino"}
    assert asked(there, "san marino") == {f"{EX}San_Marino"} == asked(there, f'"{EX}San_Marino"')
    assert [answer.label for answer in there.ask("new york city")] == ["New York City"]
    with pytest.raises(UserError, match="may mean"):
        there.ask("both")
    with pytest.raises(UserError, match="unknown name or word 'label alone'"):
        there.ask("label alone")
    with pytest.raises(UserError, match="unknown relation 'http://ex\\.org/nothing'"):
        there.ask(f"(rp,({EX}nothing),(e,({EX}Q1)))")


HOSTILE = [
    'say "hi"', "back\\slash", "two\nlines", "} UNION { ?x ?p ?o", "'''", '"""', "\u202eright", "a\tb", "<b>", "%22",
]  # fmt: skip


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_are_found_and_end_nothing(server, label):
    there = at(server, f":x rdfs:label {text_literal(label)} ; :likes :y . :y :height 1 .")
    assert asked(there, json.dumps(label)) == {f"{EX}x"}


@given(st.text())
def test_any_text_is_written_so_that_it_reads_back(text):
    store = ox.Store()
    found = store.query(f"SELECT ?x WHERE {{ BIND({text_literal(text)} AS ?x) }}")
    assert isinstance(found, ox.QuerySolutions)
    assert [row["x"].value for row in found] == [text.replace("\0", "\ufffd")]


NO_IRIS = ["http://a/> ?p ?o", "http://a/b c", 'http://a/"', "http://a/{b}", "", "http://a/\n", "a|b"]


@pytest.mark.parametrize("iri", NO_IRIS)
def test_what_is_no_iri_is_never_written(iri):
    with pytest.raises(UserError, match="cannot be written"):
        reference(iri)


# ------------------------------------------------------------------------------------------------------ all of SPARQL


def test_what_the_algebra_does_not_cover_is_asked_as_it_is(world_there):
    text = "SELECT ?c ?p { ?c :is_a :Country ; :population ?p } ORDER BY DESC(?p)"
    with pytest.raises(BeyondAlgebraError):
        world_there.ask(text)
    found = world_there.sparql(text, limit=2)
    assert found.cells() == [["India", "1,428,627,663"], ["China", "1,411,778,724"]] or len(found) == 2
    assert not found.complete and found.truth is None
    assert world_there.sparql("ASK { :France :borders :Spain }").truth is True
    assert len(world_there.sparql("SELECT ?x { ?x :borders ?y } VALUES ?y { :France }", limit=3)) == 3


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }", "CONSTRUCT and DESCRIBE are not sent"),
        ("DELETE WHERE { ?s ?p ?o }", "a question changes nothing"),
        ("SELECT ?x { SERVICE <http://other/> { ?x ?p ?o } }", "no other endpoint is asked"),
        ("DROP ALL", "a question changes nothing"),
    ],
)
def test_an_endpoint_is_only_read(world_there, text, told):
    with pytest.raises(UserError, match=told):
        world_there.sparql(text)


@pytest.mark.parametrize("text", ["DROP ALL", "CONSTRUCT { ?s ?p ?o } { ?s ?p ?o }", "# SELECT\nCLEAR ALL", ""])
def test_the_client_itself_sends_nothing_but_select_and_ask(text):
    with pytest.raises(UserError, match="only read"):
        SparqlClient("http://127.0.0.1:9/query").query(text)


# ------------------------------------------------------------------------------------------------- what is not offered


def test_what_needs_the_facts_or_a_model_is_refused_in_a_sentence(world_there, world_graph, kgreckon):  # noqa: F811
    with pytest.raises(UserError, match="gives answers and no reasons"):
        world_there.ask("countries that border France", explain=True)
    with pytest.raises(UserError, match="in no folder that can be changed"):
        world_there.change()
    assert isinstance(world_there, EndpointAnswerer) and "http://127.0.0.1" in repr(world_there)
    assert repr(world_there.graph).startswith("PartOfGraph: what was asked of the SPARQL endpoint http://127.0.0.1")
    address = address_of(world_there)
    for arguments, told in (
        (["ask", address, "countries", "--only", "inferred"], "only a trained run infers more"),
        (["ask", address, "countries", "--comparisons", "sampled"], "has no numerical edges"),
        (["stats", address], "a SPARQL endpoint is only asked"),
        (["serve", address], "it serves itself"),
    ):
        result = kgreckon(*arguments)
        assert result.code == 2 and told in result.err, result.err


def test_the_command_line_asks_an_endpoint(world_there, kgreckon):  # noqa: F811
    address = address_of(world_there)
    result = kgreckon("ask", address, "the 2 largest countries by area", "--json")
    assert [each["label"] for each in json.loads(result.out)["answers"]] == ["Russia", "Canada"]
    result = kgreckon("ask", address, "SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?p", "--limit", "1")
    assert result.code == 0 and "the first 1 row" in result.out


# ------------------------------------------------------------------------------------------------------ broken servers


class BrokenServer(ThreadingHTTPServer):
    """Answers as the path says."""

    def __init__(self, answers) -> None:
        super().__init__(("127.0.0.1", 0), Broken)
        self.answers = answers


class Broken(BaseHTTPRequestHandler):
    """Hands a request on to its server."""

    server: BrokenServer

    def do_POST(self):
        query = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())["query"][0]
        status, kind, body, headers = self.server.answers[unquote(self.path.lstrip("/"))](query)
        self.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def table(names: list[str], rows: list[list[str]]) -> bytes:
    bindings = [{name: {"type": "uri", "value": text} for name, text in zip(names, row, strict=False)} for row in rows]
    return json.dumps({"head": {"vars": names}, "results": {"bindings": bindings}}).encode()


def slow(_):
    time.sleep(1.0)
    return 200, JSON, b"{}", {}


@pytest.fixture(scope="module")
def broken():
    answers = {
        "html": lambda _: (200, "text/html", b"<html>hello</html>", {}),
        "json": lambda _: (200, JSON, b'{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": 3}]}}', {}),
        "deep": lambda _: (200, JSON, b"[" * 100_000, {}),
        "cut": lambda _: (200, JSON, b'{"head"', {"Content-Length": "1000"}),
        "refuses": lambda _: (400, "application/json", b'{"exception": "Parse error\\u001b[31m at line 1"}', {}),
        "fails": lambda _: (500, "text/html", b"<style>b{}</style><h1>Out of\n memory</h1>", {}),
        "empty": lambda _: (503, "text/plain", b"", {}),
        "moved": lambda _: (301, "text/plain", b"", {"Location": "https://elsewhere.example/sparql"}),
        "truth": lambda _: (200, JSON, b'{"head": {}, "boolean": true}', {}),
        "large": lambda _: (200, JSON, b" " * 3_000_000, {}),
        "slow": slow,
        "half": lambda _: (206, JSON, b'{"head": {"vars": ["p"]}, "results": {"bindings": []}}', {}),
        "cut off": lambda _: (200, JSON, table(["p", "n"], [["a", "1"]] * 3), {"X-SPARQL-MaxRows": "3"}),
        "in part": lambda _: (200, JSON, table(["p", "n"], [["a", "1"]] * 3), {"Kgreckon-Complete": "no"}),
        "other": lambda _: (200, JSON, table(["n"], [["1"]]), {}),
        "words": lambda query: (200, JSON, table(list("pkc" if "?k" in query else "pn"), [["a", "", "x"]]), {}),
        "surrogate": lambda _: (200, JSON, table(["p", "n"], [["\ud800", "1"]]), {}),
        "nothing": lambda _: (200, JSON, b'{"head": {"vars": ["p"]}, "results": {"bindings": []}}', {}),
    }  # fmt: skip
    with BrokenServer(answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("html", "answers with text/html, but not with the JSON of SPARQL results: is this the address"),
        ("json", "not with the JSON of SPARQL results"),
        ("deep", "not with the JSON of SPARQL results"),
        ("cut", "the connection to http://.* broke"),
        ("refuses", "HTTP 400: Parse error.* at line 1"),
        ("fails", "HTTP 500: Out of memory"),
        ("empty", "HTTP 503: Service Unavailable"),
        ("moved", "sends on to another address: ask https://elsewhere.example/sparql"),
        ("truth", "answers a SELECT with a truth value"),
        ("large", "more than 1 MiB"),
        ("slow", "did not answer within 0.3 seconds"),
        ("half", "did not answer within 0.3 seconds"),
        ("cut off", "gives only the first 3 answers"),
        ("in part", "gives only the first 3 answers"),
        ("other", "answers with 'n' where 'p n' is asked for"),
        ("words", "answers with 'x' where a number is asked for"),
        ("surrogate", "not with the JSON of SPARQL results"),
        ("nothing", "holds no facts in its default graph"),
    ],
)
def test_what_is_wrong_with_a_server_is_said_in_one_sentence(broken, monkeypatch, path, told):
    monkeypatch.setattr(client_module, "_MOST_BYTES", 1 << 20)
    there = EndpointAnswerer(Lookups(SparqlClient(f"{broken}/{quote(path)}", seconds=0.3)))
    with pytest.raises(UserError, match=told):
        there.ask("cities")


def test_rows_that_a_server_leaves_out_are_said(broken):
    client = SparqlClient(f"{broken}/cut%20off")
    found = client.query("SELECT ?p ?n WHERE { ?p ?n ?x }")
    assert not found.complete and len(found.rows) == 3
    assert client.query("SELECT ?p ?n WHERE { ?p ?n ?x } LIMIT 3").complete


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("http://127.0.0.1:9/query", "cannot be reached: Connection refused"),
        ("http://nowhere.invalid/query", "cannot be reached"),
        ("http://", "is not an address"),
        ("http://a b/", "is not an address"),
        ("http://host:99999999/", "is not an address"),
        ("http://me:secret@host/", "may hold no user name and password"),
        ("https://[::1", "is not an address"),
    ],
)
def test_an_address_that_cannot_be_asked_is_told(address, told):
    with pytest.raises(UserError, match=told) as error:
        kg.load(address).ask("cities")
    assert "secret" not in str(error.value)


def test_more_answers_than_are_taken_are_an_error(server, monkeypatch):
    monkeypatch.setattr(client_module, "MOST_ROWS", 3)
    there = at(server, " ".join(f":e{place} :likes :x ." for place in range(4)))
    with pytest.raises(UserError, match="more than 3 answers"):
        there.ask("what likes x")
