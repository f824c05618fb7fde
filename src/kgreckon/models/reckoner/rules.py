"""Rules that a graph obeys more or less, of one step or two, and the facts that they speak for.

A rule says: what an entity reaches by one label, or by one and then another, it often reaches by a third label too. Its
confidence is the share of such paths whose ends are joined by the third label in the graph.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy as np
from numba import types
from numba.typed import Dict

from kgreckon.compiling import compiled
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.proofs import RulePath

_FANOUT = 200  # edges looked at after the first step; of more, a regular sample
_WALKS = 200_000_000  # paths looked at in all; of more, those of a regular sample of entities
_PSEUDO = 5.0  # paths that stand beside a rule's own and obey no rule
_LEAST_SUPPORT = 2
_LEAST_CONFIDENCE = 0.03  # less hardly moves a score
_MOST_RULES = 400  # for a label, the most trusted
_MOST_GROUPS = 64
_JUDGED = 128  # facts of a label on which it is judged whether rules say the same
_FEW = 64  # paths of a body that leave one end of a fact, up to which a rule is heard
_MANY_STEPS = 1000  # first steps, from which on there are not few paths
_SMALL = 0.03  # the confidence from which on a rule counts
_ROWS = 1 << 10  # heads and labels at once, on each core
_NONE = -1  # in the place of a second step


@dataclass(frozen=True)
class Rules:
    """Rules sorted by the label that they predict, the most trusted first."""

    starts: np.ndarray  # (labels + 1,) int64: the rules of each label
    first: np.ndarray  # (rules,) int64: the label of the first step
    second: np.ndarray  # (rules,) int64: of the second, or -1
    confidence: np.ndarray  # (rules,) float64
    group: np.ndarray  # (rules,) int64 below 64: rules of a label that speak for the same facts

    def __len__(self) -> int:
        return len(self.first)

    def with_inverses(self) -> Rules:
        """These rules, which are of relations as they are stated, and the same read backwards."""
        counts = np.diff(self.starts)
        target = np.repeat(np.arange(len(counts)), counts)
        one_step = self.second == _NONE
        first = np.concatenate([self.first, np.where(one_step, self.first, self.second) ^ 1])
        second = np.concatenate([self.second, np.where(one_step, _NONE, self.first ^ 1)])
        target = np.concatenate([target, target ^ 1])
        order = np.argsort(target, kind="stable")
        twice = (np.concatenate([column, column])[order] for column in (self.confidence, self.group))
        starts = np.searchsorted(target[order], np.arange(len(counts) + 1))
        return Rules(starts, first[order], second[order], *twice)

    def over(self, num_labels: int) -> Rules:
        """The same for more labels, of which no rule speaks."""
        more = num_labels + 1 - len(self.starts)
        return replace(self, starts=np.append(self.starts, np.full(more, len(self.first)))) if more else self

    @staticmethod
    def none(num_labels: int) -> Rules:
        """No rule for any label."""
        nothing = np.zeros(0, dtype=np.int64)
        return Rules(np.zeros(num_labels + 1, dtype=np.int64), nothing, nothing, np.zeros(0), nothing)


class Edges:
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
    edges = Edges(graph)
    size = edges.num_labels
    stride = 1 + edges.walks() // _WALKS
    bodies, supports = _count(edges.starts, edges.labels, edges.tails, *edges.by_tail(), size, stride)
    keys, support = _columns(supports)
    body_keys, paths = _columns(bodies)
    body, target = keys // size, keys % size
    confidence = support / (paths[np.searchsorted(body_keys, body)] + _PSEUDO)
    # Rules of inverse relations are those of the relations read backwards.
    good = (support >= _LEAST_SUPPORT) & (confidence >= _LEAST_CONFIDENCE) & (target % 2 == 0)
    body, target, confidence = body[good], target[good], confidence[good]
    order = np.lexsort((body, -confidence, target))
    starts = np.searchsorted(target[order], np.arange(size + 1))
    order = order[np.arange(len(order)) - starts[target[order]] < _MOST_RULES]
    body, target, confidence = body[order], target[order], confidence[order]
    first, second = body // (size + 1), np.where(body % (size + 1) == size, _NONE, body % (size + 1))
    starts = np.searchsorted(target, np.arange(size + 1))
    rules = Rules(starts, first, second, confidence, np.zeros(len(order), dtype=np.int64))
    return replace(rules, group=_groups(edges, graph, rules)).with_inverses()


def told_by(
    edges: Edges, rules: Rules, labels: np.ndarray, heads: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """What rules say for facts of some labels and heads: rows, tails, the best confidence, and what others add to it.

    The best confidence q of all rules counts as log(1 + q / 0.03). Of the others only the best of each group counts,
    because rules that agree share a cause; they add -log(1 - q) each, as in a noisy-or. A rule is heard where at most
    64 paths of its body leave the head, or arrive at the tail: so a fact is told the same from either end.
    """

    def some(first: int) -> list[np.ndarray]:
        own = labels[first : first + _ROWS].astype(np.int64), heads[first : first + _ROWS].astype(np.int64)
        counts, *found = _tell(
            *own,
            edges.starts,
            edges.labels,
            edges.tails,
            rules.starts,
            rules.first,
            rules.second,
            rules.confidence,
            rules.group,
        )
        return [np.repeat(np.arange(first, first + len(counts)), counts), *found]

    parts = range(0, len(heads), _ROWS)
    if len(parts) <= 1:
        row, tails, best, more = some(0)
        return row, tails, best, more
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # the compiled loop lets go of the interpreter
        row, tails, best, more = (np.concatenate(column) for column in zip(*pool.map(some, parts), strict=True))
    return row, tails, best, more


def support_of(edges: Edges, rules: Rules, head: int, label: int, tail: int) -> RulePath | None:
    """The path by which the most trusted rule speaks for one fact, if any does."""
    if head == tail:
        return None
    graph = edges.starts, edges.labels, edges.tails

    def reached(entity: int, by: int) -> np.ndarray:
        return edges.tails[slice(*_run(edges.labels, int(edges.starts[entity]), int(edges.starts[entity + 1]), by))]

    for rule in range(int(rules.starts[label]), int(rules.starts[label + 1])):
        first, second = int(rules.first[rule]), int(rules.second[rule])
        tails = reached(head, first)
        if second == _NONE:
            middles, back = tails[tails == tail], (first ^ 1, _NONE)
        else:
            ends = tails[(tails != head) & (tails != tail)]
            middles, back = np.intersect1d(ends, reached(tail, second ^ 1)), (second ^ 1, first ^ 1)
        if not len(middles) or not (_few_leave(head, first, second, *graph) or _few_leave(tail, *back, *graph)):
            continue
        middle, confidence = int(middles[0]), float(rules.confidence[rule])
        if second == _NONE:
            return RulePath(((head, first, tail),), confidence)
        return RulePath(((head, first, middle), (middle, second, tail)), confidence)
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
                if tail in (head, middle):
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
def _run(labels: np.ndarray, low: int, high: int, label: int) -> tuple[int, int]:
    """The edges of one label among those from low to high, which are sorted by label."""
    begin = low + np.searchsorted(labels[low:high], label)
    end = begin + np.searchsorted(labels[begin:high], label, side="right")
    return int(begin), int(end)


@compiled
def _few_leave(entity: int, first: int, second: int, starts: np.ndarray, labels: np.ndarray, tails: np.ndarray) -> bool:
    """Whether at most _FEW paths of a body leave an entity."""
    begin, end = _run(labels, starts[entity], starts[entity + 1], first)
    if second == _NONE:
        return bool(end - begin <= _FEW)
    if end - begin > _MANY_STEPS:
        return False
    count = 0
    for edge in range(begin, end):
        middle = tails[edge]
        if middle != entity:
            low, high = _run(labels, starts[middle], starts[middle + 1], second)
            count += high - low
            if count > _FEW:
                return False
    return True


@compiled
def _tell(
    row_labels: np.ndarray,
    row_heads: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    tails: np.ndarray,
    rule_starts: np.ndarray,
    firsts: np.ndarray,
    seconds: np.ndarray,
    confidences: np.ndarray,
    groups: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """For each label and head how many tails rules speak for; then these tails and what is said for them."""
    rows, entities = len(row_heads), len(starts) - 1
    counts = np.zeros(rows, np.int64)
    found, best, more = np.zeros(1024, np.int64), np.zeros(1024, np.float32), np.zeros(1024, np.float32)
    place = np.full(entities, -1, np.int64)  # of a tail among those found; -2 where it is stated
    heard = np.zeros(entities, np.uint64)  # the groups of rules that spoke for a tail
    total = 0
    for row in range(rows):
        label, head = row_labels[row], row_heads[row]
        low, high = starts[head], starts[head + 1]
        stated, end_of_stated = _run(labels, low, high, label)
        place[tails[stated:end_of_stated]] = -2
        place[head] = -2
        begin_of_row = total
        for rule in range(rule_starts[label], rule_starts[label + 1]):
            first, second = firsts[rule], seconds[rule]
            edge, last = _run(labels, low, high, first)
            if edge == last:
                continue
            few = _few_leave(head, first, second, starts, labels, tails)
            group = np.uint64(1) << np.uint64(groups[rule])
            for step in range(edge, last):
                middle = tails[step]
                if second == _NONE:
                    begin, end = step, step + 1
                elif middle == head:
                    continue
                else:
                    begin, end = _run(labels, starts[middle], starts[middle + 1], second)
                for next_step in range(begin, end):
                    tail = tails[next_step]
                    at = place[tail]
                    if (tail == middle and second != _NONE) or at == -2 or (at >= 0 and heard[tail] & group):
                        continue
                    if not few:
                        back = (first ^ 1, _NONE) if second == _NONE else (second ^ 1, first ^ 1)
                        if not _few_leave(tail, back[0], back[1], starts, labels, tails):
                            continue
                    if at >= 0:
                        more[at] -= np.float32(np.log1p(-min(confidences[rule], 0.99)))
                        heard[tail] |= group
                        continue
                    if total == len(found):
                        found = np.concatenate((found, np.zeros_like(found)))
                        best = np.concatenate((best, np.zeros_like(best)))
                        more = np.concatenate((more, np.zeros_like(more)))
                    place[tail], heard[tail] = total, group
                    found[total], best[total], more[total] = tail, np.float32(np.log1p(confidences[rule] / _SMALL)), 0
                    total += 1
        place[tails[stated:end_of_stated]] = -1
        place[head] = -1
        place[found[begin_of_row:total]] = -1
        counts[row] = total - begin_of_row
    return counts, found[:total], best[:total], more[:total]


@compiled
def _supports(
    fact_heads: np.ndarray,
    fact_tails: np.ndarray,
    starts: np.ndarray,
    labels: np.ndarray,
    tails: np.ndarray,
    firsts: np.ndarray,
    seconds: np.ndarray,
) -> np.ndarray:  # (facts, rules) bool
    """Which rules speak for each of some facts of one label."""
    spoken = np.zeros((len(fact_heads), len(firsts)), np.bool_)
    for row in range(len(fact_heads)):
        head, tail = fact_heads[row], fact_tails[row]
        for rule in range(len(firsts)):
            begin, end = _run(labels, starts[head], starts[head + 1], firsts[rule])
            for edge in range(begin, min(end, begin + _MANY_STEPS)):
                middle = tails[edge]
                if seconds[rule] == _NONE:
                    spoken[row, rule] |= middle == tail
                elif middle != head:
                    low, high = _run(labels, starts[middle], starts[middle + 1], seconds[rule])
                    at = low + np.searchsorted(tails[low:high], tail)
                    spoken[row, rule] |= at < high and tails[at] == tail
                if spoken[row, rule]:
                    break
    return spoken


def _groups(edges: Edges, graph: KnowledgeGraph, rules: Rules) -> np.ndarray:  # (rules,) int64
    """The number of a group for each rule, among the rules of its label: those that speak for the same facts.

    A rule joins the most trusted one whose facts overlap with its own by half of the fewer; judged on some facts.
    """
    group = np.zeros(len(rules), dtype=np.int64)
    heads, labels, tails = graph.facts.both_ways()
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(edges.num_labels + 1))
    rng = np.random.default_rng(0)
    for label in np.flatnonzero(np.diff(rules.starts) > 1):
        own = slice(int(rules.starts[label]), int(rules.starts[label + 1]))
        facts = order[starts[label] : starts[label + 1]]
        facts = np.sort(rng.permutation(facts)[:_JUDGED])
        spoken = _supports(
            heads[facts].astype(np.int64),
            tails[facts].astype(np.int64),
            edges.starts,
            edges.labels,
            edges.tails,
            rules.first[own],
            rules.second[own],
        ).astype(np.float32)
        size = spoken.sum(axis=0)
        overlap = (spoken.T @ spoken) / np.maximum(np.minimum(size[:, None], size[None]), 1)
        leaders: list[int] = []
        for rule in range(len(size)):
            alike = [number for number, leader in enumerate(leaders) if overlap[rule, leader] >= 0.5]
            if alike or len(leaders) == _MOST_GROUPS:
                group[own.start + rule] = alike[0] if alike else _MOST_GROUPS - 1
            else:
                group[own.start + rule] = len(leaders)
                leaders.append(rule)
    return group
