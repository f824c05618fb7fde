"""A query model: a backbone with or without number reasoning, as a meaning of the query algebra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from kgreckon.models.losses import smoothed_cross_entropy
from kgreckon.models.neural.backbone import Backbone, Geometry, backbone
from kgreckon.models.neural.neural_settings import NeuralSettings
from kgreckon.models.neural.number_reasoning import NumberReasoning, ScaledValues
from kgreckon.query import SEVEN, Batch, interpret


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
        self, settings: NeuralSettings, sizes: Sizes, values: ScaledValues, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.settings, self.sizes = settings, sizes
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
        )
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
        self, state: Tensor, of_numbers: bool, candidates: Tensor | None = None
    ) -> Tensor:  # state, (c,) -> (b, candidates)
        """How well each candidate belongs: all entities, all values, or some of them."""
        entities = self.sizes.entities
        if not of_numbers:
            return self.backbone.scores(state, slice(0, entities) if candidates is None else candidates)
        if self.number_reasoning is None:
            return self.backbone.scores(state, slice(entities, None) if candidates is None else candidates + entities)
        return self.number_reasoning.scores(state, slice(None) if candidates is None else candidates)

    @torch.no_grad()
    def answer(self, batch: Batch[Tensor], among_values: bool = False) -> Tensor:  # -> (b, candidates)
        """The score of every candidate of the target's sort for each query of a batch, without dropout and gradients.

        Where values are entities, all values may be candidates for entities too: they come after the entities.
        """
        self.eval()
        state, of_numbers = self.encode(batch), batch.shape.denotes_numbers
        if among_values and self.is_baseline and not of_numbers:
            return self.backbone.scores(state, slice(None))
        return self.scores(state, of_numbers)

    def loss(self, batch: Batch[Tensor], positives: Tensor, negatives: int = 0) -> Tensor:  # (b, k) -> ()
        """The mean loss of k positive answers for each query: a softmax over candidates, or the MAP loss.

        The candidates are all there are or, with `negatives`, so many random ones and the positives of the batch.
        """
        state = self.encode(batch)
        of_numbers = batch.shape.denotes_numbers
        if of_numbers and self.number_reasoning is not None and self.settings.value_loss == "map":
            return self.number_reasoning.map_loss(state, positives).mean()
        smoothing = self.settings.value_smoothing if of_numbers else self.settings.entity_smoothing
        total = self.sizes.values if of_numbers else self.sizes.entities
        if not negatives or negatives + positives.numel() >= total:
            return smoothed_cross_entropy(self.scores(state, of_numbers).float(), positives, smoothing)
        random = torch.randint(total, (negatives,), device=positives.device)
        candidates = torch.cat([positives.flatten(), random])
        scores = self.scores(state, of_numbers, candidates).float()
        # A query's own answers may also be answers of others: there they are not negatives.
        own_answers = (positives[:, :, None] == candidates).any(dim=1)
        others = scores.masked_fill(own_answers, -1e4).logsumexp(dim=1, keepdim=True)
        wanted = scores.gather(1, torch.arange(positives.numel(), device=positives.device).view_as(positives))
        return softplus(others - wanted).mean()
