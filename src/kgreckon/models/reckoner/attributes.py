"""Attributes: where the number of one lies on each entity, learned from the training graph.

What is learned are weights; an estimate is computed when it is asked for, from the facts that the graph states by then.
An entity's own number never helps to estimate it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import overload

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.cases import Cases, KnownNumbers
from kgreckon.models.reckoner.numbers.choosing import learn_attribute, median_alone
from kgreckon.models.reckoner.numbers.estimating import Estimates, LearnedAttribute, Setting, expert_scale
from kgreckon.models.reckoner.numbers.intervals import ErrorShape
from kgreckon.models.reckoner.numbers.packing import packed, unpacked
from kgreckon.models.reckoner.numbers.positions import Positions, renumbered
from kgreckon.models.reckoner.numbers.scales import Density, Scale, limits
from kgreckon.models.reckoner.numbers.sources import SharedNumbers, SourceKeys

DIMENSION = 32  # of the positions
_FARTHEST = 1e18  # widths

__all__ = ["AttributeModel", "AttributeModels", "Numbers", "Scale", "fit_attributes", "scales_of"]


@dataclass(frozen=True)
class Numbers:
    """The numbers of some cases, as distributions."""

    estimates: Estimates
    scales: list[Scale]  # of each maker of estimates
    shapes: list[ErrorShape]
    limits: tuple[float, float]

    def quantile(self, share: float) -> np.ndarray:  # (cases,)
        """The number that the value stays below with a probability."""
        found = np.zeros(len(self.estimates.makers))
        for maker, (scale, shape) in enumerate(zip(self.scales, self.shapes, strict=True)):
            own = self.estimates.makers == maker
            scores = self.estimates.centers[own] + shape.multiple(share) * self.estimates.widths[own]
            found[own] = scale.number(scores)
        return found.clip(*self.limits)

    def log_density(self, numbers: np.ndarray, device: torch.device) -> Tensor:  # (n,) -> (cases, n)
        """How much likelier each number is than among all training values: a log density, up to a constant of each."""
        makers, centers, widths = self.estimates.makers, self.estimates.centers, self.estimates.widths
        found = torch.empty(len(makers), len(numbers), device=device)
        for maker in np.unique(makers):
            scale, shape = self.scales[maker], self.shapes[maker]
            scores = scale.score(numbers)
            # An identity needs double precision: its widths are small beside the numbers.
            kind = torch.float64 if maker else torch.float32

            def placed(column: np.ndarray, kind: torch.dtype = kind) -> Tensor:
                return torch.from_numpy(column).to(device, kind)

            center, width = (placed(column[makers == maker]) for column in (centers, widths * shape.spread))
            errors = (placed(scores)[None] - center[:, None]).div_(width[:, None])
            errors.clamp_(-_FARTHEST, _FARTHEST)  # whose squares single precision still holds
            density = errors.square_().div_(shape.degrees).log1p_().mul_(-(shape.degrees + 1) / 2)
            density.sub_(placed(_marginal(scale, scores)))
            if len(density) == len(found):  # of one maker all
                return density.float()
            found[torch.from_numpy(makers == maker).to(device)] = density.float()
        return found


def _marginal(scale: Scale, scores: np.ndarray) -> np.ndarray:
    """The log density of the training values."""
    if scale.kind == "quantile":
        return np.asarray(stats.norm.logpdf(scores.clip(-3, 3)))
    return Density.of(scale.score(scale.sample).clip(-8, 8)).log(scores.clip(-8, 8))


@dataclass(frozen=True)
class AttributeModel:
    """One attribute: for every entity the distribution of its number, given what is known."""

    attribute: int
    scale: Scale  # the quantile transform of the training values
    learned: LearnedAttribute
    known: KnownNumbers
    setting: Setting
    fold_of: np.ndarray  # (entities,) int8
    learned_from: np.ndarray  # entities, rising
    limits: tuple[float, float]
    _shared: list[SharedNumbers] = field(default_factory=list)  # of all that are known to have it, once asked for

    def numbers(self, entities: np.ndarray) -> Numbers:  # (c,)
        """The numbers to expect of some entities."""
        return self.of_cases(Cases.of(self.known, np.asarray(entities, dtype=np.int64)))

    def of_cases(self, cases: Cases) -> Numbers:
        """The numbers to expect of some cases."""
        folds = np.full(len(cases), FOLDS)
        own = np.isin(cases.entities, self.learned_from)
        folds[own] = self.fold_of[cases.entities[own]]
        experts = self.learned.experts
        scales = [expert_scale(self.scale, kind) for kind in (self.learned.kind, *(expert.kind for expert in experts))]
        if not self._shared:
            self._shared.append(self._of_all(scales[0]))
        parts = self.setting, self.known, scales[0], self._shared[0]
        estimates = self.learned.estimates(*parts, cases, self.attribute, folds)
        return Numbers(estimates, scales, [self.learned.shape, *(expert.shape for expert in experts)], self.limits)

    def _of_all(self, scale: Scale) -> SharedNumbers:
        """The numbers of all that are known to have the attribute."""
        entities, numbers = self.known.holders(self.attribute)
        folds = np.zeros(len(entities), dtype=np.int64)
        return SharedNumbers.of(Cases.of(self.known, entities), scale.score(numbers), folds, self.setting.size)

    def log_density(self, entities: Tensor, numbers: np.ndarray) -> Tensor:  # (c,), (n,) -> (c, n)
        """How much likelier each number is than among all training values: a log density, up to a constant of each."""
        return self.numbers(entities.cpu().numpy()).log_density(numbers, entities.device)

    def quantile(self, entities: np.ndarray, share: float) -> np.ndarray:  # (c,) -> (c,)
        """The number that the value stays below with a probability."""
        return self.numbers(entities).quantile(share)


def scales_of(graph: KnowledgeGraph) -> list[Scale]:
    """The quantile transform of each attribute."""
    facts = graph.attribute_facts
    order = np.argsort(facts.labels, kind="stable")
    starts = np.searchsorted(facts.labels[order], np.arange(len(graph.attributes) + 1))
    numbers = graph.values.numbers[facts.targets[order]]
    own = [numbers[first:last] for first, last in pairwise(starts)]
    return [Scale.of(each if len(each) else np.zeros(1)) for each in own]


@dataclass(frozen=True)
class AttributeModels(Sequence[AttributeModel]):
    """The models of all attributes of a graph, over the facts that are known."""

    models: tuple[AttributeModel, ...]
    positions: Positions
    fold_of: np.ndarray  # (entities,) int8

    def __len__(self) -> int:
        return len(self.models)

    @overload
    def __getitem__(self, attribute: int) -> AttributeModel: ...
    @overload
    def __getitem__(self, attribute: slice) -> tuple[AttributeModel, ...]: ...
    def __getitem__(self, attribute: int | slice) -> AttributeModel | tuple[AttributeModel, ...]:
        return self.models[attribute]

    def as_tensors(self) -> dict[str, Tensor]:
        """What a run folder keeps; the rest follows from the graphs."""
        found = packed([model.learned for model in self.models])
        found["number_folds"] = torch.from_numpy(self.fold_of)
        found["position_keys"] = torch.from_numpy(self.positions.keys)
        found["position_rarity"] = torch.from_numpy(self.positions.rarity)
        found["position_basis"] = torch.from_numpy(self.positions.basis)
        return found

    @staticmethod
    def from_tensors(tensors: Mapping[str, Tensor], known: KnowledgeGraph, training: KnowledgeGraph) -> AttributeModels:
        """The same again, over the facts that are known; scales are those of the training graph."""
        names = ("position_keys", "position_rarity", "position_basis", "number_folds")
        if not tensors.keys() >= set(names):
            raise UserError("the run was trained by an earlier version: train it again with kgreckon train")
        keys, rarity, basis, fold_of = (tensors[name].cpu().numpy() for name in names)
        old, size = len(training.entities), len(known.entities)
        positions = Positions(renumbered(keys, old, size), rarity, basis, size)
        try:
            learned = unpacked(tensors, len(training.attributes), size)
        except ValueError as error:
            raise RuntimeError(str(error)) from None
        learned = [each.over(old, size) for each in learned]
        return _bound(learned, _setting(training, positions), known, training, fold_of)


def fit_attributes(
    graph: KnowledgeGraph, fold_of: np.ndarray, seed: int = 0, without: frozenset[str] = frozenset()
) -> AttributeModels:
    """Learn all attributes of a graph, given a fold for each entity; parts can be left out to see what they do."""
    folds = fold_of.astype(np.int8)
    setting = _setting(graph, Positions.fit(graph, DIMENSION, seed), without)
    known = KnownNumbers.of(graph, scales_of(graph))
    learned = [learn_attribute(known, setting, attribute, folds, seed) for attribute in range(len(graph.attributes))]
    return _bound(learned, setting, graph, graph, folds)


def _setting(graph: KnowledgeGraph, positions: Positions, without: frozenset[str] = frozenset()) -> Setting:
    """What the attributes of a graph that is learned from share; positions count the entities that are known."""
    keys = SourceKeys(2 * len(graph.relations), len(graph.attributes))
    return Setting(positions, keys, positions.entities, without)


def _bound(
    learned: list[LearnedAttribute],
    setting: Setting,
    known: KnowledgeGraph,
    training: KnowledgeGraph,
    fold_of: np.ndarray,
) -> AttributeModels:
    """What is learned, over the facts that are known; of an attribute that is new there, the median of its values."""
    scales = scales_of(training)
    if len(known.attributes) > len(scales):
        scales = [*scales, *scales_of(known)[len(scales) :]]
    numbers = KnownNumbers.of(known, scales)
    facts = training.attribute_facts
    order = np.argsort(facts.labels, kind="stable")  # facts are sorted by entity
    starts = np.searchsorted(facts.labels[order], np.arange(len(known.attributes) + 1))
    models = []
    for attribute, scale in enumerate(scales):
        holders = facts.sources[order[starts[attribute] : starts[attribute + 1]]]
        unit = known.values.units[int(known.attribute_units[attribute])]
        new = attribute >= len(learned)
        own = median_alone(numbers.holders(attribute)[1], scale, setting) if new else learned[attribute]
        bounds = limits(scale.numbers, unit)
        models.append(AttributeModel(attribute, scale, own, numbers, setting, fold_of, np.unique(holders), bounds))
    return AttributeModels(tuple(models), setting.positions, fold_of)
