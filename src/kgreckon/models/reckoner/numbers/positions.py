"""Positions: entities with the same neighbours lie close, whichever facts are known of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.numbers.cases import Cases

_ITERATIONS = 4


@dataclass(frozen=True)
class Positions:
    """The leading singular directions of who is linked to whom, and how; learned from the training graph."""

    keys: np.ndarray  # (columns,) int64 rising: a relation alone, negative; or relation and neighbour in one number
    rarity: np.ndarray  # (columns,) float32: what a column counts
    basis: np.ndarray  # (columns, dimensions) float32
    entities: int

    @property
    def dimension(self) -> int:
        """How many directions there are."""
        return self.basis.shape[1]

    @staticmethod
    def fit(graph: KnowledgeGraph, dimension: int, seed: int = 0) -> Positions:
        """The directions of a graph."""
        heads, labels, tails = (column.astype(np.int64) for column in graph.facts.both_ways())
        entities = len(graph.entities)
        keys, counts = np.unique(labels * entities + tails, return_counts=True)
        # A neighbour of one entity alone says nothing of another.
        keys = np.concatenate([-1 - np.unique(labels)[::-1], keys[counts > 1]])
        found = np.zeros((len(keys), dimension), dtype=np.float32)
        if not len(heads):
            return Positions(keys, np.zeros(0, dtype=np.float32), found, entities)
        matrix = _counts(keys, entities, heads, labels, tails, entities)
        rarity = 1 / np.sqrt(1 + np.bincount(matrix.indices, minlength=len(keys)))
        matrix = _of_length_one(matrix, rarity)
        rank = min(dimension + 8, *matrix.shape)
        basis = np.random.default_rng(seed).normal(size=(len(keys), rank))
        for _ in range(_ITERATIONS):  # power iterations turn the basis towards the leading singular vectors
            basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
        left, size, right = np.linalg.svd(matrix @ basis, full_matrices=False)
        spread = (left * size).std(axis=0)
        kept = spread > 1e-6 * size[0] / np.sqrt(entities)  # the rest is rounding
        width = min(dimension, rank)
        found[:, :width] = ((basis @ right.T) * np.where(kept, 1 / np.maximum(spread, 1e-12), 0.0))[:, :width]
        return Positions(keys, rarity.astype(np.float32), found, entities)

    def of(self, cases: Cases) -> np.ndarray:  # (cases, dimensions)
        """Where some cases stand, by the links that are known of them."""
        links = cases.link_cases, cases.link_labels, cases.link_others
        matrix = _of_length_one(_counts(self.keys, self.entities, *links, len(cases)), self.rarity)
        return np.asarray(matrix @ self.basis, dtype=np.float64)


def renumbered(keys: np.ndarray, old: int, new: int) -> np.ndarray:
    """Keys of a relation and one of so many entities, where there are more by now; a relation alone stays."""
    return np.where(keys < 0, keys, keys // max(1, old) * new + keys % max(1, old))


def _counts(
    keys: np.ndarray, entities: int, cases: np.ndarray, labels: np.ndarray, others: np.ndarray, count: int
) -> sparse.csr_matrix:  # (count, columns)
    """How often each case has each column, damped."""
    wanted = np.concatenate([labels * entities + others, -1 - labels])
    place = np.searchsorted(keys, wanted).clip(max=max(0, len(keys) - 1))
    there = keys[place] == wanted if len(keys) else np.zeros(len(wanted), dtype=bool)
    rows, columns = np.concatenate([cases, cases])[there], place[there]
    matrix = sparse.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, len(keys)))
    matrix.sum_duplicates()
    matrix.data = np.log1p(matrix.data)
    return matrix


def _of_length_one(matrix: sparse.csr_matrix, rarity: np.ndarray) -> sparse.csr_matrix:
    matrix = (matrix @ sparse.diags(rarity)).tocsr()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    return sparse.diags(1 / np.maximum(lengths, 1e-12)) @ matrix
