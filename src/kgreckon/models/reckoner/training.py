"""A reckoner and a benchmark: training on its training graph, and opening a run over the graph of one of its splits."""

from __future__ import annotations

import torch

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.splits import TRAIN_SHARE, VALID_SHARE
from kgreckon.evaluation import EvaluationQueries
from kgreckon.exact import ComparisonMode
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.learning import LearnedParts, learn_reckoner, open_reckoner
from kgreckon.models.reckoner.predicted import PredictedFacts
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.run_files import RunFiles
from kgreckon.processes import ALONE, Processes


def train_reckoner(
    files: RunFiles,
    benchmark: Benchmark,
    settings: ReckonerSettings,
    device: torch.device,
    progress: TrainingProgress,
    processes: Processes = ALONE,
) -> None:
    """Learn from the training graph; only the calibration sees facts and queries of the validation graph."""
    training, validation = benchmark.graphs.at(Split.TRAIN), benchmark.graphs.at(Split.VALID)
    held_back = HeldBack.between(training, validation, TRAIN_SHARE, (VALID_SHARE - TRAIN_SHARE) / (1 - TRAIN_SHARE))
    queries = EvaluationQueries.load(benchmark, Split.VALID, device, settings.validation_queries, settings.seed)
    learn_reckoner(files, training, held_back, settings, device, progress, queries, benchmark.mode, processes=processes)


def load_reckoner(
    files: RunFiles,
    benchmark: Benchmark,
    settings: ReckonerSettings,
    device: torch.device,
    known: Split,
    mode: ComparisonMode,
) -> tuple[LearnedParts, PredictedFacts]:
    """The trained reckoner of a run, over the facts of the graph that is known."""
    training, observed = benchmark.graphs.at(Split.TRAIN), benchmark.graphs.at(known)
    return open_reckoner(files, training, observed, TRAIN_SHARE, settings, device, mode)
