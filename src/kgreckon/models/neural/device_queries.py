"""Queries on the device: id matrices and answers in compressed rows, drawn from without the host."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, QuerySet, Split
from kgreckon.benchmark.splits import values_in
from kgreckon.models.neural.neural_settings import NeuralSettings
from kgreckon.models.neural.number_reasoning import ScaledValues
from kgreckon.models.neural.operators import WHOLE, Tables
from kgreckon.models.neural.query_model import QueryModel, Sizes
from kgreckon.query import Batch, Shape


@dataclass(frozen=True)
class DeviceQueries:
    """The queries of one specific type with their answers, where the model is."""

    type: str
    shape: Shape
    ids: Tensor  # (queries, width) int32
    offsets: Tensor  # (queries + 1,) int64
    answers: Tensor  # (all answers,) int32

    def __len__(self) -> int:
        return len(self.ids)

    @staticmethod
    def load(name: str, queries: QuerySet, device: torch.device) -> DeviceQueries:
        """Move queries and the answers to be learned to the device."""
        return DeviceQueries(
            name,
            queries.shape,
            torch.from_numpy(np.array(queries.batch.ids)).to(device),
            torch.from_numpy(np.array(queries.hard.offsets)).to(device),
            torch.from_numpy(np.array(queries.hard.items)).to(device),
        )

    def draw(self, count: int, answers: int = 1) -> tuple[Batch[Tensor], Tensor]:  # -> ids, (count, answers)
        """Random queries, and random answers to each; from the device's default generator.

        The answers of a query are drawn at even distances from a random place on: each is as likely as any other, and
        a query with no more of them than are drawn has about the same share of each.
        """
        device = self.ids.device
        rows = torch.randint(len(self), (count,), device=device)
        start = self.offsets[rows]
        size = self.offsets[rows + 1] - start
        even = torch.arange(answers, device=device, dtype=torch.float64) / answers
        places = (torch.rand(count, 1, device=device, dtype=torch.float64) + even) % 1.0
        picked = (places * size[:, None]).long().clamp(max=size[:, None] - 1)
        return Batch(self.shape, self.ids[rows]), self.answers[start[:, None] + picked].long()


def training_queries(benchmark: Benchmark, device: torch.device) -> list[DeviceQueries]:
    """All training queries, by specific type."""
    return [
        DeviceQueries.load(name, queries, device)
        for name in benchmark.types
        for queries in benchmark.query_sets(Split.TRAIN, name)
        if len(queries)
    ]


def model_for(
    benchmark: Benchmark,
    settings: NeuralSettings,
    generator: torch.Generator,
    tables: Tables = WHOLE,
) -> QueryModel:
    """A new model for a benchmark's graph; only the training graph determines what values to expect."""
    graph = benchmark.graph
    sizes = Sizes(len(graph.entities), 2 * len(graph.relations), len(graph.attributes), len(graph.values))
    values = ScaledValues.from_table(
        torch.from_numpy(np.array(graph.values.numbers)),
        torch.from_numpy(graph.values.unit_ids.astype(np.int64)),
        len(graph.values.units),
        torch.from_numpy(values_in(benchmark.graphs.at(Split.TRAIN))),
        settings.number_scale,
    )
    return QueryModel(settings, sizes, values, generator, tables)
