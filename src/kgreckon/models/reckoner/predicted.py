"""Facts with probabilities: observed ones are certain, the others are predicted and calibrated."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.proofs import RulePath
from kgreckon.models.reckoner.attributes import AttributeModel
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.fuzzy import ALL, MissingValues
from kgreckon.models.reckoner.links import Examples, LinkScorer
from kgreckon.models.reckoner.observed import ObservedFacts, ragged_ranges
from kgreckon.models.scoring import inner_products

_CANDIDATES = 2048  # entities that may lack an attribute's value: the likeliest to have one
_LEAST_EXISTENCE = 1e-3
_LEAST_HIDDEN = 1e-5  # facts to be expected, below which an entity is taken to have none of a relation
_MOST_UNSTATED = 2.0  # facts of a relation to be expected, at the most, of an entity that states none: odds have no end
_FLOOR = -40.0  # of a logarithm
_CAP = 0.9  # what no predicted fact reaches: expectations bend towards it, so that their order is kept
_UNSEEN = 0.1  # what a value that never occurred with the attribute counts beside one that did
_ONE_VALUED = 0.99  # the share of entities with a single value, from which on an attribute counts as one-valued
_ROWS = {"cuda": 2**13, "cpu": 2**10}  # facts' heads normalised at once


@dataclass(frozen=True)
class Calibration:
    """The few numbers that turn scores into probabilities, fitted on validation queries."""

    forward: float = 0.8  # the weight of a fact seen from its head
    backward: float = 0.2  # and seen from its tail
    hidden: float = 4.0  # times the hidden facts to expect of an entity that has some of the label
    existence: float = 1.0  # times the odds of an entity that has none
    rules: float = 0.5  # the weight of what rules say, beside the link predictor's score
    value_link: float = 0.7  # the weight of the link predictor, from entity to value, in a value's density
    value_back: float = 0.3  # and from value to entity
    value_regression: float = 0.5  # the weight of the regression
    # Of a numerical edge that arithmetic allows: so little that what needs one only comes before the impossible.
    edge_probability: float = 1e-4

    def as_json(self) -> dict[str, float]:
        """The same as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> Calibration:
        """The inverse; a TypeError where the data is malformed."""
        if not all(isinstance(number, int | float) for number in data.values()):
            raise TypeError("a calibration holds numbers")
        return Calibration(**data)


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
    def of(observed: ObservedFacts) -> Labels:
        """The sizes of a graph."""
        graph = observed.graph
        return Labels(len(graph.entities), len(graph.values), 2 * len(graph.relations), len(graph.attributes))

    def examples(self, observed: ObservedFacts) -> list[Examples]:
        """All facts of a graph in both directions: those that lead to entities, and those that lead to values."""
        graph, device = observed.graph, observed.device
        own = graph.attribute_facts
        from_values = (self.entities + own.targets, self.relations + self.attributes + own.labels, own.sources)
        to_entities = [np.concatenate(both) for both in zip(graph.facts.both_ways(), from_values, strict=True)]
        to_values = (own.sources, self.relations + own.labels, self.entities + own.targets)

        def examples(columns: Sequence[np.ndarray], first: int, last: int) -> Examples:
            heads, labels, tails = (torch.from_numpy(column.astype(np.int64)).to(device) for column in columns)
            return Examples(heads, labels, tails, first, last)

        return [examples(to_entities, 0, self.entities), examples(to_values, self.entities, self.num_nodes)]


@dataclass(frozen=True)
class Expectations:
    """How many facts of each label are hidden, to be expected of each entity."""

    hidden: Tensor  # (relations in both directions, entities): where some are stated; 0 where none are
    odds: Tensor  # (relations in both directions and attributes, entities): stated against not, where none are

    def relations(self, hidden: float, existence: float) -> Tensor:  # (relations, entities)
        """The hidden facts of each relation."""
        odds = self.odds[: len(self.hidden)]
        return torch.where(self.hidden > 0, hidden * self.hidden, existence * odds / (1 + odds / _MOST_UNSTATED))


@dataclass(frozen=True)
class Normalisers:
    """The logarithms of the sums that softmaxes divide by."""

    relations: Tensor  # (relations in both directions, entities): over the tails that are not observed
    values: Tensor  # (attributes, value rows): from a value of the attribute, over all entities


class PredictedFacts:
    """A link predictor, what rules say, and attribute models over a graph's facts (fuzzy.FactModel).

    The normalisers are those of the scorer and the evidence with its weight, as `log_sums` computes them.
    """

    def __init__(
        self,
        observed: ObservedFacts,
        scorer: LinkScorer,
        expectations: Expectations,
        normalisers: Normalisers,
        attributes: Sequence[AttributeModel],
        calibration: Calibration,
        one_valued_rule: bool = True,
        evidence: Evidence | None = None,
    ) -> None:
        self.observed, self.scorer, self.attributes = observed, scorer.requires_grad_(False), attributes
        self.calibration, self.one_valued_rule = calibration, one_valued_rule
        self.expectations, self.labels = expectations, Labels.of(observed)
        expected = expectations.relations(calibration.hidden, calibration.existence)
        if not one_valued_rule:
            expected = expected.clamp(min=0.25 * calibration.hidden)
        self.normalisers = normalisers
        self.offsets = (expected.log() - normalisers.relations).clamp_(min=_FLOOR)  # (relations, entities)
        self.loops = loop_shares(observed)
        self.evidence = Evidence.none(observed) if evidence is None else evidence
        self._missing: dict[int, MissingValues] = {}

    @property
    def edge_probability(self) -> float:
        """The probability of a numerical edge that arithmetic allows and the graph does not carry."""
        return self.calibration.edge_probability

    # ------------------------------------------------------------------------------------------------ relations

    @torch.no_grad()
    def tails(self, heads: Tensor, relations: Tensor, to: slice = ALL) -> Tensor:  # (q, k), (q,) -> (q, k, n)
        """A fact's probability seen from its head and from its tail, weighed against each other.

        From the head it is a softmax over the tails that are not observed, times the number of hidden tails to expect;
        from the tail the same along the inverse relation. Both are linear in the tail's vector: one matrix product.
        """
        scorer, calibration, back = self.scorer, self.calibration, relations ^ 1
        queries, count = heads.shape
        nodes = scorer.nodes[heads.flatten()]
        asked = calibration.forward * scorer.of_tail(nodes, scorer.labels[relations.repeat_interleave(count)])
        asked += calibration.backward * scorer.of_head(scorer.labels[back.repeat_interleave(count)], nodes)
        scores = inner_products(asked, self._entities[to])
        rows = relations.repeat_interleave(count), heads.flatten()
        forward, backward = calibration.rules * calibration.forward, calibration.rules * calibration.backward
        self.evidence.add_to(scores, *rows, to, forward, backward)
        likely = scores.view(queries, count, -1)
        likely += calibration.forward * self.offsets[relations[:, None], heads][:, :, None]
        likely += calibration.backward * self.offsets[back, to][:, None]
        return self._bound_loops(likely.sub_(math.log(_CAP)).sigmoid_().mul_(_CAP), heads, relations, to)

    def support(self, head: int, relation: int, tail: int) -> RulePath | None:
        """What a rule says for a fact, where rules have a weight."""
        return self.evidence.support(self.observed, head, relation, tail) if self.calibration.rules else None

    def _bound_loops(self, likely: Tensor, heads: Tensor, relations: Tensor, to: slice) -> Tensor:  # (q, k, n)
        """No fact from an entity to itself is likelier than the relation's others of the kind are frequent.

        To a product of vectors an entity resembles nothing as much as itself.
        """
        first, last, _ = to.indices(self.labels.entities)
        own = (heads - first).unsqueeze(-1)
        bound = self.loops[relations][:, None, None].expand_as(own)
        bound = torch.where((own >= 0) & (own < last - first), bound, 1.0)
        own = own.clamp(0, last - first - 1)
        return likely.scatter_(-1, own, torch.minimum(likely.gather(-1, own), bound))

    def recalibrated(self, calibration: Calibration) -> PredictedFacts:
        """The same with another calibration."""
        normalisers = self.normalisers
        if calibration.rules != self.calibration.rules and len(self.evidence):
            normalisers = log_sums(self.observed, self.scorer, self.expectations, self.evidence, calibration.rules)
        other = PredictedFacts(
            self.observed,
            self.scorer,
            self.expectations,
            normalisers,
            self.attributes,
            calibration,
            self.one_valued_rule,
            self.evidence,
        )
        names = ("existence", "value_link", "value_back", "value_regression")
        if all(getattr(calibration, name) == getattr(self.calibration, name) for name in names):
            other._missing = self._missing
        return other

    @property
    def _entities(self) -> Tensor:
        return self.scorer.nodes[: self.labels.entities]

    # ----------------------------------------------------------------------------------------------- attributes

    def missing(self, attribute: int) -> MissingValues | None:
        """The values to expect on the entities that may have the attribute and do not show it."""
        if not self.attributes:
            return None
        if attribute not in self._missing:
            self._missing[attribute] = self._predict(attribute)
        return self._missing[attribute]

    def existence(self, attribute: int) -> Tensor:  # (entities,)
        """The probability that each entity has a value that is not stated."""
        return self._existence(self.expectations.odds[self.labels.relations + attribute])

    def existences(self, entity: int) -> Tensor:  # (attributes,)
        """The same of all attributes of one entity."""
        return self._existence(self.expectations.odds[self.labels.relations :, entity])

    def _existence(self, odds: Tensor) -> Tensor:
        expected = self.calibration.existence * odds
        return _CAP * expected / (expected + _CAP)

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
        unit = int(graph.attribute_units[attribute])
        low, high = int(graph.values.unit_starts[unit]), int(graph.values.unit_starts[unit + 1])
        density = self._density(attribute, chosen, low, high)
        return MissingValues(chosen, density * existence[chosen][:, None], low)

    def _density(self, attribute: int, entities: Tensor, low: int, high: int) -> Tensor:  # (c,) -> (c, rows)
        """What the link predictor says of values as tails, and what the regression says of them as numbers."""
        graph, calibration, scorer, labels = self.observed.graph, self.calibration, self.scorer, self.labels
        facts = graph.attribute_facts
        found = torch.zeros(len(entities), high - low, device=entities.device)
        if calibration.value_regression:
            counts = np.bincount(facts.targets[facts.labels == attribute], minlength=len(graph.values))[low:high]
            prior = torch.from_numpy(np.log(counts + _UNSEEN)).float().to(entities.device)
            density = self.attributes[attribute].log_density(entities, graph.values.numbers[low:high])
            found += calibration.value_regression * torch.log_softmax(density + prior, dim=1)
        values = scorer.nodes[labels.entities + low : labels.entities + high]
        if calibration.value_link:
            label = scorer.labels[labels.relations + attribute].expand(len(entities), -1)
            linked = inner_products(scorer.of_tail(scorer.nodes[entities], label), values)
            found += calibration.value_link * torch.log_softmax(linked, dim=1)
        if calibration.value_back:
            label = scorer.labels[labels.relations + labels.attributes + attribute].expand(high - low, -1)
            asked = scorer.of_tail(values, label)
            linked = inner_products(scorer.nodes[entities], asked) - self.normalisers.values[attribute, low:high]
            found += calibration.value_back * linked
        return torch.softmax(found, dim=1)


def loop_shares(observed: ObservedFacts) -> Tensor:  # (relations in both directions,)
    """Of the entities that have each relation, the share that has it to itself."""
    facts, relations = observed.graph.facts, len(observed.graph.relations)
    loops = np.bincount(facts.labels[facts.sources == facts.targets], minlength=relations)
    edges = observed.relations
    heads = torch.bincount(edges.group_keys // edges.num_sources, minlength=2 * relations)
    return torch.from_numpy(loops.repeat(2)).to(heads.device) / heads.clamp(min=1)


@torch.no_grad()
def log_sums(
    observed: ObservedFacts,
    scorer: LinkScorer,
    expectations: Expectations,
    evidence: Evidence | None = None,
    weight: float = Calibration.rules,
) -> Normalisers:
    """The normalisers of a scorer and of what rules add to it, with their weight.

    Infinity for relations and heads that are not expected to have hidden tails, or have all tails there are.
    """
    labels, graph, size = Labels.of(observed), observed.graph, _ROWS[observed.device.type]
    entities = scorer.nodes[: labels.entities]
    relations, heads = torch.nonzero(expectations.relations(1.0, 1.0) > _LEAST_HIDDEN, as_tuple=True)
    found = torch.full_like(expectations.hidden, torch.inf)
    loops = loop_shares(observed)
    for first in range(0, len(heads), size):
        head, relation = heads[first : first + size], relations[first : first + size]
        scores = inner_products(scorer.of_tail(scorer.nodes[head], scorer.labels[relation]), entities)
        if evidence is not None:
            evidence.add_to(scores, relation, head, ALL, weight, 0.0)
        row, edge = ragged_ranges(*observed.relations.groups(relation, head))
        scores[row, observed.relations.targets[edge]] = -torch.inf
        scores[torch.nonzero(loops[relation] == 0).T[0], head[loops[relation] == 0]] = -torch.inf
        sums = scores.logsumexp(dim=1)
        found[relation, head] = sums.masked_fill(sums == -torch.inf, torch.inf)  # no tail is left to be hidden
    values = torch.zeros(labels.attributes, labels.values, device=observed.device)
    for attribute in range(labels.attributes):
        unit = int(graph.attribute_units[attribute])
        label = scorer.labels[labels.relations + labels.attributes + attribute]
        for first in range(int(graph.values.unit_starts[unit]), int(graph.values.unit_starts[unit + 1]), size):
            last = min(first + size, int(graph.values.unit_starts[unit + 1]))
            nodes = scorer.nodes[labels.entities + first : labels.entities + last]
            asked = scorer.of_tail(nodes, label.expand(len(nodes), -1))
            values[attribute, first:last] = inner_products(asked, entities).logsumexp(dim=1)
    return Normalisers(found, values)
