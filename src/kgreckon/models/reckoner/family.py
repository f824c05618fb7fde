"""The family of the reckoner: how it is configured, trained and opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import torch

from kgreckon.benchmark import Benchmark, Split
from kgreckon.exact import ComparisonMode
from kgreckon.models.devices import float32_products
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.reckoner.learning import is_trained
from kgreckon.models.reckoner.reckoner_model import ReckonerModel
from kgreckon.models.reckoner.reckoner_settings import SMALL, ReckonerSettings
from kgreckon.models.reckoner.training import load_reckoner, train_reckoner
from kgreckon.models.registry import ModelFamily
from kgreckon.models.run_files import RunFiles


class ReckonerFamily(ModelFamily[ReckonerSettings]):
    """The reckoner learns from facts; it needs queries only to calibrate."""

    name = "reckoner"
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
        if not is_trained(files):
            with float32_products("high" if device.type == "cuda" else "highest"):
                train_reckoner(files, benchmark, settings, device, progress)

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
        reckoner, facts = load_reckoner(files, benchmark, settings, device, known, mode)
        return ReckonerModel(reckoner, facts)
