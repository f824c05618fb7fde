"""Facts with one probability each: observed ones are certain, the others are predicted from all evidence together.

The evidence for a fact (h, r, t) is the same from whichever end one looks, and so is its probability: r read backwards
from t is the same fact. Nothing is computed before a question needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.proofs import Expected, Likes, Support
from kgreckon.models.reckoner.attributes import AttributeModel
from kgreckon.models.reckoner.caches import Latest
from kgreckon.models.reckoner.calibration import Calibration
from kgreckon.models.reckoner.evidence import Evidence
from kgreckon.models.reckoner.existence import Expectations
from kgreckon.models.reckoner.fuzzy import ALL, MissingValues
from kgreckon.models.reckoner.links import Labels, LinkScorer
from kgreckon.models.reckoner.log_sums import LogSums
from kgreckon.models.reckoner.observed import LabelledEdges, ObservedFacts, ragged_ranges
from kgreckon.models.reckoner.predicted_values import PredictedValues
from kgreckon.models.scoring import inner_products

_LEAST_HIDDEN = 1e-4  # facts to be expected of any entity
_HARDLY = 3e-3  # facts to be expected, below which an entity is hardly a candidate for an end of a relation
_TYPICAL = 64  # entities whose softmax sum stands for those of entities that are hardly candidates
_LEAST_WEIGHT = 0.02  # of an end: a likelier fact is never less likely for it
_LIKES = 10  # things that are most like the end of a fact
_LEAST_OWNERS = 20  # things with such facts, below which none is called alike
_KEPT = {"cuda": 1 << 28, "cpu": 1 << 25}  # numbers of ends, kept from question to question
_MANY = 8  # a part of all entities so large is asked about as all of them are


@dataclass(frozen=True)
class Ends:
    """What is known of some entities as heads of a label, whatever the tail."""

    expected: Tensor  # (n,) the log of the hidden facts to expect
    sums: Tensor  # (n,) the log of the softmax sum over the tails that are not observed
    stated: Tensor  # (n,) 1 where the entity states some facts of the label, else 0


class PredictedFacts:
    """A link predictor, rules, expectations and attribute models over the facts that are known (fuzzy.FactModel)."""

    def __init__(
        self,
        observed: ObservedFacts,
        scorer: LinkScorer,
        expectations: Expectations,
        attributes: Sequence[AttributeModel],
        calibration: Calibration,
        evidence: Evidence,
        one_valued_rule: bool = True,
    ) -> None:
        self.observed, self.scorer, self.attributes = observed, scorer.requires_grad_(False), attributes
        self.calibration, self.one_valued_rule, self.evidence = calibration, one_valued_rule, evidence
        if expectations.weights.tolist() != list(calibration.existence):
            expectations = expectations.reweighed(calibration.existence)
        self.expectations, self.labels = expectations, Labels.of(observed.graph)
        self.loops, self.arity = loop_shares(observed), arities(observed)
        self.log_sums = LogSums(scorer, self.labels.entities, observed.relations, self.loops)
        self.values = PredictedValues(
            observed, scorer, expectations, attributes, calibration, self.log_sums, one_valued_rule
        )
        self._sides: Latest[int, Tensor] = Latest(_KEPT[observed.device.type], len)
        self._typical: Latest[int, float] = Latest(_KEPT["cpu"], lambda _: 1)

    @property
    def edge_probability(self) -> float:
        """Of a numerical edge that arithmetic allows: so little that it only comes before the impossible."""
        return 1e-4

    # ------------------------------------------------------------------------------------------------ relations

    @torch.no_grad()
    def tails(self, heads: Tensor, relations: Tensor, to: slice = ALL) -> Tensor:  # (q, k), (q,) -> (q, k, n)
        """The probability of each fact that is not observed. All links are linear in the tail: one matrix product."""
        scorer, back, count = self.scorer, relations ^ 1, heads.shape[1]
        weights, nodes = self._weights(), scorer.nodes[heads.flatten()]
        there, again = relations.repeat_interleave(count), back.repeat_interleave(count)
        asked = weights[there, None] * scorer.of_tail(nodes, scorer.labels[there])
        asked += weights[again, None] * scorer.of_head(scorer.labels[again], nodes)
        scores = inner_products(asked, scorer.nodes[: self.labels.entities][to])
        first, last, _ = to.indices(self.labels.entities)
        if self.calibration.rules or self.calibration.more_rules:
            row, tail, best, more = self.evidence.rows(there, heads.flatten())
            inside = (tail >= first) & (tail < last)
            told = self.calibration.rules * best[inside] + self.calibration.more_rules * more[inside]
            scores[row[inside], tail[inside] - first] += told
        log_odds = scores.view(*heads.shape, -1)
        log_odds += self._of_heads(relations, heads)[:, :, None]
        log_odds += self._of_tails(back, first, last)[:, None]
        return self._bound_loops(log_odds.sigmoid_(), heads, relations, to)

    @torch.no_grad()
    def probabilities(self, heads: Tensor, relations: Tensor, tails: Tensor) -> Tensor:  # (n,), (n,), (n,) -> (n,)
        """The probability of each of some facts; an observed one is certain."""
        weights = torch.tensor(self.calibration.facts, device=heads.device)
        likely = (self.evidence_of(heads, relations, tails) @ weights).sigmoid()
        likely = torch.where(heads == tails, likely.minimum(self.loops[relations]), likely)
        row, edge = ragged_ranges(*self.observed.relations.groups(relations, heads))
        likely[row[self.observed.relations.targets[edge] == tails[row]]] = 1.0
        return likely

    @torch.no_grad()
    def evidence_of(self, heads: Tensor, relations: Tensor, tails: Tensor) -> Tensor:  # (n,) thrice -> (n, weights)
        """All evidence for each of some facts, as numbers that calibration.FACT_WEIGHTS multiply."""
        scorer, back = self.scorer, relations ^ 1
        one, other, labels = scorer.nodes[heads], scorer.nodes[tails], scorer.labels
        head, tail = self.ends(relations, heads), self.ends(back, tails)
        there = (scorer.of_tail(one, labels[relations]) * other).sum(dim=1) + head.expected - head.sums
        again = (scorer.of_tail(other, labels[back]) * one).sum(dim=1) + tail.expected - tail.sums
        best, more = self._told(heads, relations, tails)
        sign = 1.0 - 2.0 * (relations % 2)
        both, apart = there + again, there - again
        links = torch.ones_like(best), both, sign * apart, self.arity[relations] * apart
        return torch.stack([*links, best, more, head.expected + tail.expected, head.stated + tail.stated], dim=1)

    def _told(self, heads: Tensor, relations: Tensor, tails: Tensor) -> tuple[Tensor, Tensor]:  # (n,) thrice
        """What rules say for each of some facts."""
        size = self.labels.entities
        rows, place = torch.stack([relations, heads], dim=1).unique(dim=0, return_inverse=True)
        row, tail, best, more = self.evidence.rows(rows[:, 0], rows[:, 1])
        found = torch.zeros(2, len(heads), device=heads.device)
        if len(row):
            keys, order = (row * size + tail).sort()
            wanted = place * size + tails
            at = torch.searchsorted(keys, wanted).clamp(max=len(keys) - 1)
            own = keys[at] == wanted
            found[0, own], found[1, own] = best[order[at[own]]], more[order[at[own]]]
        return found[0], found[1]

    def ends(self, relations: Tensor, entities: Tensor) -> Ends:  # (n,), (n,)
        """What is known of entities as heads of relations."""
        expected, sums, stated = torch.zeros(3, len(entities), device=entities.device)
        for label in relations.unique().tolist():
            own = torch.nonzero(relations == label)[:, 0]
            distinct, place = entities[own].unique(return_inverse=True)
            found = self._ends(label, distinct)
            expected[own], sums[own], stated[own] = found.expected[place], found.sums[place], found.stated[place]
        return Ends(expected, sums, stated)

    def _ends(self, label: int, entities: Tensor) -> Ends:  # (n,)
        hidden, stated = (torch.from_numpy(each).to(entities.device) for each in self.expectations.of(label))
        hidden, stated = hidden[entities], stated[entities].float()
        if not self.one_valued_rule:
            hidden = hidden.clamp(min=0.25)
        candidates = hidden > _HARDLY
        sums = torch.full_like(hidden, self._typical_sum(label))
        # Where no tail is left the sum is infinite; but infinity times a weight may be no number.
        sums[candidates] = self.log_sums.of(label, entities[candidates]).clamp(max=1e4)
        return Ends(hidden.clamp(min=_LEAST_HIDDEN).log(), sums, stated)

    def _typical_sum(self, label: int) -> float:
        def middle() -> float:
            hidden, _ = self.expectations.of(label)
            candidates = np.flatnonzero(hidden > _HARDLY)
            some = candidates[:: 1 + len(candidates) // _TYPICAL]
            sums = self.log_sums.of(label, torch.from_numpy(some).to(self.observed.device))
            sums = sums[sums.isfinite()]
            return float(sums.median()) if len(sums) else 0.0

        return self._typical.get(label, middle)

    def _weights(self) -> Tensor:  # (relations in both directions,)
        """What links weigh from the head of each label; from its tail, they weigh what the inverse's do."""
        sign = 1.0 - 2.0 * (torch.arange(len(self.arity), device=self.arity.device) % 2)
        own = self.calibration
        return (own.links + own.as_stated * sign + own.by_arity * self.arity).clamp(min=_LEAST_WEIGHT)

    def _side(self, label: int, entities: Tensor) -> Tensor:  # (n,) -> (n,)
        """What entities as heads of a label add to the log odds of a fact."""
        ends, own = self._ends(label, entities), self.calibration
        links = self._weights()[label] * (ends.expected - ends.sums)
        return own.intercept / 2 + links + own.expected * ends.expected + own.stated * ends.stated

    def _of_heads(self, relations: Tensor, heads: Tensor) -> Tensor:  # (q,), (q, k) -> (q, k)
        found = torch.zeros(heads.shape, device=heads.device)
        for label in relations.unique().tolist():
            own = relations == label
            side = self._sides.find(label)
            if side is None:
                distinct, place = heads[own].unique(return_inverse=True)
                if len(distinct) * _MANY < self.labels.entities:
                    found[own] = self._side(label, distinct)[place]
                    continue
                side = self._side_of_all(label)
            found[own] = side[heads[own]]
        return found

    def _of_tails(self, labels: Tensor, first: int, last: int) -> Tensor:  # (q,) -> (q, n)
        distinct, place = labels.unique(return_inverse=True)
        return torch.stack([self._side_of_all(label)[first:last] for label in distinct.tolist()])[place]

    def _side_of_all(self, label: int) -> Tensor:  # -> (entities,)
        everything = torch.arange(self.labels.entities, device=self.arity.device)
        return self._sides.get(label, lambda: self._side(label, everything))

    def support(self, head: int, relation: int, tail: int) -> Support:
        """What a rule says for a fact, where rules have a weight, what its likes do, and how many are expected."""
        rule = self.evidence.support(head, relation, tail) if self.calibration.rules else None
        if self.arity[relation] < 0:  # the end that has the fewer facts of the kind
            head, relation, tail = tail, relation ^ 1, head
        tails = self.observed.graph.follows.row(head, relation).tolist()
        known = (head, relation, tails[0]) if len(tails) == 1 else None
        expected = Expected(head, len(tails), float(self.expectations.of(relation)[0][head]), known)
        return Support(rule, self._likes(head, relation, tail), expected)

    def _likes(self, head: int, relation: int, tail: int) -> Likes | None:
        """The things with such facts whose vectors are most like the head's."""
        owners, _ = self.expectations.owners(relation)
        owners = owners[owners != head]
        if len(owners) < _LEAST_OWNERS:
            return None
        nodes = self.scorer.nodes
        alike = torch.cosine_similarity(nodes[torch.from_numpy(owners).to(nodes.device)], nodes[head][None])
        nearest = owners[alike.topk(min(_LIKES, len(owners))).indices.cpu().numpy()]
        follows = self.observed.graph.follows
        having = tuple(int(each) for each in nearest if tail in follows.row(int(each), relation))
        return Likes(head, having, len(nearest))

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
        parts = self.observed, self.scorer, self.expectations, self.attributes, calibration, self.evidence
        return PredictedFacts(*parts, self.one_valued_rule)

    # ----------------------------------------------------------------------------------------------- attributes

    def missing(self, attribute: int) -> MissingValues | None:
        """The values to expect on the entities that may have the attribute and do not show it."""
        return self.values.missing(attribute) if self.attributes else None

    def existence(self, attribute: int) -> Tensor:  # (entities,)
        """The probability that each entity has a value that is not stated."""
        return self.values.existence(attribute)

    def existences(self, entity: int) -> Tensor:  # (attributes,)
        """The same of all attributes of one entity."""
        return torch.from_numpy(self.expectations.attributes_of(entity)).float()


def loop_shares(observed: ObservedFacts) -> Tensor:  # (relations in both directions,)
    """Of the entities at either end of each relation, the share that has it to itself."""
    graph = observed.graph
    loops = np.bincount(graph.facts.labels[graph.facts.sources == graph.facts.targets], minlength=len(graph.relations))
    heads = _heads(observed.relations)
    shares = torch.from_numpy(loops.repeat(2)).to(heads.device) / heads.clamp(min=1)
    return shares.view(-1, 2).amin(dim=1).repeat_interleave(2)


def arities(observed: ObservedFacts) -> Tensor:  # (relations in both directions,)
    """From -1 to 1: whether a head has fewer tails than a tail has heads, as a city and the land where it lies."""
    heads = _heads(observed.relations)
    swapped = heads.view(-1, 2).flip(1).flatten()
    return ((heads.clamp(min=1).log() - swapped.clamp(min=1).log()) / 2).tanh()


def _heads(edges: LabelledEdges) -> Tensor:  # (labels,)
    return torch.bincount(edges.group_keys // edges.num_sources, minlength=edges.num_labels)
