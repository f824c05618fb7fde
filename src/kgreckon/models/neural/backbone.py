"""What a backbone is: a geometry for sets of entities. Everything else is written once, elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from kgreckon.errors import UserError, unknown_name
from kgreckon.models.neural.operators import WHOLE, Embedding, FeedForward, Tables


@dataclass(frozen=True)
class Geometry:
    """What a backbone is built from."""

    num_nodes: int  # entities, and values too where they are entities
    num_relations: int  # both directions
    dimension: int
    dropout: float
    particles: int
    box_score: str
    generator: torch.Generator  # for the first weights
    tables: Tables = WHOLE

    def node_table(self) -> Embedding:
        """A vector for each node: the table that grows with the graph, and may be spread over processes."""
        return self.tables.new(self.num_nodes, self.dimension, self.generator)


class Backbone(nn.Module, ABC):
    """A geometry: what a set of entities is, and what the operators do to it.

    States are tensors with the batch first. A backbone can be flattened to a vector, or to the vectors of a set, and
    made from that again, which is all that number reasoning asks of it.
    """

    is_set = False  # whether a state is a set of vectors (particles); sets of numbers are then too

    def __init__(self, geometry: Geometry) -> None:
        super().__init__()
        self.geometry = geometry
        self.negation = FeedForward(geometry.dimension, geometry.dropout)

    @property
    @abstractmethod
    def flat_dimension(self) -> int:
        """The length of the vector that `flatten` gives."""

    @abstractmethod
    def node(self, ids: Tensor) -> Tensor:  # (b,) -> state
        """The state of one entity each."""

    @abstractmethod
    def follow(self, relations: Tensor, of: Tensor) -> Tensor:  # (b,), state -> state
        """The entities that the relation leads to."""

    @abstractmethod
    def intersect(self, parts: list[Tensor]) -> Tensor:  # states -> state
        """What all parts share, whatever their order."""

    @abstractmethod
    def unite(self, parts: list[Tensor]) -> Tensor:  # states -> state
        """What any part holds, whatever their order."""

    def complement(self, of: Tensor) -> Tensor:  # state -> state
        """What the set does not hold: a learned map of its vectors, `dimension` numbers at a time.

        The papers have none. Where it does not suit a geometry, it is to be overridden.
        """
        return self.negation(of.reshape(*of.shape[:-1], -1, self.geometry.dimension)).flatten(-2)

    @abstractmethod
    def flatten(self, state: Tensor) -> Tensor:  # state -> (b, flat_dimension), or (b, n, flat_dimension) of a set
        """The state as one vector, or as the vectors of a set."""

    @abstractmethod
    def unflatten(self, vector: Tensor) -> Tensor:  # what `flatten` gives -> state
        """A state from one vector, or from the vectors of a set."""

    @abstractmethod
    def scores(self, state: Tensor, nodes: slice | Tensor) -> Tensor:  # state -> (b, nodes)
        """How well each of some nodes belongs to the set."""


BACKBONES: dict[str, type[Backbone]] = {}


def register(name: str) -> Callable[[type[Backbone]], type[Backbone]]:
    """Make a backbone known by name; the same class may be made known again, as a notebook does."""

    def add(backbone: type[Backbone]) -> type[Backbone]:
        known = BACKBONES.get(name, backbone)
        if (known.__module__, known.__qualname__) != (backbone.__module__, backbone.__qualname__):
            raise UserError(f"the name {name!r} is taken by {known.__module__}.{known.__qualname__}: choose another")
        BACKBONES[name] = backbone
        return backbone

    return add


def backbone(name: str) -> type[Backbone]:
    """The backbone of that name."""
    if name not in BACKBONES:
        raise unknown_name("model", name, BACKBONES)
    return BACKBONES[name]
