"""Training: every model learns a toy benchmark, runs resume bit for bit, and bad settings are named."""

import json
import math
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import Any

import pytest
import torch
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from hidden_facts import facts_with_values_of_their_own, some_hidden_facts, without_hidden_facts
from kgreckon.benchmark import Benchmark, BuildSettings, Split, build
from kgreckon.errors import UserError
from kgreckon.evaluation import AnswerPairs, EvaluationQueries, QueryScores, evaluate_scores, filtered_ranks
from kgreckon.files import read_json, write_json
from kgreckon.graph import GraphBuilder
from kgreckon.models.interrupts import WholeSteps
from kgreckon.models.neural import BACKBONES, ENCODINGS, Backbone, NeuralSettings, QueryModel, register
from kgreckon.models.neural.captured_steps import CapturedSteps
from kgreckon.models.neural.device_queries import DeviceQueries, model_for, training_queries
from kgreckon.models.neural.neural_model import NeuralModel
from kgreckon.models.neural.operators import Embedding
from kgreckon.models.reckoner.fuzzy import ids_on
from kgreckon.models.registry import settings_as_json, settings_from_json
from kgreckon.models.run_files import RunFiles
from kgreckon.query import GENERAL_TYPES, Batch, Entity, Follow, Not, Shape
from kgreckon.runs import (
    Run,
    TrainingProgress,
    choose_settings,
    parse_assignments,
    remarks_on,
    resume,
    train,
    train_with,
)
from kgreckon.runs.comparing import compare_runs
from kgreckon.runs.evaluate import evaluate
from random_graph import random_graph

CPU = torch.device("cpu")


def toy_graph():
    """Cities, their countries, their mayors and some numbers: between two kinds of things there is one relation.

    So even GQE can learn it by heart: a shift and an inner product cannot tell two relations between the same things.
    """
    builder = GraphBuilder()
    for index in range(12):
        builder.add_fact(f"city{index}", "in", f"country{index % 3}")
        builder.add_fact(f"city{index}", "led_by", f"mayor{index}")
        builder.add_value(f"city{index}", "height", 10.0 * index + 5, "metres")
        builder.add_value(f"mayor{index}", "age", 30.0 + index, "years")
    return builder.build()


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> Benchmark:
    graph = toy_graph()
    types = {name: GENERAL_TYPES[name] for name in ("1p", "2p", "2i", "2u")}
    return build(graph, tmp_path_factory.mktemp("toy") / "b", BuildSettings.choose(graph, queries=40, types=types))


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> Benchmark:
    graph = random_graph()
    return build(graph, tmp_path_factory.mktemp("small") / "b", BuildSettings.choose(graph, queries=100))


def settings(**changes) -> NeuralSettings:
    few = {"dimension": 16, "batch_size": 64, "steps": 6, "validation_queries": 20, "particles": 2, "report_every": 1}
    return NeuralSettings.choose({**few, "checkpoint_every": 2, "validate_every": 0, "device": "cpu", **changes})


def encoder_of(run: Run) -> QueryModel:
    """The torch module of a neural run, with its best weights."""
    model = run.load(device="cpu")
    assert isinstance(model, NeuralModel)
    return model.encoder


class MeanPoint(Backbone):
    """A backbone as docs/training.md shows one, of vectors that may be longer."""

    length = 1

    def __init__(self, geometry):
        super().__init__(geometry)
        self.nodes = Embedding(geometry.num_nodes, self.flat_dimension, geometry.generator)
        self.relations = Embedding(geometry.num_relations, self.flat_dimension, geometry.generator)

    @property
    def flat_dimension(self):
        return self.length * self.geometry.dimension

    def node(self, ids):
        return self.nodes(ids)

    def follow(self, relations, of):
        return of * self.relations(relations)

    def intersect(self, parts):
        return torch.stack(parts).mean(0)

    unite = intersect

    def flatten(self, state):
        return state

    unflatten = flatten

    def scores(self, state, nodes):
        return state @ self.nodes.weight[nodes].T


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("model", sorted(BACKBONES))
def test_every_model_overfits_a_toy_benchmark(toy, tmp_path, model, encoding):
    chosen = settings(
        model=model, encoding=encoding, dimension=64, steps=800, batch_size=128, learning_rate=1e-2, dropout=0.0,
        entity_smoothing=0.0, value_smoothing=0.0, decay=0.5, report_every=100, checkpoint_every=800,
    )  # fmt: skip
    trained = train_with(toy, tmp_path / "run", chosen).load(device="cpu")  # validated at its last step alone
    found = []
    for queries in training_queries(toy, CPU):
        if queries.shape.denotes_numbers:
            continue
        scores = trained.scores(Batch(queries.shape, queries.ids))
        counts = queries.offsets.diff().numpy()
        none = AnswerPairs.of(torch.zeros(0, dtype=torch.int32), 0 * counts)
        ranks = filtered_ranks(scores, none, AnswerPairs.of(queries.answers, counts))
        found.append(QueryScores.from_ranks(ranks).realistic[:, 0])
    assert torch.cat(found).mean() > 0.9


class Losses(TrainingProgress):
    def __init__(self, stop_after=None):
        self.losses, self.stop_after = {}, stop_after

    def report(self, step, loss, queries_per_second):
        self.losses[step] = loss
        if step == self.stop_after:
            raise KeyboardInterrupt


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_resumed_run_takes_the_same_steps_as_one_that_was_never_stopped(small, tmp_path, encoding):
    chosen = settings(encoding=encoding, dropout=0.2, decay=0.5, steps=8, validate_every=3)
    whole, stopped, resumed = Losses(), Losses(stop_after=5), Losses()
    train_with(small, tmp_path / "whole", chosen, whole)
    with pytest.raises(KeyboardInterrupt):
        train_with(small, tmp_path / "stopped", chosen, stopped)
    resume(tmp_path / "stopped", progress=resumed)
    assert min(resumed.losses) == 5  # the last checkpoint stood at step 4
    assert {**stopped.losses, **resumed.losses} == whole.losses
    one, other = (Run.open(tmp_path / name) for name in ("whole", "stopped"))
    for name in ("last.safetensors", "best.safetensors"):
        tensors, others = one.files.tensors(name, CPU), other.files.tensors(name, CPU)
        assert tensors.keys() == others.keys() and all(torch.equal(tensors[key], others[key]) for key in tensors)
    steps = [record["step"] for record in other.files.records() if "loss" in record]
    assert steps == list(range(1, 9))


def test_settings_given_by_name_train_the_same_run_as_those_chosen_before(small, tmp_path):
    chosen = settings(model="gqe", encoding="dice")
    named = {name: value for name, value in chosen.model_dump().items() if name != "model"}
    runs = train_with(small, tmp_path / "one", chosen), train(small, "gqe", out=tmp_path / "other", **named)
    assert runs[0].settings == runs[1].settings == chosen
    tensors, others = (run.files.tensors("best.safetensors", CPU) for run in runs)
    assert tensors.keys() == others.keys() and all(torch.equal(tensors[key], others[key]) for key in tensors)


def test_what_was_told_before_the_first_checkpoint_is_forgotten_by_whoever_begins_again(small, tmp_path):
    chosen = settings(steps=6, validate_every=1, checkpoint_every=100)
    with pytest.raises(KeyboardInterrupt):
        train_with(small, tmp_path / "run", chosen, Losses(stop_after=3))
    records = resume(tmp_path / "run").files.records()
    for told in ("loss", "validation_mrr"):
        assert [record["step"] for record in records if told in record] == list(range(1, 7))


@pytest.fixture
def interruptible():
    """A shell has the commands that it runs in the background ignore interrupts, and these tests may be one."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("moment", ["in a step", "in a report", "in a validation"])
def test_an_interrupt_keeps_every_step_that_is_whole(small, tmp_path, monkeypatch, moment):
    chosen = settings(dropout=0.2, steps=9, validate_every=5, report_every=5, checkpoint_every=100)
    whole = train_with(small, tmp_path / "whole", chosen)
    own: Any = {"in a step": CapturedSteps.run, "in a report": RunFiles.record, "in a validation": evaluate_scores}[
        moment
    ]
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == (7 if moment == "in a step" else 1):
            signal.raise_signal(signal.SIGINT)
        return own(*arguments)

    place = {"in a step": "CapturedSteps.run", "in a report": "RunFiles.record", "in a validation": "evaluate_scores"}[
        moment
    ]
    with monkeypatch.context() as patch:
        patch.setattr(f"kgreckon.models.neural.training.{place}", interrupted)
        with pytest.raises(KeyboardInterrupt):
            train_with(small, tmp_path / "stopped", chosen)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    kept = json.loads(
        Run.open(tmp_path / "stopped").files.tensors("last.safetensors", CPU)["progress"].numpy().tobytes()
    )
    assert kept["step"] == (7 if moment == "in a step" else 5)
    resumed = resume(tmp_path / "stopped")
    for name in ("last.safetensors", "best.safetensors"):
        tensors, others = whole.files.tensors(name, CPU), resumed.files.tensors(name, CPU)
        assert tensors.keys() == others.keys() and all(torch.equal(tensors[key], others[key]) for key in tensors)
    for told in ("loss", "validation_mrr"):
        lines = [
            [(line["step"], line[told]) for line in run.files.records() if told in line] for run in (whole, resumed)
        ]
        assert lines[0] == lines[1]


@pytest.mark.usefixtures("interruptible")
def test_a_second_interrupt_does_not_wait():
    with WholeSteps() as whole, pytest.raises(KeyboardInterrupt), whole.step():
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the step went on")


def test_what_a_scheduler_sends_stops_a_training_that_can_go_on(small, tmp_path):
    train = [sys.executable, "-m", "kgreckon", "train", str(small.folder), "--model", "gqe"]
    command = [*train, "--out", str(tmp_path / "run")]
    few = {"dimension": 8, "batch_size": 8, "steps": 10**6, "checkpoint_every": 10**6, "validate_every": 0}
    given = [word for name, value in {**few, "report_every": 1}.items() for word in ("--set", f"{name}={value}")]
    with subprocess.Popen([*command, *given], stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not (tmp_path / "run" / "metrics.jsonl").is_file() and time.monotonic() < deadline:
            time.sleep(0.1)
        process.terminate()
        _, told = process.communicate(timeout=60)
    assert process.returncode == 2 and "stopped; continue with: kgreckon train --resume" in told
    assert (tmp_path / "run" / "last.safetensors").is_file()


def test_a_benchmark_that_is_not_built_to_its_end_leaves_nothing(small, tmp_path):
    shutil.copytree(small.folder, tmp_path / "b")
    shutil.rmtree(tmp_path / "b" / "valid" / "2i")
    for chosen in (settings(), choose_settings("reckoner", device="cpu")):
        with pytest.raises(UserError, match="the valid queries of type 2i are not built yet"):
            train_with(tmp_path / "b", tmp_path / "run", chosen)
        assert not (tmp_path / "run").exists()


def test_a_backbone_that_another_program_made_known_is_told_so(small, tmp_path, monkeypatch):
    @register("twice-as-long")
    class TwiceAsLong(MeanPoint):
        length = 2

    try:
        run = train_with(small, tmp_path / "own", settings(model="twice-as-long", encoding="dice"))
        evaluate(run)
        denied = Batch.of([Not(Follow(0, Entity(1)))], small.graph.values)
        assert run.load().scores(denied.with_ids(ids_on(denied, CPU))).isfinite().all()
        with pytest.raises(UserError, match="the name 'gqe' is taken by kgreckon"):
            register("gqe")(TwiceAsLong)
        assert register("twice-as-long")(TwiceAsLong) is TwiceAsLong  # again, as in a notebook
    finally:
        BACKBONES.pop("twice-as-long")
    other = train_with(small, tmp_path / "gqe", settings(model="gqe"))
    evaluate(other)
    assert len(compare_runs([run.folder, other.folder])) == 2
    with pytest.raises(UserError, match="'twice-as-long', which is not known here"):
        Run.open(run.folder).load()


def test_evaluations_that_cannot_be_meant_are_refused(small, tmp_path):
    run = train_with(small, tmp_path / "run", settings())
    assert evaluate(run, "valid").entity_targets == evaluate(run, Split.VALID).entity_targets
    with pytest.raises(UserError, match="must not be negative"):
        evaluate(run, queries_per_type=-5)
    with pytest.raises(UserError, match="unknown split 'vald'; did you mean 'valid'"):
        evaluate(run, "vald")
    with pytest.raises(UserError, match="unknown device 'tpu0'"):
        run.load(device="tpu0")


def test_answers_are_drawn_evenly():
    """Each answer is as likely as any other; a query with fewer than are drawn has its share of each."""
    ids, offsets = torch.tensor([[0, 0], [1, 0]], dtype=torch.int32), torch.tensor([0, 3, 13])
    queries = DeviceQueries("1p", Shape.parse("(rp,(e))"), ids, offsets, torch.arange(13, dtype=torch.int32))
    torch.manual_seed(0)
    for answers in (1, 3, 6):
        batch, positives = queries.draw(6_000, answers)
        assert positives.shape == (6_000, answers)
        few, many = (positives[(batch.ids == row).all(dim=1)] for row in ids)
        assert all(len(row.unique()) == min(answers, 3) for row in few)
        assert all(len(row.unique()) == answers for row in many)
        for drawn, own in ((few, range(3)), (many, range(3, 13))):
            shares = drawn.flatten().bincount(minlength=13) / drawn.numel()
            assert shares[list(own)].tolist() == pytest.approx([1 / len(own)] * len(own), rel=0.15)


def test_operators_change_at_their_share_of_the_rate(small):
    """Adam's first step changes every weight with a gradient by about the rate."""
    chosen = settings(encoding="baseline", dropout=0.0, batch_size=32, operator_rate=0.25)
    model = model_for(small, chosen, torch.Generator().manual_seed(0)).train()
    before = {name: weight.detach().clone() for name, weight in model.named_parameters()}
    steps = CapturedSteps(model, training_queries(small, CPU), chosen)
    steps.set_learning_rate(0.01)
    steps.run(0)
    changes = {name: (weight - before[name]).abs().max().item() for name, weight in model.named_parameters()}
    assert changes["backbone.nodes.weight"] == pytest.approx(0.01, rel=1e-3)
    assert changes["backbone.transition.gated.enter.weight"] == pytest.approx(0.0025, rel=1e-3)


@pytest.mark.parametrize("encoding", ["baseline", "sinusoidal"])
def test_the_weight_of_queries_for_values_scales_their_gradient_alone(small, encoding):
    queries = training_queries(small, CPU)
    places = {each.shape.denotes_numbers: place for place, each in enumerate(queries)}

    def step(of_values, weight):
        chosen = settings(encoding=encoding, dropout=0.0, number_dropout=0.0, batch_size=32, value_weight=weight)
        torch.manual_seed(0)
        model = model_for(small, chosen, torch.Generator().manual_seed(0)).train()
        loss = CapturedSteps(model, queries, chosen).run(places[of_values])
        gradients = [weight.grad for weight in model.parameters() if weight.grad is not None]
        return loss.item(), torch.cat([gradient.flatten() for gradient in gradients])

    for of_values, share in ((True, 0.5), (False, 1.0)):
        (loss, gradient), (same_loss, scaled) = step(of_values, 1.0), step(of_values, 0.5)
        assert loss == same_loss  # what is reported can be compared
        assert torch.allclose(scaled, share * gradient, rtol=1e-4, atol=1e-9)
        assert gradient.abs().max() > 0


def test_training_leaves_torchs_random_numbers_as_they_were(small, tmp_path):
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    train_with(small, tmp_path / "run", settings(steps=2))
    assert torch.equal(torch.rand(3), expected)


def test_training_and_evaluation_leave_torchs_precision_as_it_was(small, tmp_path):
    before = torch.get_float32_matmul_precision()
    run = train_with(small, tmp_path / "run", settings(steps=2, precision="tf32"))
    evaluate(run)
    assert torch.get_float32_matmul_precision() == before


def test_loading_what_was_saved_gives_the_same_scores(small, tmp_path):
    run = train_with(small, tmp_path / "run", settings())
    one, other = run.load(device="cpu"), Run.open(tmp_path / "run").load(small.folder, "cpu")
    queries = EvaluationQueries.load(small, Split.TEST, CPU)
    first, second = (evaluate_scores(model.scores, queries).result() for model in (one, other))
    assert first.entity_targets == second.entity_targets


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_what_is_loaded_scores_as_it_did_in_training(small, tmp_path, encoding):
    """A model is more than its weights: DICE's rotation is random too."""
    run = train_with(
        small, tmp_path / "run", settings(steps=30, encoding=encoding, validate_every=0, validation_queries=0)
    )
    reached = evaluate(run, Split.VALID).entity_targets.all
    assert reached is not None and reached.mrr == pytest.approx(run.best()["validation_mrr"])
    assert isinstance(run.settings, NeuralSettings)
    fresh = model_for(small, run.settings, torch.Generator().manual_seed(run.settings.seed))
    loaded = encoder_of(run).number_reasoning
    if encoding != "baseline":
        assert loaded is not None and fresh.number_reasoning is not None
        assert torch.equal(loaded.encoded, fresh.number_reasoning.encoded)


@pytest.mark.parametrize("changes", [{"precision": "bf16"}, {"device": "cuda"}])
def test_what_cannot_be_trained_here_leaves_no_folder(small, tmp_path, monkeypatch, changes):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(UserError, match="GPU"):
        train_with(small, tmp_path / "run", settings(**changes))
    assert not (tmp_path / "run").exists()


def test_scores_that_are_no_numbers_have_no_rank(small):
    queries = EvaluationQueries.load(small, Split.TEST, CPU)
    sizes = len(small.graph.entities), len(small.graph.values)
    with pytest.raises(UserError, match="not numbers"):
        evaluate_scores(lambda batch: torch.full((len(batch), sizes[batch.shape.denotes_numbers]), math.nan), queries)


def test_weights_that_are_no_numbers_are_not_kept(small, tmp_path, monkeypatch):
    taken, step = [], CapturedSteps.run

    def poisoned(self, place):
        loss = step(self, place)
        taken.append(loss)
        if len(taken) == 7:  # with a loss that is still finite
            next(self.model.parameters()).data.fill_(math.nan)
        return loss.clone()

    monkeypatch.setattr(CapturedSteps, "run", poisoned)
    with pytest.raises(UserError, match="not finite by step 7"):
        train_with(small, tmp_path / "run", settings(steps=9, checkpoint_every=1, validate_every=7, report_every=100))
    last = Run.open(tmp_path / "run").files.tensors("last.safetensors", CPU)
    assert all(tensor.isfinite().all() for name, tensor in last.items() if name.startswith("model."))
    assert not (tmp_path / "run" / "best.safetensors").exists()


def test_without_queries_for_entities_those_for_numbers_count(small):
    queries = EvaluationQueries.load(small, Split.TEST, CPU)
    numbers = replace(queries, sets=tuple(each for each in queries.sets if each.shape.denotes_numbers))
    scored = evaluate_scores(model_for(small, settings(), torch.Generator()).answer, numbers)
    table = scored.result().number_targets.all
    assert table is not None and scored.mean_mrr() == pytest.approx(table.mrr) and table.mrr > 0


def test_the_time_of_an_interrupted_run_counts(small, tmp_path):
    class Interrupted(TrainingProgress):
        def report(self, step, loss, rate):
            raise KeyboardInterrupt

    chosen = settings(steps=8, checkpoint_every=2, report_every=3)
    with pytest.raises(KeyboardInterrupt):
        train_with(small, tmp_path / "run", chosen, Interrupted())
    run = resume(tmp_path / "run", small.folder)
    lines = run.files.records()
    assert sum("trained_seconds" in line for line in lines) == 2
    steps = [line["step"] for line in lines if "loss" in line]
    assert steps == sorted(set(steps))


def test_evaluation_is_written_as_json_and_csv(small, tmp_path):
    run = train_with(small, tmp_path / "run", settings())
    result = evaluate(run, Split.VALID)
    assert read_json(run.folder / "valid_metrics.json").items() >= result.as_json().items()
    lines = (run.folder / "valid_metrics.csv").read_text().splitlines()
    assert lines[0].startswith("target,queries of,queries,mrr,hits_at_1")
    entities = result.entity_targets
    assert entities.all is not None and 0 < entities.all.mrr <= 100 and set(entities.by_type) == set(GENERAL_TYPES)
    parts = [part for part in (entities.touching_numbers, entities.without_numbers) if part is not None]
    assert len(parts) == 2 and sum(part.queries for part in parts) == entities.all.queries
    assert result.absolute_errors and all(math.isfinite(error.mean) for error in result.absolute_errors.values())
    told = EventAccumulator(str(run.folder / "events")).Reload()
    for name, key in (("loss", "loss"), ("validation MRR", "validation_mrr")):
        recorded = {line["step"]: line[key] for line in run.files.records() if key in line}
        assert {event.step: event.value for event in told.Scalars(name)} == pytest.approx(recorded)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dropped", [some_hidden_facts, facts_with_values_of_their_own])
def test_hidden_facts_and_the_values_that_only_they_use_change_nothing_that_is_learned(
    small, tmp_path, encoding, dropped
):
    """A value that only hidden facts use is worth what it would be if no fact used it."""
    changed = without_hidden_facts(small, tmp_path / "other", *dropped(small))
    runs = [
        train_with(made, tmp_path / name, settings(encoding=encoding, validate_every=2))
        for name, made in (("one", small), ("two", changed))
    ]
    first, second = (each.files.tensors("best.safetensors", CPU) for each in runs)
    assert first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("model", BACKBONES)
def test_a_baseline_is_also_ranked_among_values_as_it_was_released(small, tmp_path, model):
    run = train_with(small, tmp_path / "run", settings(model=model, encoding="baseline"))
    result, trained, encoder = evaluate(run), run.load(device="cpu"), encoder_of(run)
    entities, among_values = result.entity_targets, result.entity_targets_among_values
    assert among_values is not None and among_values.all is not None and entities.all is not None
    assert 0 < among_values.all.mrr < entities.all.mrr
    assert among_values.all.queries == entities.all.queries
    assert {row["target"] for row in result.records()} >= {"entity_targets", "entity_targets_among_values"}
    for name in ("1p", "pi"):
        for queries in small.query_sets(Split.TEST, name):
            batch = Batch(queries.shape, ids_on(queries.batch, CPU))
            plain, more = trained.scores(batch), trained.scores_as_released(batch)
            extra = 0 if queries.shape.denotes_numbers else len(small.graph.values)
            assert more.shape[1] == plain.shape[1] + extra
            assert torch.allclose(more[:, : plain.shape[1]], plain, atol=1e-5)
            if extra:
                as_numbers = encoder.scores(encoder.encode(batch), True)
                assert torch.allclose(more[:, plain.shape[1] :], as_numbers, atol=1e-5)


def test_other_models_are_ranked_among_candidates_alone(small, tmp_path):
    assert evaluate(train_with(small, tmp_path / "run", settings())).entity_targets_among_values is None


def test_a_loss_that_is_not_finite_stops_and_names_the_type(small, tmp_path, monkeypatch):
    whole = QueryModel.loss

    def loss(self, batch, positives, negatives=0):
        value = whole(self, batch, positives, negatives)
        return value * float("nan") if batch.shape.text == "(rp,(rp,(e)))" else value

    monkeypatch.setattr(QueryModel, "loss", loss)
    with pytest.raises(UserError, match=r"not finite .* on queries of type 2p, \(rp,\(rp,\(e\)\)\)"):
        train_with(small, tmp_path / "run", settings(steps=200))


class TestFolders:
    def test_an_existing_run_is_left_alone(self, small, tmp_path):
        train_with(small, tmp_path / "run", settings(steps=2))
        with pytest.raises(UserError, match="with other settings; continue it with: kgreckon train --resume"):
            train_with(small, tmp_path / "run", settings(steps=3))

    def test_the_same_training_goes_on(self, small, tmp_path):
        run = train_with(small, tmp_path / "run", settings(steps=2))
        best = (run.folder / "best.safetensors").read_bytes()
        assert train_with(small, tmp_path / "run", settings(steps=2)).best() == run.best()
        assert (run.folder / "best.safetensors").read_bytes() == best

    def test_another_benchmark_is_told_apart(self, small, toy, tmp_path):
        run = train_with(small, tmp_path / "run", settings(steps=2))
        with pytest.raises(UserError, match="is not the benchmark that"):
            run.benchmark(toy.folder)

    @pytest.mark.parametrize("damage", ["missing", "truncated", "other"])
    def test_damaged_weights(self, small, tmp_path, damage):
        run = train_with(small, tmp_path / "run", settings(steps=2))
        path = run.folder / "best.safetensors"
        if damage == "missing":
            path.unlink()
        elif damage == "truncated":
            path.write_bytes(path.read_bytes()[:100])
        else:
            run.files.save("best.safetensors", {"model.something": torch.zeros(2)})
        with pytest.raises(UserError, match=r"best\.safetensors"):
            run.load(device="cpu")

    def test_a_line_of_metrics_that_was_never_finished_does_not_count(self, small, tmp_path):
        run = train_with(small, tmp_path / "run", settings(steps=2))
        known, path = run.files.records(), run.folder / "metrics.jsonl"
        with path.open("a", encoding="utf-8") as file:
            file.write('{"step": 2, "lo')
        assert run.files.records() == known
        assert resume(run.folder).files.records()[: len(known)] == known
        path.write_text("{\n" + path.read_text())
        with pytest.raises(UserError, match=r"metrics\.jsonl:1: not a line of metrics"):
            run.files.records()

    @pytest.mark.parametrize("settings", [None, 5, {"reckoner": None}, {"reckoner": {"model": None}}, {"model": 5}, {}])
    def test_settings_that_are_none(self, tmp_path, settings):
        header = {"format": "kgreckon-run", "version": 1, "benchmark": "b", "benchmark_hash": "h", "settings": settings}
        (tmp_path / "run.json").write_text(json.dumps(header))
        with pytest.raises(UserError, match=r"run\.json|unknown"):
            Run.open(tmp_path)

    def test_without_training_queries_nothing_is_written(self, small, tmp_path):
        empty = shutil.copytree(small.folder, tmp_path / "empty")
        for path in (empty / "train").glob("*/summary.json"):
            path.write_text(json.dumps({"wanted": None, "found": 0, "shapes": {}}))
        with pytest.raises(UserError, match="no training queries"):
            train_with(empty, tmp_path / "run", settings(steps=1))
        assert not (tmp_path / "run").exists()

    def test_weights_are_for_whoever_may_read_the_run(self, small, tmp_path):
        run = train_with(small, tmp_path / "run", settings(steps=1))
        assert len({path.stat().st_mode for path in run.folder.iterdir() if path.is_file()}) == 1

    @pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "kgreckon-run", "version": 1}'])
    def test_a_header_that_is_not_ours(self, tmp_path, text):
        (tmp_path / "run.json").write_text(text)
        with pytest.raises(UserError):
            Run.open(tmp_path)
        with pytest.raises(UserError, match="no such folder"):
            Run.open(tmp_path / "nowhere")


class TestSettings:
    def test_text_is_read_as_the_settings_type(self):
        chosen = NeuralSettings.choose(
            parse_assignments(["steps=2e3", "learning_rate=1e-2", "learn_values=false", "model=gqe"])
        )
        assert chosen.steps == 2000 and chosen.learning_rate == 0.01
        assert chosen.learn_values is False and chosen.model == "gqe"
        assert settings_from_json(json.loads(json.dumps(settings_as_json(chosen)))) == chosen

    def test_those_of_an_older_run_are_read_in_two_parts_and_by_their_old_names(self):
        parts = {"model": {"model": "gqe", "numbers": "dice", "dimension": 8}, "training": {"steps": 5, "seed": 3}}
        found = settings_from_json(parts)
        # What held before they were settings:
        before: dict[str, Any] = {"answers": 1, "number_dropout": 0.0, "softmax": "full"}
        assert found == choose_settings("gqe", encoding="dice", dimension=8, steps=5, seed=3, **before)
        for negatives, softmax in ((0, {"softmax": "full"}), (512, {"softmax": "batch", "negatives": 512})):
            whole = settings_from_json({"neural": {"model": "gqe", "negatives": negatives}})
            assert whole == choose_settings("gqe", **{**before, **softmax})
        assert settings_from_json({"reckoner": {"rank": 4}}) == choose_settings("reckoner", rank=4)

    def test_a_preset_is_where_changes_start_from(self):
        paper, changed = choose_settings("gqe", "paper"), choose_settings("gqe", "paper", steps=7)
        assert isinstance(paper, NeuralSettings) and (paper.steps, paper.dropout) == (370_000, 0.3)
        assert changed == paper.model_copy(update={"steps": 7})
        with pytest.raises(UserError, match="unknown preset 'papr'; did you mean 'paper'"):
            choose_settings("gqe", "papr")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("stepz=3", "unknown setting 'stepz'; did you mean 'steps'"),
            ("steps=3.5", "steps must be a whole number, not '3.5'"),
            ("steps=many", "steps must be a whole number, not 'many'"),
            ("steps=0", "steps must be at least 1"),
            ("value_weight=0", "value_weight must be above 0"),
            ("value_weight=11", "value_weight must be at most 10"),
            ("learning_rate=-1", "learning_rate must be above 0"),
            ("learning_rate=nan", "learning_rate must be a finite number"),
            ("seed=-1", "seed must be at least 0"),
            ("device=tpu", "device cannot be 'tpu'"),
            ("learn_values=maybe", "learn_values must be true or false, not 'maybe'"),
            ("steps", "expected key=value"),
        ],
    )
    def test_mistakes_are_named(self, text, message):
        with pytest.raises(UserError, match=message):
            NeuralSettings.choose(parse_assignments([text]))

    def test_what_is_set_without_effect_is_told(self):
        chosen = choose_settings("gqe", encoding="dice")
        told = remarks_on(chosen, ["number_dropout", "steps", "type_prior"])
        assert [sentence.split(":")[0] for sentence in told] == [
            "number_dropout has no effect", "type_prior has no effect"
        ]  # fmt: skip
        assert remarks_on(choose_settings("reckoner"), ["rank"]) == []


class TestCommandLine:
    def run(self, monkeypatch, capsys, *arguments) -> tuple[int, str, str]:
        from kgreckon.cli import main

        monkeypatch.setattr("sys.argv", ["kgreckon", *map(str, arguments)])
        with pytest.raises(SystemExit) as exit_:
            main()
        return (exit_.value.code or 0, *capsys.readouterr())

    def test_train_evaluate_compare(self, small, tmp_path, monkeypatch, capsys):
        few = ["steps=3", "dimension=8", "batch_size=16", "device=cpu", "validation_queries=5"]
        for encoding in ("baseline", "dice"):
            settings_ = [text for assignment in few for text in ("--set", assignment)]
            arguments = ("train", small.folder, "--model", "gqe", "--encoding", encoding, "--out", tmp_path / encoding)
            code, out, _ = self.run(monkeypatch, capsys, *arguments, *settings_)
            assert code == 0 and "best validation MRR" in out
            code, out, _ = self.run(
                monkeypatch, capsys, "evaluate", tmp_path / encoding, "--queries", 10, "--optimistic"
            )
            assert code == 0 and "Queries for entities" in out and "MRR, optimistic" in out
        code, out, err = self.run(monkeypatch, capsys, "compare", tmp_path / "baseline", tmp_path / "dice", "--json")
        names = [row["name"] for row in json.loads(out)]
        ranked = [tmp_path / "baseline", f"{tmp_path / 'baseline'}, among values too", tmp_path / "dice"]
        assert code == 0 and names == list(map(str, ranked)) and "different benchmarks" not in err
        header = read_json(tmp_path / "dice" / "run.json")
        other = shutil.copytree(tmp_path / "dice", tmp_path / "other")
        write_json(other / "run.json", header | {"benchmark_hash": "another"})
        code, out, err = self.run(monkeypatch, capsys, "compare", tmp_path / "baseline", other)
        assert code == 0 and "different benchmarks" in err and "different" not in out
        self.run(monkeypatch, capsys, "evaluate", tmp_path / "dice", "--queries", 5)
        code, out, err = self.run(monkeypatch, capsys, "compare", tmp_path / "baseline", tmp_path / "dice")
        assert code == 0 and "these runs were asked" in err
        (other / "test_metrics.json").write_text("{}")
        code, _, err = self.run(monkeypatch, capsys, "compare", other)
        assert code == 2 and "damaged" in err
        resume_dice = ("train", "--resume", tmp_path / "dice")
        code, out, _ = self.run(monkeypatch, capsys, *resume_dice)
        assert code == 0
        write_json(tmp_path / "dice" / "run.json", header | {"benchmark": str(tmp_path / "moved")})
        code, _, err = self.run(monkeypatch, capsys, *resume_dice)
        assert code == 2 and "--benchmark FOLDER" in err
        code, out, _ = self.run(monkeypatch, capsys, *resume_dice, "--benchmark", small.folder)
        assert code == 0 and "best validation MRR" in out

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (("train",), "give a benchmark folder"),
            (("train", "nowhere", "--out", "x"), "nowhere: no such folder"),
            (("train", "nowhere", "--out", "x", "--preset", "big"), "unknown preset 'big'"),
            (("train", "nowhere", "--out", "x", "--model", "q2p"), "choose gqe, query2box, query2particles, reckoner"),
            (("train", "nowhere", "--out", "x", "--set", "stepz=1"), "unknown setting 'stepz'"),
            (("train", "--resume", "x", "--model", "gqe"), "give no others"),
            (("train", "x", "--out", "y", "--benchmark", "z"), "--benchmark is for --resume"),
            (("evaluate", "nowhere"), "nowhere: no such folder"),
            (("evaluate", "nowhere", "--split", "train"), "choose valid or test"),
            (("compare", "nowhere"), "nowhere: no such folder"),
        ],
    )
    def test_mistakes(self, tmp_path, monkeypatch, capsys, arguments, message):
        monkeypatch.chdir(tmp_path)
        code, _, err = self.run(monkeypatch, capsys, *arguments)
        assert code == 2 and message in err and "Traceback" not in err
        assert not list(tmp_path.iterdir())

    def test_the_papers_row_stands_beside_a_run_on_its_benchmark(self, small, tmp_path):
        run = train_with(small, tmp_path / "run", settings(model="query2particles"))
        write_json(run.folder / "run.json", read_json(run.folder / "run.json") | {"preset": "db15k"})
        with pytest.raises(UserError, match="first run kgreckon evaluate"):
            compare_runs([run.folder])
        evaluate(run)
        paper, ours = compare_runs([run.folder])
        assert (
            paper.name == "paper: DB15k query2particles sinusoidal"
            and paper.mrr == 14.25
            and paper.by_type["3i"] == 36.66
        )
        assert ours.by_type and set(ours.by_type) <= set(GENERAL_TYPES)
