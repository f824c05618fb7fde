"""Filling the gaps: what is likely and not stated, once each, in every form of file."""

import csv
import json
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pyoxigraph
import pytest
import torch
from typer.testing import CliRunner

import kgreckon as kg
from kgreckon.answers import Answerer
from kgreckon.answers.completed_files import write_completed
from kgreckon.answers.completing import Gaps, MissingFact, MissingValue, complete
from kgreckon.cli.app import app
from kgreckon.exact import ask
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.models.held_back import hold_back
from kgreckon.models.interface import Prediction, ScoreMeaning, TrainedModel


def towns() -> KnowledgeGraph:
    builder = GraphBuilder()
    for place in range(30):
        builder.add_fact(f"town {place}", "in country", f"country {place % 5}")
        builder.add_fact(f"town {place}", "near <&> \u05d0", f"town {(place + 1) % 30}")
        builder.add_value(f"town {place}", "height", 10.0 * place, "metres")
    return builder.build()


class Sure(TrainedModel):
    """Finds what the whole graph states with a probability of 0.9, and what it does not with 0.3."""

    name, calibration, device = "sure", ScoreMeaning.PROBABILITY, torch.device("cpu")

    def __init__(self, part: KnowledgeGraph, whole: KnowledgeGraph) -> None:
        self.graph, self.whole = part, whole

    def scores(self, batch):
        rows = torch.full((len(batch), len(self.graph.entities)), 0.3)
        for row in range(len(batch)):
            rows[row, ask(self.whole, batch.with_ids(batch.ids.numpy()).query(row, self.graph.values))] = 0.9
        return rows

    def candidates(self, query, proved, pause=None):
        raise AssertionError("gaps are filled by batches")

    def prove(self, query, answers, pause=None):
        raise AssertionError("no reasons are asked for")

    def attribute_chances(self, entity):
        return np.array([0.95 if len(self.whole.values_of.row(entity, 0)) else 0.1])

    def predict(self, entity, attribute, coverage, reasons=False):
        stated = self.graph.values.numbers[self.graph.values_of.row(entity, attribute)]
        return Prediction(tuple(stated.tolist()), "metres", 0.95, 5.0, 1.0, 9.0, coverage)


def subject_of(item: MissingFact | MissingValue) -> str:
    return item.head if isinstance(item, MissingFact) else item.entity


@pytest.fixture(scope="module")
def sure() -> Sure:
    whole = towns()
    return Sure(hold_back(whole, 0.3, np.random.default_rng(0))[0], whole)


def test_exactly_what_is_likely_and_not_stated_is_found_once(sure):
    whole, part = sure.whole, sure.graph
    found = list(complete(Answerer(sure), Gaps(above=0.8)))
    facts = {(item.head, item.relation, item.tail) for item in found if isinstance(item, MissingFact)}
    values = {item.entity for item in found if isinstance(item, MissingValue)}

    def stated(graph):
        names = graph.vocabulary
        columns = (graph.facts.sources, graph.facts.labels, graph.facts.targets)
        return {
            (names.entity_name(head), graph.relations.name(label), names.entity_name(tail))
            for head, label, tail in zip(*(column.tolist() for column in columns), strict=True)
        }

    assert facts == stated(whole) - stated(part)
    assert len(values) == len(whole.attribute_facts) - len(part.attribute_facts)
    assert len(found) == len(facts) + len(values)


def test_relations_attributes_and_things_can_be_chosen(sure):
    answerer = Answerer(sure)
    of_one = list(complete(answerer, Gaps(relations=["in country"])))
    assert {isinstance(item, MissingFact) and item.relation for item in of_one} == {"in country"}
    of_numbers = list(complete(answerer, Gaps(attributes=["height"])))
    assert all(isinstance(item, MissingValue) for item in of_numbers) and of_numbers
    thing = subject_of(of_one[0])
    assert {subject_of(item) for item in complete(answerer, Gaps(things=[thing]))} == {thing}
    counts = []
    list(complete(answerer, Gaps(things=[thing]), lambda count, total: counts.append((count, total))))
    assert sum(count for count, _ in counts) == counts[0][1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"above": 0.0}, "must be above 0"),
        ({"above": 1.5}, "at most 1"),
        ({"relations": ["in contry"]}, "did you mean 'in country'"),
        ({"things": ["nowhere"]}, "nowhere"),
    ],
)
def test_what_cannot_be_meant_is_refused(sure, changes, message):
    with pytest.raises(kg.UserError, match=message):
        list(complete(Answerer(sure), Gaps(**changes)))


def test_a_graph_alone_has_no_probabilities_to_fill_it_with():
    with pytest.raises(kg.UserError, match="no probabilities of facts"):
        list(complete(kg.load("world"), Gaps()))


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".nt", ".ttl"])
def test_every_form_of_file_holds_all_of_it(sure, tmp_path, suffix):
    items = list(complete(Answerer(sure), Gaps()))
    path = tmp_path / f"filled{suffix}"
    filled = write_completed(path, iter(items))
    assert (filled.facts + filled.values, round(filled.expected, 6)) == (
        len(items), round(sum(item.probability for item in items), 6)
    )  # fmt: skip
    if suffix == ".parquet":
        assert len(pq.read_table(path)) == len(items)
    elif suffix in (".csv", ".tsv"):
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file, delimiter="," if suffix == ".csv" else "\t"))
        assert [row["subject"] for row in rows] == [subject_of(item) for item in items]
        assert sum(float(row["probability"]) for row in rows) == pytest.approx(filled.expected)
    else:
        store = pyoxigraph.Store()
        store.load(path=str(path))
        counted: Any = store.query(
            "PREFIX rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> SELECT (COUNT(*) AS ?n) (SUM(?p) AS ?sum) "
            "{ ?about rdf:reifies <<( ?s ?r ?o )>> ; <urn:kgreckon:probability> ?p . ?s ?r ?o }"
        )
        (row,) = list(counted)
        assert int(row["n"].value) == len(items)
        assert float(row["sum"].value) == pytest.approx(filled.expected)


def test_an_unknown_ending_is_refused_and_a_failure_leaves_what_was_there(sure, tmp_path):
    with pytest.raises(kg.UserError, match="known endings"):
        write_completed(tmp_path / "filled.docx", [])
    path = tmp_path / "filled.csv"
    path.write_text("before")

    def broken():
        yield from list(complete(Answerer(sure), Gaps()))[:3]
        raise kg.UserError("stopped")

    with pytest.raises(kg.UserError, match="stopped"):
        write_completed(path, broken())
    assert path.read_text() == "before" and list(tmp_path.iterdir()) == [path]


def test_the_command_completes_a_learned_run(tmp_path):
    settings: dict[str, Any] = {"device": "cpu", "rank": 8, "epochs": 4, "batch_size": 64, "heads": 16}
    run = kg.learn(towns(), tmp_path / "run", **settings)
    out = tmp_path / "filled.csv"
    done = CliRunner().invoke(
        app, ["complete", str(run.folder), "--above", "0.01", "--explain", "--out", str(out), "--json"]
    )
    assert done.exit_code == 0, done.output
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    counted = json.loads(done.stdout)
    assert counted["facts"] + counted["values"] == len(rows)
    assert all(0.01 <= float(row["probability"]) <= 1 for row in rows)
    assert all(row["reason"] for row in rows) and any(row["value"] for row in rows)
    answerer = kg.load(run.folder)
    (likely,) = list(
        complete(answerer, Gaps(above=0.01, attributes=["height"], things=[rows[-1]["subject"]], explain=True))
    )
    moved = answerer.predict(rows[-1]["subject"], "height").reasons
    assert isinstance(likely, MissingValue) and likely.reason is not None
    assert all(mover.text.rpartition(": ")[0] in likely.reason for mover in moved[:3])
    refused = CliRunner().invoke(app, ["complete", str(run.folder), "--out", str(tmp_path / "x.txt")])
    assert "known endings" in str(refused.exception)
