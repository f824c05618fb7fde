"""Query2Particles: a query is a handful of points that look at each other (Bai et al., 2022)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgreckon.models.backbone import Backbone, Geometry, register
from kgreckon.models.operators import Attention, Embedding, FeedForward, GatedTransition
from kgreckon.models.scoring import best_particle_scores


class _Block(nn.Module):
    """Attention and a feed-forward layer, each with a norm."""

    def __init__(self, dimension: int, dropout: float) -> None:
        super().__init__()
        self.attention, self.feed_forward = Attention(dimension), FeedForward(dimension, dropout)
        self.first_norm, self.second_norm = nn.LayerNorm(dimension), nn.LayerNorm(dimension)

    def forward(self, rows: Tensor) -> Tensor:  # (b, n, d) -> (b, n, d)
        rows = self.first_norm(rows + self.attention(rows))
        return self.second_norm(rows + self.feed_forward(rows))


@register("query2particles")
class Query2Particles(Backbone):
    """A query is a few particles; a union keeps all of its parts' particles, so their number may grow."""

    is_set = True

    def __init__(self, geometry: Geometry) -> None:
        super().__init__(geometry)
        dimension, generator = geometry.dimension, geometry.generator
        self.nodes = Embedding(geometry.num_nodes, dimension, generator)
        self.relations = Embedding(geometry.num_relations, dimension, generator)
        self.offsets = Embedding(geometry.particles, dimension, generator)
        self.transition = GatedTransition(dimension, dimension, dimension)
        self.attention = Attention(dimension)
        self.before, self.after, self.spread = (nn.LayerNorm(dimension) for _ in range(3))
        self.intersection = nn.Sequential(_Block(dimension, geometry.dropout), _Block(dimension, geometry.dropout))
        self.dropout = nn.Dropout(geometry.dropout)

    @property
    def flat_dimension(self) -> int:
        """A particle's."""
        return self.geometry.dimension

    def node(self, ids: Tensor) -> Tensor:  # (b,) -> (b, k, d)
        """An anchor becomes particles by adding learned offsets."""
        return self.nodes(ids)[:, None] + self.offsets.weight

    def follow(self, relations: Tensor, of: Tensor) -> Tensor:  # (b,), (b, k, d) -> (b, k, d)
        """A gated transition of every particle, then attention among them."""
        moved = self.before(self.dropout(self.transition(of, self.relations(relations)[:, None])))
        return self.after(moved + self.attention(moved))

    def intersect(self, parts: list[Tensor]) -> Tensor:  # (b, k, d) each -> (b, k, d)
        """All particles look at each other twice; each place then takes the mean over the parts.

        The means make the result independent of the parts' order. Parts may have more particles than others.
        """
        mixed = self.intersection(torch.cat(parts, dim=1))
        count = self.geometry.particles
        pieces = mixed.split([part.shape[1] for part in parts], dim=1)
        even = [piece.unflatten(1, (-1, count)).mean(dim=1) for piece in pieces]
        return torch.stack(even, dim=1).mean(dim=1)

    def unite(self, parts: list[Tensor]) -> Tensor:  # (b, k, d) each -> (b, sum of k, d)
        """All particles together."""
        return torch.cat(parts, dim=1)

    def flatten(self, state: Tensor) -> Tensor:  # (b, k, d) -> (b, k, d)
        """The particles."""
        return state

    def unflatten(self, vector: Tensor) -> Tensor:  # (b, d) -> (b, k, d)
        """Learned offsets make particles of a vector; a norm, for those that a relation leads to have one."""
        return self.spread(vector[:, None] + self.offsets.weight)

    def scores(self, state: Tensor, nodes: slice | Tensor) -> Tensor:  # (b, k, d) -> (b, nodes)
        """The largest inner product over the particles."""
        return best_particle_scores(state, self.nodes.weight[nodes])
