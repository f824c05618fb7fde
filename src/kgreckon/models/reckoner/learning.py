"""Learning a reckoner from a graph into a run folder: links, rules, attributes, then what their evidence weighs.

A graph and some true facts that it lacks are enough; a benchmark's validation queries are used where there are any.
Every part is saved as soon as it is learned, so that a stopped training goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np
import torch
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.evaluation import AnswerPairs, EvaluationQueries, evaluate_scores, filtered_ranks
from kgreckon.exact import ComparisonMode
from kgreckon.files import read_json, write_json
from kgreckon.graph import KnowledgeGraph, Triples
from kgreckon.models.checkpoints import last_checkpoint, save_checkpoint
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.answer_maps import AnswerMaps, AnswerSample
from kgreckon.models.reckoner.attributes import AttributeModels, fit_attributes
from kgreckon.models.reckoner.calibrating import fit_calibration
from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.evidence import Evidence, rules_as_tensors, rules_from_tensors
from kgreckon.models.reckoner.existence import FOLDS, Expectations
from kgreckon.models.reckoner.fuzzy import Inference, Reckoner
from kgreckon.models.reckoner.links import SCORERS, Labels, LinkScorer, LinkTraining
from kgreckon.models.reckoner.newcomers import Newcomers
from kgreckon.models.reckoner.observed import ObservedFacts, ragged_ranges
from kgreckon.models.reckoner.predicted import PredictedFacts
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.reckoner.rules import Rules, mine_rules
from kgreckon.models.run_files import BEST, LAST, RunFiles
from kgreckon.processes import ALONE, Processes

CALIBRATION = "calibration.json"
ANSWERS = "answer_calibration.json"  # what is shown for the answers to each type of queries
RULES, ATTRIBUTES = "rules.safetensors", "attributes.safetensors"  # until the weights are saved with all parts
# Queries answered at once: a GPU wants many, a CPU's caches few.
AT_ONCE = {"cuda": 512, "cpu": 16}
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
    processes: Processes = ALONE,
) -> None:
    """Learn all that is not learned yet; only the calibration sees more than the graph.

    Held-back facts validate the run where there are no queries to do so. A calibration that is given is taken as it is.
    Several processes learn the links together, and the first one the rest.
    """
    observed = ObservedFacts.of(graph, device)
    scorer = _new_scorer(settings, Labels.of(graph), processes).to(device)
    step = _learn_links(files.of_first(processes), observed, scorer, settings, progress, processes)
    if not processes.is_first:
        return

    def rules() -> dict[str, Tensor]:
        return rules_as_tensors(mine_rules(graph) if settings.rules else Rules.none(2 * len(graph.relations)))

    def attributes() -> dict[str, Tensor]:
        fold_of = np.random.default_rng(settings.seed).integers(FOLDS, size=len(graph.entities))
        return fit_attributes(graph, fold_of, settings.seed).as_tensors()

    progress.stage("looking for rules")
    learned = _once(files, RULES, rules)
    progress.stage("learning what to expect of numbers")
    learned |= _once(files, ATTRIBUTES, attributes)
    facts = _facts(observed, graph, scorer, learned, held_back.stated_share, calibration or Calibration())
    if calibration is None and settings.calibrate:
        progress.stage("weighing evidence on held-back facts")
        facts = fit_calibration(facts, held_back, np.random.default_rng(settings.seed))
    progress.stage("validating")
    reckoner = Reckoner(facts, Inference(mode=mode, heads=settings.heads))
    sample = AnswerSample(held_back.of_hidden, np.random.default_rng(settings.seed), reckoner.answer_and_parts)
    if queries is None:
        mrr = mrr_of_facts(facts, held_back.facts, np.random.default_rng(settings.seed))
    else:
        mrr = evaluate_scores(reckoner.answer, queries, at_once=AT_ONCE[device.type], see=sample.see).mean_over_types()
    files.record({"step": step, "calibration": facts.calibration.as_json()})
    files.record({"step": step, "validation_mrr": mrr})
    files.save(BEST, {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()} | learned)
    maps = sample.fit() if settings.calibrate else AnswerMaps({})
    write_json(files.folder / ANSWERS, maps.as_json())
    write_json(files.folder / CALIBRATION, facts.calibration.as_json())
    forget_parts(files)
    progress.validated(step, mrr, True)


def forget_parts(files: RunFiles) -> None:
    """Remove what the weights hold too, also where a training was killed before it could."""
    for name in (RULES, ATTRIBUTES):
        (files.folder / name).unlink(missing_ok=True)


def _once(files: RunFiles, name: str, learn: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
    """What a stopped training has saved under a name, or what is learned now and saved."""
    if not files.has(name):
        files.save(name, learn())
    return files.tensors(name, torch.device("cpu"))


def _facts(
    observed: ObservedFacts,
    learned_from: KnowledgeGraph,
    scorer: LinkScorer,
    learned: dict[str, Tensor],
    stated_share: float,
    calibration: Calibration,
) -> PredictedFacts:
    """The fact model over all that is known; what was learned is on the scale of the graph that it was learned from."""
    expectations = Expectations(observed.graph, stated_share, calibration.existence)
    evidence = Evidence(observed.graph, rules_from_tensors(learned, observed.relations.num_labels))
    attributes = AttributeModels.from_tensors(learned, observed.graph, learned_from)
    return PredictedFacts(observed, scorer, expectations, attributes, calibration, evidence)


def _learn_links(
    files: RunFiles,
    observed: ObservedFacts,
    scorer: LinkScorer,
    settings: ReckonerSettings,
    progress: TrainingProgress,
    processes: Processes,
) -> int:
    """Take all epochs that are left; returns the steps in all. The first of several processes then has all nodes."""
    labels = Labels.of(observed.graph)
    training = LinkTraining(
        scorer,
        labels.examples(observed.graph, observed.device),
        settings.batch_size,
        settings.learning_rate,
        settings.regularisation,
        settings.label_weight,
        settings.seed,
        settings.sampled_tails(labels.num_nodes, observed.device.type),
        processes,
    )
    done = _restore(files, scorer, training, observed.device, processes)
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
            save_checkpoint(files, _state(scorer, training, epoch + 1), spread_tensors(labels.num_nodes), processes)
    scorer.nodes = torch.nn.Parameter(processes.on_first(scorer.nodes.detach(), labels.num_nodes))
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


@dataclass(frozen=True)
class LearnedParts:
    """What a run has learned from a graph, to be put over that graph or one with later changes."""

    newcomers: Newcomers
    tensors: dict[str, Tensor]
    calibration: Calibration
    maps: AnswerMaps
    stated_share: float
    inference: Inference

    @staticmethod
    def read(
        files: RunFiles,
        learned_from: KnowledgeGraph,
        stated_share: float,
        settings: ReckonerSettings,
        device: torch.device,
        mode: ComparisonMode = ComparisonMode.COMPUTED,
    ) -> LearnedParts:
        """What a run folder keeps."""
        if not is_trained(files):
            raise UserError(
                f"{files.folder} is not fully trained; continue with: kgreckon train --resume {files.folder}"
            )
        tensors = files.tensors(BEST, device)
        if "relation_sums" in tensors:
            raise UserError(
                f"{files.folder} holds a reckoner of an older version, which this one cannot use; "
                "train it again into a new folder: kgreckon train BENCHMARK --model reckoner --out FOLDER"
            )
        with _fitting(files):
            labels = Labels.of(learned_from)
            scorer = _new_scorer(settings, labels)
            scorer.load_state_dict(
                {name.removeprefix("scorer."): tensor for name, tensor in tensors.items() if name.startswith("scorer.")}
            )
            _check_shapes(tensors, labels)
            return LearnedParts(
                Newcomers(scorer.to(device), learned_from, settings),
                tensors,
                Calibration.from_json(read_json(files.folder / CALIBRATION)),
                AnswerMaps.from_json(read_json(files.folder / ANSWERS)),
                stated_share,
                Inference(mode=mode, heads=settings.heads),
            )

    def over(self, known: KnowledgeGraph) -> tuple[LearnedParts, PredictedFacts]:
        """The fact model over the facts that are known, and what may be put over a later graph."""
        newcomers = self.newcomers.over(known)
        observed = ObservedFacts.of(known, newcomers.scorer.nodes.device)
        parts = newcomers.learned_from, newcomers.scorer, self.tensors, self.stated_share, self.calibration
        return replace(self, newcomers=newcomers), _facts(observed, *parts)


def open_reckoner(
    files: RunFiles,
    learned_from: KnowledgeGraph,
    known: KnowledgeGraph,
    stated_share: float,
    settings: ReckonerSettings,
    device: torch.device,
    mode: ComparisonMode = ComparisonMode.COMPUTED,
) -> tuple[LearnedParts, PredictedFacts]:
    """What was learned from a graph, over the facts that are known."""
    learned = LearnedParts.read(files, learned_from, stated_share, settings, device, mode)
    with _fitting(files):
        return learned.over(known)


@contextmanager
def _fitting(files: RunFiles) -> Iterator[None]:
    """What does not fit is a UserError."""
    try:
        yield
    except (RuntimeError, KeyError, TypeError, IndexError, ValueError) as error:
        raise UserError(f"{files.folder} does not fit its settings or its graph: {error}") from None


def _check_shapes(tensors: dict[str, Tensor], labels: Labels) -> None:
    """Raise a ValueError where what is kept for each relation or entity is of other sizes."""
    expected = {"rule_starts": (labels.relations + 1,), "number_folds": (labels.entities,)}
    for name, shape in expected.items():
        if name in tensors and tensors[name].shape != shape:
            raise ValueError(f"{name} has the sizes {tuple(tensors[name].shape)} instead of {shape}")


def _new_scorer(settings: ReckonerSettings, labels: Labels, processes: Processes = ALONE) -> LinkScorer:
    generator = torch.Generator().manual_seed(settings.seed)
    return SCORERS[settings.scorer](labels.num_nodes, labels.num_labels, settings.rank, generator, processes)


def _state(scorer: LinkScorer, training: LinkTraining, epochs: int) -> dict[str, Tensor]:
    """Everything that the next epoch depends on."""
    tensors = {f"scorer.{name}": tensor for name, tensor in scorer.state_dict().items()}
    tensors |= {f"squares.{place}": tensor for place, tensor in enumerate(training.squares)}
    return tensors | {"epochs": torch.tensor(epochs)}


def spread_tensors(nodes: int) -> dict[str, int]:
    """The tensors of a checkpoint of which each of several processes has a part, with their rows in all."""
    return {"scorer.nodes": nodes, "squares.0": nodes}


def _restore(
    files: RunFiles, scorer: LinkScorer, training: LinkTraining, device: torch.device, processes: Processes
) -> int:
    """Put back what the last checkpoint holds; returns the epochs that are done."""
    tensors = last_checkpoint(files, spread_tensors(training.num_nodes), device, processes)
    if tensors is None:
        return 0
    try:
        scorer.load_state_dict({n.removeprefix("scorer."): t for n, t in tensors.items() if n.startswith("scorer.")})
        for place, square in enumerate(training.squares):
            square.copy_(tensors[f"squares.{place}"])
        return int(tensors["epochs"])
    except (RuntimeError, KeyError) as error:
        raise UserError(f"{files.folder / LAST} does not fit the run's settings: {error}") from None
