"""Attributes: where the value of one lies on each entity, learned from the training graph.

Every attribute has a scale on which its training values are normal. On it, a value is predicted from the entity's
other values, its neighbours' values along each relation, and its place among other entities; the error of the
prediction is a Student distribution whose width depends on how much was known. All errors are out of fold: an entity's
own value never helps to predict it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import special, stats
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.reckoner.existence import FOLDS

_PSEUDO = 4.0  # observations of no use, added to every source, so that a few lucky ones do not persuade
_SHARPNESS = (1.0, 3.0)  # how much more a source weighs that explains more: gently, and steeply
_PENALTIES = (3.0, 10.0, 30.0, 100.0, 300.0)
_DEGREES = (1.5, 2.0, 3.0, 5.0, 10.0, 30.0)


@dataclass(frozen=True)
class Scale:
    """A monotone map from an attribute's numbers to a scale on which its training values are normal."""

    numbers: np.ndarray  # (knots,) rising
    scores: np.ndarray  # (knots,) rising

    @staticmethod
    def of(numbers: np.ndarray) -> Scale:
        """The scale of some training values."""
        distinct, counts = np.unique(numbers, return_counts=True)
        middle = (np.cumsum(counts) - counts / 2) / counts.sum()
        scores = special.ndtri(middle)
        if len(distinct) == 1:
            distinct, scores = np.array([distinct[0], distinct[0] + 1]), np.array([0.0, 1.0])
        return Scale(distinct, scores)

    def score(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers on the scale; beyond the training values it goes on as steep as over its outer tenth."""
        return _extended(numbers, self.numbers, self.scores)

    def number(self, scores: np.ndarray) -> np.ndarray:
        """The way back."""
        return _extended(scores, self.scores, self.numbers)


@np.errstate(over="ignore")  # beyond the largest numbers there are
def _extended(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    x, knots, values = x / 4, knots / 4, values / 4  # so that numbers at both ends of all there are have a difference
    found = np.interp(x, knots, values)
    tenth = max(1, len(knots) // 10)
    low = (values[tenth] - values[0]) / (knots[tenth] - knots[0])
    high = (values[-1] - values[-1 - tenth]) / (knots[-1] - knots[-1 - tenth])
    found = np.where(x < knots[0], values[0] + low * (x - knots[0]), found)
    found = np.where(x > knots[-1], values[-1] + high * (x - knots[-1]), found)
    largest = np.finfo(np.float64).max
    return (4 * found).clip(-largest, largest)


@dataclass(frozen=True)
class AttributeModel:
    """One attribute: for every entity the distribution of its value on the scale."""

    scale: Scale
    mean: np.ndarray  # (entities,) on the scale
    width: np.ndarray  # (entities,) of the error, on the scale
    degrees: float  # of freedom of the error's Student distribution

    def log_density(self, entities: Tensor, numbers: np.ndarray) -> Tensor:  # (c,), (n,) -> (c, n)
        """How much likelier each number is than among all training values: a log density, up to a constant of each."""
        scores = torch.from_numpy(self.scale.score(numbers)).float().to(entities.device)
        mean, width = (
            torch.from_numpy(column).float().to(entities.device)[entities] for column in (self.mean, self.width)
        )
        error = (scores[None] - mean[:, None]) / width[:, None]
        density = -(self.degrees + 1) / 2 * torch.log1p(error.square() / self.degrees)
        return density + scores.clamp(-3, 3).square() / 2

    def quantile(self, entities: np.ndarray, share: float) -> np.ndarray:  # (c,) -> (c,)
        """The number that the value stays below with a probability."""
        error = stats.t.ppf(share, self.degrees)
        return self.scale.number(self.mean[entities] + error * self.width[entities])


def scales_of(graph: KnowledgeGraph) -> list[Scale]:
    """The scale of each attribute."""
    facts = graph.attribute_facts
    numbers = [graph.values.numbers[facts.targets[facts.labels == a]] for a in range(len(graph.attributes))]
    return [Scale.of(own if len(own) else np.zeros(1)) for own in numbers]


def fit_attributes(graph: KnowledgeGraph, vectors: np.ndarray, fold_of: np.ndarray) -> list[AttributeModel]:
    """Learn all attributes of a graph, given vectors that say where entities stand, and a fold for each."""
    entities, attributes = len(graph.entities), len(graph.attributes)
    facts = graph.attribute_facts
    scales = scales_of(graph)
    known = np.zeros((entities, attributes), dtype=bool)
    scores = np.zeros((entities, attributes))
    known[facts.sources, facts.labels] = True
    for attribute, scale in enumerate(scales):
        own = facts.labels == attribute
        scores[facts.sources[own], attribute] = scale.score(graph.values.numbers[facts.targets[own]])
    messages = _messages(graph, known, scores)
    models = []
    for attribute in range(attributes):
        fold = np.where(known[:, attribute], fold_of, -1)
        mean, width, degrees = _fit_values(attribute, fold, known, scores, vectors, messages)
        models.append(AttributeModel(scales[attribute], mean, width, degrees))
    return models


# ------------------------------------------------------------------------------------------------------- the values


@dataclass(frozen=True)
class _Messages:
    """What entities hear: the mean of an attribute over the neighbours along a relation, or over themselves."""

    entities: np.ndarray  # (n,)
    sources: np.ndarray  # (n,): relation and attribute in one number
    scores: np.ndarray  # (n,)
    first_own: int  # sources from here on are the entity's own attributes


def _messages(graph: KnowledgeGraph, known: np.ndarray, scores: np.ndarray) -> _Messages:
    attributes = known.shape[1]
    heads, labels, tails = graph.facts.both_ways()
    heads, labels = heads.astype(np.int64), labels.astype(np.int64)
    first_own = 2 * len(graph.relations) * attributes
    columns = []
    for attribute in range(attributes):
        heard = known[tails, attribute] & (heads != tails)
        columns.append((heads[heard], labels[heard] * attributes + attribute, scores[tails[heard], attribute]))
        own = np.flatnonzero(known[:, attribute])
        columns.append((own, np.full(len(own), first_own + attribute), scores[own, attribute]))
    if not columns:
        return _Messages(*(np.zeros(0, dtype=np.int64),) * 2, np.zeros(0), first_own)
    entities, sources, heard_scores = (np.concatenate(column) for column in zip(*columns, strict=True))
    total = first_own + attributes
    keys, place = np.unique(entities * total + sources, return_inverse=True)
    means = np.bincount(place, weights=heard_scores) / np.bincount(place)
    return _Messages(keys // total, keys % total, means, first_own)


def _fit_values(
    attribute: int,
    fold: np.ndarray,
    known: np.ndarray,
    scores: np.ndarray,
    vectors: np.ndarray,
    messages: _Messages,
) -> tuple[np.ndarray, np.ndarray, float]:
    """The mean and the width of the error on every entity, and its degrees of freedom."""
    target = scores[:, attribute]
    heard = messages.sources != messages.first_own + attribute
    columns = (messages.entities[heard], messages.sources[heard], messages.scores[heard])
    (guess, weight), (steep, steep_weight) = (_from_messages(*columns, fold, target, each) for each in _SHARPNESS)
    others = np.delete(np.concatenate([scores * known, known], axis=1), [attribute, attribute + known.shape[1]], axis=1)
    sure, steep_sure = weight / (1 + weight), steep_weight / (1 + steep_weight)
    features = np.concatenate(
        [
            np.ones((len(fold), 1)),
            3 * np.stack([guess, guess * sure, steep, steep * steep_sure, sure], axis=1),
            vectors,
            others,
        ],
        axis=1,
    )
    mean = _ridge(features, fold, target)
    rows = np.flatnonzero(fold >= 0)
    if len(rows) < 10:
        return mean, np.ones(len(fold)), _DEGREES[-1]
    error = np.log(np.abs(target[rows] - mean[rows]) + 0.02)
    hints = np.stack([np.ones(len(fold)), sure, sure**2, np.abs(mean), np.linalg.norm(vectors, axis=1)], axis=1)
    found = np.linalg.solve(hints[rows].T @ hints[rows] + np.diag([0, 5, 5, 5, 5]), hints[rows].T @ error)
    width = np.exp((hints @ found).clip(error.min(), error.max()))
    ratio = (target[rows] - mean[rows]) / width[rows]
    fits = []
    for degrees in _DEGREES:
        _, _, spread = stats.t.fit(ratio, fdf=degrees, floc=0)
        fits.append((stats.t.logpdf(ratio, degrees, 0, spread).sum(), degrees, spread))
    _, degrees, spread = max(fits)
    return mean, width * spread, degrees


def _from_messages(
    entities: np.ndarray,
    sources: np.ndarray,
    heard: np.ndarray,
    fold: np.ndarray,
    target: np.ndarray,
    sharpness: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Each source predicts on its own by a line; the more it explains the more its guess weighs.

    A line that speaks to an entity of some fold was fitted without that fold.
    """
    if not len(entities):
        return np.zeros(len(fold)), np.zeros(len(fold))
    _, place = np.unique(sources, return_inverse=True)
    count = int(place.max()) + 1
    taught = fold[entities] >= 0
    x, y = heard[taught], target[entities[taught]]
    cell = place[taught] * FOLDS + fold[entities[taught]]

    def left_out(values: np.ndarray) -> np.ndarray:  # (sources, folds + 1): without each fold, and with all
        cells = np.bincount(cell, weights=values, minlength=count * FOLDS).reshape(count, FOLDS)
        total = cells.sum(axis=1, keepdims=True)
        return np.concatenate([total - cells, total], axis=1)

    n = left_out(np.ones(len(x)))
    safe = np.maximum(n, 1)
    mean_x, mean_y = left_out(x) / safe, left_out(y) / safe
    var_x = np.maximum(left_out(x * x) / safe - mean_x**2, 0)
    var_y = np.maximum(left_out(y * y) / safe - mean_y**2, 0)
    cov = left_out(x * y) / safe - mean_x * mean_y
    shrink = n / (n + _PSEUDO)
    slope = shrink * cov / (var_x + 0.02)
    offset = shrink * (mean_y - slope * mean_x)
    rest = np.maximum(var_y - 2 * slope * cov + slope**2 * var_x, 0)
    error = (n * rest + _PSEUDO) / (n + _PSEUDO)
    weight = np.maximum(1 / error - 1, 0) ** sharpness * (n >= 3)
    column = np.where(fold[entities] >= 0, fold[entities], FOLDS)
    own = weight[place, column]
    guess = offset[place, column] + slope[place, column] * heard
    total = np.bincount(entities, weights=own, minlength=len(fold))
    weighted = np.bincount(entities, weights=own * guess, minlength=len(fold))
    return weighted / (1 + total), total


def _ridge(features: np.ndarray, fold: np.ndarray, target: np.ndarray) -> np.ndarray:  # (entities,)
    """Predictions for all entities, out of fold where the target is known; the penalty that errs least."""
    rows = np.flatnonzero(fold >= 0)
    if len(rows) < 10:
        return np.zeros(len(fold))
    keep = np.eye(features.shape[1])
    keep[:6] *= 0.1  # the first say most
    squares = [features[fold == f].T @ features[fold == f] for f in range(FOLDS)]
    products = [features[fold == f].T @ target[fold == f] for f in range(FOLDS)]
    best: tuple[float, np.ndarray] | None = None
    for penalty in _PENALTIES:
        found = features @ np.linalg.solve(sum(squares) + penalty * keep, sum(products))
        for f in range(FOLDS):
            own = fold == f
            weights = np.linalg.solve(sum(squares) - squares[f] + penalty * keep, sum(products) - products[f])
            found[own] = features[own] @ weights
        error = float(np.abs(found[rows] - target[rows]).mean())
        if best is None or error < best[0]:
            best = error, found
    assert best is not None
    return best[1].clip(target[rows].min(), target[rows].max())
