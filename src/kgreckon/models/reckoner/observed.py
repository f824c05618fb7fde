"""What a graph states, as tensors: edges by label and source, to be looked up for many queries at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.query import SEVEN


@dataclass(frozen=True)
class LabelledEdges:
    """Edges sorted by label, source and target; a group is the run of one label and source."""

    num_sources: int
    num_targets: int
    starts: Tensor  # (labels + 1,) int64: the edges of each label
    sources: Tensor  # (edges,) int64
    targets: Tensor  # (edges,) int64
    group_keys: Tensor  # (groups,) int64, rising: label and source in one number
    group_starts: Tensor  # (groups + 1,) int64: the edges of each group

    @staticmethod
    def of(
        sources: np.ndarray,
        labels: np.ndarray,
        targets: np.ndarray,
        sizes: tuple[int, int, int],  # sources, labels, targets
        device: torch.device,
    ) -> LabelledEdges:
        """Sort some edges, unless they are sorted."""
        num_sources, num_labels, num_targets = sizes
        keys = labels.astype(np.int64) * num_sources + sources
        step = np.diff(keys)
        if not ((step > 0) | ((step == 0) & (targets[1:] >= targets[:-1]))).all():
            order = np.lexsort((targets, keys))
            keys, targets = keys[order], targets[order]
        first = np.flatnonzero(np.diff(keys, prepend=-1))
        starts = np.searchsorted(keys, np.arange(num_labels + 1) * num_sources)
        columns = (starts, keys % num_sources, targets, keys[first], np.append(first, len(keys)))
        a, b, c, d, e = (torch.from_numpy(column.astype(np.int64)).to(device) for column in columns)
        return LabelledEdges(num_sources, num_targets, a, b, c, d, e)

    @property
    def num_labels(self) -> int:
        """How many labels there are."""
        return len(self.starts) - 1

    def groups(self, labels: Tensor, sources: Tensor) -> tuple[Tensor, Tensor]:  # (n,), (n,) -> (n,), (n,)
        """The first edge of each label and source, and the one after its last."""
        if not len(self.group_keys):
            return torch.zeros_like(sources), torch.zeros_like(sources)
        keys = labels * self.num_sources + sources
        place = torch.searchsorted(self.group_keys, keys).clamp(max=len(self.group_keys) - 1)
        found = self.group_keys[place] == keys
        first = self.group_starts[place]
        return first, torch.where(found, self.group_starts[place + 1], first)

    def best(self, labels: Tensor, of: Tensor) -> Tensor:  # (b,), (b, sources) -> (b, targets)
        """For each query and target, the most likely source that an edge of the query's label leads from."""
        found = of.new_zeros(len(of), self.num_targets)
        query, edge = ragged_ranges(self.starts[labels], self.starts[labels + 1])
        likely = of[query, self.sources[edge]]
        place = query * self.num_targets + self.targets[edge]
        found.view(-1).scatter_reduce_(0, place, likely, "amax")
        return found


def ragged_ranges(starts: Tensor, ends: Tensor) -> tuple[Tensor, Tensor]:  # (b,), (b,) -> (n,), (n,)
    """All places of some ranges, each with the number of its range."""
    counts = ends - starts
    total = int(counts.sum())
    query = torch.repeat_interleave(torch.arange(len(starts), device=starts.device), counts, output_size=total)
    shift = starts - (counts.cumsum(0) - counts)
    return query, torch.arange(total, device=starts.device) + shift[query]


@dataclass(frozen=True)
class ObservedFacts:
    """The facts of a graph on a device."""

    graph: KnowledgeGraph
    relations: LabelledEdges  # entity to entity, both directions
    values: LabelledEdges  # entity to value row, by attribute
    having: LabelledEdges  # value row to entity, by attribute
    compared: LabelledEdges | None  # value row y to value row x, by comparison

    @staticmethod
    def of(graph: KnowledgeGraph, device: torch.device) -> ObservedFacts:
        """Move a graph's facts to the device."""
        entities, values, attributes = len(graph.entities), len(graph.values), len(graph.attributes)
        own, edges = graph.attribute_facts, graph.comparisons
        return ObservedFacts(
            graph,
            LabelledEdges.of(*graph.facts.both_ways(), (entities, 2 * len(graph.relations), entities), device),
            LabelledEdges.of(own.sources, own.labels, own.targets, (entities, attributes, values), device),
            LabelledEdges.of(own.targets, own.labels, own.sources, (values, attributes, entities), device),
            None
            if edges is None
            else LabelledEdges.of(edges.sources, edges.labels, edges.targets, (values, len(SEVEN), values), device),
        )

    @property
    def device(self) -> torch.device:
        """Where the facts are."""
        return self.relations.starts.device
