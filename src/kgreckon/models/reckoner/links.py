"""Link predictors: scorers of single facts, and how they learn from a graph's facts."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.losses import smoothed_cross_entropy
from kgreckon.models.scoring import inner_products
from kgreckon.models.spreading import Lookup, check_batch, first_rows, gathered, looked_up, spread_cross_entropy
from kgreckon.processes import ALONE, Processes

_FIRST_SCALE = 1e-3  # of the first weights: a product of three small numbers says nothing yet


class LinkScorer(nn.Module, ABC):
    """Scores facts (head, label, tail) by a product of three vectors that is linear in each.

    So what a head and a label ask of a tail is a vector, and all tails are scored by one matrix product; and the same
    from the head's side and from the label's.
    """

    width: int  # of a vector, for each unit of rank

    def __init__(
        self, num_nodes: int, num_labels: int, rank: int, generator: torch.Generator, processes: Processes = ALONE
    ) -> None:
        """With several processes, each has its own part of the nodes, and all labels."""
        super().__init__()
        size = self.width * rank
        self.nodes = nn.Parameter(_FIRST_SCALE * first_rows(num_nodes, size, generator, processes))
        self.labels = nn.Parameter(_FIRST_SCALE * torch.randn(num_labels, size, generator=generator))

    def with_vectors(self, nodes: Tensor, labels: Tensor) -> LinkScorer:
        """The same kind of scorer with other vectors, to be asked and not trained."""
        other = type(self)(0, 0, self.nodes.shape[1] // self.width, torch.Generator())
        other.nodes = nn.Parameter(nodes, requires_grad=False)
        other.labels = nn.Parameter(labels, requires_grad=False)
        return other

    @abstractmethod
    def of_tail(self, heads: Tensor, labels: Tensor) -> Tensor:  # (n, d), (n, d) -> (n, d)
        """What head and label ask of a tail."""

    @abstractmethod
    def of_head(self, labels: Tensor, tails: Tensor) -> Tensor:  # (n, d), (n, d) -> (n, d)
        """What label and tail ask of a head."""

    @abstractmethod
    def of_label(self, heads: Tensor, tails: Tensor) -> Tensor:  # (n, d), (n, d) -> (n, d)
        """What head and tail ask of a label."""

    @abstractmethod
    def penalty(self, factors: Tensor) -> Tensor:  # (n, d) -> ()
        """What is to be kept small, a sum over the factors of some facts."""


class ComplEx(LinkScorer):
    """Re⟨h, r, t̄⟩ over complex vectors, with the nuclear 3-norm kept small (Lacroix et al., 2018)."""

    width = 2

    def of_tail(self, heads: Tensor, labels: Tensor) -> Tensor:  # (n, d), (n, d) -> (n, d)
        """The product h·r."""
        return _product(heads, labels)

    def of_head(self, labels: Tensor, tails: Tensor) -> Tensor:  # (n, d), (n, d) -> (n, d)
        """The product t·r̄."""
        return _product(tails, labels, conjugate=True)

    def of_label(self, heads: Tensor, tails: Tensor) -> Tensor:  # (n, d), (n, d) -> (n, d)
        """The product t·h̄."""
        return _product(tails, heads, conjugate=True)

    def penalty(self, factors: Tensor) -> Tensor:  # (n, d) -> ()
        """The sum of the cubes of all moduli."""
        real, imaginary = factors.chunk(2, dim=1)
        square = real.square() + imaginary.square()
        return (square * (square + 1e-20).sqrt()).sum()


def _product(one: Tensor, other: Tensor, conjugate: bool = False) -> Tensor:  # (n, 2k), (n, 2k) -> (n, 2k)
    """The complex product of vectors whose halves are real and imaginary parts; of `other` the conjugate, if asked."""
    a, b = one.chunk(2, dim=1)
    c, d = other.chunk(2, dim=1)
    if conjugate:
        return torch.cat([a * c + b * d, b * c - a * d], dim=1)
    return torch.cat([a * c - b * d, b * c + a * d], dim=1)


SCORERS: dict[str, type[LinkScorer]] = {"complex": ComplEx}


@dataclass(frozen=True)
class Examples:
    """Facts to learn whose tails are of one sort: a softmax runs over the nodes from `first` up to `last`."""

    heads: Tensor  # (n,) int64
    labels: Tensor  # (n,) int64
    tails: Tensor  # (n,) int64
    first: int
    last: int

    def __len__(self) -> int:
        return len(self.heads)


@dataclass(frozen=True)
class Labels:
    """The numbers of a link predictor's nodes and labels: entities, then values; relations, then attributes twice."""

    entities: int
    values: int
    relations: int  # both directions
    attributes: int

    @property
    def num_nodes(self) -> int:
        """Entities and values."""
        return self.entities + self.values

    @property
    def num_labels(self) -> int:
        """Relations, attributes, and attributes the other way."""
        return self.relations + 2 * self.attributes

    @staticmethod
    def of(graph: KnowledgeGraph) -> Labels:
        """The sizes of a graph."""
        return Labels(len(graph.entities), len(graph.values), 2 * len(graph.relations), len(graph.attributes))

    def examples(self, graph: KnowledgeGraph, device: torch.device) -> list[Examples]:
        """All facts of a graph in both directions: those that lead to entities, and those that lead to values."""
        own = graph.attribute_facts
        from_values = (self.entities + own.targets, self.relations + self.attributes + own.labels, own.sources)
        to_entities = [np.concatenate(both) for both in zip(graph.facts.both_ways(), from_values, strict=True)]
        to_values = (own.sources, self.relations + own.labels, self.entities + own.targets)

        def examples(columns: Sequence[np.ndarray], first: int, last: int) -> Examples:
            heads, labels, tails = (torch.from_numpy(column.astype(np.int64)).to(device) for column in columns)
            return Examples(heads, labels, tails, first, last)

        return [examples(to_entities, 0, self.entities), examples(to_values, self.entities, self.num_nodes)]


class LinkTraining:
    """Learns all examples once an epoch, in an order that depends on the seed and the epoch alone.

    The optimizer is Adagrad: every weight remembers the sum of its squared gradients. With `negatives` the softmax runs
    over a fact's own tail and so many tails drawn for the whole batch, each standing for its share of all, and a step
    costs what it touches; without, over all tails, and on a GPU a step is captured once and then replayed.

    Several processes have a part of the nodes each, and learn a part of each batch: together the same as one.
    """

    def __init__(
        self,
        scorer: LinkScorer,
        examples: list[Examples],
        batch_size: int,
        learning_rate: float,
        regularisation: float,
        label_weight: float,
        seed: int,
        negatives: int = 0,
        processes: Processes = ALONE,
    ) -> None:
        self.scorer, self.examples = scorer, [each for each in examples if len(each)]
        self.processes, self.num_nodes = processes, examples[-1].last
        self.batch_size, self.learning_rate, self.seed = batch_size, learning_rate, seed
        self.regularisation, self.label_weight, self.negatives = regularisation, label_weight, negatives
        self.squares = [torch.zeros_like(weight) for weight in scorer.parameters()]
        device = scorer.nodes.device
        self._rows = torch.zeros(batch_size, dtype=torch.long, device=device)
        check_batch(batch_size, processes)
        self._part = processes.part(batch_size)  # of a batch's facts
        self._share = (self._part.stop - self._part.start) / batch_size
        self._loss = torch.zeros((), device=device)  # the sum over the steps of an epoch
        self._captured: list[torch.cuda.CUDAGraph] = []

    @property
    def steps_per_epoch(self) -> int:
        """How many batches an epoch has."""
        return sum(-(-len(each) // self.batch_size) for each in self.examples)

    def epoch(self, number: int) -> float:
        """Learn every example once; returns the mean loss."""
        if self.scorer.nodes.is_cuda and not self._captured and not self.negatives and self.processes.size == 1:
            self._capture()
        self._loss.zero_()
        draw = torch.Generator().manual_seed(1_000_003 * self.seed + number + 500_009)
        for place, rows in self._batches(number):
            self._rows.copy_(rows)
            if self._captured:
                self._captured[place].replay()
            elif self.negatives:
                kind = self.examples[place]
                drawn = torch.randint(kind.first, kind.last, (self.negatives,), generator=draw)
                self._sampled_step(place, drawn.to(rows.device))
            elif self.processes.size == 1:
                self._step(place)
            else:
                self._spread_step(place)
        return float(self._loss) / max(self.steps_per_epoch, 1)

    def _batches(self, number: int) -> Iterator[tuple[int, Tensor]]:
        """All examples in random order; the last batch of a kind is filled up from the first."""
        generator = torch.Generator().manual_seed(1_000_003 * self.seed + number)
        batches = []
        for place, each in enumerate(self.examples):
            order = torch.randperm(len(each), generator=generator)
            order = order.repeat(1 + self.batch_size // len(each))[: -(-len(each) // self.batch_size) * self.batch_size]
            order = torch.cat([order, order[: -len(order) % self.batch_size]]).to(each.heads.device)
            batches += [(place, rows) for rows in torch.split(order, self.batch_size)]
        for index in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[index]

    def _step(self, place: int) -> None:
        scorer, kind = self.scorer, self.examples[place]
        head_ids, label_ids, tail_ids = kind.heads[self._rows], kind.labels[self._rows], kind.tails[self._rows]
        # One look into the table of nodes: the gradient of each would be as large as the table.
        ends = scorer.nodes.index_select(0, torch.cat([head_ids, tail_ids]))
        labels = scorer.labels.index_select(0, label_ids)
        heads, tails = ends.chunk(2)
        scores = inner_products(scorer.of_tail(heads, labels), scorer.nodes[kind.first : kind.last])
        loss = smoothed_cross_entropy(scores, (tail_ids - kind.first)[:, None], 0.0)
        loss = loss + self._other_losses(heads, labels, tails, label_ids)
        self._change(loss, torch.autograd.grad(loss, list(scorer.parameters())))

    def _spread_step(self, place: int) -> None:
        """The same of a process that has some of the nodes: what it learns of is compared with everyone's."""
        scorer, kind, processes = self.scorer, self.examples[place], self.processes
        facts = self._rows[self._part]
        label_ids = kind.labels[facts]
        ends = torch.cat([kind.heads[facts], kind.tails[facts]])
        heads, tails = looked_up(scorer.nodes, ends, self.num_nodes, False, processes).chunk(2)
        labels = scorer.labels.index_select(0, label_ids)
        asked = gathered(scorer.of_tail(heads, labels), self.batch_size, processes)
        own = processes.part(self.num_nodes)
        here = slice(*(min(max(end, own.start), own.stop) for end in (kind.first, kind.last)))
        scores = inner_products(asked, scorer.nodes[here.start - own.start : here.stop - own.start])
        count, wanted = kind.last - kind.first, kind.tails[self._rows][:, None]
        of_tails = spread_cross_entropy(scores, wanted, 0.0, here, count, processes)
        others = self._other_losses(heads, labels, tails, label_ids)
        of_nodes, of_labels = torch.autograd.grad(of_tails + others, list(scorer.parameters()))
        loss = of_tails.detach() + processes.sum_(others.detach().clone())
        self._change(loss, (of_nodes, processes.sum_(of_labels)))

    @torch.no_grad()
    def _change(self, loss: Tensor, gradients: Sequence[Tensor]) -> None:
        for weight, gradient, square in zip(self.scorer.parameters(), gradients, self.squares, strict=True):
            square.addcmul_(gradient, gradient)
            weight.addcdiv_(gradient, square.sqrt().add_(1e-10), value=-self.learning_rate)
        self._loss += loss.detach()

    def _sampled_step(self, place: int, drawn: Tensor) -> None:
        """A step on the nodes that it touches: the ends of its facts, and tails drawn at random."""
        scorer, kind, facts = self.scorer, self.examples[place], self._rows[self._part]
        head_ids, label_ids, tail_ids = kind.heads[facts], kind.labels[facts], kind.tails[facts]
        touched, places = torch.cat([head_ids, tail_ids, drawn]).unique(return_inverse=True)
        lookup = Lookup(touched, self.num_nodes, self.processes)
        nodes = lookup.rows(scorer.nodes.detach()).requires_grad_()
        heads, tails, others = nodes[places].split([len(head_ids), len(tail_ids), len(drawn)])
        labels = scorer.labels.index_select(0, label_ids)
        asked = scorer.of_tail(heads, labels)
        # Each of those drawn stands for as many others; the fact's own tail stands for itself.
        scores = inner_products(asked, others) + math.log((kind.last - kind.first) / len(drawn))
        scores = scores.masked_fill(drawn[None] == tail_ids[:, None], -torch.inf)
        scores = torch.cat([(asked * tails).sum(dim=1, keepdim=True), scores], dim=1)
        loss = self._share * smoothed_cross_entropy(scores, torch.zeros_like(tail_ids)[:, None], 0.0)
        loss = loss + self._other_losses(heads, labels, tails, label_ids)
        of_nodes, of_labels = torch.autograd.grad(loss, [nodes, scorer.labels])
        rows, of_rows = lookup.give_back(of_nodes)
        of_labels = self.processes.sum_(of_labels)
        with torch.no_grad():
            squares = self.squares[0][rows].addcmul_(of_rows, of_rows)
            self.squares[0][rows] = squares
            scorer.nodes[rows] -= self.learning_rate * of_rows / squares.sqrt().add_(1e-10)
            self.squares[1].addcmul_(of_labels, of_labels)
            scorer.labels.addcdiv_(of_labels, self.squares[1].sqrt().add_(1e-10), value=-self.learning_rate)
            self._loss += self.processes.sum_(loss.detach())

    def _other_losses(self, heads: Tensor, labels: Tensor, tails: Tensor, label_ids: Tensor) -> Tensor:
        """Predicting the labels, and keeping what the facts touch small: of a part of the batch, its share."""
        scorer, loss = self.scorer, torch.zeros((), device=heads.device)
        if self.label_weight:
            label_scores = inner_products(scorer.of_label(heads, tails), scorer.labels)
            of_labels = smoothed_cross_entropy(label_scores, label_ids[:, None], 0.0)
            loss = loss + self._share * self.label_weight * of_labels
        if self.regularisation:
            penalty = scorer.penalty(heads) + scorer.penalty(tails) + scorer.penalty(labels)
            loss = loss + self.regularisation / self.batch_size * penalty
        return loss

    def _capture(self) -> None:
        """Capture a step on each kind of examples; weights and sums are left as they were."""
        kept = [tensor.detach().clone() for tensor in (*self.scorer.parameters(), *self.squares)]
        stream = torch.cuda.Stream()
        for place in range(len(self.examples)):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                self._step(place)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=stream):
                self._step(place)
            self._captured.append(graph)
        with torch.no_grad():
            for tensor, old in zip((*self.scorer.parameters(), *self.squares), kept, strict=True):
                tensor.copy_(old)
