"""Answers at the speed of the GPU: each shape's encoding and scoring captured once and then only replayed."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from kgreckon.models.neural import QueryModel
from kgreckon.query import Batch, Shape


@dataclass(frozen=True)
class _Captured:
    graph: torch.cuda.CUDAGraph
    ids: Tensor  # (size, width) int32
    scores: Tensor  # (size, candidates)


class CapturedAnswers:
    """A model's scores for batches of up to `size` queries; what a call gives holds until the next on the same shape.

    On a CPU, which has nothing to capture, it is the model's own `answer`.
    """

    def __init__(self, model: QueryModel, size: int, device: torch.device) -> None:
        self.model, self.size, self.device = model, size, device
        self._captured: dict[Shape, _Captured] = {}

    def __call__(self, batch: Batch[Tensor]) -> Tensor:  # -> (b, candidates)
        """The score of every candidate for each query."""
        if self.device.type != "cuda":
            return self.model.answer(batch)
        ids = batch.ids
        if batch.shape not in self._captured:
            self._captured[batch.shape] = self._capture(batch.shape, ids)
        found = self._captured[batch.shape]
        found.ids[: len(ids)].copy_(ids)
        found.graph.replay()
        return found.scores[: len(ids)]

    @torch.no_grad()
    def _capture(self, shape: Shape, ids: Tensor) -> _Captured:
        kept = ids[:1].repeat(self.size, 1)  # any valid ids will do
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            self.model.answer(Batch(shape, kept))
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            scores = self.model.answer(Batch(shape, kept))
        return _Captured(graph, kept, scores)
