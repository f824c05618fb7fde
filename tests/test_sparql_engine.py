"""All of SPARQL: the same answers as Oxigraph gives by itself, within bounds, and with a word on what is inferred."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pyoxigraph as ox
import pytest

from kgreckon.answers import Answerer
from kgreckon.engine.oxigraph import LoadingError, QueryLimits, TripleStore
from kgreckon.engine.rdf_terms import Term
from kgreckon.engine.serializing import serialized
from kgreckon.errors import BeyondAlgebraError, UserError
from kgreckon.graph import GraphBuilder, KnowledgeGraph
from kgreckon.graph.literals import is_calendar
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.sparql import PREFIXES, check_question, iri, iris_in, own_limit, parse, parse_ask
from real_sparql import QUESTIONS

LABEL = ox.NamedNode("http://www.w3.org/2000/01/rdf-schema#label")
CROSS = "SELECT (COUNT(*) AS ?n) { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f FILTER(?b != ?d && ?b != ?f) }"


def direct(graph: KnowledgeGraph) -> ox.Store:
    """The graph in Oxigraph, term by term, without our N-Triples."""
    names = graph.vocabulary
    store = ox.Store()

    def named(name: str) -> ox.NamedNode:
        return ox.NamedNode(iri(name))

    quads = [
        ox.Quad(named(names.entity_name(head)), named(names.relation_name(2 * label)), named(names.entity_name(tail)))
        for head, label, tail in zip(
            graph.facts.sources.tolist(), graph.facts.labels.tolist(), graph.facts.targets.tolist(), strict=True
        )
    ]
    values = graph.attribute_facts
    for entity, attribute, row in zip(
        values.sources.tolist(), values.labels.tolist(), values.targets.tolist(), strict=True
    ):
        value, unit = graph.values.number_at(row)
        assert not is_calendar(unit)
        number = ox.Literal(value)
        quads.append(ox.Quad(named(names.entity_name(entity)), named(names.attribute_name(attribute)), number))
    for symbols in (graph.entities, graph.relations, graph.attributes):
        for place in range(len(symbols)):
            quads.append(ox.Quad(named(symbols.name(place)), LABEL, ox.Literal(symbols.label(place))))
    store.extend(quads)
    return store


def said(term) -> Term | None:
    """One of Oxigraph's terms as one of ours."""
    match term:
        case None:
            return None
        case ox.Literal():
            return Term(term.value, term.datatype.value, term.language)
        case _:
            return Term(term.value, blank=isinstance(term, ox.BlankNode))


@pytest.fixture(scope="module")
def store(world_graph):
    return direct(world_graph)


@pytest.fixture(scope="module")
def answerer(world_graph):
    found = Answerer(ExactModel(world_graph))
    yield found
    found.triples.close()


class TestAnswers:
    def test_there_are_fifty_questions(self):
        assert len(QUESTIONS) == 50

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_a_question_of_real_style(self, answerer, store, question):
        text = QUESTIONS[question]
        found = answerer.sparql(text)
        expected = store.query(text, prefixes=PREFIXES)
        if isinstance(expected, ox.QueryBoolean):
            assert found.truth is bool(expected) is True
            return
        rows = [tuple(map(said, row)) for row in expected]
        assert rows, "a question without an answer shows little"
        assert Counter(found) == Counter(rows) and found.complete and found.truth is None
        if isinstance(expected, ox.QuerySolutions):
            assert found.variables == tuple(each.value for each in expected.variables)
        if "ORDER BY" in text and "GROUP BY" not in text:
            assert list(found) == rows

    @pytest.mark.parametrize("question", QUESTIONS)
    def test_none_of_them_is_in_the_algebra(self, world_graph, question):
        """Else it would be answered with inference, and this file would not test what it says."""
        read = parse_ask if QUESTIONS[question].startswith("ASK") else parse
        with pytest.raises(BeyondAlgebraError):
            read(QUESTIONS[question], world_graph.vocabulary)

    def test_what_the_algebra_covers_is_answered_alike(self, answerer):
        for text in (
            "SELECT ?c { ?c :in_country :Japan ; :is_a :City }",
            "SELECT ?c { ?c :capital_of/:borders :France ; :population ?p FILTER(?p > 1000000) }",
            "SELECT ?c { ?c :borders :France MINUS { ?c :borders :Spain } }",
        ):
            algebra = {answer.name for answer in answerer.ask(text, limit=100_000)}
            assert algebra and {row[0] for row in answerer.sparql(text)} == {Term(iri(name)) for name in algebra}

    def test_describe_gives_what_is_stated_of_a_thing(self, answerer, store):
        expected = {tuple(map(said, triple)) for triple in store.query("DESCRIBE <urn:kgreckon:Tokyo>")}
        found = answerer.sparql("DESCRIBE :Tokyo")
        assert expected and set(found) == expected and found.variables == ("subject", "predicate", "object")
        again = ox.parse(serialized(found.result, "text/turtle"), format=ox.RdfFormat.TURTLE)
        assert {tuple(map(said, quad.triple)) for quad in again} == expected

    def test_dates_are_dates(self):
        builder = GraphBuilder()
        for name, attribute, value, unit in (
            ("a", "born", 1969 + 59 / 365, "date"),
            ("b", "born", -43 + 73 / 365, "date"),
            ("a", "seen", 2000.5, "date"),
            ("a", "left", 2000.5, "date"),
            ("b", "left", 1999 + (364 + 0.25) / 365, "date"),
            ("a", "from", 1950.0, "gYear"),
            ("a", "at", 1969.0, "dateTime"),
            ("a", "height", 1.8, "metres"),
        ):
            builder.add_value(name, attribute, value, unit)
        answerer = Answerer(ExactModel(builder.build()))
        found = answerer.sparql("SELECT ?p ?v { ?x ?p ?v FILTER(!isIRI(?v) && ?p != rdfs:label) }")
        terms = [[term for term in row if term is not None] for row in found]
        written = {(p.text.rpartition(":")[2], v.text, (v.datatype or "").rpartition("#")[2]) for p, v in terms}
        assert written == {
            ("born", "1969-03-01", "date"),
            ("born", "-0043-03-15", "date"),
            ("seen", "2000-07-02", "date"),
            ("left", "2000-07-02T00:00:00Z", "dateTime"),  # in one datatype with the time below
            ("left", "1999-12-31T06:00:00Z", "dateTime"),
            ("from", "1950", "gYear"),
            ("at", "1969-01-01T00:00:00Z", "dateTime"),
            ("height", "1.8", "double"),
        }
        later = 'SELECT ?x { ?x :born ?d FILTER(?d > "1900-01-01"^^xsd:date) } ORDER BY ?d'
        assert list(answerer.sparql(later)) == [(Term("urn:kgreckon:a"),)]
        answerer.triples.close()


class TestReading:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("SELECT ?x {", "SPARQL, line 1, at or after column 12 .*syntax error"),
            ("SELECT ?x {\n ?x ?y }", r"line 2, at or after column 9 \(near ' \?x \?y }'\): syntax error"),
            ("SELECT ?x {\n", r"line 2, at or after column 1 \(near ''\): syntax error"),
            ("SELECT ?x { ?x \u2028\x0b ?y", r"line 1, at or after column .*syntax error"),
            ("SELECT ?x { ?x ex:a ?y . ?y ?z ?x }", "unknown prefix 'ex': declare it with PREFIX ex: <…>"),
            ("SELECT * { ?x ?y ?z } GROUP BY ?x", r"SELECT \* cannot stand with GROUP BY"),
            ("SELECT (?y AS ?x) { ?x ?z ?y }", "AS gives a value to a variable that has one"),
            ("SELECT * { SERVICE <http://127.0.0.1:9000/> { ?x ?y ?z } }", "SERVICE is not supported"),
            ("SELECT * { ?a ?b ?c .service silent <http://127.0.0.1:9000/> { ?x ?y ?z } }", "SERVICE is not supported"),
            ("SELECT * { \\u0053ERVICE <http://127.0.0.1:9000/> { ?x ?y ?z } }", "SERVICE is not supported"),
            ("SELECT * FROM <file:///etc/passwd> { ?x ?y ?z }", "FROM is not supported: there is one graph"),
            ("SELECT * FROM NAMED <urn:x> { GRAPH ?g { ?x ?y ?z } }", "FROM is not supported"),
            ("LOAD <file:///etc/passwd>", "LOAD is not supported: a question changes nothing"),
            ("INSERT DATA { :a :b :c }", "INSERT is not supported"),
            ("DROP ALL", "DROP is not supported"),
            (f"SELECT * {{ {'?x ?y ?z . ' * 2000} }}", "20,000 characters"),
            ("SELECT * " + "{" * 40 + "}" * 40, "at most 32 deep"),
            ("SELECT (TRIPLE(:a, :b, :c) AS ?t) {}", "a result may hold no triple as a term"),
        ],
    )
    def test_what_is_refused(self, answerer, text, message):
        with pytest.raises(UserError, match=message):
            answerer.sparql(text)

    def test_words_that_are_names_are_not_refused(self, answerer):
        text = "PREFIX from: <urn:kgreckon:> SELECT ?service ?from { ?service from:service ?from ; :from '' } # FROM"
        assert check_question(text) and not len(answerer.sparql(text))

    def test_no_file_and_no_connection_can_be_opened(self, world_graph):
        """Even where the words that lead there are not seen: the query's own process may open nothing."""
        store = TripleStore(lambda: [b"<a:a> <a:b> <a:c> .\n"], 1)
        with pytest.raises(UserError, match="SERVICE is not supported"):
            store.query("SELECT * { ?a ?b ?c SERVICE <http://127.0.0.1:8080/> { ?x ?y ?z } }")
        assert not store.query("SELECT * { ?x ?y ?z FILTER(?x = <a:x>) SERVICE SILENT <http://127.0.0.1/> {} }").rows
        store.close()

    def test_names_and_limits_of_a_text(self):
        text = """PREFIX a: <urn:a:> SELECT ?x { ?x a:b.c <urn:d> ; :New%20York "x:y :z <no>" ; <e> ?_ } # f:g"""
        assert iris_in(text) == ["urn:a:b.c", "urn:d", "urn:kgreckon:New%20York", "e"]
        assert own_limit("SELECT ?x { { SELECT ?x { ?x ?y ?z } LIMIT 5 } }") is None
        assert own_limit("SELECT ?x { ?x ?y ?z } LIMIT 7 OFFSET 3 # }") == own_limit("ASK {} limit 7") == 7

    def test_an_unknown_name_is_said_where_nothing_is_found(self, answerer):
        found = answerer.sparql("SELECT ?a ?b { ?a :border ?b ; :in_country :Japn }")
        assert [line.partition(" or ")[0] for line in found.unknown] == [
            "the graph has nothing named 'border'; did you mean 'borders'",
            "the graph has nothing named 'Japn'; did you mean 'Japan'",
        ]
        assert not answerer.sparql("SELECT ?a { ?a :borders ?b . ?b :borders ?b }").unknown

    def test_all_of_sparql_from_python(self, answerer):
        with pytest.raises(BeyondAlgebraError, match="SELECT takes one variable") as raised:
            answerer.ask("SELECT ?a ?b { ?a :borders ?b }")
        assert "Answerer.sparql" in raised.value.__notes__[0]
        found = answerer.sparql("SELECT ?c ?p ?l ?s { :Tokyo :capital_of ?c ; :population ?p BIND('a' AS ?s) }")
        assert found.cells() == [["Japan", "9,733,276", "", "a"]] and len(found) == 1
        frame = found.to_pandas()
        assert frame.to_dict("records") == [{"c": "Japan", "p": 9733276.0, "l": None, "s": "a"}]
        assert repr(found).splitlines() == [
            "1 row; stated, nothing is inferred", "c      p          l  s", "Japan  9,733,276     a",
        ]  # fmt: skip
        assert "<td>9,733,276</td>" in found._repr_html_() and found.as_json()["inferred"] is False
        assert repr(answerer.sparql("ASK { :Tokyo ?p :Japan }")) == "true; stated, nothing is inferred"


class TestBounds:
    def test_rows_and_characters(self, answerer):
        text = "SELECT * { ?x ?y ?z }"
        found = answerer.sparql(text, limit=250)
        assert (len(found), found.complete) == (250, False) and repr(found).startswith("the first 250 rows")
        few = answerer.sparql(text, limits=QueryLimits(characters=5_000))
        assert not few.complete and 10 < len(few) < 100
        assert answerer.sparql("SELECT * { :Tokyo ?y ?z }", limit=9).complete is True

    def test_memory(self, answerer):
        greedy = "SELECT (GROUP_CONCAT(?l) AS ?g) { ?a rdfs:label ?l . ?b rdfs:label ?m . ?c rdfs:label ?n }"
        with pytest.raises(UserError, match=r"needs more than 0\.039 GiB of memory"):
            answerer.sparql(greedy, limits=QueryLimits(bytes=40 << 20))
        assert answerer.sparql("ASK { :Tokyo :capital_of :Japan }").truth

    def test_a_query_that_would_never_end_is_ended(self, answerer):
        answerer.sparql("ASK {}")
        start = time.monotonic()

        def pause():
            if time.monotonic() - start > 0.5:
                raise TimeoutError

        with pytest.raises(TimeoutError):
            answerer.sparql(CROSS, pause=pause)
        assert time.monotonic() - start < 5
        process = process_of(answerer.triples).pid
        deadline = time.monotonic() + 5
        while children(process) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not children(process)  # and nothing is left of it
        assert answerer.sparql("ASK { :Tokyo :capital_of :Japan }").truth

    def test_several_threads_at_once(self, answerer):
        results: dict[int, int] = {}

        def work(place):
            results[place] = len(answerer.sparql(f"SELECT * {{ ?x ?y ?z }} LIMIT {100 + place}"))

        threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == {place: 100 + place for place in range(8)}

    def test_who_has_little_patience_is_asked_to_come_again(self):
        wait = threading.Event()

        def slow():
            yield b"<a:a> <a:b> <a:c> .\n"
            wait.wait(30)
            yield b"<a:a> <a:b> <a:d> .\n"

        store = TripleStore(slow, 2)
        progress = []
        with pytest.raises(LoadingError, match=r"the 2 triples of the graph are being loaded \(50 %\): try again"):
            store.query("ASK { ?x ?y ?z }", patience=0.3, progress=lambda *each: progress.append(each))
        assert progress[-1] == (1, 2)
        wait.set()
        assert len(store.query("SELECT * { ?x ?y ?z }").rows) == 2
        store.close()

    def test_a_mistake_is_told_before_anything_is_loaded(self):
        store = TripleStore(lambda: pytest.fail("triples are wanted"), 1)
        with pytest.raises(UserError, match="syntax error"):
            store.query("SELECT ?x {")
        store.close()

    def test_too_many_triples_for_the_memory(self):
        store = TripleStore(list, 1 << 40)
        with pytest.raises(UserError, match=r"1,099,511,627,776 triples .* are kept in Oxigraph, about 460800\.0 GiB"):
            store.query("ASK {}")

    def test_it_starts_anew_after_its_process_was_killed(self, world_graph):
        store = TripleStore.of(world_graph)
        assert store.query("ASK { :Tokyo :capital_of :Japan }").truth
        os.kill(process_of(store).pid, signal.SIGKILL)
        process_of(store).wait()
        assert store.query("ASK { :Tokyo :capital_of :Japan }").truth
        store.close()

    def test_nothing_is_left_when_the_program_is_killed(self, tmp_path):
        """Neither the process with the triples nor the one that answers."""
        program = (
            "import kgreckon as kg, sys\n"
            "answerer = kg.load('world'); answerer.sparql('ASK {}')\n"
            "print(answerer.triples._process._process.pid, flush=True)\n"
            f"answerer.sparql({CROSS!r})\n"
        )
        with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            keeper, answering = int(process.stdout.readline()), list[int]()
            deadline = time.monotonic() + 20
            while time.monotonic() < deadline:
                before, answering = answering, children(keeper)
                if len(answering) == 1 and answering == before:  # the one before may still be there for a moment
                    break
                time.sleep(0.2)
            process.kill()  # before anything is judged: it would be waited for
            both = [keeper, *answering]
            assert len(both) == 2
        deadline = time.monotonic() + 10
        while any(map(alive, both)) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not any(map(alive, both))


def process_of(store: TripleStore) -> subprocess.Popen[bytes]:
    """The process that holds its triples."""
    assert store._process is not None
    return store._process._process


def children(process: int) -> list[int]:
    """The processes that a process has started and that still run."""
    text = Path(f"/proc/{process}/task/{process}/children").read_text()
    return [each for each in map(int, text.split()) if alive(each)]


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except FileNotFoundError:
        return False
