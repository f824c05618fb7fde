"""The reference: sampling and answering queries with Python's own dicts, sets and random numbers, one at a time.

Written from the paper's appendix and definitions, to be read beside them. The compiled code is measured against it, and
tests compare what the two draw.
"""

from __future__ import annotations

import random
from bisect import bisect_left, bisect_right
from collections import defaultdict
from itertools import combinations
from typing import assert_never

from kgreckon.exact import ComparisonMode
from kgreckon.graph import KnowledgeGraph
from kgreckon.query import (
    SEVEN,
    And,
    Compare,
    Entity,
    Follow,
    HavingValue,
    Not,
    Number,
    Or,
    Order,
    Query,
    Shape,
    ValueOf,
)
from kgreckon.query.algebra import Comparison, children
from kgreckon.query.shapes import Operator

_SEVEN = list(SEVEN.values())
_NUMBER_OF = {comparison: number for number, comparison in enumerate(_SEVEN)}
Node = tuple[str, int]  # ("e", entity) or ("nv", value row)
Grounded = tuple[Query, set[Node]]  # a query, and the nodes from which it steps into the answer


class Reference:
    """A graph as dicts and sets."""

    def __init__(self, graph: KnowledgeGraph, mode: ComparisonMode = ComparisonMode.COMPUTED) -> None:
        self.mode = mode
        self.values = [graph.values.number_at(row) for row in range(len(graph.values))]
        self.row_of = {value: row for row, value in enumerate(self.values)}
        self.units = {unit: graph.values.rows_of(unit) for unit in graph.values.units}
        self.floats = [number for number, _ in self.values]
        self.num_entities = len(graph.entities)
        self.targets: dict[tuple[str, int, int], set[int]] = defaultdict(set)  # projection, source, label
        # node and sort of its predecessors, to each predecessor and the labels that lead from it
        self.predecessors: dict[tuple[Node, str], dict[Node, list[int]]] = defaultdict(lambda: defaultdict(list))
        facts, attribute_facts = graph.facts, graph.attribute_facts
        for head, relation, tail in _rows(facts):
            self._add("rp", ("e", head), 2 * relation, ("e", tail))
            self._add("rp", ("e", tail), 2 * relation + 1, ("e", head))
        for entity, attribute, row in _rows(attribute_facts):
            self._add("ap", ("e", entity), attribute, ("nv", row))
            self._add("rap", ("nv", row), attribute, ("e", entity))
        if not mode.is_computed:
            assert graph.comparisons is not None
            for y, comparison, x in _rows(graph.comparisons):
                self._add("np", ("nv", y), comparison, ("nv", x))
        nodes = {node for node, _ in self.predecessors}
        self.nodes = {sort: sorted(node for node in nodes if node[0] == sort) for sort in ("e", "nv")}
        self.all_nodes = self.nodes["e"] + self.nodes["nv"]
        self.present = {unit: [n for n in self.nodes["nv"] if self.values[n[1]][1] == unit] for unit in self.units}

    def _add(self, projection: str, source: Node, label: int, target: Node) -> None:
        self.targets[projection, source[1], label].add(target[1])
        self.predecessors[target, source[0]][source].append(label)

    # ------------------------------------------------------------------------------------------------- answering

    def answers(self, query: Query) -> set[int]:
        """The entities or value rows that `query` denotes."""
        match query:
            case Entity(entity):
                return {entity}
            case Number(value, unit):
                return {self.row_of[value, unit]}
            case Follow(relation, of):
                return self._project("rp", relation, of)
            case ValueOf(attribute, of):
                return self._project("ap", attribute, of)
            case HavingValue(attribute, of):
                return self._project("rap", attribute, of)
            case Compare(comparison, of):
                if not self.mode.is_computed:
                    return self._project("np", _NUMBER_OF[comparison], of)
                return self._computed(comparison, self.answers(of))
            case And(parts):
                # Complements are taken away from what the other parts share, never written out.
                plain = [self.answers(part) for part in parts if not isinstance(part, Not)]
                found = set.intersection(*plain) if plain else self._universe(query)
                for part in parts:
                    if isinstance(part, Not):
                        found = found - self.answers(part.of)
                return found
            case Or(parts):
                return set.union(*(self.answers(part) for part in parts))
            case Not(of):
                return self._universe(query) - self.answers(of)
        assert_never(query)

    def _project(self, projection: str, label: int, of: Query) -> set[int]:
        found: set[int] = set()
        for source in self.answers(of):
            found |= self.targets.get((projection, source, label), set())
        return found

    def _computed(self, comparison: Comparison, of: set[int]) -> set[int]:
        """Ranges of the sorted value table, by unit."""
        found: set[int] = set()
        for rows in self.units.values():
            members = [row for row in of if rows.start <= row < rows.stop]
            if not members:
                continue
            bounds = [comparison.factor * self.floats[row] + comparison.offset for row in members]
            if comparison.order is Order.GREATER:
                found.update(range(bisect_right(self.floats, min(bounds), rows.start, rows.stop), rows.stop))
            elif comparison.order is Order.LESS:
                found.update(range(rows.start, bisect_left(self.floats, max(bounds), rows.start, rows.stop)))
            else:
                covered = rows.start  # ranges overlap: what is found already is not looked at again
                for y in sorted(members, reverse=comparison.factor < 0):
                    z = comparison.factor * self.floats[y] + comparison.offset
                    low, high = sorted((z * (1 - 1.1 * comparison.tolerance), z * (1 + 1.1 * comparison.tolerance)))
                    start = max(covered, bisect_left(self.floats, low, rows.start, rows.stop))
                    stop = bisect_right(self.floats, high, rows.start, rows.stop)
                    equal = [x for x in range(start, stop) if comparison.holds(self.floats[x], self.floats[y])]
                    found.update(equal)
                    covered = max(covered, equal[-1] + 1) if equal else covered
        return found

    def _universe(self, query: Query) -> set[int]:
        node = query
        while isinstance(node, And | Or | Not):
            node = children(node)[0]
        if isinstance(node, Entity | Follow | HavingValue):
            return set(range(self.num_entities))
        return set(range(len(self.values)))

    # -------------------------------------------------------------------------------------------------- sampling

    def sample(self, general: Shape, rng: random.Random) -> Query | None:
        """One query of a general type that has the answer it was walked back from; None at a dead end."""
        grounded = self._ground(general, rng.choice(self.all_nodes), rng)
        return None if grounded is None else grounded[0]

    def sample_specific(self, specific: Shape, rng: random.Random) -> Query | None:
        """The same for a specific type: projections and anchors are what it says they are."""
        start = rng.choice(self.nodes["nv" if specific.denotes_numbers else "e"])
        grounded = self._ground(specific, start, rng)
        return None if grounded is None else grounded[0]

    def _ground(self, shape: Shape, node: Node, rng: random.Random) -> Grounded | None:
        match shape.operator:
            case Operator.ENTITY | Operator.NUMBER:
                return (Entity(node[1]) if node[0] == "e" else Number(*self.values[node[1]])), {node}
            case Operator.PROJECT:
                return self._ground_projection(shape.parts[0], node, rng.choice(("e", "nv")), rng)
            case Operator.FOLLOW | Operator.VALUE_OF:
                return self._ground_projection(shape.parts[0], node, "e", rng)
            case Operator.HAVING_VALUE | Operator.COMPARE:
                return self._ground_projection(shape.parts[0], node, "nv", rng)
            case Operator.NOT:
                below = self._ground(shape.parts[0], node, rng)
                return None if below is None else (Not(below[0]), below[1])
            case Operator.AND:
                parts = _joined([self._ground(part, node, rng) for part in shape.parts])
                if parts is None or not _branches_differ(*parts):
                    return None
                return And(parts[0]), set.union(*parts[1])
            case Operator.OR:
                keeps = rng.randrange(len(shape.parts))
                starts = [node if i == keeps else rng.choice(self.nodes[node[0]]) for i in range(len(shape.parts))]
                parts = _joined(
                    [self._ground(part, start, rng) for part, start in zip(shape.parts, starts, strict=True)]
                )
                return None if parts is None else (Or(parts[0]), set.union(*parts[1]))
        assert_never(shape.operator)

    def _ground_projection(self, below: Shape, node: Node, came_from: str, rng: random.Random) -> Grounded | None:
        if came_from == "nv" and node[0] == "nv" and self.mode.is_computed:
            x, unit = self.values[node[1]]
            predecessor = rng.choice(self.present[unit])
            labels = [i for i, c in enumerate(_SEVEN) if c.holds(x, self.floats[predecessor[1]])]
            if not labels:
                return None
        else:
            candidates = self.predecessors.get((node, came_from))
            if not candidates:
                return None
            predecessor = rng.choice(list(candidates))
            labels = candidates[predecessor]
        label = rng.choice(labels)
        grounded = self._ground(below, predecessor, rng)
        if grounded is None:
            return None
        of = grounded[0]
        if came_from == "e":
            return (Follow(label, of) if node[0] == "e" else ValueOf(label, of)), {predecessor}
        return (HavingValue(label, of) if node[0] == "e" else Compare(_SEVEN[label], of)), {predecessor}


def _rows(triples: object) -> list[tuple[int, int, int]]:
    columns = (triples.sources, triples.labels, triples.targets)  # type: ignore[attr-defined]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _joined(parts: list[Grounded | None]) -> tuple[tuple[Query, ...], list[set[Node]]] | None:
    """The queries of some parts, and the nodes from which each steps into the answer; None if one is a dead end."""
    found = [part for part in parts if part is not None]
    return (tuple(query for query, _ in found), [nodes for _, nodes in found]) if len(found) == len(parts) else None


def _branches_differ(queries: tuple[Query, ...], entries: list[set[Node]]) -> bool:
    """Whether no two branches are the same query or step into the answer from the same node."""
    apart = all(not one & other for one, other in combinations(entries, 2))
    return apart and len(set(map(_in_order, queries))) == len(queries)


def _in_order(query: Query) -> Query:
    """The same query with the parts of its intersections and unions in one order."""
    match query:
        case And(parts) | Or(parts):
            return type(query)(tuple(sorted(map(_in_order, parts), key=repr)))
        case Not(of):
            return Not(_in_order(of))
        case Follow(label, of) | ValueOf(label, of) | HavingValue(label, of):
            return type(query)(label, _in_order(of))
        case Compare(comparison, of):
            return Compare(comparison, _in_order(of))
    return query
