"""Query2Particles: a query is a handful of points that look at each other (Bai et al., 2022)."""

from __future__ import annotations

import torch
from torch import Tensor

from kgreckon.models.neural.backbone import Backbone, Geometry, register
from kgreckon.models.neural.operators import Embedding
from kgreckon.models.neural.particles import ParticleIntersection, ParticleTransition
from kgreckon.models.scoring import best_particle_scores


@register("query2particles")
class Query2Particles(Backbone):
    """A query is a few particles; a union keeps all of its parts' particles, so their number may grow."""

    is_set = True

    def __init__(self, geometry: Geometry) -> None:
        super().__init__(geometry)
        dimension, generator = geometry.dimension, geometry.generator
        self.nodes = geometry.node_table()
        self.relations = Embedding(geometry.num_relations, dimension, generator)
        self.offsets = Embedding(geometry.particles, dimension, generator)
        self.transition = ParticleTransition(dimension, dimension, dimension, geometry.dropout)
        self.intersection = ParticleIntersection(geometry.particles, dimension, geometry.dropout)

    @property
    def flat_dimension(self) -> int:
        """A particle's."""
        return self.geometry.dimension

    def node(self, ids: Tensor) -> Tensor:  # (b,) -> (b, k, d)
        """An anchor becomes particles by adding learned offsets."""
        return self.nodes(ids)[:, None] + self.offsets.weight

    def follow(self, relations: Tensor, of: Tensor) -> Tensor:  # (b,), (b, k, d) -> (b, k, d)
        """A gated transition of every particle, then attention among them."""
        return self.transition(of, self.relations(relations))

    def intersect(self, parts: list[Tensor]) -> Tensor:  # (b, k, d) each -> (b, k, d)
        """All particles look at each other."""
        return self.intersection(parts)

    def unite(self, parts: list[Tensor]) -> Tensor:  # (b, k, d) each -> (b, sum of k, d)
        """All particles together."""
        return torch.cat(parts, dim=1)

    def flatten(self, state: Tensor) -> Tensor:  # (b, k, d) -> (b, k, d)
        """The particles."""
        return state

    def unflatten(self, vector: Tensor) -> Tensor:  # (b, k, d) -> (b, k, d)
        """The particles."""
        return vector

    def scores(self, state: Tensor, nodes: slice | Tensor) -> Tensor:  # (b, k, d) -> (b, nodes)
        """The largest inner product over the particles."""
        return best_particle_scores(state, self.nodes.at(nodes))
