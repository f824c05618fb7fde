"""Learning a reckoner from a graph into a run folder: links, then what else is believed, then the calibration.

A graph and some true facts that it lacks are enough; a benchmark's validation queries are used where there are any.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.evaluation import AnswerPairs, EvaluationQueries, filtered_ranks
from kgreckon.exact import ComparisonMode
from kgreckon.files import read_json, write_json
from kgreckon.graph import KnowledgeGraph, Triples
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.calibrating import STEPS, fit_calibration
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.fitting import Beliefs, fit_beliefs
from kgreckon.models.reckoner.fuzzy import Inference, Reckoner
from kgreckon.models.reckoner.links import SCORERS, LinkScorer, LinkTraining
from kgreckon.models.reckoner.observed import ObservedFacts, ragged_ranges
from kgreckon.models.reckoner.predicted import Calibration, Labels, Normalisers, PredictedFacts, log_sums
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.run_files import BEST, LAST, RunFiles

CALIBRATION = "calibration.json"
# Queries answered at once: a GPU wants many, a CPU's caches few.
AT_ONCE = {"cuda": 512, "cpu": 16}
_UNKNOWN = 6e4  # stands for infinity in half precision
_RANKED = 1000  # held-back facts ranked from each end, where no query is there to validate


def is_trained(files: RunFiles) -> bool:
    """Whether nothing is left to do: the calibration is written last."""
    return files.has(CALIBRATION)


def learn_reckoner(
    files: RunFiles,
    graph: KnowledgeGraph,
    held_back: HeldBack,
    settings: ReckonerSettings,
    device: torch.device,
    progress: TrainingProgress,
    queries: EvaluationQueries | None = None,
    mode: ComparisonMode = ComparisonMode.COMPUTED,
    calibration: Calibration | None = None,
) -> None:
    """Take all epochs that are left, then fit the rest; only the calibration sees more than the graph.

    Without queries to calibrate on, the calibration is the default one, and the held-back facts validate the run. A
    calibration that is given is taken as it is.
    """
    observed = ObservedFacts.of(graph, device)
    labels = Labels.of(observed)
    scorer = _new_scorer(settings, labels).to(device)
    step = _learn_links(files, observed, scorer, settings, progress)
    progress.stage("fitting what to expect of entities and numbers")
    beliefs = fit_beliefs(observed, held_back.stated_share, settings.seed)
    evidence = Evidence.none(observed)
    if settings.rules:
        progress.stage("asking rules")
        evidence = Evidence.of_rules(observed, beliefs.expectations.relations(1.0, 1.0))
    progress.stage("normalising predicted facts")
    calibration = calibration or Calibration(rules=Calibration.rules if settings.rules else 0.0)
    normalisers = log_sums(observed, scorer, beliefs.expectations, evidence, calibration.rules)
    parts = observed, scorer, beliefs.expectations, normalisers, beliefs.attributes
    facts = PredictedFacts(*parts, calibration, evidence=evidence)
    what, tried = "calibrating" if settings.calibrate else "validating", 0

    def record(line: dict[str, Any]) -> None:
        nonlocal tried
        tried += 1
        files.record({"step": step, "calibration": line})
        progress.stage(f"{what}, {tried} tried, validation MRR {line['validation_mrr']:.2f}")

    progress.stage(what)
    if queries is None:
        mrr = mrr_of_facts(facts, held_back.facts, np.random.default_rng(settings.seed))
    else:
        steps = STEPS if settings.calibrate else ()
        inference = Inference(mode=mode, heads=settings.heads)
        facts, mrr = fit_calibration(facts, inference, queries, AT_ONCE[device.type], record, steps)
    files.record({"step": step, "validation_mrr": mrr})
    weights = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    weights["relation_sums"] = facts.normalisers.relations.clamp(max=_UNKNOWN).half()
    weights["value_sums"] = facts.normalisers.values
    files.save(BEST, weights | beliefs.as_tensors() | (evidence.as_tensors() if settings.rules else {}))
    write_json(files.folder / CALIBRATION, facts.calibration.as_json())
    progress.validated(step, mrr, True)


def _learn_links(
    files: RunFiles,
    observed: ObservedFacts,
    scorer: LinkScorer,
    settings: ReckonerSettings,
    progress: TrainingProgress,
) -> int:
    """Take all epochs that are left; returns the steps in all."""
    training = LinkTraining(
        scorer,
        Labels.of(observed).examples(observed),
        settings.batch_size,
        settings.learning_rate,
        settings.regularisation,
        settings.label_weight,
        settings.seed,
    )
    done = _restore(files, scorer, training, observed.device)
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
    return settings.epochs * training.steps_per_epoch


@torch.no_grad()
def mrr_of_facts(facts: PredictedFacts, held_back: Triples, rng: np.random.Generator) -> float:
    """The mean reciprocal rank, in percent, of held-back facts among all that are not observed, from both ends."""
    heads, relations, tails = held_back.both_ways()
    if not len(heads):
        return 0.0
    chosen = np.sort(rng.permutation(len(heads))[: 2 * _RANKED])
    ranks = []
    for first in range(0, len(chosen), AT_ONCE["cpu"]):
        rows = chosen[first : first + AT_ONCE["cpu"]]
        head, relation, tail = (
            torch.from_numpy(column[rows].astype(np.int64)).to(facts.observed.device)
            for column in (heads, relations, tails)
        )
        likely = facts.tails(head[:, None], relation)[:, 0]
        row, edge = ragged_ranges(*facts.observed.relations.groups(relation, head))
        likely[row, facts.observed.relations.targets[edge]] = -torch.inf
        nothing = AnswerPairs.of(tail[:0], np.zeros(len(rows), dtype=np.int64))
        wanted = AnswerPairs.of(tail, np.ones(len(rows), dtype=np.int64))
        ranks.append(filtered_ranks(likely, nothing, wanted).realistic)
    return 100 * float((1 / torch.cat(ranks)).mean())


def open_reckoner(
    files: RunFiles,
    learned_from: KnowledgeGraph,
    known: KnowledgeGraph,
    stated_share: float,
    settings: ReckonerSettings,
    device: torch.device,
    mode: ComparisonMode = ComparisonMode.COMPUTED,
) -> tuple[Reckoner, PredictedFacts]:
    """The reckoner that was learned from a graph, over the facts that are known."""
    if not is_trained(files):
        raise UserError(f"{files.folder} is not fully trained; continue with: kgreckon train --resume {files.folder}")
    tensors = files.tensors(BEST, device)
    observed = ObservedFacts.of(known, device)
    try:
        calibration = Calibration.from_json(read_json(files.folder / CALIBRATION))
        scorer = _new_scorer(settings, Labels.of(observed))
        scorer.load_state_dict(
            {name.removeprefix("scorer."): tensor for name, tensor in tensors.items() if name.startswith("scorer.")}
        )
        beliefs = Beliefs.from_tensors(tensors, observed, learned_from, stated_share)
        evidence = Evidence.from_tensors(tensors, observed)
        relation_sums, value_sums = tensors["relation_sums"].float(), tensors["value_sums"]
        _check_shapes(tensors, Labels.of(observed))
    except (RuntimeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise UserError(f"{files.folder} does not fit its settings or its graph: {error}") from None
    normalisers = Normalisers(relation_sums.masked_fill(relation_sums >= _UNKNOWN, torch.inf), value_sums)
    parts = observed, scorer.to(device), beliefs.expectations, normalisers, beliefs.attributes
    facts = PredictedFacts(*parts, calibration, evidence=evidence)
    return Reckoner(facts, Inference(mode=mode, heads=settings.heads)), facts


def _check_shapes(tensors: dict[str, Tensor], labels: Labels) -> None:
    """Raise a ValueError where what is kept for each relation, entity, attribute or value is of other sizes."""
    expected = {
        "relation_sums": (labels.relations, labels.entities),
        "value_sums": (labels.attributes, labels.values),
        "log_odds": (labels.relations + labels.attributes, labels.entities),
        "number_folds": (labels.entities,),
    }
    for name, shape in expected.items():
        if name in tensors and tensors[name].shape != shape:
            raise ValueError(f"{name} has the sizes {tuple(tensors[name].shape)} instead of {shape}")


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
