"""Asking a trained run: ranked answers, observed or inferred, with reasons."""

import json
import shutil
import sys
from inspect import signature
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kgreckon
from kgreckon.answers import Answerer, Only, Ranking
from kgreckon.answers.reason import reason_of
from kgreckon.benchmark import Benchmark, BuildSettings, build
from kgreckon.cli import main
from kgreckon.cli.answers import ask as ask_command
from kgreckon.defaults import LEAST_PROBABILITY
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph import GraphBuilder
from kgreckon.models.exact_model import ExactModel
from kgreckon.models.interface import Candidates, ScoreMeaning
from kgreckon.models.stated import StatedFacts
from kgreckon.query import Entity, EntitySort, Follow
from kgreckon.query.algebra import ValueOf
from kgreckon.query.paper import parse
from kgreckon.runs import train
from kgreckon.server.schemas import AskRequest, TableRequest
from random_graph import random_graph
from strategies import graphs, queries

ENTITIES = "(i,(rp,(r0),(e,(e1))),(rap,(height),(np,(GreaterThan),(nv,(3)))))"
NUMBERS = "(ap,(height),(rp,(r0),(e,(e1))))"


def witnesses(graph, query, answers):
    """For each answer that the graph proves, the facts of one proof in words."""
    return [reason_of(proof, graph.vocabulary).lines() for proof in ExactModel(graph).prove(query, answers)]


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=60))


@pytest.fixture(scope="module")
def reckoner_run(small, tmp_path_factory):
    few: dict[str, Any] = {"rank": 8, "epochs": 3, "batch_size": 64, "heads": 16, "validation_queries": 2}
    return train(small, "reckoner", out=tmp_path_factory.mktemp("runs") / "reckoner", device="cpu", **few)


@pytest.fixture(scope="module")
def neural_run(small, tmp_path_factory):
    few: dict[str, Any] = {"dimension": 8, "batch_size": 32, "steps": 4, "validation_queries": 5}
    return train(small, "gqe", out=tmp_path_factory.mktemp("runs") / "gqe", device="cpu", **few)


@pytest.fixture(params=["reckoner", "neural"])
def answerer(request, reckoner_run, neural_run) -> Answerer:
    return kgreckon.load((reckoner_run if request.param == "reckoner" else neural_run).folder, device="cpu")


@pytest.mark.parametrize("text", [ENTITIES, NUMBERS])
def test_what_the_graph_proves_comes_first_and_is_marked(answerer, small, text):
    if "(nv,(3))" in text and not answerer.model.any_comparison:
        text = text.replace("(nv,(3))", "(ap,(height),(e,(e0)))")
    query = parse(text, small.graph.vocabulary)
    proved = set(ask(small.graph, query).tolist())
    found = answerer.ask(text, limit=len(proved) + 5, above=0)
    assert proved and found.observed == len(proved)
    marks = [answer.observed for answer in found.answers]
    assert marks == sorted(marks, reverse=True)
    assert {answerer.id_of(query, answer) for answer in found.answers if answer.observed} == proved
    assert all(0 <= answer.score <= 1 for answer in found.answers)
    for group in (True, False):
        scores = [answer.score for answer in found.answers if answer.observed is group]
        assert scores == sorted(scores, reverse=True)


def test_an_answer_for_a_number_has_a_unit_and_an_estimate(answerer):
    found = answerer.ask(NUMBERS)
    assert {answer.unit for answer in found.answers if answer.observed} == {"metres"}
    assert found.estimate is None or found.estimate.low <= found.estimate.value <= found.estimate.high
    if answerer.model.calibration is ScoreMeaning.PROBABILITY:
        assert found.estimate is not None and found.estimate.unit == "metres"
    else:
        assert found.estimate is None or found.estimate.expected == 1  # it cannot tell whether there is one


def test_a_number_that_is_stated_needs_no_estimate(answerer, small):
    names, facts = small.graph.vocabulary, small.graph.attribute_facts
    for entity, attribute in zip(facts.sources[:20].tolist(), facts.labels[:20].tolist(), strict=True):
        asked = f"(ap,({names.attribute_name(attribute)}),(e,({names.entity_name(entity)})))"
        found = answerer.ask(asked)
        assert found.observed and found.estimate is None


def test_a_number_of_one_entity_is_its_prediction(reckoner_run, small):
    answerer = Answerer.open(reckoner_run.folder, device="cpu")
    names, stated = small.graph.vocabulary, small.graph.values_of
    height = names.attribute_id("height")
    for entity in range(len(small.graph.entities)):
        found = answerer.ask(f"(ap,(height),(e,({names.entity_name(entity)})))")
        assert all(answer.unit == "metres" and answer.score > 0 for answer in found.answers)
        if len(stated.row(entity, height)):
            assert found.observed and found.estimate is None
        else:
            assert not found.observed and found.estimate is not None


def test_a_reckoner_is_certain_of_what_the_whole_graph_states(reckoner_run, small):
    answerer = Answerer.open(reckoner_run.folder, device="cpu")
    query = parse(ENTITIES, small.graph.vocabulary)
    proved = ask(small.graph, query)
    scores = answerer.model.candidates(query, proved).dense(len(small.graph.entities))
    assert (scores[proved] == 1).all()
    assert (scores == 1).sum() == len(proved)


def test_reasons_name_the_facts_of_a_proof(answerer, small):
    text = "(i,(rp,(r0),(e,(e1))),(rp,(r1),(e,(e1))))"
    found = answerer.ask(text, limit=30, above=0)
    for answer in found.answers:
        whole = answerer.explain(text, answer)
        reason = [line for line in whole.lines() if not line.startswith("– ")]
        assert len(reason) == 2 and whole.sentence.endswith(".") and "e1" in whole.sentence
        if answer.observed:
            assert all(line.endswith("(observed)") for line in reason)
            assert all(answer.label in line and "e1" in line for line in reason)
        else:
            assert any("missing" in line or "predicted" in line for line in reason)


class TestSteps:
    """What a graph states of an answer that it does not prove."""

    @pytest.fixture
    def steps(self):
        builder = GraphBuilder()
        for city, land in (("Oslo", "Norway"), ("Bergen", "Norway"), ("Rome", "Italy")):
            builder.add_fact(city, "in", land)
        builder.add_fact("Norway", "borders", "Sweden")
        builder.add_value("Rome", "height", 21.0, "metres")
        builder.add_value("Oslo", "height", 23.0, "metres")
        graph = builder.build()
        return StatedFacts(graph)

    @pytest.mark.parametrize(
        ("answer", "query", "expected"),
        [
            ("Rome", "(rp,(^in),(e,(Norway)))", ["Rome — in → Norway (missing)"]),
            (
                "Rome",
                "(rp,(^in),(rp,(^borders),(e,(Sweden))))",
                ["Rome — in → Italy (observed)", "Italy — borders → Sweden (missing)"],
            ),
            (
                "Sweden",
                "(rp,(^in),(rp,(^borders),(e,(Sweden))))",
                ["Sweden — in → … (missing)", "things that border Sweden (observed)"],
            ),
            (
                "Rome",
                "(i,(rp,(^in),(e,(Norway))),(rap,(height),(np,(GreaterThan),(ap,(height),(e,(Oslo))))))",
                [
                    "height of Rome: 21 metres (observed)",
                    "21 metres is greater than the height of Oslo (missing)",
                    "Rome — in → Norway (missing)",
                ],
            ),
            ("Bergen", "(u,(rp,(^in),(e,(Italy))),(rp,(^in),(e,(Norway))))", ["Bergen — in → Norway (observed)"]),
            (
                "Bergen",
                "(rap,(height),(np,(GreaterThan),(nv,(5 metres))))",
                ["height of Bergen: … (missing)", "numbers > 5 metres (observed)"],
            ),
            ("Oslo", "(n,(rp,(^in),(e,(Norway))))", ["things not in Norway (missing)"]),
        ],
    )
    def test_each_step_is_observed_or_missing(self, steps, answer, query, expected):
        names = steps.graph.vocabulary
        proof = steps.proof(parse(query, names), names.entity_id(answer))
        reason = reason_of(proof, names)
        assert sorted(reason.lines()) == sorted(expected)
        stated = all(line.endswith("(observed)") for line in expected)
        assert reason.sentence.startswith(
            "The graph states that" if stated else ("The graph does not", "Not all of it")
        )

    def test_of_a_number(self, steps):
        names = steps.graph.vocabulary
        (row,) = steps.graph.values_of.row(names.entity_id("Rome"), names.attribute_id("height"))
        found = reason_of(steps.proof(parse("(ap,(height),(rp,(^in),(e,(Norway))))", names), int(row)), names).lines()
        assert found == ["height of Rome: 21 metres (observed)", "Rome — in → Norway (missing)"]


def test_a_wrong_choice_is_an_error(answerer):
    for only in ("observed", "inferred"):
        assert all(each.observed == (only == "observed") for each in answerer.ask(ENTITIES, 5, only, above=0).answers)
    with pytest.raises(UserError, match="choose observed or inferred"):
        answerer.ask(ENTITIES, 5, "likely")
    with pytest.raises(UserError, match="must not be negative"):
        answerer.ask(ENTITIES, -1)


def test_what_is_observed_needs_no_model(neural_run, small):
    answerer = Answerer.open(neural_run.folder, device="cpu")
    text = ENTITIES.replace("(nv,(3))", "(nv,(3.0625))")  # which the model has not seen
    found = answerer.ask(text, 100, "observed")
    query = parse(text, small.graph.vocabulary)
    assert {answerer.id_of(query, answer) for answer in found.answers} == set(ask(small.graph, query).tolist())
    with pytest.raises(UserError, match=r"not 3\.0625; ask for observed answers only"):
        answerer.ask(text, 100)


@pytest.mark.parametrize("query", [None, Follow(0, Entity(10**9)), Follow(0, Entity(-1)), ValueOf(500, Entity(0))])
def test_what_is_no_query_of_the_graph_is_an_error(answerer, query):
    with pytest.raises(UserError, match=r"not a query|the graph has no (entity|attribute) #"):
        answerer.ask(query)


def test_a_witness_of_a_comparison(small):
    query = parse(ENTITIES, small.graph.vocabulary)
    answer = int(ask(small.graph, query)[0])
    (found,) = witnesses(small.graph, query, [answer])
    assert any(line.endswith("is greater than 3 metres (arithmetic)") for line in found)


@pytest.mark.parametrize("text", [ENTITIES, NUMBERS])
def test_only_what_is_observed_or_inferred(reckoner_run, small, text):
    answerer = Answerer.open(reckoner_run.folder, device="cpu")
    everything = answerer.ask(text, limit=10**6, above=0)
    assert {answer.observed for answer in everything.answers} == {True, False}
    for only in Only:
        part = answerer.ask(text, limit=10**6, only=only, above=0)
        assert only != "observed" or part.estimate is None
        assert part.answers == tuple(a for a in everything.answers if a.observed is (only is Only.OBSERVED))
        assert answerer.ask(text, limit=2, only=only, above=0).answers == part.answers[:2]
        assert part.observed == everything.observed


@pytest.mark.parametrize("text", [ENTITIES, NUMBERS])
def test_what_is_unlikely_is_left_out_unless_it_is_asked_for(reckoner_run, text):
    answerer = Answerer.open(reckoner_run.folder, device="cpu")
    everything, usual = answerer.ask(text, 10**6, above=0), answerer.ask(text, 10**6)
    assert usual.answers == tuple(a for a in everything if a.observed or a.score > LEAST_PROBABILITY)
    assert usual.above == LEAST_PROBABILITY and everything.unlikely == 0 < usual.unlikely
    assert any("left out" in note for note in usual.notes())


def test_a_datatype_is_no_unit_and_numbers_for_people_have_separators(tmp_path):
    (tmp_path / "books.ttl").write_text("@prefix : <http://b/> . :long :pages 20430 . :short :pages 12 .")
    graph, _ = kgreckon.read_sources([tmp_path / "books.ttl"])
    answerer = kgreckon.load(graph)
    [found] = answerer.ask("the pages of long", explain=True)
    assert str(found) == "20,430" and found.reason is not None
    assert "the pages of long is 20,430." in found.reason.sentence and "integer" not in str(found.reason)
    assert (found.value, found.unit, found.text) == (20430, "integer", "20430")  # for programs
    more = answerer.ask("things with pages > 15000", explain=True)
    assert more.words == "things with pages > 15,000" and [column.header for column in more.columns] == ["pages"]
    assert "integer" not in repr(more) and "20,430" in repr(more) and "integer" not in str(more[0].reason)
    [cell] = more[0].values
    assert cell is not None and cell.value == 20430 and more.columns[0].unit == "integer"  # for programs
    assert str(answerer.ask("average pages of things").total) == "10,221, of 2 stated values"


def test_every_door_leaves_out_the_same():
    doors = [signature(Answerer.ask), signature(Answerer.best), signature(ask_command)]
    defaults = [each.parameters["above"].default for each in doors]
    defaults += [model.model_fields["above"].default for model in (AskRequest, TableRequest)]
    assert set(defaults) == {LEAST_PROBABILITY}


def test_a_score_of_one_is_no_proof():
    candidates = Candidates(np.arange(3), np.array([1.0, 0.0, 0.5], dtype=np.float32))
    ranking = Ranking(Entity(0), EntitySort(), candidates, np.array([1]))
    assert ranking.best(5) == [(1, 0.0), (0, 1.0), (2, 0.5)]
    assert ranking.best(5, Only.OBSERVED) == [(1, 0.0)] and ranking.best(5, Only.INFERRED) == [(0, 1.0), (2, 0.5)]


class Careless(ExactModel):
    """A model that scores some of the candidates, whatever is proved."""

    def __init__(self, graph, scored, score):
        super().__init__(graph)
        self.given = Candidates(np.array(scored, dtype=np.int64), np.full(len(scored), score, dtype=np.float32))

    def candidates(self, query, proved, pause=None):
        return self.given


@pytest.mark.parametrize("scored", [[], [0], [1], [0, 1, 2, 3]])
@pytest.mark.parametrize("score", [np.nan, np.inf, -np.inf, 0.0, 0.5])
def test_what_is_proved_is_shown_whatever_the_model_scores(scored, score):
    builder = GraphBuilder()
    for town in ("a", "b", "c"):
        builder.add_fact(town, "in", "d")
    model = Careless(builder.build(), scored, score)
    answers = Answerer(model).ask("(rp,(^in),(e,(d)))", limit=10)
    proved = [answer for answer in answers.answers if answer.observed]
    assert {answer.name for answer in proved} == {"a", "b", "c"} and answers.observed == 3
    assert list(answers.answers[:3]) == proved
    assert all(np.isfinite(answer.score) for answer in answers.answers)
    likely = set(scored) if score == 0.5 else set()  # what has no chance is no answer
    assert len(answers.answers) == len(likely | {model.graph.entities.find(name) for name in "abc"})


@settings(max_examples=150)
@given(st.data())
def test_a_proof_holds_nothing_but_what_is_so(data):
    graph = data.draw(graphs())
    query = data.draw(queries(graph))
    for proof in witnesses(graph, query, ask(graph, query)[:3].tolist()):
        for line in proof:
            assert line.endswith(("(observed)", "(arithmetic)")) or line == "nothing speaks against it"


def test_a_reason_of_a_union_is_the_part_that_holds(small):
    names = small.graph.vocabulary
    text = "(u,(rp,(r0),(e,(e1))),(rap,(height),(np,(GreaterThan),(nv,(1000000)))))"
    query = parse(text, names)
    for proof in witnesses(small.graph, query, ask(small.graph, query).tolist()):
        assert len(proof) == 1 and "r0" in proof[0] and proof[0].endswith("(observed)")


def test_what_is_no_answer_has_no_reason(small):
    query = parse("(rp,(r0),(e,(e1)))", small.graph.vocabulary)
    stranger = next(place for place in range(len(small.graph.entities)) if place not in ask(small.graph, query))
    assert witnesses(small.graph, query, [stranger]) == [[]]
    (proof,) = ExactModel(small.graph).prove(query, [stranger])
    assert str(reason_of(proof, small.graph.vocabulary)) == "Nothing speaks for it."


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("top 3 airports by elevation", "Its elevation is {} metres."),
        ("cities in Norway nearest to Oslo", "Its distance to Oslo is {} kilometres."),
        ("countries by population", "Its population is {} persons."),
    ],
)
def test_a_reason_names_the_value_that_gives_an_answer_its_place(question, said):
    answers = kgreckon.load("world").ask(question, limit=3, explain=True)
    for answer in answers:
        (column,), (cell,) = answers.columns, answer.values
        assert column.unit and cell and answer.reason
        assert answer.reason.sentence.endswith(f" {said.format(cell.shown(column.unit))}")


def test_a_reason_names_a_value_once():
    (answer,) = kgreckon.load("world").ask("top 1 airports by elevation with elevation > 100", explain=True)
    assert str(answer.reason).splitlines()[0].count("elevation") == 1


def test_a_reason_says_that_the_value_of_its_place_is_predicted(reckoner_run):
    answers = kgreckon.load(reckoner_run.folder, device="cpu").ask("top 40 things by width", explain=True)
    stated = set()
    for answer in answers:
        (cell,) = answer.values
        assert cell and answer.reason
        ending = answer.reason.sentence.rpartition("Its width is ")[2]
        assert ending.startswith("not stated: about ") is not cell.observed
        stated.add(cell.observed)
    assert stated == {True, False}


def test_a_reason_of_a_denied_condition_says_what_speaks_against_it(reckoner_run, small):
    names = small.graph.vocabulary
    text = "(i,(rp,(r0),(e,(e1))),(n,(rp,(r1),(e,(e1)))))"
    query = parse(text, names)
    answer = int(ask(small.graph, query)[0])
    (proof,) = witnesses(small.graph, query, [answer])
    assert len(proof) == 2 and proof[0].endswith("(observed)") and proof[1] == "nothing speaks against it"
    answerer = Answerer.open(reckoner_run.folder, device="cpu")
    _, told, against, *_ = answerer.explain_id(query, answer).lines()
    probability = against.rpartition(", ")[2].rstrip(")")
    assert told == f"what speaks against it has a probability of {probability}:"
    assert against.startswith("– ") and "r1" in against and "predicted" in against
    assert probability in answerer.explain_id(query, answer).sentence


def test_a_neural_model_says_what_it_cannot_answer(neural_run):
    answerer = Answerer.open(neural_run.folder, device="cpu")
    with pytest.raises(UserError, match="numbers of its graph"):
        answerer.ask("(rap,(height),(np,(GreaterThan),(nv,(3.123))))")


def test_answers_are_a_table_in_a_terminal_in_a_notebook_and_in_pandas():
    builder = GraphBuilder()
    for name, height in (("a<b>", 2.0), ("c & d", 3.5)):
        builder.add_fact(name, "in", "here")
        builder.add_value(name, "height", height, "metres")
    answerer = Answerer(ExactModel(builder.build()))
    things, heights = answerer.ask("(rp,(^in),(e,(here)))"), answerer.ask("(ap,(height),(rp,(^in),(e,(here))))")
    assert repr(things).splitlines()[1:] == ["2 proved, 2 shown", "answer", "a<b>", "c & d"]
    html = things._repr_html_()
    assert [cell.text for cell in ElementTree.fromstring(html).iter("td")] == ["a<b>", "c & d"]
    assert list(things.to_pandas().columns) == ["name", "label", "score", "observed"]
    frame = heights.to_pandas()
    assert frame["value"].tolist() == [2.0, 3.5] and set(frame["unit"]) == {"metres"}


class TestCommandLine:
    @pytest.fixture
    def output(self, monkeypatch, capsys):
        def run(*arguments):
            monkeypatch.setattr(sys, "argv", ["kgreckon", *map(str, arguments)])
            with pytest.raises(SystemExit):
                main()
            return capsys.readouterr()

        return run

    def test_ask_a_run(self, output, reckoner_run):
        shown = output("ask", reckoner_run.folder, ENTITIES, "--explain", "--limit", "3").out
        assert "observed" in shown and "r0" in shown and "arithmetic" in shown
        found = json.loads(output("ask", reckoner_run.folder, ENTITIES, "--json", "--limit", "3").out)
        assert len(found["answers"]) == 3 and found["answers"][0]["observed"] is True
        found = json.loads(output("ask", reckoner_run.folder, ENTITIES, "--json", "--only", "inferred").out)
        assert found["observed"] and not any(answer["observed"] for answer in found["answers"])
        assert "only a trained run" in output("ask", "world", "(e,(Japan))", "--only", "inferred").err
        exact = json.loads(output("ask", reckoner_run.folder, ENTITIES, "--exact", "--json").out)
        assert exact["observed"] == found["observed"]

    def test_explain_an_exact_answer(self, output):
        shown = output("ask", "world", "(rp,(in_country),(e,(Sapporo)))", "--explain").out
        assert "Sapporo — in country → Japan (observed)" in shown
        found = json.loads(output("ask", "world", "(rp,(in_country),(e,(Sapporo)))", "--explain", "--json").out)
        (statement,) = found["answers"][0]["reason"]["statements"]
        assert (statement["subject"], statement["predicate"], statement["object"]) == ("Sapporo", "in country", "Japan")
        assert statement["how"] == "observed"
        in_python = kgreckon.load("world").ask("(rp,(in_country),(e,(Sapporo)))", explain=True)
        assert found == json.loads(json.dumps(in_python.as_json()))  # and the server's: tests/test_server.py
        sampled = ("--comparisons", "sampled", "--explain")
        assert "compares by arithmetic" in output("ask", "world", "(e,(Japan))", *sampled).err

    def test_a_benchmark_that_moved(self, output, reckoner_run, tmp_path):
        moved = shutil.copytree(reckoner_run.benchmark().folder, tmp_path / "moved")
        found = json.loads(output("ask", reckoner_run.folder, ENTITIES, "--json", "--benchmark", moved).out)
        assert found == json.loads(output("ask", reckoner_run.folder, ENTITIES, "--json").out)

    def test_a_run_has_no_numerical_edges_to_ask_along(self, output, reckoner_run):
        assert "by arithmetic" in output("ask", reckoner_run.folder, ENTITIES, "--comparisons", "sampled").err

    def test_a_number(self, output, reckoner_run):
        printed = output("ask", reckoner_run.folder, NUMBERS).out
        assert "that are not stated are expected" in printed or printed.count("not stated")
        one = json.loads(output("ask", reckoner_run.folder, "(ap,(age),(e,(e59)))", "--json").out)["estimate"]
        shown = output("ask", reckoner_run.folder, "(ap,(age),(e,(e59)))").out
        assert (one is None) or (0 <= one["expected"] <= 1 and "not stated" in shown)

    def test_sparql_means_the_same(self, output, reckoner_run):
        text = "SELECT ?x WHERE { :e1 :r0 ?x . ?x :height ?h . FILTER(?h > 3) }"
        found, same = (json.loads(output("ask", reckoner_run.folder, each, "--json").out) for each in (text, ENTITIES))
        assert [answer["name"] for answer in found["answers"]] == [answer["name"] for answer in same["answers"]]
        exact = json.loads(output("ask", "world", "select ?c where { :Sapporo :in_country ?c }", "--json").out)
        assert [answer["label"] for answer in exact["answers"]] == ["Japan"]
        limited = output("ask", "world", "SELECT ?c { ?c :in_country :Japan } LIMIT 2", "--json").out
        assert len(json.loads(limited)["answers"]) == 2
        assert len(json.loads(output("ask", reckoner_run.folder, f"{text} LIMIT 2", "--json").out)["answers"]) == 2
        assert "Japan" in output("ask", "world", "SELECT ?c WHERE { :Sapporo :in_country ?c } ORDER BY ?c").out

    def test_a_wrong_name_is_one_line(self, output, reckoner_run):
        assert output("ask", reckoner_run.folder, "(rp,(r9),(e,(e1)))").err.startswith("error: unknown relation")
