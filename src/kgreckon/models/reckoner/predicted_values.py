"""The values that attributes may have where none is stated: on which entities, and how likely each value is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.reckoner.attributes import AttributeModel
from kgreckon.models.reckoner.caches import Latest
from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.existence import Expectations
from kgreckon.models.reckoner.fuzzy import MissingValues
from kgreckon.models.reckoner.links import Labels, LinkScorer
from kgreckon.models.reckoner.log_sums import LogSums
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.models.scoring import inner_products

_CANDIDATES = 2048  # entities that may lack an attribute's value: the likeliest to have one
_LEAST_EXISTENCE = 1e-3
_UNSEEN = 0.1  # what a value that never occurred with the attribute counts beside one that did
_ONE_VALUED = 0.99  # the share of entities with a single value, from which on an attribute counts as one-valued
_KEPT = {"cuda": 1 << 30, "cpu": 1 << 28}  # probabilities of values, kept from question to question


class PredictedValues:
    """The link predictor and the regressions on the values of a graph's attributes."""

    def __init__(
        self,
        observed: ObservedFacts,
        scorer: LinkScorer,
        expectations: Expectations,
        attributes: Sequence[AttributeModel],
        calibration: Calibration,
        log_sums: LogSums,
        one_valued_rule: bool = True,
    ) -> None:
        self.observed, self.scorer, self.expectations, self.attributes = observed, scorer, expectations, attributes
        self.calibration, self.log_sums, self.one_valued_rule = calibration, log_sums, one_valued_rule
        self.labels = Labels.of(observed.graph)
        self._missing: Latest[int, MissingValues] = Latest(
            _KEPT[observed.device.type], lambda kept: kept.probabilities.numel()
        )

    def missing(self, attribute: int) -> MissingValues:
        """The values to expect on the entities that may have the attribute and do not show it."""
        return self._missing.get(attribute, lambda: self._predict(attribute))

    def existence(self, attribute: int) -> Tensor:  # (entities,)
        """The probability that each entity has a value that is not stated."""
        expected, _ = self.expectations.of(self.labels.relations + attribute)
        return torch.from_numpy(expected).to(self.observed.device).clamp(max=1.0)

    @torch.no_grad()
    def _predict(self, attribute: int) -> MissingValues:
        graph, device = self.observed.graph, self.observed.device
        own = graph.attribute_facts.labels == attribute
        holders = np.bincount(graph.attribute_facts.sources[own], minlength=self.labels.entities)
        existence = self.existence(attribute)
        one_valued = (holders == 1).sum() >= _ONE_VALUED * (holders > 0).sum()
        if one_valued and self.one_valued_rule:
            existence = existence * torch.from_numpy(holders == 0).to(device)
        chosen = existence.topk(min(_CANDIDATES, len(existence))).indices.sort().values
        chosen = chosen[existence[chosen] >= _LEAST_EXISTENCE]
        weights = (self.calibration.value_link, self.calibration.value_back, self.calibration.value_regression)
        sums = torch.zeros(len(chosen), self.rows(attribute).stop - self.rows(attribute).start, device=device)
        for weight, log_density in zip(weights, self.log_densities(), strict=True):
            if weight:
                sums.add_(log_density(attribute, chosen), alpha=weight)
        likely = torch.softmax(sums, dim=1).mul_(existence[chosen][:, None])
        return MissingValues(chosen, likely, self.rows(attribute).start)

    def rows(self, attribute: int) -> slice:
        """The rows of the value table that an attribute's unit has."""
        graph = self.observed.graph
        unit = int(graph.attribute_units[attribute])
        return slice(int(graph.values.unit_starts[unit]), int(graph.values.unit_starts[unit + 1]))

    def log_densities(self) -> tuple[Callable[[int, Tensor], Tensor], ...]:
        """The three log densities of an attribute's values on some entities, in the order of their weights.

        Each up to a constant of an entity, which a softmax over the values does not see.
        """
        return self._of_values, self._of_entities, self._of_regression

    @torch.no_grad()
    def _of_values(self, attribute: int, entities: Tensor) -> Tensor:  # (c,) -> (c, rows)
        """What the link predictor says of values as tails."""
        scorer, rows = self.scorer, self._value_nodes(attribute)
        label = scorer.labels[self.labels.relations + attribute].expand(len(entities), -1)
        asked = scorer.of_tail(scorer.nodes[entities], label)
        return inner_products(asked, scorer.nodes[rows])

    @torch.no_grad()
    def _of_entities(self, attribute: int, entities: Tensor) -> Tensor:  # (c,) -> (c, rows)
        """What it says of entities as tails of values."""
        scorer, rows, facts = self.scorer, self._value_nodes(attribute), self.observed.graph.attribute_facts
        back = self.labels.relations + self.labels.attributes + attribute
        asked = scorer.of_tail(scorer.nodes[rows], scorer.labels[back].expand(len(rows), -1))
        holders = torch.from_numpy(facts.sources[facts.labels == attribute]).to(entities.device)
        return inner_products(scorer.nodes[entities], asked) - self.log_sums.of(back, rows, holders)

    @torch.no_grad()
    def _of_regression(self, attribute: int, entities: Tensor) -> Tensor:  # (c,) -> (c, rows)
        """What the regression says of them as numbers."""
        graph, rows = self.observed.graph, self.rows(attribute)
        if not self.attributes:
            return torch.zeros(len(entities), rows.stop - rows.start, device=entities.device)
        targets = graph.attribute_facts.targets[graph.attribute_facts.labels == attribute]
        counts = np.bincount(targets, minlength=len(graph.values))[rows]
        prior = torch.from_numpy(np.log(counts + _UNSEEN)).float().to(entities.device)
        return self.attributes[attribute].log_density(entities, graph.values.numbers[rows]).add_(prior)

    def _value_nodes(self, attribute: int) -> Tensor:  # (rows,)
        rows, first = self.rows(attribute), self.labels.entities
        return torch.arange(first + rows.start, first + rows.stop, device=self.observed.device)
