"""Query2Box: a query is a box; following a relation moves and widens it (Ren et al., 2020)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from kgreckon.models.neural.backbone import Backbone, Geometry, register
from kgreckon.models.neural.operators import Embedding, FeedForward
from kgreckon.models.scoring import inner_products

INSIDE = 0.02  # how much a point's place inside the box counts
_CHUNK = 256  # entities compared at once by the L1 distance, which needs a number for each coordinate


class _Boxes(nn.Module):
    """Boxes joined into one: attention over the centres, a gated extreme of the offsets."""

    def __init__(self, dimension: int, dropout: float, widest: bool) -> None:
        super().__init__()
        self.widest = widest
        self.weights = FeedForward(dimension, dropout)
        self.inner, self.outer = nn.Linear(dimension, dimension), nn.Linear(dimension, dimension)

    def forward(self, boxes: Tensor) -> Tensor:  # (b, n, 2, d) -> (b, 2, d)
        centers, offsets = boxes[:, :, 0], boxes[:, :, 1]
        attention = torch.softmax(self.weights(centers), dim=1)
        center = (attention * centers).sum(dim=1)
        gate = torch.sigmoid(self.outer(torch.relu(self.inner(offsets)).mean(dim=1)))
        extreme = offsets.amax(dim=1) if self.widest else offsets.amin(dim=1)
        return torch.stack([center, extreme * (1 + gate) if self.widest else extreme * gate], dim=1)


@register("query2box")
class Query2Box(Backbone):
    """A query is a box, a centre and an offset that is never negative, stacked."""

    def __init__(self, geometry: Geometry) -> None:
        super().__init__(geometry)
        dimension, generator = geometry.dimension, geometry.generator
        self.nodes = geometry.node_table()
        self.relations = Embedding(geometry.num_relations, dimension, generator)
        self.relation_offsets = Embedding(geometry.num_relations, dimension, generator)
        self.intersection = _Boxes(dimension, geometry.dropout, widest=False)
        self.union = _Boxes(dimension, geometry.dropout, widest=True)

    @property
    def flat_dimension(self) -> int:
        """Centre and offset."""
        return 2 * self.geometry.dimension

    def node(self, ids: Tensor) -> Tensor:  # (b,) -> (b, 2, d)
        """A box without width."""
        center = self.nodes(ids)
        return torch.stack([center, torch.zeros_like(center)], dim=1)

    def follow(self, relations: Tensor, of: Tensor) -> Tensor:  # (b,), (b, 2, d) -> (b, 2, d)
        """Centres and offsets add up along relations."""
        return of + torch.stack([self.relations(relations), self.relation_offsets(relations).abs()], dim=1)

    def intersect(self, parts: list[Tensor]) -> Tensor:  # (b, 2, d) each -> (b, 2, d)
        """Attention over the centres, a gated minimum of the offsets."""
        return self.intersection(torch.stack(parts, dim=1))

    def unite(self, parts: list[Tensor]) -> Tensor:  # (b, 2, d) each -> (b, 2, d)
        """Attention over the centres, a widened maximum of the offsets."""
        return self.union(torch.stack(parts, dim=1))

    def complement(self, of: Tensor) -> Tensor:  # (b, 2, d) -> (b, 2, d)
        """A learned map; offsets stay positive."""
        return self.unflatten(self.negation(of).flatten(1))

    def flatten(self, state: Tensor) -> Tensor:  # (b, 2, d) -> (b, 2d)
        """Centre and offset side by side."""
        return state.flatten(1)

    def unflatten(self, vector: Tensor) -> Tensor:  # (b, 2d) -> (b, 2, d)
        """The halves of a vector; the second becomes a positive offset."""
        center, offset = vector.chunk(2, dim=1)
        return torch.stack([center, softplus(offset)], dim=1)

    def scores(self, state: Tensor, nodes: slice | Tensor) -> Tensor:  # (b, 2, d) -> (b, nodes)
        """The largest inner product inside the box and a share of that with its centre, or the L1 distance to it."""
        center, offset = state[:, 0], state[:, 1]
        points = self.nodes.at(nodes)
        if self.geometry.box_score == "l1":
            return torch.cat([_l1_score(center, offset, part) for part in torch.split(points, _CHUNK)], dim=1)
        both = torch.cat([points, points.abs()], dim=1)
        return inner_products(torch.cat([(1 + INSIDE) * center, offset], dim=1), both)


def _l1_score(center: Tensor, offset: Tensor, points: Tensor) -> Tensor:  # (b, d), (b, d), (n, d) -> (b, n)
    away = (points[None] - center[:, None]).abs()
    outside = torch.relu(away - offset[:, None]).sum(dim=-1)
    inside = torch.minimum(away, offset[:, None]).sum(dim=-1)
    return -outside - INSIDE * inside
