"""What the training graph tells of an entity apart from its own numbers: neighbours, and which labels it has."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from kgreckon.graph import KnowledgeGraph


def neighbourhood_vectors(graph: KnowledgeGraph, dimension: int, seed: int = 0) -> np.ndarray:  # (entities, dimension)
    """Entities with the same neighbours lie close: the leading singular vectors of who is linked to whom, and how."""
    heads, labels, tails = graph.facts.both_ways()
    entities = len(graph.entities)
    if not len(heads):
        return np.zeros((entities, dimension))
    _, columns = np.unique(labels.astype(np.int64) * entities + tails, return_inverse=True)
    _, label_columns = np.unique(labels, return_inverse=True)
    width = int(columns.max()) + 1
    both = (np.concatenate([heads, heads]), np.concatenate([columns, width + label_columns]))
    matrix = sparse.csr_matrix((np.ones(2 * len(heads)), both), shape=(entities, width + int(label_columns.max()) + 1))
    matrix.data = np.log1p(matrix.data)
    rarity = 1 / np.sqrt(1 + np.asarray((matrix > 0).sum(axis=0)).ravel())
    matrix = (matrix @ sparse.diags(rarity)).tocsr()
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    matrix = sparse.diags(1 / np.maximum(lengths, 1e-12)) @ matrix
    rank = min(dimension + 8, min(matrix.shape))
    basis = np.random.default_rng(seed).normal(size=(matrix.shape[1], rank))
    for _ in range(4):  # power iterations turn the basis towards the leading singular vectors
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    left, size, _ = np.linalg.svd(matrix @ basis, full_matrices=False)
    found = np.zeros((entities, dimension))
    found[:, : min(dimension, rank)] = (left * size)[:, :dimension]
    spread = found.std(axis=0)
    return np.where(spread > 1e-6 * size[0] / np.sqrt(entities), found / np.maximum(spread, 1e-12), 0)  # rest: rounding


def label_counts(graph: KnowledgeGraph, least: int = 10) -> tuple[np.ndarray, np.ndarray]:  # (entities, labels), (n,)
    """How many facts an entity has under each relation and direction, and which of these are not rare."""
    heads, labels, _ = graph.facts.both_ways()
    counts = np.zeros((len(graph.entities), 2 * len(graph.relations)), dtype=np.float32)
    np.add.at(counts, (heads, labels), 1)
    return counts, np.flatnonzero((counts > 0).sum(axis=0) >= least)
