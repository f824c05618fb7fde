"""The family of neural models: how they are configured, trained and opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch

from kgreckon.benchmark import Benchmark, Split
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.neural.backbone import BACKBONES
from kgreckon.models.neural.device_queries import model_for
from kgreckon.models.neural.neural_model import NeuralModel
from kgreckon.models.neural.neural_settings import PAPER, SMALL, NeuralSettings
from kgreckon.models.neural.training import Training
from kgreckon.models.registry import ModelFamily
from kgreckon.models.run_files import BEST, RunFiles
from kgreckon.processes import started_together


class NeuralFamily(ModelFamily[NeuralSettings]):
    """All registered backbones, each with numbers as entities or with number reasoning."""

    name = "neural"
    together = True
    settings = NeuralSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"paper": PAPER, "small": SMALL}

    @property
    def models(self) -> Sequence[str]:
        """The backbones."""
        return tuple(BACKBONES)

    def check(self, benchmark: Benchmark, settings: NeuralSettings, device: torch.device) -> None:
        """There must be training queries, and a GPU for bf16."""
        if settings.precision == "bf16" and device.type == "cpu":
            raise UserError("precision=bf16 is for a GPU; on a CPU leave it at auto")
        if not any(benchmark.summary(Split.TRAIN, name)["found"] for name in benchmark.types):
            raise UserError(f"{benchmark.folder} has no training queries")

    def train(
        self,
        files: RunFiles,
        benchmark: Benchmark,
        settings: NeuralSettings,
        device: torch.device,
        progress: TrainingProgress,
    ) -> None:
        """Take all steps that are left."""
        Training(files, benchmark, settings, device, progress, started_together(device)).run_to_the_end()

    def open(
        self,
        files: RunFiles,
        benchmark: Benchmark,
        settings: NeuralSettings,
        device: torch.device,
        known: Split,
        mode: ComparisonMode,
    ) -> NeuralModel:
        """The model with its best weights; it compares as it learned to, whatever the mode."""
        if settings.model not in BACKBONES:
            raise UserError(
                f"{files.folder} is a run of the model {settings.model!r}, which is not known here: "
                "a program that registers it can load the run"
            )
        encoder = model_for(benchmark, settings, torch.Generator())
        tensors = {
            name.removeprefix("model."): tensor
            for name, tensor in files.tensors(BEST, device).items()
            if name.startswith("model.")
        }
        try:
            encoder.load_state_dict(tensors)
        except RuntimeError as error:
            raise UserError(
                f"{files.folder / BEST} does not fit the run's settings, or was written by an older version and must "
                f"be trained again: {error}"
            ) from None
        return NeuralModel(encoder.to(device).eval(), benchmark.graphs.at(known), device)
