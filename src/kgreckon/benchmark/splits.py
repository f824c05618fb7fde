"""Splits: which of three nested graphs a fact enters at."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property

import numpy as np

from kgreckon.errors import unknown_name
from kgreckon.graph import KnowledgeGraph


class Split(IntEnum):
    """A graph of the benchmark; each contains the one before."""

    TRAIN = 0
    VALID = 1
    TEST = 2

    @property
    def label(self) -> str:
        """The name of the split on disk and on the command line."""
        return self.name.lower()

    @property
    def graph_name(self) -> str:
        """What the paper calls the graph."""
        return ("Training", "Validation", "Testing")[self]

    @staticmethod
    def of(text: str) -> Split:
        """The split called `text`."""
        if text.upper() not in Split.__members__:
            raise unknown_name("split", text, (split.label for split in Split))
        return Split[text.upper()]


# Shares of the facts that are in the training graph and in the validation graph.
TRAIN_SHARE, VALID_SHARE = 0.8, 0.9


def random_splits(count: int, rng: np.random.Generator) -> np.ndarray:  # (count,) int8
    """A split for each of `count` facts: shuffled, the first 80 % train, the next 10 % validate, the rest test."""
    splits = np.full(count, Split.TEST, dtype=np.int8)
    order = rng.permutation(count)
    splits[order[: int(VALID_SHARE * count)]] = Split.VALID
    splits[order[: int(TRAIN_SHARE * count)]] = Split.TRAIN
    return splits


@dataclass(frozen=True)
class SplitGraph:
    """Three nested graphs: one graph, and for each fact the split at which it enters."""

    graph: KnowledgeGraph  # the testing graph
    fact_splits: np.ndarray  # (facts,) int8
    attribute_fact_splits: np.ndarray  # (attribute facts,) int8
    comparison_splits: np.ndarray | None = None  # (numerical edges,) int8

    def at(self, split: Split) -> KnowledgeGraph:
        """The graph of a split."""
        return self._graphs[split]

    @cached_property
    def _graphs(self) -> tuple[KnowledgeGraph, ...]:
        graphs = []
        for split in Split:
            graph = self.graph.restricted(self.fact_splits <= split, self.attribute_fact_splits <= split)
            if self.graph.comparisons is not None:
                assert self.comparison_splits is not None
                graph = replace(graph, comparisons=self.graph.comparisons[self.comparison_splits <= split])
            graphs.append(graph)
        return tuple(graphs)


def random_split(graph: KnowledgeGraph, rng: np.random.Generator) -> SplitGraph:
    """The three nested graphs of a graph whose facts and values are split at random."""
    return SplitGraph(graph, random_splits(len(graph.facts), rng), random_splits(len(graph.attribute_facts), rng))


def entities_in(graph: KnowledgeGraph) -> np.ndarray:  # (entities,) bool
    """Which entities occur in a fact of the graph."""
    present = np.zeros(len(graph.entities), dtype=bool)
    for ids in (graph.facts.sources, graph.facts.targets, graph.attribute_facts.sources):
        present[ids] = True
    return present


def values_in(graph: KnowledgeGraph) -> np.ndarray:  # (values,) bool
    """Which values an entity of the graph has."""
    present = np.zeros(len(graph.values), dtype=bool)
    present[graph.attribute_facts.targets] = True
    return present
