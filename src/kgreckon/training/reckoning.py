"""Training a reckoner into a run folder: the link predictor, then what else is believed, then the calibration."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.format import read_json, write_json
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries
from kgreckon.reckoner import Calibration, Inference, ObservedFacts, PredictedFacts, Reckoner
from kgreckon.reckoner.calibrating import STEPS, fit_calibration
from kgreckon.reckoner.evidence import Evidence
from kgreckon.reckoner.fitting import Beliefs, fit_beliefs
from kgreckon.reckoner.links import SCORERS, LinkScorer, LinkTraining
from kgreckon.reckoner.predicted import Labels, Normalisers, log_sums
from kgreckon.reckoner.settings import ReckonerSettings
from kgreckon.training.run_folder import BEST, LAST, Run

if TYPE_CHECKING:
    from kgreckon.training.loop import TrainingProgress

CALIBRATION = "calibration.json"
# Queries answered at once: a GPU wants many, a CPU's caches few.
AT_ONCE = {"cuda": 512, "cpu": 16}
_UNKNOWN = 6e4  # stands for infinity in half precision


def is_trained(run: Run) -> bool:
    """Whether nothing is left to do: the calibration is what is written last."""
    return (run.folder / CALIBRATION).is_file()


def train_reckoner(run: Run, benchmark: Benchmark, device: torch.device, progress: TrainingProgress) -> Run:
    """Take all epochs that are left, then fit the rest; only the calibration sees more than the training graph."""
    settings = _settings(run)
    observed = ObservedFacts.of(benchmark.graphs.at(Split.TRAIN), device)
    labels = Labels.of(observed)
    scorer = _new_scorer(settings, labels).to(device)
    training = LinkTraining(
        scorer,
        labels.examples(observed),
        settings.batch_size,
        settings.learning_rate,
        settings.regularisation,
        settings.label_weight,
        settings.seed,
    )
    done = _restore(run, scorer, training, device)
    run.forget_after(done * training.steps_per_epoch)
    progress.begin(done * training.steps_per_epoch, settings.epochs * training.steps_per_epoch)
    for epoch in range(done, settings.epochs):
        start = perf_counter()
        loss = training.epoch(epoch)
        rate = training.steps_per_epoch * settings.batch_size / (perf_counter() - start)
        step = (epoch + 1) * training.steps_per_epoch
        run.record({"step": step, "loss": loss, "facts_per_second": rate})
        progress.report(step, loss, rate)
        if not torch.isfinite(torch.tensor(loss)):
            raise UserError(f"the loss is not finite in epoch {epoch + 1}: lower the learning rate")
        if (epoch + 1) % settings.checkpoint_every == 0 or epoch + 1 == settings.epochs:
            run.save(LAST, _state(scorer, training, epoch + 1))
    progress.stage("fitting what to expect of entities and numbers")
    beliefs = fit_beliefs(observed, settings.seed)
    evidence = Evidence.none(observed)
    if settings.rules:
        progress.stage("asking rules")
        evidence = Evidence.of_rules(observed, beliefs.expectations.relations(1.0, 1.0))
    progress.stage("normalising predicted facts")
    calibration = Calibration(rules=Calibration.rules if settings.rules else 0.0)
    normalisers = log_sums(observed, scorer, beliefs.expectations, evidence, calibration.rules)
    parts = observed, scorer, beliefs.expectations, normalisers, beliefs.attributes
    facts = PredictedFacts(*parts, calibration, evidence=evidence)
    queries = EvaluationQueries.load(benchmark, Split.VALID, device, settings.validation_queries, settings.seed)
    step = settings.epochs * training.steps_per_epoch
    inference = Inference(numbers=benchmark.numbers, heads=settings.heads)
    what, tried = "calibrating" if settings.calibrate else "validating", 0

    def record(line: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        run.record({"step": step, "calibration": line})
        progress.stage(f"{what}, {tried} tried, validation MRR {line['validation_mrr']:.2f}")

    progress.stage(what)
    steps = STEPS if settings.calibrate else ()
    facts, mrr = fit_calibration(facts, inference, queries, AT_ONCE[device.type], record, steps)
    run.record({"step": step, "validation_mrr": mrr})
    weights = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    weights["relation_sums"] = facts.normalisers.relations.clamp(max=_UNKNOWN).half()
    weights["value_sums"] = facts.normalisers.values
    run.save(BEST, weights | beliefs.as_tensors() | (evidence.as_tensors() if settings.rules else {}))
    write_json(run.folder / CALIBRATION, facts.calibration.as_json())
    progress.validated(step, mrr, True)
    return run


def load_reckoner(run: Run, benchmark: Benchmark, device: torch.device, known: Split = Split.TRAIN) -> Reckoner:
    """The trained reckoner of a run, over the facts of the graph that is known."""
    settings = _settings(run)
    if not is_trained(run):
        raise UserError(f"{run.folder} is not trained to its end; go on with: kgreckon train --resume {run.folder}")
    tensors = run.tensors(BEST, device)
    observed = ObservedFacts.of(benchmark.graphs.at(known), device)
    try:
        calibration = Calibration.from_json(read_json(run.folder / CALIBRATION))
        scorer = _new_scorer(settings, Labels.of(observed))
        scorer.load_state_dict(
            {name.removeprefix("scorer."): tensor for name, tensor in tensors.items() if name.startswith("scorer.")}
        )
        beliefs = Beliefs.from_tensors(tensors, observed, benchmark.graphs.at(Split.TRAIN))
        evidence = Evidence.from_tensors(tensors, observed)
        relation_sums, value_sums = tensors["relation_sums"].float(), tensors["value_sums"]
    except (RuntimeError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{run.folder} does not fit its settings or its benchmark: {error}") from None
    normalisers = Normalisers(relation_sums.masked_fill(relation_sums >= _UNKNOWN, torch.inf), value_sums)
    parts = observed, scorer.to(device), beliefs.expectations, normalisers, beliefs.attributes
    facts = PredictedFacts(*parts, calibration, evidence=evidence)
    return Reckoner(facts, Inference(numbers=benchmark.numbers, heads=settings.heads))


def _settings(run: Run) -> ReckonerSettings:
    assert isinstance(run.settings, ReckonerSettings)
    return run.settings


def _new_scorer(settings: ReckonerSettings, labels: Labels) -> LinkScorer:
    generator = torch.Generator().manual_seed(settings.seed)
    return SCORERS[settings.scorer](labels.num_nodes, labels.num_labels, settings.rank, generator)


def _state(scorer: LinkScorer, training: LinkTraining, epochs: int) -> dict[str, Tensor]:
    """Everything that the next epoch depends on."""
    tensors = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    tensors |= {f"squares.{place}": tensor for place, tensor in enumerate(training.squares)}
    return tensors | {"epochs": torch.tensor(epochs)}


def _restore(run: Run, scorer: LinkScorer, training: LinkTraining, device: torch.device) -> int:
    """Put back what the last checkpoint holds; returns the epochs that are done."""
    if not (run.folder / LAST).is_file():
        return 0
    tensors = run.tensors(LAST, device)
    try:
        scorer.load_state_dict({n.removeprefix("scorer."): t for n, t in tensors.items() if n.startswith("scorer.")})
        for place, square in enumerate(training.squares):
            square.copy_(tensors[f"squares.{place}"])
        return int(tensors["epochs"])
    except (RuntimeError, KeyError) as error:
        raise UserError(f"{run.folder / LAST} does not fit the run's settings: {error}") from None
