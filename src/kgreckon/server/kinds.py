"""Kinds of things: what a graph's `is a` relation leads to, and what is of which kind."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kgreckon.graph import KnowledgeGraph
from kgreckon.graph.triples import Triples
from kgreckon.query.words.lexicon import lexicon_of


class Kinds:
    """The kinds that a graph states, if it has a relation that means `is a`."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.graph = graph

    @cached_property
    def relation(self) -> int | None:
        """The relation from a thing to its kind."""
        return lexicon_of(self.graph.vocabulary).classes

    def all(self) -> list[int]:
        """The kinds, the largest first."""
        if self.relation is None:
            return []
        kinds, counts = np.unique(self._stated.targets, return_counts=True)
        return kinds[np.argsort(-counts, kind="stable")].tolist()

    def of(self, entity: int) -> list[int]:
        """The kinds of an entity, the largest first."""
        if self.relation is None:
            return []
        kinds = self.graph.follows.row(entity, self.relation).tolist()
        return sorted(kinds, key=lambda kind: -len(self.members(kind)))

    def members(self, kind: int) -> np.ndarray:  # rising
        """The things of a kind."""
        nothing = np.zeros(0, dtype=np.int32)
        return nothing if self.relation is None else self.graph.follows.row(kind, self.relation ^ 1)

    def main(self, entity: int) -> int | None:
        """The smallest kind of an entity that has others of its kind: what it is compared with."""
        kinds = [kind for kind in self.of(entity) if len(self.members(kind)) > 1]
        return kinds[-1] if kinds else None

    def counted(self, entities: np.ndarray) -> list[tuple[int, int]]:
        """The kinds of some different entities, and how many of them are of it, the most frequent first."""
        if self.relation is None:
            return []
        own = np.isin(self._stated.sources, entities)
        kinds, counts = np.unique(self._stated.targets[own], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return list(zip(kinds[order].tolist(), counts[order].tolist(), strict=True))

    @cached_property
    def _stated(self) -> Triples:
        """The facts that state a kind."""
        assert self.relation is not None
        return self.graph.facts[self.graph.facts.labels == self.relation >> 1]
