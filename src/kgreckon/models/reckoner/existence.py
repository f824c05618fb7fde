"""How many facts of each label an entity is expected to have beyond those that a graph states.

Everything is counted when a label is asked about, from the graph that is known then. What its other labels say of an
entity is counted without the entity itself. Seven weights, the same for all labels, turn the counts into a probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse, special, stats

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.caches import Latest

FOLDS = 5
EXISTENCE_FEATURES = ("one", "rate", "most", "least", "mean", "sum", "labels")
# What holds before any fact was held back to fit the weights on: an entity without the label is the rarer the more of
# its likes have it.
EXISTENCE_DEFAULTS = (-3.0, 1.3, 1.2, 0.2, 0.2, 0.1, 0.2)
_LONGEST = 64  # counts up to here are told apart
_PSEUDO = 5.0  # groups of all labels together that stand beside a label's own
_PSEUDO_OWNERS = 3.0  # entities at the label's own rate that stand beside the owners of a feature
_LEAST_OWNERS = 10  # of a pair of a label and a target, from which on it is a feature
_MOST_PAIRS = 20_000
_KEPT = 1 << 25  # numbers kept of labels that were asked about
_Expected = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Signatures:
    """Which labels each entity has, relations in both directions and attributes, and which frequent targets of them."""

    owned: sparse.csr_matrix  # (entities, features) ones; the first features are the labels themselves
    label_of: np.ndarray  # (features,) the label that a feature is about
    owners: np.ndarray  # (features,) how many entities have it
    num_labels: int

    @staticmethod
    def of(graph: KnowledgeGraph) -> Signatures:
        """The signatures of a graph's entities."""
        heads, labels, tails = (column.astype(np.int64) for column in graph.facts.both_ways())
        own, relations, size = graph.attribute_facts, 2 * len(graph.relations), len(graph.entities)
        num_labels = relations + len(graph.attributes)
        pairs, pair, counts = np.unique(labels * size + tails, return_inverse=True, return_counts=True)
        frequent = np.flatnonzero(counts >= _LEAST_OWNERS)
        frequent = frequent[np.argsort(-counts[frequent], kind="stable")[:_MOST_PAIRS]]
        column_of = np.full(len(pairs), -1)
        column_of[frequent] = num_labels + np.arange(len(frequent))
        paired = column_of[pair] >= 0
        entities = np.concatenate([heads, own.sources, heads[paired]])
        columns = np.concatenate([labels, relations + own.labels.astype(np.int64), column_of[pair][paired]])
        shape = size, num_labels + len(frequent)
        owned = sparse.csr_matrix((np.ones(len(entities), dtype=np.float32), (entities, columns)), shape=shape)
        owned.sum_duplicates()
        owned.data[:] = 1
        label_of = np.concatenate([np.arange(num_labels), pairs[frequent] // size])
        return Signatures(owned, label_of, np.asarray(owned.sum(axis=0)).ravel(), num_labels)

    def features(self, label: int, having: np.ndarray) -> np.ndarray:  # (owners,) -> (entities, weights)
        """What the other labels of each entity say of one label that it lacks, given the entities that have it."""
        entities = self.owned.shape[0]
        rate = (len(having) + 0.5) / (entities + 1.0)
        both = np.bincount(self.owned[having].indices, minlength=len(self.owners))
        # An entity without the label is one of the feature's owners, and says nothing of itself.
        share = (both + _PSEUDO_OWNERS * rate) / (np.maximum(self.owners - 1, both) + _PSEUDO_OWNERS)
        said = special.logit(share.clip(1e-6, 1 - 1e-6)) - special.logit(rate)
        said[self.label_of == label] = 0
        counts = np.diff(self.owned.indptr)
        data, some = said[self.owned.indices], counts > 0
        total, most, least = (np.zeros(entities) for _ in range(3))
        if len(data):
            starts = self.owned.indptr[:-1][some]
            total[some] = np.add.reduceat(data, starts)
            most[some] = np.maximum.reduceat(data, starts).clip(min=0)
            least[some] = np.minimum.reduceat(data, starts).clip(max=0)
        safe = np.maximum(counts, 1)
        own = (np.ones(entities), np.full(entities, special.logit(rate)), most, least, total / safe)
        return np.stack([*own, total / np.sqrt(safe), np.log1p(counts)], axis=1)


class Expectations:
    """The hidden facts to expect of each entity: those of a label are computed together, and the latest are kept."""

    def __init__(self, graph: KnowledgeGraph, stated_share: float, weights: tuple[float, ...] = EXISTENCE_DEFAULTS):
        self.graph, self.stated_share, self.weights = graph, stated_share, np.array(weights)
        self.signatures = Signatures.of(graph)
        self._tails = _sorted_heads(graph)
        self._overall: _Expected | None = None
        self._kept: Latest[int, _Expected] = Latest(_KEPT, lambda both: len(both[0]))

    def reweighed(self, weights: tuple[float, ...]) -> Expectations:
        """The same with other weights."""
        other = object.__new__(Expectations)
        kept: Latest[int, _Expected] = Latest(_KEPT, lambda both: len(both[0]))
        other.__dict__ = {**self.__dict__, "weights": np.array(weights), "_kept": kept}
        return other

    def owners(self, label: int) -> tuple[np.ndarray, np.ndarray]:
        """The entities that state a label, and how many facts of it each of them states."""
        starts, heads = self._tails
        return np.unique(heads[starts[label] : starts[label + 1]], return_counts=True)

    def of(self, label: int) -> tuple[np.ndarray, np.ndarray]:  # (entities,) float32, (entities,) bool
        """How many facts of a label are hidden, to be expected of each entity, and which entities state some."""
        return self._kept.get(label, lambda: self._of(label))

    def _of(self, label: int) -> _Expected:
        having, counts = self.owners(label)
        expected = special.expit(self.signatures.features(label, having) @ self.weights).astype(np.float32)
        stated = np.zeros(len(expected), dtype=bool)
        stated[having] = True
        expected[having] = self._behind(having, counts)
        return expected, stated

    def attributes_of(self, entity: int) -> np.ndarray:  # (attributes,)
        """How likely an entity has each attribute that it does not state."""
        first = 2 * len(self.graph.relations)
        return np.array([self.of(first + a)[0][entity] for a in range(len(self.graph.attributes))])

    def _behind(self, having: np.ndarray, counts: np.ndarray) -> np.ndarray:  # (owners,), (owners,) -> (owners,)
        """How many facts are hidden behind those that are stated: for a label that nothing has twice, none."""
        if self._overall is None:
            heads_of = [self.owners(label)[1] for label in range(self.signatures.num_labels)]
            self._overall = _hidden_and_groups(np.concatenate(heads_of or [np.zeros(0)]), self.stated_share)
        hidden, groups = _hidden_and_groups(counts, self.stated_share)
        overall = self._overall[0] / np.maximum(self._overall[1], 1e-12)
        table = (hidden + _PSEUDO * overall) / (groups + _PSEUDO)
        ratio = (1 - self.stated_share) / self.stated_share
        return np.where(counts > _LONGEST // 2, ratio * counts, table[counts.clip(max=_LONGEST)])


def _sorted_heads(graph: KnowledgeGraph) -> tuple[np.ndarray, np.ndarray]:  # (labels + 1,), (facts,)
    """The entities that state each label, once for each fact; relations in both directions, then attributes."""
    heads, labels, _ = graph.facts.both_ways()
    own, relations = graph.attribute_facts, 2 * len(graph.relations)
    labels = np.concatenate([labels.astype(np.int64), relations + own.labels.astype(np.int64)])
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(relations + len(graph.attributes) + 1))
    return starts, np.concatenate([heads, own.sources])[order]


def _hidden_and_groups(counts: np.ndarray, stated_share: float) -> tuple[np.ndarray, np.ndarray]:
    """By the facts that remain: how many facts were hidden, and from how many groups, were these counts the true ones.

    Each fact is stated with the probability `stated_share`.
    """
    histogram = np.bincount(counts.astype(np.int64).clip(max=_LONGEST), minlength=_LONGEST + 1)
    hidden, chance = _chances(stated_share)
    return histogram @ hidden, histogram @ chance


@lru_cache(maxsize=16)
def _chances(stated_share: float) -> tuple[np.ndarray, np.ndarray]:
    """The chance that of n facts c stay, and with it how many are hidden."""
    n, c = np.meshgrid(np.arange(_LONGEST + 1), np.arange(_LONGEST + 1), indexing="ij")
    chance = stats.binom.pmf(c, n, stated_share) * (n > 0)
    return chance * (n - c), chance
