"""Fuzzy sets over facts with probabilities: the third meaning of the algebra.

A set of entities is a vector of probabilities over all entities, a set of numbers one over the rows of the value table,
with a place after them for each number that a question names and the table does not hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from kgreckon.exact import ComparisonMode
from kgreckon.exact.arithmetic import compared_ranges
from kgreckon.models.proofs import Support
from kgreckon.models.reckoner.observed import ObservedFacts
from kgreckon.query import SEVEN, Batch, Comparison, Number, Pause, interpret

_SEVEN = frozenset(SEVEN.values())
ALL = slice(None)
# Numbers of a dense block of predicted facts: 1 GiB on a GPU, 64 MiB on a CPU, whose caches are small.
_BLOCK = {"cuda": 2**28, "cpu": 2**24}


@dataclass(frozen=True)
class MissingValues:
    """What may be an attribute's values on entities that have none: the probability of each value."""

    entities: Tensor  # (c,) int64
    probabilities: Tensor  # (c, rows) float32: that the entity has the attribute, and that it takes this value
    first_row: int  # of the value table

    @property
    def rows(self) -> slice:
        """The rows of the value table that the columns stand for."""
        return slice(self.first_row, self.first_row + self.probabilities.shape[1])


class FactModel(Protocol):
    """Where facts and their probabilities come from: observed ones are certain."""

    @property
    def observed(self) -> ObservedFacts:
        """The facts that are known."""
        ...

    def tails(self, heads: Tensor, relations: Tensor, to: slice = ALL) -> Tensor | None:  # (q, k), (q,) -> (q, k, n)
        """The probability of each fact that is not observed, of some heads for each query; None for no predictions.

        The tails are all entities, or those of `to`.
        """
        ...

    def support(self, head: int, relation: int, tail: int) -> Support | None:
        """What speaks for a fact that is predicted, or against it."""
        ...

    def missing(self, attribute: int) -> MissingValues | None:
        """The values to expect where an attribute is not observed, or None where nothing is predicted."""
        ...

    @property
    def edge_probability(self) -> float:
        """The probability of a numerical edge that arithmetic allows and the graph does not carry."""
        ...


class CertainFacts:
    """What a graph states, and nothing else (FactModel): the fuzzy semantics is then the exact one."""

    edge_probability = 0.0

    def __init__(self, observed: ObservedFacts) -> None:
        self.observed = observed

    def tails(self, heads: Tensor, relations: Tensor, to: slice = ALL) -> None:  # (q, k), (q,)
        """Nothing is predicted."""

    def support(self, head: int, relation: int, tail: int) -> None:
        """Nothing is predicted."""

    def missing(self, attribute: int) -> None:
        """Nothing is predicted."""


@dataclass(frozen=True)
class Inference:
    """How sets are computed."""

    mode: ComparisonMode = ComparisonMode.COMPUTED
    heads: int = 256  # the most likely heads that predicted facts may start from
    least: float = 1e-4  # heads less likely than this share of the likeliest are left out
    expectation: bool = True  # of the set under a missing value's density, or only its likeliest value


@dataclass(frozen=True)
class FuzzyNumbers:
    """A fuzzy set of numbers for each query, and the units that its numbers may be measured in."""

    likely: Tensor  # (b, rows and literals)
    units: Tensor  # (b, units) bool


FuzzySet = Tensor | FuzzyNumbers  # probabilities of entities, (b, entities), or numbers


class Ranges:
    """For one comparison, the rows that each number reaches, ready to be taken the maximum over."""

    def __init__(
        self, comparison: Comparison, literals: Sequence[Number], observed: ObservedFacts, device: torch.device
    ) -> None:
        values = observed.graph.values
        self.num_rows = len(values)
        ranges = torch.from_numpy(compared_ranges(values, comparison, literals))
        level = (ranges[:, 2] - ranges[:, 1]).double().log2().floor().long()
        # By the logarithm of its length, a range is two overlapping runs of a power of two.
        self.levels: list[tuple[int, Tensor]] = [
            (int(size), ranges[level == size].to(device)) for size in sorted(set(level.tolist()), reverse=True)
        ]

    def reached(self, of: Tensor) -> Tensor:  # (b, rows and literals) -> (b, rows)
        """For each row, the most likely number that reaches it."""
        current = of.new_zeros(len(of), self.num_rows)
        by_size = dict(self.levels)
        for size in range(self.levels[0][0] if self.levels else -1, -1, -1):
            if size in by_size:
                ids, lows, highs = by_size[size].unbind(dim=1)
                likely = of[:, ids]
                current.scatter_reduce_(1, lows.expand(len(of), -1), likely, "amax")
                current.scatter_reduce_(1, (highs - (1 << size)).expand(len(of), -1), likely, "amax")
            if size:  # each run hands its maximum to its two halves
                half = 1 << (size - 1)
                down = current.clone()
                torch.maximum(down[:, half:], current[:, :-half], out=down[:, half:])
                current = down
        return current


class FuzzySemantics:
    """Probabilities of sets, for a batch's comparisons and literals (kgreckon.query.Semantics and Stacking)."""

    def __init__(
        self,
        facts: FactModel,
        inference: Inference,
        comparisons: tuple[Comparison, ...] = tuple(SEVEN.values()),
        literals: tuple[Number, ...] = (),
        ranges: dict[Comparison, Ranges] | None = None,  # of the seven, kept from batch to batch
    ) -> None:
        self.facts, self.observed, self.inference = facts, facts.observed, inference
        self.comparisons, self.literals = comparisons, literals
        graph = self.observed.graph
        self.num_entities, self.num_rows = len(graph.entities), len(graph.values)
        self.device = self.observed.device
        self._ranges = {} if ranges is None else ranges
        self.joined: Sequence[FuzzySet] = ()  # by the latest intersection or union, which of a whole query is its own
        table = graph.values
        places = {unit: place for place, unit in enumerate(table.units)}
        of_literals = [places.get(literal.unit, -1) for literal in literals]
        units = torch.from_numpy(table.unit_ids.astype("int64"))
        self.row_units = torch.cat([units, torch.tensor(of_literals, dtype=torch.long)]).to(self.device)
        self.unit_ids = torch.arange(len(table.units), device=self.device)
        self.attribute_units = torch.from_numpy(graph.attribute_units.astype("int64")).to(self.device)

    # ------------------------------------------------------------------------------------------------- the leaves

    def entity(self, entities: Tensor) -> Tensor:  # (b,) -> (b, entities)
        """Certainly this entity."""
        return self._one_hot(entities, self.num_entities)

    def number(self, rows: Tensor) -> FuzzyNumbers:  # (b,)
        """Certainly this number."""
        likely = self._one_hot(rows, self.num_rows + len(self.literals))
        return FuzzyNumbers(likely, self.row_units[rows.long()][:, None] == self.unit_ids)

    def _one_hot(self, ids: Tensor, size: int) -> Tensor:
        found = torch.zeros(len(ids), size, device=self.device)
        found.scatter_(1, ids.long()[:, None], 1.0)
        return found

    # ---------------------------------------------------------------------------------------------- the projections

    def follow(self, relations: Tensor, of: FuzzySet) -> Tensor:  # (b,) -> (b, entities)
        """The best head for each tail: observed facts from all heads, predicted ones from the most likely."""
        of = _entities(of)
        relations = relations.long()
        found = self.observed.relations.best(relations, of)
        likely, heads = self._likeliest(of)
        block = max(1, _BLOCK[self.device.type] // (heads.shape[1] * self.num_entities))
        for first in range(0, len(of), block):
            part = slice(first, first + block)
            predicted = self.facts.tails(heads[part], relations[part])
            if predicted is None:
                break
            best = predicted.mul_(likely[part, :, None]).amax(dim=1)
            torch.maximum(found[part], best, out=found[part])
        return found

    def value_of(self, attributes: Tensor, of: FuzzySet) -> FuzzyNumbers:  # (b,)
        """The best entity for each value."""
        attributes, of = attributes.long(), _entities(of)
        found = self.observed.values.best(attributes, of)
        for attribute, queries in _groups(attributes):
            missing = self.facts.missing(attribute)
            if missing is None or not len(missing.entities):
                continue
            likely, places = self._likeliest(of[queries][:, missing.entities])
            width = missing.probabilities.shape[1]
            block = max(1, _BLOCK[self.device.type] // (places.shape[1] * width))
            for part in torch.split(torch.arange(len(queries), device=self.device), block):
                best = (missing.probabilities[places[part]] * likely[part][:, :, None]).amax(dim=1)
                found[queries[part], missing.rows] = torch.maximum(found[queries[part], missing.rows], best)
        return FuzzyNumbers(self._with_literals(found), self.attribute_units[attributes][:, None] == self.unit_ids)

    def having_value(self, attributes: Tensor, of: FuzzySet) -> Tensor:  # (b,) -> (b, entities)
        """An observed value's own probability; for a missing value the expectation, because an entity has one."""
        attributes, rows = attributes.long(), _numbers(of).likely[:, : self.num_rows]
        found = self.observed.having.best(attributes, rows)
        for attribute, queries in _groups(attributes):
            missing = self.facts.missing(attribute)
            if missing is None or not len(missing.entities):
                continue
            wanted = rows[queries, missing.rows]
            if self.inference.expectation:
                expected = wanted @ missing.probabilities.T
            else:
                expected = torch.stack([(missing.probabilities * row).amax(dim=1) for row in wanted])
            found[queries[:, None], missing.entities[None]] = torch.maximum(
                found[queries[:, None], missing.entities[None]], expected
            )
        return found

    def compare(self, comparisons: Tensor, of: FuzzySet) -> FuzzyNumbers:  # (b,)
        """The best number for each value that stands in the relation to it: by arithmetic, or along edges."""
        comparisons, units, of = comparisons.long(), _numbers(of).units, _numbers(of).likely
        by_edges = not self.inference.mode.is_computed
        share = self.facts.edge_probability if by_edges else 1.0
        found = torch.zeros(len(of), self.num_rows, device=self.device)
        if share > 0:
            for comparison, queries in _groups(comparisons):
                found[queries] = share * self._ranges_of(comparison).reached(of[queries])
        if by_edges:
            assert self.observed.compared is not None
            found = torch.maximum(found, self.observed.compared.best(comparisons, of[:, : self.num_rows]))
        return FuzzyNumbers(self._with_literals(found), units)

    def _ranges_of(self, number: int) -> Ranges:
        comparison = self.comparisons[number]
        found = None if self.literals else self._ranges.get(comparison)
        if found is None:
            found = Ranges(comparison, self.literals, self.observed, self.device)
            if not self.literals and comparison in _SEVEN:  # there is no end of other comparisons
                self._ranges[comparison] = found
        return found

    def _likeliest(self, of: Tensor) -> tuple[Tensor, Tensor]:  # (b, n) -> (b, k), (b, k)
        """The most likely members, as many as the query with the most of them needs; others have probability 0."""
        bound = of.amax(dim=1, keepdim=True) * self.inference.least
        needed = int((of > bound).sum(dim=1).amax()) if len(of) else 0
        likely, members = of.topk(max(1, min(self.inference.heads, needed, of.shape[1])), dim=1)
        return torch.where(likely > bound, likely, 0.0), members

    def _with_literals(self, rows: Tensor) -> Tensor:  # (b, rows) -> (b, rows and literals)
        return torch.nn.functional.pad(rows, (0, len(self.literals))) if self.literals else rows

    # -------------------------------------------------------------------------------------------------- the logic

    def intersect(self, parts: Sequence[FuzzySet], of_numbers: bool) -> FuzzySet:
        """The product."""
        self.joined = parts
        if of_numbers:
            units = torch.stack([_numbers(part).units for part in parts]).all(dim=0)
            return FuzzyNumbers(_product([_numbers(part).likely for part in parts]), units)
        return _product([_entities(part) for part in parts])

    def unite(self, parts: Sequence[FuzzySet], of_numbers: bool) -> FuzzySet:
        """1 - ∏(1 - p)."""
        self.joined = parts
        if of_numbers:
            units = torch.stack([_numbers(part).units for part in parts]).any(dim=0)
            return FuzzyNumbers(_either([_numbers(part).likely for part in parts]), units)
        return _either([_entities(part) for part in parts])

    def complement(self, of: FuzzySet, of_numbers: bool) -> FuzzySet:
        """The rest: all other entities, or all other values of the same units."""
        if not of_numbers:
            return 1 - _entities(of)
        of = _numbers(of)
        rest = (1 - of.likely[:, : self.num_rows]) * of.units[:, self.row_units[: self.num_rows]]
        return FuzzyNumbers(self._with_literals(rest), of.units)

    def stack(self, ids: Sequence[Tensor]) -> Tensor:
        """The ids of some batches, one batch after the other."""
        return torch.cat(list(ids))

    def unstack(self, of: FuzzySet, count: int) -> Sequence[FuzzySet]:
        """The sets of each batch that was stacked."""
        if isinstance(of, Tensor):
            return of.chunk(count)
        return [FuzzyNumbers(*both) for both in zip(of.likely.chunk(count), of.units.chunk(count), strict=True)]


def _entities(of: FuzzySet) -> Tensor:
    assert isinstance(of, Tensor), "a shape's sorts are checked before it is interpreted"
    return of


def _numbers(of: FuzzySet) -> FuzzyNumbers:
    assert isinstance(of, FuzzyNumbers), "a shape's sorts are checked before it is interpreted"
    return of


def _product(parts: list[Tensor]) -> Tensor:
    found = parts[0]
    for part in parts[1:]:
        found = found * part
    return found


def _either(parts: list[Tensor]) -> Tensor:
    """By logarithms, so that small probabilities are not lost."""
    logarithms = torch.log1p(-parts[0])
    for part in parts[1:]:
        logarithms = logarithms + torch.log1p(-part)
    return -torch.expm1(logarithms)


def _groups(labels: Tensor) -> list[tuple[int, Tensor]]:  # (b,) -> label, places of its queries
    found = sorted(set(labels.tolist()))
    if len(found) == 1:
        return [(found[0], torch.arange(len(labels), device=labels.device))]
    return [(label, torch.nonzero(labels == label)[:, 0]) for label in found]


def ids_on(batch: Batch[Tensor] | Batch[np.ndarray], device: torch.device) -> Tensor:  # (b, width)
    """The ids of a batch as a tensor on the device, whether they come as a tensor or as an array."""
    ids: np.ndarray | Tensor = batch.ids
    return (torch.from_numpy(np.array(ids)) if isinstance(ids, np.ndarray) else ids).to(device)


class Reckoner:
    """Answers queries with probabilities: exact logic over facts, observed and predicted."""

    def __init__(self, facts: FactModel, inference: Inference) -> None:
        self.facts, self.inference = facts, inference
        self._ranges: dict[Comparison, Ranges] = {}

    def semantics(self, batch: Batch) -> FuzzySemantics:
        """The fuzzy semantics for a batch's comparisons and literals."""
        return FuzzySemantics(self.facts, self.inference, batch.comparisons, batch.literals, self._ranges)

    def answer(
        self, batch: Batch[Tensor] | Batch[np.ndarray], pause: Pause | None = None
    ) -> Tensor:  # -> (b, entities) or (b, value rows)
        """The probability of every candidate for each query of a batch, whose ids may be an array or a tensor."""
        return self.answer_and_parts(batch, pause)[0]

    @torch.no_grad()
    def answer_and_parts(
        self, batch: Batch[Tensor] | Batch[np.ndarray], pause: Pause | None = None
    ) -> tuple[Tensor, Sequence[FuzzySet]]:
        """The same, and the sets of the parts that an intersection or a union joins to it."""
        ids = ids_on(batch, self.facts.observed.device)
        semantics = self.semantics(batch)
        found: FuzzySet = interpret(batch.with_ids(ids), semantics, pause, stacking=semantics)
        scores = found if isinstance(found, Tensor) else found.likely[:, : len(self.facts.observed.graph.values)]
        return scores, semantics.joined
