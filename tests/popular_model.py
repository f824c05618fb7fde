"""A fourth model in one file: whatever is stated most often is the likeliest answer to everything."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from kgreckon.models.interface import Candidates, ScoreMeaning, TrainedModel
from kgreckon.models.registry import ModelFamily, register_family
from kgreckon.models.run_files import BEST
from kgreckon.models.settings import Settings
from kgreckon.models.stated import StatedFacts


class PopularSettings(Settings):
    """How counts become scores."""

    family: ClassVar[str] = "popular"
    model: str = Field("popular", description="The model's name.")
    power: float = Field(1.0, gt=0, description="The power of a count that is its score.")


class PopularModel(TrainedModel):
    """Scores that do not depend on the question."""

    name = "popular"
    calibration = ScoreMeaning.SHARE

    def __init__(self, graph, entities: Tensor, values: Tensor) -> None:
        self.graph, self.entities, self.values = graph, entities, values

    def scores(self, batch) -> Tensor:
        own = self.values if batch.shape.denotes_numbers else self.entities
        return own.expand(len(batch.ids), -1)

    def candidates(self, query, proved, pause=None) -> Candidates:
        from kgreckon.query import Batch

        batch = Batch.of([query], self.graph.values)
        scores = self.scores(batch)[0]
        return Candidates(np.arange(len(scores)), (scores / scores.sum()).numpy())

    def prove(self, query, answers, pause=None):
        stated = StatedFacts(self.graph, pause)
        return [stated.proof(query, answer) for answer in answers]


class PopularFamily(ModelFamily[PopularSettings]):
    """Counts facts."""

    name = "popular"
    settings = PopularSettings
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"flat": {"power": 0.5}}

    @property
    def models(self) -> Sequence[str]:
        return ("popular",)

    def check(self, benchmark, settings, device) -> None:
        pass

    def train(self, files, benchmark, settings, device, progress) -> None:
        from kgreckon.benchmark import Split

        graph = benchmark.graphs.at(Split.TRAIN)
        _, _, tails = graph.facts.both_ways()
        counts = {
            "entities": np.bincount(tails, minlength=len(graph.entities)),
            "values": np.bincount(graph.attribute_facts.targets, minlength=len(graph.values)),
        }
        tensors = {name: torch.from_numpy(count + 1.0).float() ** settings.power for name, count in counts.items()}
        files.save(BEST, tensors)
        files.record({"step": 1, "validation_mrr": 0.0, "seconds": 0.0})
        progress.validated(1, 0.0, True)

    def open(self, files, benchmark, settings, device, known, mode) -> PopularModel:
        tensors = files.tensors(BEST, device)
        return PopularModel(benchmark.graphs.at(known), tensors["entities"], tensors["values"])


def register() -> None:
    """Make the model known by its name."""
    register_family(PopularFamily())
