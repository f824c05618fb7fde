"""Rules that the training graph obeys more or less, of one step or two, and the facts that they foretell.

A rule says: what an entity reaches by one label, or by one and then another, it often reaches by a third label too. Its
confidence is the share of such paths whose ends are joined by the third label in the graph.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import types
from numba.typed import Dict

from kgreckon.compiling import compiled
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.proofs import RulePath

_FANOUT = 200  # edges looked at after the first step; of more, every so-manieth
_WALKS = 200_000_000  # paths looked at in all; of more, those of every so-manieth entity
_PSEUDO = 5.0  # paths that stand beside a rule's own and obey no rule
_LEAST_SUPPORT = 2
_LEAST_CONFIDENCE = 0.03  # less hardly moves a score
_MOST_RULES = 400  # for a label, the most trusted
_MOST_PATHS = 20_000  # followed for one head and label
_MOST_TAILS = 64  # foretold for one head and label
_ROWS = 1 << 14  # heads and labels at once, on each core
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

    @staticmethod
    def none(num_labels: int) -> Rules:
        """No rule for any label."""
        nothing = np.zeros(0, dtype=np.int64)
        return Rules(np.zeros(num_labels + 1, dtype=np.int64), nothing, nothing, np.zeros(0))


@dataclass(frozen=True)
class Foretold:
    """Facts that rules foretell and the graph does not state, sorted by label and head."""

    labels: np.ndarray  # (facts,) int64
    heads: np.ndarray  # (facts,) int64
    tails: np.ndarray  # (facts,) int64
    chances: np.ndarray  # (facts,) float32: the confidence of the most trusted rule that speaks for it


class _Edges:
    """A graph's facts in both directions, sorted by head, label and tail, with the label of each."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        follows = graph.follows
        self.num_labels = 2 * len(graph.relations)
        self.starts = follows.starts[follows.offsets]
        self.labels = np.repeat(follows.labels.astype(np.int64), np.diff(follows.starts))
        self.tails = follows.targets.astype(np.int64)

    def walks(self) -> int:
        """How many paths of two steps there are, at most so many after the first."""
        degrees = np.diff(self.starts)
        return int(np.minimum(degrees, _FANOUT)[self.tails].sum())

    def by_tail(self) -> tuple[np.ndarray, np.ndarray]:
        """The tails and labels of all facts, sorted by head, tail and label."""
        heads = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        order = np.lexsort((self.labels, self.tails, heads))
        return self.tails[order], self.labels[order]


def mine_rules(graph: KnowledgeGraph) -> Rules:
    """The rules that the facts of a graph obey."""
    edges = _Edges(graph)
    size = edges.num_labels
    stride = 1 + edges.walks() // _WALKS
    bodies, supports = _count(edges.starts, edges.labels, edges.tails, *edges.by_tail(), size, stride)
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
    """The facts of some labels and heads that rules speak for.

    The most trusted rule alone counts: rules that say the same often have the same reason.
    """
    edges = _Edges(graph)

    def some(first: int) -> list[np.ndarray]:
        own = labels[first : first + _ROWS].astype(np.int64), heads[first : first + _ROWS].astype(np.int64)
        counts, tails, chances = _foretell(
            *own, edges.starts, edges.labels, edges.tails, rules.starts, rules.first, rules.second, rules.confidence
        )
        kept = np.arange(_MOST_TAILS)[None] < counts[:, None]
        return [*(np.repeat(column, counts) for column in own), tails[kept], chances[kept]]

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the compiled loop lets go of the interpreter
        found = list(pool.map(some, range(0, max(len(heads), 1), _ROWS)))
    return Foretold(*(np.concatenate(column) for column in zip(*found, strict=True)))


def support_of(graph: KnowledgeGraph, rules: Rules, head: int, label: int, tail: int) -> RulePath | None:
    """The path by which the most trusted rule speaks for one fact, if any does."""
    follows = graph.follows
    if head == tail:
        return None
    for rule in range(int(rules.starts[label]), int(rules.starts[label + 1])):
        first, second = int(rules.first[rule]), int(rules.second[rule])
        reached = follows.row(head, first)
        if second == _NONE:
            if tail in reached:
                return RulePath(((head, first, tail),), float(rules.confidence[rule]))
            continue
        middles = np.intersect1d(reached[reached != head], follows.row(tail, second ^ 1)) if len(reached) else reached
        if len(middles):
            middle = int(middles[0])
            return RulePath(((head, first, middle), (middle, second, tail)), float(rules.confidence[rule]))
    return None


def _columns(counts: Dict) -> tuple[np.ndarray, np.ndarray]:
    keys = np.fromiter(counts.keys(), np.int64, len(counts))
    values = np.fromiter(counts.values(), np.float64, len(counts))
    order = np.argsort(keys)
    return keys[order], values[order]


@compiled
def _count(
    starts: np.ndarray,
    labels: np.ndarray,
    tails: np.ndarray,
    tails_in_order: np.ndarray,
    labels_by_tail: np.ndarray,
    size: int,
    stride: int,
) -> tuple[Dict, Dict]:
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


@compiled
def _foretell(
    row_labels: np.ndarray,
    row_heads: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    tails: np.ndarray,
    rule_starts: np.ndarray,
    firsts: np.ndarray,
    seconds: np.ndarray,
    confidences: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each label and head the tails that rules speak for, with the confidence of the most trusted of these.

    Rules are heard in the order of their confidence, as long as there is room for all that the next one says.
    """
    rows, entities = len(row_heads), len(starts) - 1
    counts = np.zeros(rows, np.int64)
    found = np.zeros((rows, _MOST_TAILS), np.int64)
    chances = np.zeros((rows, _MOST_TAILS), np.float32)
    known = np.zeros(entities, np.bool_)  # stated, or foretold by a rule that is trusted more
    for row in range(rows):
        label, head = row_labels[row], row_heads[row]
        low, high = starts[head], starts[head + 1]
        stated = low + np.searchsorted(labels[low:high], label)
        end_of_stated = low + np.searchsorted(labels[low:high], label, side="right")
        known[tails[stated:end_of_stated]] = True
        known[head] = True
        paths = count = 0
        for rule in range(rule_starts[label], rule_starts[label + 1]):
            first, second, before, room = firsts[rule], seconds[rule], count, True
            edge = low + np.searchsorted(labels[low:high], first)
            while room and edge < high and labels[edge] == first:
                middle = tails[edge]
                edge += 1
                if second == _NONE:
                    begin, end = edge - 1, edge
                elif middle == head:
                    continue
                else:
                    begin, end = starts[middle], starts[middle + 1]
                    begin += np.searchsorted(labels[begin:end], second)
                while room and begin < end and (second == _NONE or labels[begin] == second):
                    tail = tails[begin]
                    begin += 1
                    paths += 1
                    room = paths <= _MOST_PATHS and (known[tail] or count < _MOST_TAILS)
                    if room and not known[tail]:
                        known[tail] = True
                        found[row, count], chances[row, count] = tail, confidences[rule]
                        count += 1
            if not room:
                known[found[row, before:count]] = False
                count = before
                break
        counts[row] = count
        known[found[row, :count]] = False
        known[tails[stated:end_of_stated]] = False
        known[head] = False
    return counts, found, chances
