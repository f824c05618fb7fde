"""The family of the reckoner: how it is configured, trained and opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from kgreckon.benchmark import Benchmark, Split
from kgreckon.exact import ComparisonMode
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.devices import float32_products
from kgreckon.models.held_back import HeldBack
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.continuing import continue_reckoner
from kgreckon.models.reckoner.learning import forget_parts, is_trained, learn_reckoner, open_reckoner
from kgreckon.models.reckoner.links import Labels
from kgreckon.models.reckoner.reckoner_model import ReckonerModel
from kgreckon.models.reckoner.reckoner_settings import SMALL, ReckonerSettings
from kgreckon.models.reckoner.training import load_reckoner, train_reckoner
from kgreckon.models.reckoner.trial import go_on_from
from kgreckon.models.registry import ModelFamily
from kgreckon.models.run_files import RunFiles
from kgreckon.processes import started_together


class ReckonerFamily(ModelFamily[ReckonerSettings]):
    """The reckoner learns from facts; it needs queries only to calibrate."""

    name = "reckoner"
    together = True
    settings = ReckonerSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"small": SMALL}

    def check(self, benchmark: Benchmark, settings: ReckonerSettings, device: torch.device) -> None:
        """Any benchmark will do."""

    def train(
        self,
        files: RunFiles,
        benchmark: Benchmark,
        settings: ReckonerSettings,
        device: torch.device,
        progress: TrainingProgress,
    ) -> None:
        """Take all epochs that are left, then fit the rest."""
        if is_trained(files):
            forget_parts(files)
        else:
            with float32_products("high" if device.type == "cuda" else "highest"):
                train_reckoner(files, benchmark, settings, device, progress, started_together(device))

    def open(
        self,
        files: RunFiles,
        benchmark: Benchmark,
        settings: ReckonerSettings,
        device: torch.device,
        known: Split,
        mode: ComparisonMode,
    ) -> ReckonerModel:
        """The trained reckoner over the facts of the graph that is known."""
        return ReckonerModel(*load_reckoner(files, benchmark, settings, device, known, mode))

    def learn(
        self,
        files: RunFiles,
        graph: KnowledgeGraph,
        held_back: HeldBack,
        settings: ReckonerSettings,
        device: torch.device,
        progress: TrainingProgress,
        trial: RunFiles | None = None,
    ) -> None:
        """Take all epochs that are left, then fit the rest; after a trial only half of the epochs."""
        if is_trained(files):
            forget_parts(files)
        else:
            with float32_products("high" if device.type == "cuda" else "highest"):
                together, nodes = started_together(device), Labels.of(graph).num_nodes
                start = None if trial is None else go_on_from(trial, files, settings, nodes, together)
                learn_reckoner(
                    files, graph, held_back, settings, device, progress, calibration=start, processes=together
                )

    def go_on(
        self,
        before: RunFiles,
        learned_from: KnowledgeGraph,
        files: RunFiles,
        graph: KnowledgeGraph,
        stated_share: float,
        settings: ReckonerSettings,
        device: torch.device,
        progress: TrainingProgress,
    ) -> None:
        """Take some of the epochs again, from the vectors that there are, then fit the rest."""
        with float32_products("high" if device.type == "cuda" else "highest"):
            continue_reckoner(before, learned_from, files, graph, stated_share, settings, device, progress)

    def open_learned(
        self,
        files: RunFiles,
        learned_from: KnowledgeGraph,
        known: KnowledgeGraph,
        stated_share: float,
        settings: ReckonerSettings,
        device: torch.device,
    ) -> ReckonerModel:
        """The reckoner that was learned from a graph, over the facts that are known."""
        return ReckonerModel(*open_reckoner(files, learned_from, known, stated_share, settings, device))
