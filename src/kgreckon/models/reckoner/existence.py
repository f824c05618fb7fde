"""How many facts of each label an entity is to be expected to have beyond those that the training graph states."""

from __future__ import annotations

import numpy as np
import torch
from scipy import special, stats

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.features import label_counts

FOLDS = 5
_LONGEST = 64  # counts up to here are told apart
_PSEUDO = 5.0  # groups of all labels together that stand beside a label's own
_STEPS = 120


def stated_chances(
    graph: KnowledgeGraph, vectors: np.ndarray, fold_of: np.ndarray, device: torch.device
) -> np.ndarray:  # (entities, relations in both directions and attributes)
    """The chance that the graph states a fact of each label of each entity.

    Logistic regressions on the other labels that the entity has and on its place among entities, out of fold.
    """
    counts, often = label_counts(graph)
    owns = np.zeros((len(graph.entities), len(graph.attributes)), dtype=np.float32)
    owns[graph.attribute_facts.sources, graph.attribute_facts.labels] = 1
    wanted = np.concatenate([counts > 0, owns > 0], axis=1)
    features = np.concatenate([np.ones((len(owns), 1)), counts[:, often], owns, 0.3 * vectors], axis=1)
    own_column = np.full(wanted.shape[1], -1)
    own_column[often] = 1 + np.arange(len(often))
    own_column[counts.shape[1] :] = 1 + len(often) + np.arange(owns.shape[1])
    x = torch.from_numpy(features).float().to(device)
    y = torch.from_numpy(wanted).float().to(device)
    found = np.zeros(wanted.shape, dtype=np.float32)
    for fold in range(FOLDS):
        own = torch.from_numpy(fold_of == fold).to(device)
        weights = _logistic(x[~own], y[~own], own_column)
        found[fold_of == fold] = torch.sigmoid(x[own] @ weights).cpu().numpy()
    return found.clip(1e-6, 1 - 1e-4)


def _logistic(x: torch.Tensor, y: torch.Tensor, own_column: np.ndarray) -> torch.Tensor:  # (n, f), (n, l) -> (f, l)
    """Weights of one logistic regression per column of y, none of which sees itself among the features."""
    allowed = torch.ones(x.shape[1], y.shape[1], device=x.device)
    labels = np.flatnonzero(own_column >= 0)
    allowed[torch.from_numpy(own_column[labels]), torch.from_numpy(labels)] = 0
    weights = torch.zeros(x.shape[1], y.shape[1], device=x.device)
    rate = (y.sum(dim=0) / max(1, len(y))).clamp(1e-6, 1 - 1e-6)
    weights[0] = torch.log(rate / (1 - rate))
    optimizer = torch.optim.Adam([weights], lr=0.05, betas=(0.9, 0.99), eps=1e-6)
    for _ in range(_STEPS):  # all regressions at once; their gradient is a matrix product
        gradient = x.T @ (torch.sigmoid(x @ weights) - y) / max(1, len(x))
        gradient[1:] += 2e-3 * rate.clamp(min=1e-3) * weights[1:]
        weights.grad = gradient * allowed / rate.clamp(min=1e-3).sqrt()
        optimizer.step()
    return weights


def hidden_tails(graph: KnowledgeGraph, stated_share: float) -> np.ndarray:  # (labels, entities) float32
    """For each relation in both directions and each entity that has some: how many more tails are hidden in the mean.

    Each fact is stated with the probability `stated_share`. Were the stated counts the true ones, this is how many
    tails would be hidden behind those that remain: for a relation with one tail, none. 0 where none are stated.
    """
    labels, entities = 2 * len(graph.relations), len(graph.entities)
    heads, relations, _ = graph.facts.both_ways()
    # One cell in a hundred or fewer: an entity has few of the relations.
    cells, some = np.unique(relations.astype(np.int64) * entities + heads, return_counts=True)
    label = cells // entities
    capped = some.clip(max=_LONGEST)
    histogram = np.bincount(label * (_LONGEST + 1) + capped, minlength=labels * (_LONGEST + 1))
    histogram = histogram.reshape(labels, _LONGEST + 1)
    histogram[:, 0] = entities - histogram.sum(axis=1)
    n, c = np.meshgrid(np.arange(_LONGEST + 1), np.arange(_LONGEST + 1), indexing="ij")
    chance = stats.binom.pmf(c, n, stated_share) * (n > 0)
    groups, hidden = histogram @ chance, histogram @ (chance * (n - c))
    overall = hidden.sum(axis=0) / np.maximum(groups.sum(axis=0), 1e-12)
    table = (hidden + _PSEUDO * overall) / (groups + _PSEUDO)
    ratio = (1 - stated_share) / stated_share
    found = np.zeros(labels * entities, dtype=np.float32)
    found[cells] = np.where(some > _LONGEST // 2, ratio * some, table[label, capped])
    return found.reshape(labels, entities)


def odds(chances: np.ndarray) -> np.ndarray:
    """What stated chances say of an entity without a stated fact: chance against chance, as special.logit has it."""
    return np.exp(special.logit(chances))
