"""Vectors for what came after learning: a new thing gets one from its facts, a new value from its neighbours.

All other vectors stay as they are, so only answers that the change is about move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import Adjacency, KnowledgeGraph, ValueTable
from kgreckon.models.reckoner.links import Examples, Labels, LinkScorer
from kgreckon.models.reckoner.numbers.cases import ranges
from kgreckon.models.reckoner.reckoner_settings import ReckonerSettings
from kgreckon.models.scoring import inner_products

_PASSES = 30  # over the facts of new things
_BATCH = 1024
_OTHERS = 512  # nodes that a fact's own end is compared with, drawn once for a batch
_FIRST_SCALE = 1e-2


class Newcomers:
    """A scorer with vectors for a graph that has more things, values and labels than it was learned from."""

    def __init__(self, learned: LinkScorer, learned_from: KnowledgeGraph, settings: ReckonerSettings) -> None:
        self.learned, self.learned_from, self.settings = learned, learned_from, settings
        self.graph, self.scorer = learned_from, learned.requires_grad_(False)

    def over(self, graph: KnowledgeGraph) -> Newcomers:
        """The same over another graph; vectors of new things whose facts are the same as here are kept."""
        other = Newcomers(self.learned, self.learned_from, self.settings)
        other.graph = graph
        old, new = Labels.of(self.learned_from), Labels.of(graph)
        if old == new and graph.values is self.learned_from.values:
            return other
        learned = self.learned
        moved = _values(self.learned_from.values, graph.values, learned.nodes[old.entities :])
        room = learned.nodes.new_zeros(new.entities - old.entities, learned.nodes.shape[1])
        nodes = torch.cat([learned.nodes[: old.entities], room, moved])
        other.scorer = learned.with_vectors(nodes, _labels(learned.labels, old, new))
        self._place_things(other)
        return other

    def _place_things(self, other: Newcomers) -> None:
        """Give each new thing its vector: the one it has here where its facts are the same, else one from its facts."""
        known = len(self.graph.entities)
        things = np.arange(len(self.learned_from.entities), len(other.graph.entities))
        same = (thing < known and _same_facts(self.graph, other.graph, thing) for thing in things.tolist())
        kept = np.fromiter(same, dtype=bool, count=len(things))
        had = torch.from_numpy(things[kept]).to(self.scorer.nodes.device)
        other.scorer.nodes[had] = self.scorer.nodes[had]
        if not kept.all():
            place_things(other.scorer, other.graph, things[~kept], self.settings)


def place_things(scorer: LinkScorer, graph: KnowledgeGraph, things: np.ndarray, settings: ReckonerSettings) -> None:
    """Learn the vectors of some things from their facts, while all others stay."""
    device = scorer.nodes.device
    generator = torch.Generator().manual_seed(settings.seed)
    ids = torch.from_numpy(things).to(device)
    first = _FIRST_SCALE * torch.randn(len(ids), scorer.nodes.shape[1], generator=generator)
    scorer.nodes[ids] = first.to(device)
    vectors = _Vectors(ids, first.to(device), torch.zeros_like(first, device=device))
    kinds = [kind for kind in _facts_about(graph, things, device) if len(kind)]
    for _ in range(_PASSES):
        for kind in kinds:
            for rows in torch.randperm(len(kind), generator=generator).to(device).split(_BATCH):
                _step(scorer, kind, rows, vectors, settings, generator)
    scorer.nodes[ids] = vectors.current


@dataclass
class _Vectors:
    """The vectors that are learned, and the sums of their squared gradients."""

    ids: Tensor  # (n,) rising
    current: Tensor  # (n, d)
    squares: Tensor  # (n, d)

    def of(self, scorer: LinkScorer, nodes: Tensor, wanted: Tensor) -> Tensor:  # (b,) -> (b, d)
        """The vectors of some nodes: those that are learned as `wanted`."""
        place = torch.searchsorted(self.ids, nodes).clamp(max=len(self.ids) - 1)
        return torch.where((self.ids[place] == nodes)[:, None], wanted[place], scorer.nodes[nodes])


def _step(
    scorer: LinkScorer,
    kind: Examples,
    rows: Tensor,
    vectors: _Vectors,
    settings: ReckonerSettings,
    generator: torch.Generator,
) -> None:
    """One step of Adagrad on the vectors of new things alone."""
    drawn = torch.randint(kind.first, kind.last, (_OTHERS,), generator=generator).to(rows.device)
    with torch.enable_grad():
        wanted = vectors.current.clone().requires_grad_()
        ends = kind.heads[rows], kind.tails[rows]
        heads, tails = (vectors.of(scorer, nodes, wanted) for nodes in ends)
        asked = scorer.of_tail(heads, scorer.labels[kind.labels[rows]])
        # Each of those drawn stands for as many others, as in a sampled softmax.
        scores = inner_products(asked, scorer.nodes[drawn]) + math.log(max(1, kind.last - kind.first - 1) / len(drawn))
        scores = scores.masked_fill(drawn[None] == ends[1][:, None], -torch.inf)
        right = (asked * tails).sum(dim=1)
        loss = (torch.cat([right[:, None], scores], dim=1).logsumexp(dim=1) - right).sum()
        loss = loss + settings.regularisation * (scorer.penalty(heads) + scorer.penalty(tails))
        (gradient,) = torch.autograd.grad(loss / settings.batch_size, wanted)
    vectors.squares.addcmul_(gradient, gradient)
    vectors.current.addcdiv_(gradient, vectors.squares.sqrt().add_(1e-10), value=-settings.learning_rate)


def _facts_about(graph: KnowledgeGraph, things: np.ndarray, device: torch.device) -> list[Examples]:
    """The facts of some things in both directions: those that lead to things, and those that lead to values."""
    labels = Labels.of(graph)
    heads, relations, tails = _edges(graph.follows, things)
    holders, attributes, rows = _edges(graph.values_of, things)
    other = ~np.isin(tails, things)  # a fact between two of them is met from either
    back = labels.relations + labels.attributes + attributes
    columns = (
        (heads, tails[other], labels.entities + rows),
        (relations, relations[other] ^ 1, back),
        (tails, heads[other], holders),
    )
    to_things = [np.concatenate(column) for column in columns]
    to_values = [holders, labels.relations + attributes, labels.entities + rows]

    def examples(columns: list[np.ndarray], first: int, last: int) -> Examples:
        one, two, three = (torch.from_numpy(column.astype(np.int64)).to(device) for column in columns)
        return Examples(one, two, three, first, last)

    return [examples(to_things, 0, labels.entities), examples(to_values, labels.entities, labels.num_nodes)]


def _edges(adjacency: Adjacency, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The edges of some sources."""
    starts = adjacency.starts[adjacency.offsets[sources]], adjacency.starts[adjacency.offsets[sources + 1]]
    which, edges = ranges(*starts)
    groups = np.searchsorted(adjacency.starts, edges, side="right") - 1
    return sources[which], adjacency.labels[groups].astype(np.int64), adjacency.targets[edges].astype(np.int64)


def _same_facts(one: KnowledgeGraph, other: KnowledgeGraph, thing: int) -> bool:
    """Whether two graphs state the same of a thing, whose numbers may stand in other rows."""
    source = np.array([thing])
    facts, values = ([_edges(each, source)[1:] for each in pair] for pair in
                     ((one.follows, other.follows), (one.values_of, other.values_of)))  # fmt: skip
    numbers = [graph.values.numbers[rows] for graph, (_, rows) in zip((one, other), values, strict=True)]
    columns = [*zip(*facts, strict=True), (values[0][0], values[1][0]), tuple(numbers)]
    return all(np.array_equal(own, others) for own, others in columns)


def _values(old: ValueTable, new: ValueTable, vectors: Tensor) -> Tensor:  # (old rows, d) -> (new rows, d)
    """The vectors of the rows of a table: of a new number, one between those of its neighbours of the same unit."""
    found = vectors.new_zeros(len(new), vectors.shape[1])
    for unit in new.units:
        if unit not in old.units:
            continue
        rows, own = new.rows_of(unit), old.rows_of(unit)
        numbers, wanted = old.numbers[own], new.numbers[rows]
        if not len(numbers):
            continue
        above = np.searchsorted(numbers, wanted).clip(max=len(numbers) - 1)
        below = np.where(numbers[above] > wanted, above - 1, above).clip(min=0)
        span = numbers[above] - numbers[below]
        share = np.where(span > 0, (wanted - numbers[below]) / np.where(span > 0, span, 1), 0.0).clip(0, 1)
        low, high = (vectors[torch.from_numpy(own.start + place).to(vectors.device)] for place in (below, above))
        weight = torch.from_numpy(share).to(vectors.device, vectors.dtype)[:, None]
        found[rows] = torch.lerp(low, high, weight)
    return found


def _labels(vectors: Tensor, old: Labels, new: Labels) -> Tensor:
    """The vectors of relations and of attributes in both directions; of one that is new, a vector that says nothing."""
    parts = vectors.split([old.relations, old.attributes, old.attributes])
    sizes = new.relations, new.attributes, new.attributes
    return torch.cat([torch.cat([part, part.new_zeros(size - len(part), part.shape[1])])
                      for part, size in zip(parts, sizes, strict=True)])  # fmt: skip
