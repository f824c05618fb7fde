"""The inferred part of SPARQL: differences, ABS, COUNT, several variables, orders; exact where all is stated."""

import pyoxigraph as ox
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgreckon.answers import Answerer
from kgreckon.errors import BeyondAlgebraError
from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder
from kgreckon.graph.ntriples import n_triples
from kgreckon.models.exact_model import ExactModel
from kgreckon.query.notations import read_question
from kgreckon.query.sparql import PREFIXES, name_of, parse, parse_count

CONDITIONS = (
    "?a - ?b >= 5", "?a - ?b < -3", "2 * ?a - ?b > 4", "?a > ?b + ?b - 3", "10 <= ?a - ?b", "-(?a - ?b) > 2",
    "(?a - ?b) / 2 >= 1.5", "ABS(?a - ?b) > 4", "ABS(?b - ?a) >= 4", "4 < ABS(?a - ?b)", "ABS(?a - 3) < 4",
    "ABS(2 * ?a + 1) >= 7", "3 >= ABS(?a)", "ABS(5 - ?a) <= 2",
)  # fmt: skip


def random_heights(data):
    builder = GraphBuilder()
    for number in range(data.draw(st.integers(2, 8))):
        builder.add_fact(f"e{number}", "in", f"k{number % 2}")
        for value in data.draw(st.lists(st.integers(-8, 8), max_size=2, unique=True)):
            builder.add_value(f"e{number}", "height", float(value), "metres")
    builder.add_value("k0", "height", 1.0, "metres")
    return builder.build()


def found_by_oxigraph(graph, text) -> set[str]:
    store = ox.Store()
    store.bulk_load("".join(n_triples(graph)).encode(), format=ox.RdfFormat.N_TRIPLES)
    solutions = store.query(text, prefixes=PREFIXES)
    assert isinstance(solutions, ox.QuerySolutions)
    return {name_of(row[0].value) for row in solutions}


@pytest.mark.parametrize("condition", CONDITIONS)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_differences_and_distances_equal_oxigraph(condition, data):
    graph = random_heights(data)
    other = "?y :in :k1 ; :height ?b ." if "?b" in condition else ""
    text = f"SELECT DISTINCT ?x {{ ?x :height ?a . {other} FILTER({condition}) }}"
    ids = ask(graph, parse(text, graph.vocabulary).query)
    assert {graph.entities.name(int(each)) for each in ids} == found_by_oxigraph(graph, text)


@settings(max_examples=40, deadline=None)
@given(data=st.data(), bound=st.integers(0, 6), sign=st.sampled_from(["<", "<="]))
def test_a_distance_within_a_bound_takes_one_number(data, bound, sign):
    graph = random_heights(data)
    text = f"SELECT DISTINCT ?x {{ ?x :height ?a . :e0 :height ?b FILTER(ABS(?a - ?b) {sign} {bound}) }}"
    many = len(graph.values_of.row(graph.entities.find("e0"), 0)) > 1
    if many:
        with pytest.raises(BeyondAlgebraError, match="it takes one number"):
            parse(text, graph.vocabulary)
        return
    ids = ask(graph, parse(text, graph.vocabulary).query)
    assert {graph.entities.name(int(each)) for each in ids} == found_by_oxigraph(graph, text)


class TestCounts:
    @pytest.mark.parametrize(
        "text",
        [
            "SELECT (COUNT(DISTINCT ?c) AS ?n) { ?c :is_a :Country ; :borders ?d . ?d :speaks :German }",
            "SELECT (COUNT(?c) AS ?n) { ?c :in_country :Japan }",
            "SELECT (COUNT(*) AS ?n) { ?c :in_country :Japan }",
        ],
    )
    def test_a_count_is_the_one_of_oxigraph(self, world, text):
        answerer = world.answerer
        (row,) = answerer.sparql(text)
        assert answerer.ask(text).total.value == float(row[0].text)
        assert read_question(text, answerer.graph.vocabulary).aggregate == "count"

    @pytest.mark.parametrize(
        "text",
        [
            "SELECT (COUNT(?c) AS ?n) { ?c :borders ?d }",  # as many as there are borders
            "SELECT (COUNT(*) AS ?n) { ?c :in_country :Japan ; :population ?p }",
            "SELECT (COUNT(?c) AS ?n) { { ?c :speaks :German } UNION { ?c :speaks :French } }",
            "SELECT (COUNT(DISTINCT ?c) AS ?n) ?d { ?c :borders ?d }",
            "SELECT (COUNT(DISTINCT ?c) + 1 AS ?n) { ?c :borders :France }",
        ],
    )
    def test_what_counts_solutions_is_left_to_oxigraph(self, world, text):
        assert parse_count(text, world.names) is None

    def test_a_group_is_not_one_count(self, world):
        text = "SELECT (COUNT(DISTINCT ?c) AS ?n) { ?c :borders ?d } GROUP BY ?d"
        with pytest.raises(BeyondAlgebraError, match="GROUP BY"):
            world.answerer.ask(text)


ROWS = (
    "SELECT ?c ?p { ?c :is_a :Country ; :population ?p } ORDER BY DESC(?p) LIMIT 7",
    "SELECT ?c ?n { ?c :is_a :Country ; :borders ?n . ?n :official_language :German } ORDER BY ?c ?n",
    "SELECT ?p ?x { ?x :in_country :Iceland ; :population ?p FILTER(?p > 20000) } ORDER BY ?p",
    "SELECT ?c { ?c :borders :France } ORDER BY DESC(?c) LIMIT 3",
    "SELECT ?a ?b ?h { ?a :in_country ?b ; :elevation ?h . ?b :on_continent :Europe FILTER(?h > 500) } ORDER BY ?h ?a",
)


class TestRows:
    @pytest.mark.parametrize("text", ROWS)
    def test_where_all_is_stated_the_rows_are_those_of_oxigraph(self, world, text):
        found = world.answerer.solutions(text)
        assert not found.inferred and not found.known
        assert list(found) == list(world.answerer.sparql(text))

    def test_how_rows_are_known(self, world):
        found = world.answerer.solutions("SELECT ?c ?score ?n ?observed { ?c :borders ?n . ?n :speaks :Dutch } LIMIT 3")
        assert len(found) == 3 and found.variables == ("c", "score", "n", "observed")
        assert {(row[1].text, row[3].text) for row in found} == {("1.0", "true")}

    @pytest.mark.parametrize(
        "text",
        [
            "SELECT ?a ?b { ?a :borders ?b . ?b :borders ?a }",
            "SELECT ?c { ?c :borders :France } ORDER BY STRLEN(STR(?c))",
            "SELECT ?c ?p { ?c :population ?p } ORDER BY ?p OFFSET 3",
            "SELECT ?c ?l { ?c :borders :France OPTIONAL { ?c :speaks ?l } }",
            "SELECT ?c { ?c :population ?p } ORDER BY ?p",
            "SELECT ?p ?q { :Japan :population ?p . :France :population ?q }",
        ],
    )
    def test_what_the_algebra_cannot_say_is_left_to_oxigraph(self, world, text):
        with pytest.raises(BeyondAlgebraError):
            world.answerer.solutions(text)

    def test_inferred_rows_stand_beside_the_stated_ones(self, reckoner):
        answerer, graph = reckoner.answerer, reckoner.graph
        relation, attribute = (f"<{self.iri(symbols.name(0))}>" for symbols in (graph.relations, graph.attributes))
        text = f"SELECT ?x ?y ?v {{ ?x {relation} ?y ; {attribute} ?v }}"
        found, stated = answerer.solutions(text, floor=0.01), answerer.sparql(text)
        assert found.inferred and len(found.known) == len(found) > len(stated)
        rows = [row for row, known in zip(found, found.known, strict=True) if known.observed]
        assert rows == list(stated)
        scores = [known.score for known in found.known if not known.observed]
        assert scores == sorted(scores, reverse=True) and all(0.01 <= score <= 1 for score in scores)
        single = answerer.ask(f"SELECT ?x {{ ?x {relation} ?y ; {attribute} ?v }}", 1000, only="inferred", above=0)
        likely = {answer.name: answer.score for answer in single if answer.score >= 0.01}
        inferred = [(row, known) for row, known in zip(found, found.known, strict=True) if not known.observed]
        assert {name_of(row[0].text): known.score for row, known in inferred} == likely
        for row, _ in inferred:
            rows_of = graph.values_of.row(graph.entities.find(name_of(row[0].text)), 0)
            stated_values = graph.values.numbers[rows_of].tolist()
            assert row[1] is not None and (not stated_values or float(row[2].text) in stated_values)

    def test_an_order_and_a_limit_are_of_all_rows(self, reckoner):
        answerer, graph = reckoner.answerer, reckoner.graph
        attribute = f"<{self.iri(graph.attributes.name(0))}>"
        text = f"SELECT ?x ?v ?score {{ ?x {attribute} ?v }} ORDER BY DESC(?v)"
        everything = [float(row[1].text) for row in answerer.solutions(text, floor=0.01) if row[1] is not None]
        assert everything == sorted(everything, reverse=True)
        few = [float(row[1].text) for row in answerer.solutions(f"{text} LIMIT 5", floor=0.01)]
        assert few == everything[:5]
        by_score = answerer.solutions(text.replace("DESC(?v)", "?score"), floor=0.01)
        scores = [float(row[2].text) for row in by_score]
        assert scores == sorted(scores) == [known.score for known in by_score.known]

    @staticmethod
    def iri(name):
        from kgreckon.query.sparql import iri

        return iri(name)


def test_the_json_says_how_rows_are_known():
    builder = GraphBuilder()
    builder.add_fact("a", "r", "b")
    answerer = Answerer(ExactModel(builder.build()))
    found = answerer.solutions("SELECT ?x ?y ?score { ?x :r ?y }").as_json()
    assert found["inferred"] is False and found["known"] == [{"score": 1.0, "observed": True}]
    answerer.triples.close()
