"""GQE: a query is a point; following a relation shifts it (Hamilton et al., 2018)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgreckon.models.neural.backbone import Backbone, Geometry, register
from kgreckon.models.neural.operators import Embedding, FeedForward, start_as_rotations
from kgreckon.models.scoring import inner_products


class _PooledSet(nn.Module):
    """A mean-pooled MLP and a matrix."""

    def __init__(self, dimension: int, dropout: float) -> None:
        super().__init__()
        self.feed_forward = FeedForward(dimension, dropout)
        self.matrix = nn.Linear(dimension, dimension, bias=False)

    def forward(self, states: Tensor) -> Tensor:  # (b, n, d) -> (b, d)
        return self.matrix(self.feed_forward(states).mean(dim=1))


@register("gqe")
class GQE(Backbone):
    """A query is a point; following a relation shifts it."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__(geometry)
        self.nodes = geometry.node_table()
        self.relations = Embedding(geometry.num_relations, geometry.dimension, geometry.generator)
        self.intersection = _PooledSet(geometry.dimension, geometry.dropout)
        self.union = _PooledSet(geometry.dimension, geometry.dropout)
        start_as_rotations(self, geometry.generator)

    @property
    def flat_dimension(self) -> int:
        """A point is a vector."""
        return self.geometry.dimension

    def node(self, ids: Tensor) -> Tensor:  # (b,) -> (b, d)
        """The point of an entity."""
        return self.nodes(ids)

    def follow(self, relations: Tensor, of: Tensor) -> Tensor:  # (b,), (b, d) -> (b, d)
        """Shift by the relation."""
        return of + self.relations(relations)

    def intersect(self, parts: list[Tensor]) -> Tensor:  # (b, d) each -> (b, d)
        """Pool the points."""
        return self.intersection(torch.stack(parts, dim=1))

    def unite(self, parts: list[Tensor]) -> Tensor:  # (b, d) each -> (b, d)
        """Pool the points, with weights of its own."""
        return self.union(torch.stack(parts, dim=1))

    def flatten(self, state: Tensor) -> Tensor:  # (b, d) -> (b, d)
        """The point itself."""
        return state

    def unflatten(self, vector: Tensor) -> Tensor:  # (b, d) -> (b, d)
        """The vector itself."""
        return vector

    def scores(self, state: Tensor, nodes: slice | Tensor) -> Tensor:  # (b, d) -> (b, nodes)
        """Inner products."""
        return inner_products(state, self.nodes.at(nodes))
