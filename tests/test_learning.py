"""Learning from all facts of a graph: the run carries the graph, a trial is measured on what it has not seen."""

import json
import os
import shlex
import shutil
import sys
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import kgreckon as kg
from kgreckon.cli.app import app
from kgreckon.cli.run_tables import TrainingBar
from kgreckon.exact import ask
from kgreckon.files import read_json
from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.graph_builder import GraphBuilder
from kgreckon.models.held_back import HeldBack, hold_back
from kgreckon.models.interface import Prediction, TrainedModel, TrainingProgress
from kgreckon.models.reckoner.calibrating import fit_calibration
from kgreckon.models.run_files import LAST
from kgreckon.query import Entity, Follow
from kgreckon.runs.checking import check_folder
from kgreckon.runs.measuring import measure
from kgreckon.runs.quality import Quality

FEW: dict[str, Any] = {"device": "cpu", "rank": 8, "epochs": 4, "batch_size": 64, "heads": 16}


def towns(countries: int = 8, of_each: int = 6) -> KnowledgeGraph:
    """Towns in countries that speak the language of their country: what is hidden follows from what is not."""
    builder = GraphBuilder()
    for country in range(countries):
        for town in range(of_each):
            name = f"town {country}.{town}"
            builder.add_fact(name, "in country", f"country {country}")
            builder.add_fact(name, "speaks", f"language {country % 4}")
            builder.add_value(name, "latitude", 5.0 * country + 0.1 * town, "degrees")
        builder.add_fact(f"country {country}", "speaks", f"language {country % 4}")
    return builder.build()


@pytest.fixture(scope="module")
def learned(tmp_path_factory) -> kg.Run:
    return kg.learn(towns(), tmp_path_factory.mktemp("learned") / "run", **FEW)


def test_a_learned_run_knows_all_facts_and_carries_its_graph(learned, tmp_path):
    moved = tmp_path / "elsewhere"
    shutil.copytree(learned.folder, moved)
    answers = kg.load(moved).ask("(rp,(in country),(e,(town 3.2)))")
    assert [answer.label for answer in answers.answers if answer.observed] == ["country 3"]
    assert len(kg.load(moved).graph.facts) == len(towns().facts)
    assert not check_folder(moved).is_damaged
    (moved / "graph" / "facts.arrow").write_bytes(b"")
    assert check_folder(moved).is_damaged


def test_the_quality_report_covers_every_relation_and_attribute_and_reads_back(learned):
    quality = learned.quality()
    assert {row.label for row in quality.relations} == {"in country", "speaks"}
    assert [row.label for row in quality.attributes] == ["latitude"]
    assert sum(row.tested for row in quality.relations) == quality.tested > 0
    assert quality.facts == len(towns().facts) and quality.seconds > 0
    assert Quality.from_json(json.loads(quality.model_dump_json())) == quality
    assert any("hidden" in sentence for sentence in quality.sentences())


def test_the_same_command_again_changes_nothing_and_other_settings_are_refused(learned):
    def weights():
        return {path.name: path.read_bytes() for path in learned.folder.iterdir() if path.suffix != ".jsonl"
                and path.is_file()}  # fmt: skip

    before = weights()
    kg.learn(towns(), learned.folder, **FEW)
    assert weights() == before
    with pytest.raises(kg.UserError, match="already exists, with other settings"):
        kg.learn(towns(), learned.folder, **{**FEW, "rank": 9})
    with pytest.raises(kg.UserError, match="already exists, with another graph"):
        kg.learn(towns(countries=7), learned.folder, **FEW)


class Stopping(TrainingProgress):
    """Stops at a stage, as Ctrl-C does."""

    def __init__(self, at: int) -> None:
        self.left = at

    def stage(self, text: str) -> None:
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("at", [1, 3, 4, 5, 7])
def test_a_learning_that_is_stopped_goes_on_to_the_same_end(learned, tmp_path, at):
    place = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        kg.learn(towns(), place, progress=Stopping(at), **FEW)
    kg.learn(towns(), place, **FEW)
    for name in ("best.safetensors", "calibration.json", "trial/best.safetensors", "graph/facts.arrow"):
        assert (place / name).read_bytes() == (learned.folder / name).read_bytes(), name
    assert not (place / LAST).exists()


def test_what_goes_on_is_shown_where_no_step_is_left(capsys):
    """As after a kill between the trial's last step and its measurement."""
    with TrainingBar() as bar:
        bar.stage("measuring on the facts that were held back")
    assert "measuring on the facts" in capsys.readouterr().err


def test_the_trial_has_not_seen_what_it_is_measured_on():
    graph = towns()
    kept, hidden = hold_back(graph, 0.1, np.random.default_rng(0))
    assert len(kept.facts) + len(hidden.facts) == len(graph.facts)
    for head, relation, tail in zip(hidden.facts.sources, hidden.facts.labels, hidden.facts.targets, strict=True):
        assert tail not in ask(kept, Follow(2 * int(relation), Entity(int(head))))


def test_probabilities_are_judged_by_facts_that_the_calibration_has_not_seen(tmp_path, monkeypatch):
    seen = {}

    def calibrating(facts, held_back, rng):
        seen["calibrated on"] = held_back
        return fit_calibration(facts, held_back, rng)

    def measuring(model, held_back, share, rng, unseen):
        seen.update({"all": held_back, "judged by": unseen})
        return measure(model, held_back, share, rng, unseen=unseen)

    monkeypatch.setattr("kgreckon.models.reckoner.learning.fit_calibration", calibrating)
    monkeypatch.setattr("kgreckon.runs.learn.measure", measuring)
    kg.learn(towns(), tmp_path / "run", **FEW)
    one, other, both = seen["calibrated on"], seen["judged by"], seen["all"]
    for part in ("facts", "attribute_facts"):
        rows = [
            set(zip(own.sources.tolist(), own.labels.tolist(), own.targets.tolist(), strict=True))
            for own in (getattr(one, part), getattr(other, part), getattr(both, part))
        ]
        assert rows[0] and rows[1] and not rows[0] & rows[1] and rows[0] | rows[1] == rows[2]
    assert one.of_hidden + other.of_hidden == both.of_hidden == 1


def test_the_true_ones_are_counted_by_those_that_are_unseen():
    """What is known of a part stands for the whole: of a model that is right about everything, all is true."""
    kept, hidden = hold_back(towns(40), 0.3, np.random.default_rng(1))
    _, unseen = hidden.split(0.5, np.random.default_rng(2))
    report = measure(Oracle(kept, towns(40)), hidden, 0.3, np.random.default_rng(0), unseen=unseen)
    (tenth,) = report.tenths
    assert tenth.stated == 1 and tenth.candidates == pytest.approx(len(hidden.facts), abs=1)
    assert tenth.true == pytest.approx(min(1.0, 2 * len(unseen.facts) / len(hidden.facts)), abs=0.02)


class Oracle(TrainedModel):
    """A model over a part of a graph that knows the whole for certain."""

    queries_at_once = 8
    device = torch.device("cpu")

    def __init__(self, part: KnowledgeGraph, whole: KnowledgeGraph) -> None:
        self.graph, self.whole = part, whole

    def scores(self, batch):
        rows = torch.zeros(len(batch), len(self.graph.entities))
        for row in range(len(batch)):
            rows[row, ask(self.whole, batch.with_ids(batch.ids.numpy()).query(row, self.graph.values))] = 1
        return rows

    def candidates(self, query, proved, pause=None):
        raise AssertionError("a report asks for scores of batches")

    def prove(self, query, answers, pause=None):
        raise AssertionError("a report asks for no reasons")

    def predict(self, entity, attribute, coverage, reasons=False):
        numbers = self.whole.values.numbers[self.whole.values_of.row(entity, attribute)]
        number = float(numbers.mean()) if len(numbers) else 0.0
        return Prediction((), "degrees", 1.0, number, number, number, coverage)


def test_a_model_that_knows_everything_has_a_perfect_report_and_one_that_knows_nothing_has_not():
    graph = towns()
    kept, hidden = hold_back(graph, 0.2, np.random.default_rng(1))
    best = measure(Oracle(kept, graph), hidden, 0.2, np.random.default_rng(0))
    assert (best.mrr, best.hits_at_1, best.calibration_error) == (100, 100, 0)
    assert all(row.stated == row.true for row in best.relations) and best.tenths[-1].true == 1
    assert all(row.mean_error == 0 and row.covered == 1 for row in best.attributes)
    blind = measure(Oracle(kept, kept), hidden, 0.2, np.random.default_rng(0))
    assert blind.hits_at_1 == 0 and not blind.tenths
    assert all(row.mean_error > 0 and row.covered == 0 for row in blind.attributes)


def test_nothing_held_back_is_a_report_that_says_so():
    graph = towns()
    report = measure(Oracle(graph, graph), HeldBack.nothing(graph, 0.9), 0.1, np.random.default_rng(0))
    assert report.sentences() == ["The graph is too small to hold anything back: nothing was measured."]


def test_the_commands_learn_and_info(tmp_path):
    (tmp_path / "facts.tsv").write_text("".join(f"a{i}\tknows\ta{(i * 7) % 40}\n" for i in range(40)))
    run, command = tmp_path / "run", CliRunner()
    settings = [f"--set={name}={value}" for name, value in FEW.items()]
    done = command.invoke(app, ["learn", str(tmp_path / "facts.tsv"), "--out", str(run), *settings])
    assert done.exit_code == 0, done.output
    assert "knows" in done.output and "were hidden" in done.output
    shown = command.invoke(app, ["info", str(run), "--json"])
    assert json.loads(shown.output)["quality"] == {
        key: value for key, value in read_json(run / "quality.json").items() if key != "checksum"
    }
    assert "learned from all facts" in command.invoke(app, ["info", str(run)]).output


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no umask")
def test_what_is_written_follows_the_umask(tmp_path):
    (tmp_path / "facts.tsv").write_text("".join(f"a{i}\tknows\ta{(i * 7) % 40}\n" for i in range(40)))
    settings = [f"--set={name}={value}" for name, value in FEW.items()]
    for mask, folders, files in ((0o077, 0o700, 0o600), (0o022, 0o755, 0o644)):
        place, before = tmp_path / oct(mask), os.umask(mask)
        try:
            for arguments in (["import", "--out", place / "graph"], ["learn", "--out", place / "run", *settings]):
                done = CliRunner().invoke(app, [*map(str, arguments), str(tmp_path / "facts.tsv")])
                assert done.exit_code == 0, done.output
        finally:
            os.umask(before)
        written = [place, *place.rglob("*")]
        assert {path.stat().st_mode & 0o777 for path in written if path.is_dir()} == {folders}
        modes = {str(path.relative_to(place)): path.stat().st_mode & 0o777 for path in written if path.is_file()}
        assert len(modes) > 20 and {name: mode for name, mode in modes.items() if mode != files} == {}


def test_what_is_suggested_runs_and_answers_what_is_not_stated(tmp_path):
    part, _ = hold_back(towns(12, 8), 0.2, np.random.default_rng(0))
    learned, command = kg.learn(part, tmp_path / "run", **{**FEW, "epochs": 20}), CliRunner()
    quality = learned.quality()
    assert quality is not None
    assert {suggestion.command for suggestion in quality.suggestions} == {"ask", "predict"}
    shown = command.invoke(app, ["info", str(learned.folder)], env={"COLUMNS": "200"}).output
    for suggestion in quality.suggestions:
        line = suggestion.shell(str(learned.folder))
        assert line in shown and suggestion.outcome in shown
        _, *arguments = shlex.split(line)
        done = command.invoke(app, [*arguments, "--json"])
        assert done.exit_code == 0, done.output
        told = json.loads(done.stdout)
        if suggestion.command == "predict":
            assert not told["stated"] and told["has_it"] == pytest.approx(suggestion.probability)
        else:
            (answer,) = [row for row in told["answers"] if row["label"] == suggestion.answer]
            assert not answer["observed"] and answer["score"] == pytest.approx(suggestion.probability, abs=0.02)


def test_a_table_is_learned_by_its_mapping(tmp_path):
    command, table, run = CliRunner(), tmp_path / "towns.csv", str(tmp_path / "run")
    rows = "".join(f"t{i},{i},{'abc'[i % 3]},{i * 7 % 40}.5\n" for i in range(40))
    table.write_text("town,nr,county,height\n" + rows)
    (tmp_path / "m.toml").write_text('[towns.columns]\nheight = "left out"\n')
    settings = [f"--set={name}={value}" for name, value in FEW.items()]
    done = command.invoke(app, ["learn", str(table), "--mapping", str(tmp_path / "m.toml"), "--out", run, *settings])
    assert done.exit_code == 0, done.output
    assert kg.load(run).graph.attributes.names.to_pylist() == ["nr"]
    again = kg.learn(table, tmp_path / "again", mapping=tmp_path / "m.toml", key="town", **FEW)
    assert again.graph().attributes.names.to_pylist() == ["nr"]
    with pytest.raises(kg.UserError, match="a graph already"):
        kg.learn("world", tmp_path / "world", key="town")
    refused = command.invoke(app, ["learn", "world", "--key", "town", "--out", run])
    assert isinstance(refused.exception, kg.UserError) and "is a graph already" in str(refused.exception)


def test_a_question_to_a_file_learns_beside_it_once(tmp_path, monkeypatch):
    table, calls = tmp_path / "towns.csv", []
    table.write_text("town,county,height\n" + "".join(f"t{i},{'abc'[i % 3]},{i % 3}.5\n" for i in range(40)) + "u,a,\n")

    def learn(sources: Any, out: Any, **options: Any) -> kg.Run:
        calls.append(options)
        return learn_from(sources, out, **options, **FEW)

    learn_from = kg.learn
    monkeypatch.setattr(kg, "learn", learn)
    asked = ["ask", str(table), "the height of u", "--learn", "--json", "--above", "0"]
    first = CliRunner().invoke(app, asked)
    assert first.exit_code == 0, first.output
    answers = json.loads(first.stdout)["answers"]
    assert answers and not any(answer["observed"] for answer in answers)
    assert "how well: kgreckon info" in first.stderr
    run = tmp_path / "towns.learned"
    before = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    again = CliRunner().invoke(app, asked)
    assert json.loads(again.stdout)["answers"] == answers and not again.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before and len(calls) == 2
    table.write_text(table.read_text() + "v,b,1.5\n")
    changed = CliRunner().invoke(app, asked)
    assert isinstance(changed.exception, kg.UserError) and "delete it to learn anew" in str(changed.exception)


@pytest.mark.parametrize("share", [0.0, 0.6, -1.0])
def test_a_share_that_leaves_nothing_to_learn_or_to_measure_is_refused(tmp_path, share):
    with pytest.raises(kg.UserError, match="must be above 0 and at most"):
        kg.learn(towns(), tmp_path / "run", held_back=share, **FEW)
    assert not (tmp_path / "run").exists()


def test_what_only_a_benchmark_has_is_refused_with_the_way_out(learned):
    with pytest.raises(kg.UserError, match="kgreckon info"):
        learned.evaluate()
    with pytest.raises(kg.UserError, match="kgreckon build"):
        kg.learn(towns(), learned.folder.parent / "other", model="gqe")
