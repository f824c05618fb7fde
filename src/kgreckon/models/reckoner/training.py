"""Training a reckoner into a run folder: the link predictor, then what else is believed, then the calibration."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.splits import TRAIN_SHARE
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries
from kgreckon.exact import ComparisonMode
from kgreckon.files import read_json, write_json
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.calibrating import STEPS, fit_calibration
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.fitting import Beliefs, fit_beliefs
from kgreckon.models.reckoner.fuzzy import Inference, Reckoner
from kgreckon.models.reckoner.links import SCORERS, LinkScorer, LinkTraining
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.models.reckoner.predicted import Calibration, Labels, Normalisers, PredictedFacts, log_sums
from kgreckon.models.reckoner.reckoner_model import AT_ONCE
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.run_files import BEST, LAST, RunFiles

CALIBRATION = "calibration.json"
_UNKNOWN = 6e4  # stands for infinity in half precision


def is_trained(files: RunFiles) -> bool:
    """Whether nothing is left to do: the calibration is written last."""
    return files.has(CALIBRATION)


def train_reckoner(
    files: RunFiles,
    benchmark: Benchmark,
    settings: ReckonerSettings,
    device: torch.device,
    progress: TrainingProgress,
) -> None:
    """Take all epochs that are left, then fit the rest; only the calibration sees more than the training graph."""
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
    done = _restore(files, scorer, training, device)
    files.forget_after(done * training.steps_per_epoch, again=("calibration", "validation_mrr"))
    progress.begin(done * training.steps_per_epoch, settings.epochs * training.steps_per_epoch)
    for epoch in range(done, settings.epochs):
        start = perf_counter()
        loss = training.epoch(epoch)
        rate = training.steps_per_epoch * settings.batch_size / (perf_counter() - start)
        step = (epoch + 1) * training.steps_per_epoch
        files.record({"step": step, "loss": loss, "facts_per_second": rate})
        progress.report(step, loss, rate)
        if not torch.isfinite(torch.tensor(loss)):
            raise UserError(f"the loss is not finite in epoch {epoch + 1}: lower the learning rate")
        if (epoch + 1) % settings.checkpoint_every == 0 or epoch + 1 == settings.epochs:
            files.save(LAST, _state(scorer, training, epoch + 1))
    progress.stage("fitting what to expect of entities and numbers")
    beliefs = fit_beliefs(observed, TRAIN_SHARE, settings.seed)
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
    inference = Inference(mode=benchmark.mode, heads=settings.heads)
    what, tried = "calibrating" if settings.calibrate else "validating", 0

    def record(line: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        files.record({"step": step, "calibration": line})
        progress.stage(f"{what}, {tried} tried, validation MRR {line['validation_mrr']:.2f}")

    progress.stage(what)
    steps = STEPS if settings.calibrate else ()
    facts, mrr = fit_calibration(facts, inference, queries, AT_ONCE[device.type], record, steps)
    files.record({"step": step, "validation_mrr": mrr})
    weights = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    weights["relation_sums"] = facts.normalisers.relations.clamp(max=_UNKNOWN).half()
    weights["value_sums"] = facts.normalisers.values
    files.save(BEST, weights | beliefs.as_tensors() | (evidence.as_tensors() if settings.rules else {}))
    write_json(files.folder / CALIBRATION, facts.calibration.as_json())
    progress.validated(step, mrr, True)


def load_reckoner(
    files: RunFiles,
    benchmark: Benchmark,
    settings: ReckonerSettings,
    device: torch.device,
    known: Split,
    mode: ComparisonMode,
) -> tuple[Reckoner, PredictedFacts]:
    """The trained reckoner of a run, over the facts of the graph that is known."""
    if not is_trained(files):
        raise UserError(f"{files.folder} is not fully trained; continue with: kgreckon train --resume {files.folder}")
    tensors = files.tensors(BEST, device)
    observed = ObservedFacts.of(benchmark.graphs.at(known), device)
    try:
        calibration = Calibration.from_json(read_json(files.folder / CALIBRATION))
        scorer = _new_scorer(settings, Labels.of(observed))
        scorer.load_state_dict(
            {name.removeprefix("scorer."): tensor for name, tensor in tensors.items() if name.startswith("scorer.")}
        )
        beliefs = Beliefs.from_tensors(tensors, observed, benchmark.graphs.at(Split.TRAIN), TRAIN_SHARE)
        evidence = Evidence.from_tensors(tensors, observed)
        relation_sums, value_sums = tensors["relation_sums"].float(), tensors["value_sums"]
    except (RuntimeError, KeyError, TypeError, IndexError) as error:
        raise UserError(f"{files.folder} does not fit its settings or its benchmark: {error}") from None
    normalisers = Normalisers(relation_sums.masked_fill(relation_sums >= _UNKNOWN, torch.inf), value_sums)
    parts = observed, scorer.to(device), beliefs.expectations, normalisers, beliefs.attributes
    facts = PredictedFacts(*parts, calibration, evidence=evidence)
    return Reckoner(facts, Inference(mode=mode, heads=settings.heads)), facts


def _new_scorer(settings: ReckonerSettings, labels: Labels) -> LinkScorer:
    generator = torch.Generator().manual_seed(settings.seed)
    return SCORERS[settings.scorer](labels.num_nodes, labels.num_labels, settings.rank, generator)


def _state(scorer: LinkScorer, training: LinkTraining, epochs: int) -> dict[str, Tensor]:
    """Everything that the next epoch depends on."""
    tensors = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    tensors |= {f"squares.{place}": tensor for place, tensor in enumerate(training.squares)}
    return tensors | {"epochs": torch.tensor(epochs)}


def _restore(files: RunFiles, scorer: LinkScorer, training: LinkTraining, device: torch.device) -> int:
    """Put back what the last checkpoint holds; returns the epochs that are done."""
    if not files.has(LAST):
        return 0
    tensors = files.tensors(LAST, device)
    try:
        scorer.load_state_dict({n.removeprefix("scorer."): t for n, t in tensors.items() if n.startswith("scorer.")})
        for place, square in enumerate(training.squares):
            square.copy_(tensors[f"squares.{place}"])
        return int(tensors["epochs"])
    except (RuntimeError, KeyError) as error:
        raise UserError(f"{files.folder / LAST} does not fit the run's settings: {error}") from None
