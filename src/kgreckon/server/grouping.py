"""Grouping: the relation by which some things fall into a few groups, and how many are in each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.graph import KnowledgeGraph
from kgreckon.server.catalogue import runs

SHOWN = 12  # groups
_LEAST = 8  # things that are worth grouping
_COVERED = 0.8  # share of the things that must be in some group


@dataclass(frozen=True)
class Grouping:
    """What a relation leads to from some things, and from how many of them, the largest group first."""

    relation: int  # as stated, an even number
    ends: np.ndarray
    counts: np.ndarray


def best_grouping(graph: KnowledgeGraph, members: np.ndarray) -> Grouping | None:
    """The grouping that says most: its first groups hold most of the members, and none holds nearly all."""
    if len(members) < _LEAST:
        return None
    offsets, labels, starts, targets = graph.follows.touched(members)
    links = runs(offsets[members], offsets[members + 1])
    best, most = None, 0.0
    for relation in np.unique(labels[links]).tolist():
        own = links[labels[links] == relation]
        if relation & 1 or len(own) < _COVERED * len(members):
            continue
        ends, counts = np.unique(targets[runs(starts[own], starts[own + 1])], return_counts=True)
        order = np.argsort(-counts, kind="stable")
        told = counts[order][:SHOWN].sum() / counts.sum() * (1 - counts.max() / len(members))
        if told > most and len(ends) <= len(members) / 2:
            best, most = Grouping(relation, ends[order], counts[order]), told
    return best
