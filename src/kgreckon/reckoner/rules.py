"""Rules that the training graph obeys more or less, of one step or two, and the facts that they foretell.

A rule says: what an entity reaches by one label, or by one and then another, it often reaches by a third label too. Its
confidence is the share of such paths whose ends are joined by the third label in the graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, types
from numba.typed import Dict

from kgreckon.graph import KnowledgeGraph

_FANOUT = 200  # edges looked at after the first step; of more, every so-manieth
_WALKS = 200_000_000  # paths looked at in all; of more, those of every so-manieth entity
_PSEUDO = 5.0  # paths that stand beside a rule's own and obey no rule
_LEAST_SUPPORT = 2
_LEAST_CONFIDENCE = 0.005
_MOST_RULES = 400  # for a label, the most trusted
_MOST_PATHS = 20_000  # followed for one head and label
_MOST_TAILS = 64  # foretold for one head and label, the likeliest
_ROWS = 1 << 17  # heads and labels at once
_NONE = -1  # in the place of a second step


@dataclass(frozen=True)
class Rules:
    """Rules sorted by the label that they foretell, the most trusted first."""

    starts: np.ndarray  # (labels + 1,) int64: the rules of each label
    first: np.ndarray  # (rules,) int64: the label of the first step
    second: np.ndarray  # (rules,) int64: of the second, or -1
    confidence: np.ndarray  # (rules,) float64

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True)
class Foretold:
    """Facts that rules foretell and the graph does not state, sorted by label and head."""

    labels: np.ndarray  # (facts,) int64
    heads: np.ndarray  # (facts,) int64
    tails: np.ndarray  # (facts,) int64
    chances: np.ndarray  # (facts,) float32: that a rule which speaks for it holds


class _Edges:
    """All relations' facts in both directions, sorted by head, label and tail."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        facts = graph.facts
        heads = np.concatenate([facts.sources, facts.targets]).astype(np.int64)
        labels = np.concatenate([2 * facts.labels, 2 * facts.labels + 1]).astype(np.int64)
        tails = np.concatenate([facts.targets, facts.sources]).astype(np.int64)
        order = np.lexsort((tails, labels, heads))
        self.num_labels = 2 * len(graph.relations)
        self.starts = np.searchsorted(heads[order], np.arange(len(graph.entities) + 1))
        self.labels, self.tails = labels[order], tails[order]
        again = np.lexsort((labels, tails, heads))
        self.tails_in_order, self.labels_by_tail = tails[again], labels[again]

    def walks(self) -> int:
        """How many paths of two steps there are, at most so many after the first."""
        degrees = np.diff(self.starts)
        return int(np.minimum(degrees, _FANOUT)[self.tails].sum())


def mine_rules(graph: KnowledgeGraph) -> Rules:
    """The rules that the facts of a graph obey."""
    edges = _Edges(graph)
    size = edges.num_labels
    stride = 1 + edges.walks() // _WALKS
    bodies, supports = _count(
        edges.starts, edges.labels, edges.tails, edges.tails_in_order, edges.labels_by_tail, size, stride
    )
    keys, support = _columns(supports)
    body_keys, paths = _columns(bodies)
    body, target = keys // size, keys % size
    confidence = support / (paths[np.searchsorted(body_keys, body)] + _PSEUDO)
    good = (support >= _LEAST_SUPPORT) & (confidence >= _LEAST_CONFIDENCE)
    body, target, confidence = body[good], target[good], confidence[good]
    order = np.lexsort((-confidence, target))
    starts = np.searchsorted(target[order], np.arange(size + 1))
    order = order[np.arange(len(order)) - starts[target[order]] < _MOST_RULES]
    body, target = body[order], target[order]
    second = body % (size + 1)
    return Rules(
        np.searchsorted(target, np.arange(size + 1)),
        body // (size + 1),
        np.where(second == size, _NONE, second),
        confidence[order],
    )


def foretell(graph: KnowledgeGraph, rules: Rules, labels: np.ndarray, heads: np.ndarray) -> Foretold:
    """The facts of some labels and heads that rules speak for; several rules are taken to be right independently."""
    edges = _Edges(graph)
    found = []
    for first in range(0, len(heads) if len(rules) else 0, _ROWS):
        own = labels[first : first + _ROWS].astype(np.int64), heads[first : first + _ROWS].astype(np.int64)
        counts, tails, chances = _foretell(
            *own, edges.starts, edges.labels, edges.tails, rules.starts, rules.first, rules.second, rules.confidence
        )
        kept = np.arange(_MOST_TAILS)[None] < counts[:, None]
        found.append([*(np.repeat(column, counts) for column in own), tails[kept], chances[kept]])
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return Foretold(none, none, none, np.zeros(0, dtype=np.float32))
    labels, heads, tails, chances = (np.concatenate(column) for column in zip(*found, strict=True))
    return Foretold(labels, heads, tails, chances)


def _columns(counts: Dict) -> tuple[np.ndarray, np.ndarray]:
    keys = np.fromiter(counts.keys(), np.int64, len(counts))
    values = np.fromiter(counts.values(), np.float64, len(counts))
    order = np.argsort(keys)
    return keys[order], values[order]


@njit(cache=True)
def _count(starts, labels, tails, tails_in_order, labels_by_tail, size, stride):  # type: ignore[no-untyped-def]
    """How many paths each body has, and how many of these have their ends joined by each label."""
    bodies = Dict.empty(types.int64, types.int64)
    supports = Dict.empty(types.int64, types.int64)
    entities = len(starts) - 1
    joined = np.full(entities, -1, np.int64)  # the head that an entity was last seen joined to
    place = np.zeros(entities, np.int64)  # and where
    for head in range(0, entities, stride):
        low, high = starts[head], starts[head + 1]
        for edge in range(high - 1, low - 1, -1):
            joined[tails_in_order[edge]] = head
            place[tails_in_order[edge]] = edge
        for edge in range(low, high):
            first, middle = labels[edge], tails[edge]
            body = first * (size + 1) + size
            bodies[body] = bodies.get(body, 0) + 1
            at = place[middle]
            while at < high and tails_in_order[at] == middle:
                if labels_by_tail[at] != first:
                    key = body * size + labels_by_tail[at]
                    supports[key] = supports.get(key, 0) + 1
                at += 1
            if middle == head:
                continue
            begin, end = starts[middle], starts[middle + 1]
            step = 1 + (end - begin - 1) // _FANOUT
            for next_edge in range(begin + (edge % step), end, step):
                tail = tails[next_edge]
                if tail == head:
                    continue
                body = first * (size + 1) + labels[next_edge]
                bodies[body] = bodies.get(body, 0) + step
                if joined[tail] != head:
                    continue
                at = place[tail]
                while at < high and tails_in_order[at] == tail:
                    key = body * size + labels_by_tail[at]
                    supports[key] = supports.get(key, 0) + step
                    at += 1
    return bodies, supports


@njit(cache=True)
def _foretell(row_labels, row_heads, starts, labels, tails, rule_starts, firsts, seconds, confidences):  # type: ignore[no-untyped-def]
    """For each label and head the likeliest tails that rules speak for, and their chances."""
    rows, entities = len(row_heads), len(starts) - 1
    counts = np.zeros(rows, np.int64)
    found = np.zeros((rows, _MOST_TAILS), np.int64)
    chances = np.zeros((rows, _MOST_TAILS), np.float32)
    against = np.ones(entities)  # the chance that no rule which speaks for a tail holds
    spoken = np.full(entities, -1, np.int64)  # the last rule that spoke for it
    touched = np.zeros(_MOST_PATHS, np.int64)
    for row in range(rows):
        label, head = row_labels[row], row_heads[row]
        low, high = starts[head], starts[head + 1]
        paths = seen = 0
        for rule in range(rule_starts[label], rule_starts[label + 1]):
            first, second, doubt = firsts[rule], seconds[rule], 1 - confidences[rule]
            edge = low + np.searchsorted(labels[low:high], first)
            while edge < high and labels[edge] == first and paths < _MOST_PATHS:
                middle = tails[edge]
                edge += 1
                if second == _NONE:
                    begin, end = edge - 1, edge
                elif middle == head:
                    continue
                else:
                    begin, end = starts[middle], starts[middle + 1]
                    begin += np.searchsorted(labels[begin:end], second)
                while begin < end and paths < _MOST_PATHS and (second == _NONE or labels[begin] == second):
                    tail = tails[begin]
                    begin += 1
                    paths += 1
                    if spoken[tail] == rule:
                        continue
                    if against[tail] == 1:
                        touched[seen] = tail
                        seen += 1
                    spoken[tail] = rule
                    against[tail] *= doubt
        own = low + np.searchsorted(labels[low:high], label)
        while own < high and labels[own] == label:  # what is stated need not be foretold
            against[tails[own]] = 1
            own += 1
        against[head] = 1
        order = np.argsort(against[touched[:seen]])
        for place in order[:_MOST_TAILS]:
            tail = touched[place]
            if against[tail] < 1:
                found[row, counts[row]] = tail
                chances[row, counts[row]] = 1 - against[tail]
                counts[row] += 1
        for place in range(seen):
            against[touched[place]] = 1
            spoken[touched[place]] = -1
    return counts, found, chances
