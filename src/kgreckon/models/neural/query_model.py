"""A query model: a backbone with or without number reasoning, as a meaning of the query algebra."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from kgreckon.models.losses import smoothed_cross_entropy
from kgreckon.models.neural.backbone import Backbone, Geometry, backbone
from kgreckon.models.neural.neural_settings import NeuralSettings
from kgreckon.models.neural.number_reasoning import NumberReasoning, ScaledValues
from kgreckon.models.neural.operators import WHOLE, Tables
from kgreckon.models.spreading import gathered, log_sum, own_scores, spread_cross_entropy, summed
from kgreckon.query import SEVEN, Batch, interpret

_NEVER = -1e4  # the score of what is no candidate: of float16 too


@dataclass(frozen=True)
class Sizes:
    """How many of everything the graph has."""

    entities: int
    relations: int  # both directions
    attributes: int
    values: int


class QueryModel(nn.Module):
    """Encodes queries as sets and scores every candidate (kgreckon.query.Semantics over batches of tensors).

    In the baseline, values are entities: nodes after the entities; attributes and comparisons are relations after the
    relations. Otherwise number reasoning takes over wherever a query speaks of numbers.
    """

    def __init__(
        self,
        settings: NeuralSettings,
        sizes: Sizes,
        values: ScaledValues,
        generator: torch.Generator,
        tables: Tables = WHOLE,
    ) -> None:
        super().__init__()
        self.settings, self.sizes, self.processes = settings, sizes, tables.processes
        self.is_baseline = settings.encoding == "baseline"
        extra_nodes = sizes.values if self.is_baseline else 0
        extra_relations = 2 * sizes.attributes + len(SEVEN) if self.is_baseline else 0
        geometry = Geometry(
            num_nodes=sizes.entities + extra_nodes,
            num_relations=sizes.relations + extra_relations,
            dimension=settings.dimension,
            dropout=settings.dropout,
            particles=settings.particles,
            box_score=settings.box_score,
            generator=generator,
            tables=tables,
        )
        self.num_nodes = geometry.num_nodes
        self.backbone = backbone(settings.model)(geometry)
        self.number_reasoning = (
            None
            if self.is_baseline
            else NumberReasoning(
                values=values,
                encoding=settings.encoding,
                flat_dimension=self.backbone.flat_dimension,
                dimension=settings.dimension,
                num_attributes=sizes.attributes,
                num_comparisons=len(SEVEN),
                dropout=settings.dropout,
                step_dropout=settings.number_dropout,
                value_loss=settings.value_loss,
                learn_values=settings.learn_values,
                type_prior=settings.type_prior,
                particles=settings.particles if self.backbone.is_set else 0,
                generator=generator,
                tables=tables,
            )
        )

    # ------------------------------------------------------------------------------------------------- semantics

    def entity(self, entities: Tensor) -> Tensor:
        """The sets of one entity each."""
        return self.backbone.node(entities)

    def number(self, rows: Tensor) -> Tensor:
        """The sets of one number each."""
        if self.number_reasoning is None:
            return self.backbone.node(rows + self.sizes.entities)
        return self.number_reasoning.number(rows)

    def follow(self, relations: Tensor, of: Tensor) -> Tensor:
        """The entities that the relation leads to."""
        return self.backbone.follow(relations, of)

    def value_of(self, attributes: Tensor, of: Tensor) -> Tensor:
        """The values of the attribute."""
        if self.number_reasoning is None:
            return self.backbone.follow(self.sizes.relations + attributes, of)
        return self.number_reasoning.value_of(attributes, self.backbone.flatten(of))

    def having_value(self, attributes: Tensor, of: Tensor) -> Tensor:
        """The entities whose attribute takes such a value."""
        if self.number_reasoning is None:
            return self.backbone.follow(self.sizes.relations + self.sizes.attributes + attributes, of)
        return self.backbone.unflatten(self.number_reasoning.having_value(attributes, of))

    def compare(self, comparisons: Tensor, of: Tensor) -> Tensor:
        """The values in that relation to one of these."""
        if self.number_reasoning is None:
            return self.backbone.follow(self.sizes.relations + 2 * self.sizes.attributes + comparisons, of)
        return self.number_reasoning.compare(comparisons, of)

    def intersect(self, parts: Sequence[Tensor], of_numbers: bool) -> Tensor:
        """What all parts share."""
        return self._logic(of_numbers).intersect(list(parts))

    def unite(self, parts: Sequence[Tensor], of_numbers: bool) -> Tensor:
        """What any part holds."""
        return self._logic(of_numbers).unite(list(parts))

    def complement(self, of: Tensor, of_numbers: bool) -> Tensor:
        """What the set does not hold."""
        return self._logic(of_numbers).complement(of)

    def _logic(self, of_numbers: bool) -> Backbone | NumberReasoning:
        return self.number_reasoning if of_numbers and self.number_reasoning is not None else self.backbone

    def stack(self, ids: Sequence[Tensor]) -> Tensor:
        """The ids of some batches, one batch after the other: fewer and larger operations."""
        return torch.cat(list(ids))

    def unstack(self, of: Tensor, count: int) -> Sequence[Tensor]:
        """The states of each batch that was stacked."""
        return of.chunk(count)

    # --------------------------------------------------------------------------------------- scores and the loss

    def encode(self, batch: Batch[Tensor]) -> Tensor:
        """The state of each query of a batch whose ids are a tensor on the model's device."""
        return interpret(batch, self, stacking=self)

    def scores(
        self, state: Tensor, of_numbers: bool, candidates: Tensor | slice | None = None
    ) -> Tensor:  # state, (c,) -> (b, candidates)
        """How well each candidate belongs: all entities, all values, or some of them."""
        if candidates is None:
            candidates = slice(0, self._count(of_numbers))
        if not of_numbers:
            return self.backbone.scores(state, candidates)
        if self.number_reasoning is None:
            first = self.sizes.entities
            if isinstance(candidates, slice):
                return self.backbone.scores(state, slice(first + candidates.start, first + candidates.stop))
            return self.backbone.scores(state, candidates + first)
        return self.number_reasoning.scores(state, candidates)

    def _count(self, of_numbers: bool) -> int:
        return self.sizes.values if of_numbers else self.sizes.entities

    def _own(self, of_numbers: bool) -> slice:
        """The candidates that this process scores: those whose vectors it holds."""
        if of_numbers and self.number_reasoning is not None:
            return self.processes.part(self.sizes.values)
        first, own = self.sizes.entities if of_numbers else 0, self.processes.part(self.num_nodes)
        start, stop = (min(max(end - first, 0), self._count(of_numbers)) for end in (own.start, own.stop))
        return slice(start, stop)

    @torch.no_grad()
    def answer(self, batch: Batch[Tensor], among_values: bool = False) -> Tensor:  # -> (b, candidates)
        """The score of every candidate of the target's sort for each query of a batch, without dropout and gradients.

        Where values are entities, all values may be candidates for entities too: they come after the entities.
        """
        self.eval()
        state, of_numbers = self.encode(batch), batch.shape.denotes_numbers
        if among_values and self.is_baseline and not of_numbers:
            return self.backbone.scores(state, slice(None))
        if self.processes.size == 1:
            return self.scores(state, of_numbers)
        scores = self.scores(state, of_numbers, self._own(of_numbers))
        whole = scores.new_zeros(len(scores), self._count(of_numbers))
        whole[:, self._own(of_numbers)] = scores
        return self.processes.sum_(whole)

    def loss(self, batch: Batch[Tensor], positives: Tensor, negatives: int = 0) -> Tensor:  # (b, k) -> ()
        """The mean loss of k positive answers for each query: a softmax over candidates, or the MAP loss.

        The candidates are all there are or, with `negatives`, so many random ones. Several processes encode a part of
        the queries each, and compare all of them with the candidates that they have.
        """
        processes, count = self.processes, len(positives)
        part, of_numbers = processes.part(count), batch.shape.denotes_numbers
        with self._own_dropout(positives.device):
            state = self.encode(batch if processes.size == 1 else batch[part])
        if of_numbers and self.number_reasoning is not None and self.settings.value_loss == "map":
            if processes.size == 1:
                return self.number_reasoning.map_loss(state, positives).mean()
            return summed(self.number_reasoning.map_loss(state, positives[part]).sum() / positives.numel(), processes)
        if processes.size > 1:
            state = gathered(state, count, processes)
        total = self._count(of_numbers)
        in_batch = self.settings.softmax == "batch"
        taken = negatives + positives.numel() + 1 if in_batch else negatives
        if not negatives or taken > total:
            return self._full_loss(state, of_numbers, positives)
        random = torch.randint(total, (negatives,), device=positives.device)
        return self._loss_beside(state, of_numbers, positives, random, in_batch)

    def _full_loss(self, state: Tensor, of_numbers: bool, positives: Tensor) -> Tensor:
        smoothing = self.settings.value_smoothing if of_numbers else self.settings.entity_smoothing
        if self.processes.size == 1:
            return smoothed_cross_entropy(_exact(self.scores(state, of_numbers)), positives, smoothing)
        own, total = self._own(of_numbers), self._count(of_numbers)
        scores = _exact(self.scores(state, of_numbers, own))
        return spread_cross_entropy(scores, positives, smoothing, own, total, self.processes)

    def _loss_beside(
        self, state: Tensor, of_numbers: bool, positives: Tensor, random: Tensor, in_batch: bool
    ) -> Tensor:  # state, (b, k), (n,) -> ()
        """The loss beside random candidates, each of which stands for as many others.

        Or, as it was first, beside random ones and the answers of the batch, uncorrected.
        """
        candidates = torch.cat([positives.flatten(), random])
        places = torch.arange(positives.numel(), device=positives.device).view_as(positives)
        is_random = torch.arange(len(candidates), device=random.device) >= positives.numel()
        if self.processes.size > 1:  # keep those that this process has
            own = self._own(of_numbers)
            here = (candidates >= own.start) & (candidates < own.stop)
            places = torch.where(here, here.cumsum(0) - 1, -1)[: positives.numel()].view_as(positives)
            candidates, is_random = candidates[here], is_random[here]
        scores = _exact(self.scores(state, of_numbers, candidates))
        if self.processes.size > 1:
            wanted = own_scores(scores, places, slice(0, len(candidates)), self.processes)
        else:
            wanted = scores.gather(1, places)
        # A query's own answers may also be answers of others: there they are not negatives.
        own_answers = (positives[:, :, None] == candidates).any(dim=1)
        if in_batch:
            others = self._log_sum(scores.masked_fill(own_answers, _NEVER))
            return softplus(others - wanted).mean()
        stand_for = math.log(self._count(of_numbers) / len(random))
        others = self._log_sum((scores + stand_for).masked_fill(own_answers | ~is_random, _NEVER))
        again = (positives[:, :, None] == positives[:, None]).tril(diagonal=-1).any(dim=2)  # an answer drawn twice
        among = torch.cat([others, wanted.masked_fill(again, _NEVER)], dim=1).logsumexp(dim=1, keepdim=True)
        return (among - wanted).mean()

    def _log_sum(self, scores: Tensor) -> Tensor:  # (b, own) -> (b, 1)
        if self.processes.size == 1:
            return scores.logsumexp(dim=1, keepdim=True)
        return log_sum(scores, self.processes)[:, None]

    @contextmanager
    def _own_dropout(self, device: torch.device) -> Iterator[None]:
        """Let each of several processes drop what it likes, and then draw the same batches again."""
        if self.processes.size == 1 or not (self.settings.dropout or self.settings.number_dropout):
            yield
            return
        seed = int(torch.randint(2**31, ()))
        with torch.random.fork_rng([device] if device.type == "cuda" else []):
            torch.manual_seed(seed + self.processes.number)
            yield


def _exact(scores: Tensor) -> Tensor:
    """Scores of single precision at least."""
    return scores if scores.dtype == torch.float64 else scores.float()
