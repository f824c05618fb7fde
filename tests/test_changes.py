"""Changes: a graph with them is the graph built with them; what is confirmed stays; every question sees one moment."""

import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

import kgreckon as kg
from kgreckon.answers import Answerer
from kgreckon.answers.doubting import DoubtSettings, find_doubts
from kgreckon.errors import UserError
from kgreckon.exact import ask
from kgreckon.graph import Adjacency, GraphBuilder, KnowledgeGraph, Triples, open_graph_folder
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.change_log import LOG
from kgreckon.graph.changes.drafting import Draft, Wish
from kgreckon.graph.changes.live_graph import LiveGraph
from kgreckon.graph.storage import graph_identity, write_graph
from kgreckon.query.paper import parse
from kgreckon.runs import Run
from kgreckon.runs.changing import compact, standing_changes
from kgreckon.runs.checking import check_folder
from random_graph import random_graph

Stated = tuple[set[tuple[str, str, str]], set[tuple[str, str, float, str]]]


def stated(graph: KnowledgeGraph) -> Stated:
    """All that a graph states, by name."""
    names, facts, values = graph.vocabulary, graph.facts, graph.attribute_facts
    return (
        {
            (names.entity_name(head), names.relation_name(2 * relation), names.entity_name(tail))
            for head, relation, tail in zip(
                facts.sources.tolist(), facts.labels.tolist(), facts.targets.tolist(), strict=True
            )
        },
        {
            (names.entity_name(entity), names.attribute_name(attribute), *graph.values.number_at(row))
            for entity, attribute, row in zip(
                values.sources.tolist(), values.labels.tolist(), values.targets.tolist(), strict=True
            )
        },
    )


def rows_made_anew(graph: KnowledgeGraph) -> Iterator[tuple[Adjacency, Adjacency]]:
    """Each of the compressed rows of a graph beside those of its facts, sorted."""
    entities, own = len(graph.entities), graph.attribute_facts
    yield graph.follows, Adjacency.from_triples(Triples.from_arrays(*graph.facts.both_ways()), entities, entities)
    yield graph.values_of, Adjacency.from_triples(own, entities, len(graph.values))
    turned = Triples.from_arrays(own.labels, own.targets, own.sources)
    yield graph.having, Adjacency.from_triples(turned, len(graph.attributes), entities)


def some_wishes(rng: random.Random, known: Stated) -> list[Wish]:
    """A few things to add and remove, which `known` then has or has not."""
    facts, values = known
    wishes: dict[tuple, Wish] = {}
    for _ in range(rng.choice((1, 3, 12))):
        subject, kind = f"e{rng.randrange(25)}", rng.randrange(4)
        if kind == 0:
            fact = rng.choice(sorted(facts))
            wishes[fact] = Wish("remove", *fact)
        elif kind == 1:
            value = rng.choice(sorted(values))
            wishes[value] = Wish("remove", *value)
        elif kind == 2:
            fact = subject, f"r{rng.randrange(7)}", f"e{rng.randrange(25)}"
            wishes[fact] = Wish("add", *fact)
        else:
            attribute, unit = rng.choice([("height", "metres"), ("age", "years"), ("mass", "kilograms")])
            value = subject, attribute, rng.randrange(50) / 2, unit
            wishes[value] = Wish("add", *value)
    for key, wish in wishes.items():
        own: set = facts if len(key) == 3 else values
        (own.add if wish.deed == "add" else own.discard)(key)
    return list(wishes.values())


def make(live: LiveGraph, wishes: list[Wish]) -> None:
    live.change(lambda graph: Draft.change_of(graph, wishes, new=True))


@pytest.fixture
def folder(tmp_path) -> Path:
    builder = GraphBuilder()
    for city, country, people in (("Oslo", "Norway", 700.0), ("Bergen", "Norway", 280.0), ("Kyoto", "Japan", 1_460.0)):
        builder.add_fact(city, "in", country)
        builder.add_value(city, "population", people, "persons")
        builder.add_value(city, "area", people / 2, "square kilometres")
        builder.add_value(city, "founded", 1000 + people / 10, "gYear")
    builder.label("Kyoto", "Kioto")
    builder.build().save(tmp_path / "graph")
    return tmp_path / "graph"


class TestTheChangedGraph:
    @pytest.mark.parametrize("seed", range(8))
    def test_it_is_the_graph_of_its_facts(self, tmp_path, seed):
        rng = random.Random(seed)
        random_graph(seed, entities=20, facts=60, values=30).save(tmp_path / "graph")
        live = [LiveGraph(tmp_path / "graph") for _ in range(2)]
        known = stated(live[0].now().graph)
        for _ in range(4):
            wishes = some_wishes(rng, known)
            make(rng.choice(live), wishes)
            for graph in (*(each.now().graph for each in live), open_graph_folder(tmp_path / "graph")):
                assert stated(graph) == known
                for own, anew in rows_made_anew(graph):
                    for name in ("offsets", "labels", "starts", "targets"):
                        one, other = getattr(own, name), getattr(anew, name)
                        assert one.tolist() == other.tolist() and one.dtype == other.dtype
                assert all(np.diff(graph.values.numbers[graph.values.rows_of(unit)]).min(initial=1) > 0
                           for unit in graph.values.units)  # fmt: skip
        live[0].now().graph.save(tmp_path / "saved")
        assert stated(open_graph_folder(tmp_path / "saved")) == known
        assert not check_folder(tmp_path / "saved").is_damaged

    def test_a_question_reads_new_names_numbers_and_labels(self, folder):
        with kg.change(folder, new=True) as change:
            change.add("Tromsø", "in", "Norway")
            change.add("Tromsø", "population", "0.078 thousand persons")
            change.add("Tromsø", "twinned_with", "Bergen")
            change.add("Tromsø", "temperature", 3.0, "degrees Celsius")
            change.label("Tromsø", "Paris of the North")
        graph = open_graph_folder(folder)
        names = graph.vocabulary

        def answers(text: str) -> set[str]:
            return {names.entity_name(place) for place in ask(graph, parse(text, names)).tolist()}

        assert answers("(rp,(^in),(e,(Norway)))") == {"Oslo", "Bergen", "Tromsø"}
        assert answers("(rp,(^twinned_with),(e,(Bergen)))") == {"Tromsø"}
        assert answers("(rap,(population),(np,(SmallerThan),(ap,(population),(e,(Bergen)))))") == {"Tromsø"}
        assert graph.entities.find("paris of the north") == graph.entities.find("Tromsø") == len(graph.entities) - 1
        assert graph.values.number_at(graph.values_of.row(names.entity_id("Tromsø"), 3)[0]) == (3.0, "degrees Celsius")
        assert names.entities_starting("par", 3) == ["Paris of the North"]

    def test_another_label_takes_the_place_of_the_first(self, folder):
        with kg.change(folder) as change:
            change.label("Kyoto", "Old Capital")
        entities = open_graph_folder(folder).entities
        assert (
            entities.find("Old capital") == entities.find("Kyoto")
            and entities.label(entities.find("Kyoto")) == "Old Capital"
        )
        assert entities.places_of_label("Kioto") == [] and entities.starting("kio", 5) == []

    def test_a_number_that_nothing_has_any_more_is_gone(self, folder):
        with kg.change(folder) as change:
            change.replace("Oslo", "population", 720)
        graph = open_graph_folder(folder)
        assert graph.values.numbers[graph.values.rows_of("persons")].tolist() == [280, 720, 1460]
        with kg.change(folder) as change:
            for city, people in (("Oslo", 720), ("Bergen", 280), ("Kyoto", 1460)):
                change.remove(city, "population", people)
        graph = open_graph_folder(folder)  # the attribute is still measured in persons
        assert graph.vocabulary.attribute_unit(0) == "persons" and len(graph.attribute_facts) == 6

    def test_a_moment_stays_as_it_is(self, folder):
        live = LiveGraph(folder)
        before = live.now()
        live.change(lambda graph: Draft.change_of(graph, [Wish("remove", "Oslo", "in", "Norway")]))
        after = live.now()
        assert len(before.graph.facts) == 3 and len(after.graph.facts) == 2 and live.now() is after
        assert after.since(before) == after.changes and after.changes[0].removed[0].subject == "Oslo"


class TestWhatIsWrong:
    @pytest.mark.parametrize(
        ("wish", "said"),
        [
            (Wish("add", "Olso", "in", "Norway"), "did you mean 'Oslo'?; if it is new, say so: --new"),
            (Wish("add", "Oslo", "is_in", "Norway"), "unknown relation or attribute 'is_in': choose in, population"),
            (Wish("add", "Oslo", "polulation", 5.0), "unknown relation or attribute 'polulation'; did you mean"),
            (Wish("add", "Oslo", "population", "many"), "is a number of persons, which 'many' is not"),
            (Wish("add", "Oslo", "area", "5 kg"), "measured in square kilometres, and kilograms cannot be converted"),
            (Wish("add", "Oslo", "area", float("nan")), "is nan, which is not a finite number"),
            (Wish("add", "Oslo", "founded", "long ago"), "'founded' is measured in dates"),
            (Wish("add", "Oslo", "^in", "Norway"), "'^in' is an inverse: write the fact the other way round"),
            (Wish("add", "Oslo", "in", 5.0), "'in' is a relation, which leads to a thing, not to 5.0"),
            (Wish("add", "Oslo", "in", "Norway", "km"), "'in' is a relation: its object has no unit"),
            (Wish("remove", "Oslo", "in", "Japan"), "does not state 'Oslo' 'in' 'Japan': there is nothing to remove"),
            (Wish("remove", "Oslo", "population", 5.0), "there is nothing to remove"),
            (Wish("label", "Oslo", "", " "), "the label of 'Oslo' must be a text"),
        ],
    )  # fmt: skip
    def test_it_is_one_message_and_nothing_is_changed(self, folder, wish, said):
        live = LiveGraph(folder)
        with pytest.raises(UserError) as error:
            live.change(lambda graph: Draft.change_of(graph, [Wish("add", "Bergen", "in", "Japan"), wish]))
        assert said in str(error.value)
        assert live.now().number == 0 and len(open_graph_folder(folder).facts) == 3

    def test_units_are_converted(self, folder):
        with kg.change(folder) as change:
            change.add("Oslo", "area", "1000000 m2")
            change.add("Oslo", "area", 2.0, "sq mi")
            change.add("Oslo", "founded", "1048-01-01")
        values = {
            (name, number) for _, name, number, _ in stated(open_graph_folder(folder))[1] if number in (1.0, 1048)
        }
        assert values == {("area", 1.0), ("founded", 1048.0)}
        assert any(number == pytest.approx(5.18, abs=0.01) for *_, number, _ in stated(open_graph_folder(folder))[1])

    def test_what_cannot_be_changed_says_why(self, folder, tmp_path):
        for place, said in (
            ("world", "kgreckon learn world --out RUN"),
            (tmp_path / "nowhere", "give a graph folder or a run folder"),
        ):
            with pytest.raises(UserError, match=said):
                kg.change(place)
        with pytest.raises(UserError, match="in no folder that can be changed"):
            kg.load("world").change()

    def test_a_failed_block_changes_nothing(self, folder):
        with pytest.raises(RuntimeError), kg.change(folder) as change:
            change.add("Oslo", "in", "Japan")
            raise RuntimeError
        assert len(open_graph_folder(folder).facts) == 3 and standing_changes(folder) == 0


WRITER = """
import sys
from pathlib import Path
from kgreckon.graph.changes.drafting import Draft, Wish
from kgreckon.graph.changes.live_graph import LiveGraph

live, name = LiveGraph(Path(sys.argv[1])), sys.argv[2]
for number in range(10_000):
    wishes = [Wish("add", f"{name} {number}", "in", "Norway"), Wish("add", f"{name} {number}", "population", number)]
    live.change(lambda graph: Draft.change_of(graph, wishes, new=True))
    print(number, flush=True)
"""


class TestDurability:
    def writer(self, folder: Path, name: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", WRITER, str(folder), name]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def test_two_writers_are_killed_and_nothing_confirmed_is_lost(self, folder):
        confirmed = {}
        writers = {name: self.writer(folder, name) for name in ("one", "other")}
        for name, writer in writers.items():
            assert writer.stdout is not None
            for line in writer.stdout:
                confirmed[name] = int(line)
                if confirmed[name] == 4:
                    writer.send_signal(signal.SIGKILL)
        for writer in writers.values():
            writer.communicate()
        facts, values = stated(open_graph_folder(folder))
        for name, last in confirmed.items():
            assert last >= 4
            assert {(f"{name} {number}", "in", "Norway") for number in range(last + 1)} <= facts
        added = {fact[0] for fact in facts} - {"Oslo", "Bergen", "Kyoto"}
        assert added == {value[0] for value in values} - {"Oslo", "Bergen", "Kyoto"}  # each change whole or not there
        assert standing_changes(folder) == len(added) and not check_folder(folder).is_damaged

    def test_writers_and_a_reader_at_once(self, folder):
        def write(name: str) -> None:
            live = LiveGraph(folder)
            for number in range(5):
                wishes = [Wish("add", f"{name} {number}", "in", country) for country in ("Norway", "Japan")]
                make(live, wishes)

        threads = [Thread(target=write, args=(name,)) for name in "ab"]
        for thread in threads:
            thread.start()
        live = LiveGraph(folder)
        while any(thread.is_alive() for thread in threads):
            follows = live.now().graph.follows
            norway, japan = (len(follows.row(place, 1)) for place in (1, 4))
            assert norway == japan + 1  # 2 and 1 cities at first: both or none of a change
        for thread in threads:
            thread.join()
        assert len(live.now().graph.facts) == 3 + 2 * 5 * 2

    def test_a_flipped_bit_is_found(self, folder):
        with kg.change(folder, new=True) as change:
            change.add("Tromsø", "in", "Norway")
        expected, whole = stated(open_graph_folder(folder)), (folder / LOG).read_bytes()
        rng = random.Random(0)
        used = [place for place, byte in enumerate(whole) if byte]
        for place in (*range(0, 100, 3), *rng.sample(used, 60)):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << rng.randrange(8)
            (folder / LOG).write_bytes(damaged)
            try:
                assert stated(open_graph_folder(folder)) == expected
            except UserError as error:
                assert LOG in str(error)
        (folder / LOG).write_bytes(whole[:-4096])
        with pytest.raises(UserError, match=LOG):
            open_graph_folder(folder)
        assert check_folder(folder).parts()["changes"] == "damaged"

    def test_a_log_of_another_graph_is_refused(self, folder, tmp_path):
        with kg.change(folder, new=True) as change:
            change.add("Tromsø", "in", "Norway")
        random_graph().save(tmp_path / "other")
        (tmp_path / "other" / LOG).write_bytes((folder / LOG).read_bytes())
        with pytest.raises(UserError, match="changes of another graph"):
            open_graph_folder(tmp_path / "other")

    def test_a_graph_that_is_replaced_while_a_change_begins_has_no_log_of_the_old_one(self, folder, monkeypatch):
        live, replaced = LiveGraph(folder), False

        def replacing(place: Path) -> str:
            nonlocal replaced
            identity = graph_identity(place)
            if not replaced:
                replaced = True
                random_graph().save(place, overwrite=True)
            return identity

        monkeypatch.setattr("kgreckon.graph.changes.live_graph.graph_identity", replacing)
        make(live, [Wish("add", "someone", "r0", "e1")])
        assert replaced and standing_changes(folder) == 1
        assert len(open_graph_folder(folder).facts) == len(random_graph().facts) + 1

    def test_a_graph_is_not_replaced_while_a_change_is_made(self, folder):
        new = random_graph()
        importing = Thread(target=lambda: new.save(folder, overwrite=True))

        def draft(graph: KnowledgeGraph) -> Change:
            importing.start()
            importing.join(0.3)
            assert importing.is_alive()
            return Draft.change_of(graph, [Wish("add", "Oslo", "in", "Japan")])

        assert LiveGraph(folder).change(draft)
        importing.join()
        assert stated(open_graph_folder(folder)) == stated(new) and standing_changes(folder) == 0

    @pytest.mark.parametrize("begun", [False, True])
    def test_a_graph_that_is_replaced_while_its_log_is_opened_is_changed_as_it_is_then(
        self, folder, begun, monkeypatch
    ):
        connect, replaced = sqlite3.connect, False
        if begun:
            make(LiveGraph(folder), [Wish("add", "Oslo", "in", "Japan")])
        live = LiveGraph(folder)

        def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
            nonlocal replaced
            connection = connect(*arguments, **options)
            if not replaced:
                replaced = True
                random_graph().save(folder, overwrite=True)
            return connection

        monkeypatch.setattr("sqlite3.connect", connected)
        make(live, [Wish("add", "someone", "r0", "e1")])
        assert replaced and standing_changes(folder) == 1
        assert len(open_graph_folder(folder).facts) == len(random_graph().facts) + 1

    def test_a_folder_that_is_removed_while_it_is_changed(self, folder):
        def draft(graph: KnowledgeGraph) -> Change:
            folder.rename(folder.with_name("elsewhere"))
            return Draft.change_of(graph, [Wish("add", "Oslo", "in", "Japan")])

        with pytest.raises(UserError, match="was moved or removed meanwhile"):
            LiveGraph(folder).change(draft)

    @pytest.mark.parametrize("content", [b"", b"no database", bytes(5000)])
    def test_a_graph_is_replaced_whatever_its_log_holds(self, folder, content):
        (folder / LOG).write_bytes(content)
        random_graph().save(folder, overwrite=True)
        assert stated(open_graph_folder(folder)) == stated(random_graph())

    def test_what_a_killed_writer_began_is_no_change(self, folder):
        (folder / LOG).write_bytes(b"")
        assert standing_changes(folder) == 0 and len(open_graph_folder(folder).facts) == 3
        with kg.change(folder) as change:
            change.add("Oslo", "in", "Japan")
        connection = sqlite3.connect(folder / LOG)
        assert connection.execute("SELECT number, content FROM change").fetchall() == [
            (1, '{"added": [["Oslo", "in", "Japan"]]}')
        ]


class TestFolding:
    def test_compacting_keeps_what_is_stated_and_ends_the_log(self, folder):
        answerer, live = kg.load(folder), LiveGraph(folder)
        with answerer.change(new=True) as change:
            change.add("Tromsø", "in", "Norway")
            change.remove("Kyoto", "in", "Japan")
        before = stated(open_graph_folder(folder))
        assert compact(folder) == 1 and compact(folder) == 0
        assert stated(open_graph_folder(folder)) == before == stated(live.now().graph)
        assert standing_changes(folder) == 0 and not check_folder(folder).is_damaged
        with answerer.change() as change:  # what was opened before goes on with the new tables
            change.add("Kyoto", "in", "Norway")
        assert answerer.ask("(rp,(^in),(e,(Norway)))").observed == 4

    def test_a_change_made_while_others_are_folded_in_is_kept(self, folder, monkeypatch):
        with kg.change(folder) as change:
            change.add("Oslo", "in", "Japan")

        def slowly(graph: KnowledgeGraph, target: Path, *options: Any) -> None:
            write_graph(graph, target, *options)
            with kg.change(folder) as change:
                change.add("Bergen", "in", "Japan")

        monkeypatch.setattr("kgreckon.graph.changes.rewriting.write_graph", slowly)
        assert compact(folder) == 1 and standing_changes(folder) == 1
        assert len(open_graph_folder(folder).facts) == 5


def norwegian(answerer: Answerer) -> list[list[str]]:
    return sorted(answerer.sparql("SELECT ?label WHERE { ?c :in :Norway ; rdfs:label ?label }").cells())


class TestAnswers:
    def test_an_answerer_follows_and_so_does_its_engine(self, folder):
        answerer = kg.load(folder)
        assert norwegian(answerer) == [["Bergen"], ["Oslo"]]
        with kg.change(folder, new=True) as change:
            change.add("Tromsø", "in", "Norway")
            change.remove("Oslo", "in", "Norway")
            change.add("Bergen", "founded", "1070-05-03")  # years are written as dates from now on
        assert norwegian(answerer) == [["Bergen"], ["Tromsø"]]
        count = "SELECT (count(*) AS ?n) WHERE { ?s ?p ?o }"
        before = int(answerer.sparql(count).cells()[0][0])
        with kg.change(folder) as change:
            change.add("Oslo", "in", "Japan")
        assert int(answerer.sparql(count).cells()[0][0]) == before + 1
        assert answerer.ask("(rp,(^in),(e,(Japan)))").observed == 2


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> Path:
    """A small run that learned from a graph in which brothers share a father, and height grows with age."""
    builder, rng = GraphBuilder(), random.Random(0)
    for number in range(60):
        father = f"father {number % 15}"
        builder.add_fact(f"child {number}", "father", father)
        builder.add_fact(f"child {number}", "likes", f"game {number % 5}")
        builder.add_fact(father, "lives_in", f"town {number % 15 % 4}")
        builder.add_fact(f"child {number}", "lives_in", f"town {number % 15 % 4}")
        age = rng.randint(4, 18)
        builder.add_value(f"child {number}", "age", age, "years")
        builder.add_value(f"child {number}", "height", 70 + 6 * age, "centimetres")
    run = tmp_path_factory.mktemp("changes") / "run"
    kg.learn(builder.build(), run, rank=8, epochs=4, batch_size=64, heads=16)
    return run


@pytest.fixture
def run(learned, tmp_path, copied: Callable[[Path, Path], Path]) -> Path:
    return copied(learned, tmp_path / "run")


@pytest.fixture
def copied() -> Callable[[Path, Path], Path]:
    import shutil

    return lambda source, target: Path(shutil.copytree(source, target))


class TestAReckoner:
    def test_a_fact_that_is_added_changes_the_prediction_that_depends_on_it(self, run):
        answerer = kg.load(run)
        question = "(rp,(lives_in),(e,(newborn)))"
        with answerer.change(new=True) as change:
            change.add("newborn", "likes", "game 0")
        before = {answer.name: answer.score for answer in answerer.ask(question, above=0)}
        with answerer.change() as change:
            change.add("newborn", "father", "father 3")
        after = answerer.ask(question)
        assert after.answers[0].name == "town 3" and not after.answers[0].observed
        assert after.answers[0].score > before["town 3"]
        with answerer.change() as change:
            change.add("newborn", "lives_in", "town 3")
        assert answerer.ask(question).answers[0].observed

    def test_a_number_of_a_new_thing_is_predicted_from_its_facts(self, run):
        answerer = kg.load(run)
        for name, age in (("young", 5), ("old", 17)):
            with answerer.change(new=True) as change:
                change.add(name, "age", age)
                change.add(name, "father", "father 1")
        young, old = (answerer.predict(name, "height") for name in ("young", "old"))
        assert young.estimate < 110 < 160 < old.estimate

    def test_other_vectors_stay_and_a_new_one_stays_until_its_facts_change(self, run):
        answerer = kg.load(run)
        old = answerer.model.facts.scorer.nodes.clone()  # type: ignore[attr-defined]
        count = len(answerer.graph.entities)
        with answerer.change(new=True) as change:
            change.add("newborn", "father", "father 3")
            change.add("newborn", "age", 3.5)  # a value that the table did not hold
        one = answerer.model.facts.scorer.nodes.clone()  # type: ignore[attr-defined]
        assert one[:count].equal(old[:count]) and one[count].abs().sum() > 0
        with answerer.change(new=True) as change:
            change.add("neighbour", "lives_in", "town 2")
            change.add("neighbour", "owns", "dog")  # a relation that was not learned
            change.add("neighbour", "weight", "70 kg")  # and an attribute
        two = answerer.model.facts.scorer.nodes  # type: ignore[attr-defined]
        assert two[: count + 1].equal(one[: count + 1])
        assert answerer.ask("(rp,(owns),(e,(neighbour)))").answers[0].name == "dog"
        assert answerer.predict("newborn", "weight").estimate == 70
        assert kg.load(run).model.facts.scorer.nodes[:count].equal(old[:count])  # type: ignore[attr-defined]

    def test_a_run_opened_anew_answers_like_one_that_followed(self, run):
        answerer = kg.load(run)
        with answerer.change(new=True) as change:
            change.add("newborn", "father", "father 3")
            change.add("newborn", "age", 3.5)
        for question in ("(rp,(lives_in),(e,(newborn)))", "(ap,(height),(e,(newborn)))"):
            one, other = (each.ask(question, limit=3) for each in (answerer, kg.load(run)))
            assert [answer.name for answer in one] == [answer.name for answer in other]
            assert [answer.score for answer in one] == pytest.approx([answer.score for answer in other], abs=1e-5)
        assert Run.open(run).graph().entities.has("newborn") and not check_folder(run).is_damaged

    def test_changes_are_learned_in_and_the_run_goes_on(self, run):
        answerer = kg.load(run)
        with answerer.change(new=True) as change:
            for number in range(12):
                change.add(f"newborn {number}", "father", "father 3")
                change.add(f"newborn {number}", "likes", f"toy {number % 2}")
        before, trial = stated(Run.open(run).graph()), Run.open(run).trial_graph()
        assert Run.open(run).update() == 1
        (leftover := run.with_name(f".kgreckon-new-{run.name}")).mkdir()  # of one that was killed just before its end
        assert Run.open(run).update() == 0 and not leftover.exists()
        assert stated(Run.open(run).graph()) == before and standing_changes(run) == 0
        assert stated(Run.open(run).trial_graph()) == stated(trial) and Run.open(run).quality() is not None
        assert not check_folder(run).is_damaged
        assert answerer.ask("(rp,(^likes),(e,(toy 0)))").observed == 6
        assert len(answerer.model.facts.scorer.nodes) == len(answerer.graph.entities) + len(answerer.graph.values)  # type: ignore[attr-defined]
        with answerer.change() as change:
            change.remove("newborn 0", "father", "father 3")
        assert standing_changes(run) == 1
        doubts = find_doubts(Run.open(run), DoubtSettings(share=0.1, relations=["father"]))
        assert doubts.facts_judged

    def test_a_stopped_update_leaves_the_run_as_it_was(self, run, monkeypatch):
        with kg.change(run, new=True) as change:
            change.add("newborn", "father", "father 3")
        monkeypatch.setattr("kgreckon.models.reckoner.learning.mine_rules", stop)
        before = sorted(path.relative_to(run) for path in run.rglob("*"))
        with pytest.raises(KeyboardInterrupt):
            Run.open(run).update()
        assert sorted(path.relative_to(run) for path in run.rglob("*")) == before
        assert not list(run.parent.glob(".kgreckon-*")) and standing_changes(run) == 1


def stop(graph: KnowledgeGraph) -> None:
    raise KeyboardInterrupt
