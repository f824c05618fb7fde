"""Link predictors: scorers of single facts, and how they learn from a graph's facts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from kgreckon.models.losses import smoothed_cross_entropy
from kgreckon.models.scoring import inner_products

_FIRST_SCALE = 1e-3  # of the first weights: a product of three small numbers says nothing yet


class LinkScorer(nn.Module, ABC):
    """Scores facts (head, label, tail) by a product of three vectors that is linear in each.

    So what a head and a label ask of a tail is a vector, and all tails are scored by one matrix product; and the same
    from the head's side and from the label's.
    """

    width: int  # of a vector, for each unit of rank

    def __init__(self, num_nodes: int, num_labels: int, rank: int, generator: torch.Generator) -> None:
        super().__init__()
        size = self.width * rank
        self.nodes = nn.Parameter(_FIRST_SCALE * torch.randn(num_nodes, size, generator=generator))
        self.labels = nn.Parameter(_FIRST_SCALE * torch.randn(num_labels, size, generator=generator))

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


class LinkTraining:
    """Learns all examples once an epoch, in an order that depends on the seed and the epoch alone.

    The optimizer is Adagrad: every weight remembers the sum of its squared gradients. On a GPU a step is captured once
    and then replayed.
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
    ) -> None:
        self.scorer, self.examples = scorer, [each for each in examples if len(each)]
        self.batch_size, self.learning_rate, self.seed = batch_size, learning_rate, seed
        self.regularisation, self.label_weight = regularisation, label_weight
        self.squares = [torch.zeros_like(weight) for weight in scorer.parameters()]
        device = scorer.nodes.device
        self._rows = torch.zeros(batch_size, dtype=torch.long, device=device)
        self._loss = torch.zeros((), device=device)  # the sum over the steps of an epoch
        self._captured: list[torch.cuda.CUDAGraph] = []

    @property
    def steps_per_epoch(self) -> int:
        """How many batches an epoch has."""
        return sum(-(-len(each) // self.batch_size) for each in self.examples)

    def epoch(self, number: int) -> float:
        """Learn every example once; returns the mean loss."""
        if self.scorer.nodes.is_cuda and not self._captured:
            self._capture()
        self._loss.zero_()
        for place, rows in self._batches(number):
            self._rows.copy_(rows)
            if self._captured:
                self._captured[place].replay()
            else:
                self._step(place)
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
        if self.label_weight:
            label_scores = inner_products(scorer.of_label(heads, tails), scorer.labels)
            loss = loss + self.label_weight * smoothed_cross_entropy(label_scores, label_ids[:, None], 0.0)
        if self.regularisation:
            penalty = scorer.penalty(ends) + scorer.penalty(labels)
            loss = loss + self.regularisation / self.batch_size * penalty
        weights = list(scorer.parameters())
        gradients = torch.autograd.grad(loss, weights)
        with torch.no_grad():
            for weight, gradient, square in zip(weights, gradients, self.squares, strict=True):
                square.addcmul_(gradient, gradient)
                weight.addcdiv_(gradient, square.sqrt().add_(1e-10), value=-self.learning_rate)
            self._loss += loss.detach()

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
