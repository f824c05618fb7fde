"""How the paper's released code makes numerical edges and testing queries, in plain Python on dicts of nodes.

It shares nothing with the code that it is compared with, but what a graph holds. An entity is a string, a value a pair
of number and unit, a query nested tuples: ("rp", label, ("e", node)). Beside the released code's own strings, queries
whose branches change places are one here, as in our benchmarks.
"""

import random
from collections import defaultdict

from kgreckon.graph import KnowledgeGraph

Edges = dict[str | tuple, dict[str | tuple, list[int]]]
LOGIC = ("i", "u", "n")
RELATIONS = (  # of the result x to the value y, in the order in which they are numbered
    lambda x, y: equal(x, y),
    lambda x, y: x < y,
    lambda x, y: x > y,
    lambda x, y: equal(x, 2 * y),
    lambda x, y: equal(x, 3 * y),
    lambda x, y: x > 2 * y,
    lambda x, y: x > 3 * y,
)


def equal(one, other):
    return abs(one - other) < 0.01 * abs(one) and abs(one - other) < 0.01 * abs(other)


def first_edges(met, limit=4000):
    """The numerical edges (y, relation, x) of a graph that meets its values in this order."""
    by_unit = defaultdict(list)
    for value in dict.fromkeys(met):
        by_unit[value[1]].append(value)
    edges = []
    for relation, holds in enumerate(RELATIONS):
        for values in by_unit.values():
            pairs = ((y, x) for y in values for x in values if holds(x[0], y[0]))
            edges += [(y, relation, x) for (y, x), _ in zip(pairs, range(limit // len(by_unit)), strict=False)]
    return edges


class ReleasedSampler:
    """Draws queries from a graph and searches it for answers."""

    def __init__(self, graph: KnowledgeGraph) -> None:
        self.edges: Edges = defaultdict(lambda: defaultdict(list))  # from a node to its successors, with their labels
        self.reversed: Edges = defaultdict(lambda: defaultdict(list))
        values = [graph.values.number_at(row) for row in range(len(graph.values))]
        for head, relation, tail in rows(graph.facts):
            self.add(str(head), 2 * relation, str(tail))
            self.add(str(tail), 2 * relation + 1, str(head))
        for entity, attribute, row in rows(graph.attribute_facts):
            self.add(str(entity), 2 * attribute, values[row])
            self.add(values[row], 2 * attribute + 1, str(entity))
        for y, comparison, x in rows(graph.comparisons):
            self.add(values[y], comparison, values[x])
        self.nodes = list(self.edges)
        self.nodes_of = {sort: [node for node in self.nodes if isinstance(node, sort)] for sort in (str, tuple)}

    def add(self, source, label, target):
        self.edges[source][target].append(label)
        self.reversed[target][source].append(label)

    def draw(self, pattern, rng: random.Random):
        """A query of a general type that has an answer here."""
        while True:
            query, _ = self.ground(pattern, rng.choice(self.nodes), rng)
            if query is not None:
                return query

    def ground(self, pattern, node, rng: random.Random):
        """The query that a walk back from `node` meets, and the node that it meets first; None at a dead end."""
        operator, *parts = pattern
        if operator == "e":
            return ("e" if isinstance(node, str) else "nv", node), node
        if operator == "p":
            projection = rng.choice(("rp", "rap") if isinstance(node, str) else ("ap", "np"))
            sort = str if projection in ("rp", "ap") else tuple
            predecessors = [other for other in self.reversed[node] if isinstance(other, sort)]
            if not predecessors:
                return None, None
            predecessor = rng.choice(predecessors)
            label = rng.choice(self.edges[predecessor][node])
            below, _ = self.ground(parts[0], predecessor, rng)
            return (None, None) if below is None else ((projection, label, below), predecessor)
        starts = [node] * len(parts)
        if operator == "u":
            keeps = rng.randrange(len(parts))
            others = self.nodes_of[type(node)]
            starts = [node if place == keeps else rng.choice(others) for place in range(len(parts))]
        grounded = [self.ground(part, start, rng) for part, start in zip(parts, starts, strict=True)]
        queries, nexts = zip(*grounded, strict=True)
        if None in queries:
            return None, None
        if operator == "i" and (len(set(queries)) < len(queries) or len(set(nexts)) < len(nexts)):
            return None, None
        return (operator, *sorted(queries, key=repr)), node

    def search(self, query) -> set:
        """The answers to a query."""
        operator, *rest = query
        if operator in ("e", "nv"):
            return {rest[0]}
        if operator == "i":
            return set.intersection(*map(self.search, rest))
        if operator == "u":
            return set.union(*map(self.search, rest))
        label, below = rest
        sort = str if operator in ("rp", "rap") else tuple
        return {
            target
            for source in self.search(below)
            for target, labels in self.edges.get(source, {}).items()
            if isinstance(target, sort) and label in labels
        }


def queries_to_test(samplers, pattern, count, rng: random.Random) -> set:
    """So many distinct queries with answers on all three graphs, and more on the last than on the one before."""
    train, valid, test = samplers
    found: set = set()
    while len(found) < count:
        query = test.draw(pattern, rng)
        answers = [sampler.search(query) for sampler in (train, valid, test)]
        if all(answers) and len(answers[2]) != len(answers[1]):
            found.add(query)
    return found


def queries_to_train_on(samplers, pattern, count, rng: random.Random) -> set:
    """So many distinct queries with an answer on the training graph, as every one has that is drawn there."""
    found: set = set()
    while len(found) < count:
        found.add(samplers[0].draw(pattern, rng))
    return found


def shape_text(query) -> str:
    """The specific type of a query, without its labels and nodes."""
    operator, *rest = query
    if operator in ("e", "nv"):
        return f"({operator})"
    parts = rest if operator in LOGIC else rest[1:]
    return f"({operator},{','.join(map(shape_text, parts))})"


def pattern_of(shape):
    """A general type as nested tuples."""
    return shape.operator.value, *map(pattern_of, shape.parts)


def rows(triples):
    return zip(*(column.tolist() for column in (triples.sources, triples.labels, triples.targets)), strict=True)
