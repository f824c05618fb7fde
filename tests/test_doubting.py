"""Doubtful facts and numbers: what a graph states, judged by models that have not seen it."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import kgreckon as kg
from kgreckon.answers.doubting import DoubtSettings, doubtful_facts, find_doubts
from kgreckon.cli.app import app
from kgreckon.graph import Triples
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.models.held_back import hold_back
from test_learning import FEW, Oracle, towns


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> kg.Run:
    return kg.learn(towns(), tmp_path_factory.mktemp("learned") / "run", **FEW)


@pytest.fixture(scope="module")
def with_mistakes(tmp_path_factory) -> kg.Run:
    graph = towns(countries=16, of_each=8)
    builder = GraphBuilder()
    names = graph.vocabulary
    for columns, add in ((graph.facts, builder.add_fact), (graph.attribute_facts, None)):
        for source, label, target in zip(columns.sources, columns.labels, columns.targets, strict=True):
            head = names.entity_name(int(source))
            if add is not None:
                add(head, graph.relations.name(int(label)), names.entity_name(int(target)))
            else:
                number = 900.0 if head == "town 3.2" else float(graph.values.numbers[target])
                builder.add_value(head, "latitude", number, "degrees")
    return kg.learn(builder.build(), tmp_path_factory.mktemp("doubts") / "run", **FEW)


def test_numbers_far_from_what_is_expected_are_found(with_mistakes):
    found = find_doubts(with_mistakes, DoubtSettings(attributes=["latitude"]))
    assert found.numbers_judged == 128 and not found.facts_judged
    first = found.numbers[0]
    assert (first.entity, first.number) == ("town 3.2", 900.0) and first.chance < 0.02 and first.high < 900


def test_the_trial_judges_what_it_has_not_seen_and_folds_judge_all_once(learned):
    hidden = hold_back(learned.graph(), learned.held_back, np.random.default_rng(learned.settings.seed))[1]
    trial = find_doubts(learned, DoubtSettings(relations=["in country", "speaks"]))
    assert trial.facts_judged == len(hidden.facts) and not trial.numbers_judged
    folds = find_doubts(learned, DoubtSettings(share=0.999, relations=["speaks"], folds=2))
    assert folds.facts_judged == folds.facts_stated == np.count_nonzero(learned.graph().facts.labels == 1)
    assert len({(fact.head, fact.tail) for fact in folds.facts}) == len(folds.facts) > 0
    assert not (learned.folder / "folds").exists()


def test_a_fact_in_whose_place_another_is_likely_is_doubtful_and_no_other():
    whole = towns()
    kept, hidden = hold_back(whole, 0.2, np.random.default_rng(1))
    oracle = Oracle(kept, whole)
    facts, country = hidden.facts, whole.vocabulary.entity_id("country 7")
    right = facts[facts.labels == 0]
    assert not list(doubtful_facts(oracle, right, right, 0.02, lambda count: None))
    wrong = Triples(right.sources[:1], right.labels[:1], np.array([country], dtype=right.targets.dtype))
    (found,) = doubtful_facts(oracle, wrong, wrong, 0.02, lambda count: None)
    stated = whole.vocabulary.entity_name(int(right.targets[0]))
    assert (found.tail, found.instead) == ("country 7", stated) and found.instead_probability > 0.99


def test_what_cannot_be_judged_is_refused(learned, tmp_path):
    for settings, problem in ((DoubtSettings(share=0), "above 0"), (DoubtSettings(folds=1), "2 folds"),
                              (DoubtSettings(relations=["speeks"]), "did you mean 'speaks'")):  # fmt: skip
        with pytest.raises(kg.UserError, match=problem):
            find_doubts(learned, settings)


def test_the_command_shows_and_writes_them(with_mistakes, tmp_path):
    command = ["complete", str(with_mistakes.folder), "--check", "0.02"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "doubts.csv")])
    assert done.exit_code == 0, done.output
    assert "town 3.2 — latitude: 900" in done.output and "would if all were right" in done.output
    lines = (tmp_path / "doubts.csv").read_text().splitlines()
    assert lines[0].startswith("subject,predicate,object,value") and any("town 3.2,latitude" in x for x in lines)
    assert json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)["numbers"][0]["entity"] == "town 3.2"
    refused = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "doubts.ttl")])
    assert "known endings are .parquet, .csv, .tsv" in str(refused.exception)
