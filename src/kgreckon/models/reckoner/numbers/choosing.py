"""Learning to estimate one attribute; every choice is made on entities whose own number did not help."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import stats

from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.cases import Cases, KnownNumbers
from kgreckon.models.reckoner.numbers.columns import GUESSES, Columns
from kgreckon.models.reckoner.numbers.estimating import (
    CATEGORIES,
    IDENTITIES,
    RIDGE,
    TREES,
    Estimator,
    Expert,
    LearnedAttribute,
    ModelInputs,
    Setting,
    choice,
    expert_scale,
    ridge_weights,
)
from kgreckon.models.reckoner.numbers.forests import Forest
from kgreckon.models.reckoner.numbers.identities import Form, find_identities
from kgreckon.models.reckoner.numbers.intervals import ErrorShape, WidthModel
from kgreckon.models.reckoner.numbers.scales import KINDS, Density, Kind, Scale
from kgreckon.models.reckoner.numbers.sources import Messages, SharedNumbers, SourceLines

_FEW = 10  # entities with a number, below which nothing but the median is sure
_ENOUGH = 20_000  # entities that are learned from, at most: more would be slower and hardly better
_FOR_TREES = 60
_NUMBER_OF_TREES = 100
_MANY = 400  # entities, below which there are fewer
_WORTH = 0.02  # nats that another scale must gain to be taken instead of the quantile transform
_SHARES = (1.0, 0.5)
_BEYOND = 50.0  # scores that show that a scale does not fit
_SURE = 2.0  # standard errors by which others must beat the median, and a line that is not exact what is learned
_BETTER = 0.9  # of the error of what is learned, at most, of an identity
_EXPERTS = 3
_SIMPLER = 0.95  # what the gain of a line from two numbers counts beside one from a single number


def learn_attribute(
    known: KnownNumbers, setting: Setting, attribute: int, fold_of: np.ndarray, seed: int
) -> LearnedAttribute:
    """What is learned of one attribute; its cost grows with the facts of the entities that have it."""
    entities, numbers = known.holders(attribute)
    scale = known.scales[attribute]
    nothing = median_alone(numbers, scale, setting)
    if len(numbers) > _ENOUGH:
        some = np.sort(np.random.default_rng(seed).choice(len(numbers), _ENOUGH, replace=False))
        entities, numbers = entities[some], numbers[some]
    count = len(numbers)
    if count < _FEW or len(np.unique(numbers)) < 2:
        return nothing
    folds = fold_of[entities]
    cases = Cases.of(known, entities)
    stated = setting.stated(known, cases, attribute)
    places = setting.places(cases)
    best: (
        tuple[float, Scale, SourceLines, Messages, np.ndarray, Columns, ModelInputs, np.ndarray, np.ndarray] | None
    ) = None
    for kind in KINDS:
        if not scale.fits(kind):
            continue
        candidate = expert_scale(scale, kind)
        scores = candidate.score(numbers)
        if np.abs(scores).max() > _BEYOND:
            continue
        shared = SharedNumbers.of(cases, scores, folds, setting.size)
        messages = setting.heard(stated, cases, shared, whole_folds=True)
        lines = SourceLines.fit(messages, folds, scores)
        guesses = lines.guesses(messages, count, folds)
        columns = Columns.choose(
            cases, messages, lines, setting.keys, setting.size, categories=CATEGORIES not in setting.without
        )
        seen = ModelInputs.of(guesses, places, columns.of(cases, messages), cases, columns)
        weights, linear = ridge_weights(seen.linear, folds, scores)
        gain = _information(scores, linear, kind) - (0.0 if kind == "quantile" else _WORTH)
        if best is None or gain > best[0]:
            best = gain, candidate, lines, messages, guesses, columns, seen, weights, linear
    assert best is not None
    _, scale, lines, messages, guesses, columns, seen, weights, linear = best
    scores = scale.score(numbers)
    forest, trees = None, linear
    if count >= _FOR_TREES and TREES not in setting.without:
        forest = Forest.fit(
            seen.trees, scores, folds, seed, _NUMBER_OF_TREES if count >= _MANY else _NUMBER_OF_TREES // 2
        )
        trees = forest.predict(seen.trees, folds)
    low, high = _sensible(scores)
    found = LearnedAttribute(
        Estimator.MEDIAN,
        1.0,
        scale.kind,
        float(scale.score(np.median(numbers, keepdims=True))[0]),
        low,
        high,
        lines,
        columns,
        weights,
        forest,
        None,
        nothing.shape,
        (),
    )
    found = _with_best_estimator(found, numbers, scale, guesses, linear, trees, setting)
    said = choice(found.estimator, guesses, linear, trees)
    centers = np.full(count, found.middle) if found.estimator is Estimator.MEDIAN else found.centered(said)
    estimates = scale.number(centers)
    expert_rows = np.zeros(count, dtype=bool)
    experts: tuple[Expert, ...] = ()
    if IDENTITIES not in setting.without:
        experts, expert_rows = _experts(known, setting, cases, attribute, numbers, scale, estimates, folds, seed)
    rows = ~expert_rows if (~expert_rows).sum() >= _FOR_TREES else np.ones(count, dtype=bool)
    errors = scores - centers
    width = None
    if found.estimator is not Estimator.MEDIAN:
        hints = seen.hints(centers, np.abs(linear - trees))
        width = WidthModel.fit(hints[rows], np.abs(errors[rows]))
        errors = errors / width.widths(hints)
    return replace(found, width=width, shape=ErrorShape.of(errors[rows]), experts=experts)


def median_alone(numbers: np.ndarray, scale: Scale, setting: Setting) -> LearnedAttribute:
    """The median and the spread of the training values."""
    scores = scale.score(numbers) if len(numbers) else np.zeros(0)
    middle = float(scale.score(np.median(numbers, keepdims=True))[0]) if len(numbers) else 0.0
    nowhere = np.zeros(0, dtype=np.int64)
    lines = SourceLines(nowhere, *(np.zeros((0, FOLDS + 1), dtype=np.float32),) * 3, np.zeros(0, dtype=np.float32))
    columns = Columns(setting.size, nowhere, np.zeros(0, dtype=bool), nowhere, nowhere, nowhere)
    shape = ErrorShape.of(scores - middle)
    weights = np.zeros((FOLDS + 1, 1 + GUESSES))
    return LearnedAttribute(
        Estimator.MEDIAN, 1.0, scale.kind, middle, middle, middle, lines, columns, weights, None, None, shape, ()
    )


def _information(scores: np.ndarray, found: np.ndarray, kind: Kind) -> float:
    """How much the estimates say of the scores, in nats beyond their distribution as a whole."""
    shape = ErrorShape.of(scores - found)
    conditional = stats.t.logpdf((scores - found) / shape.spread, shape.degrees) - np.log(shape.spread)
    marginal = stats.norm.logpdf(scores) if kind == "quantile" else Density.of(scores).log(scores)
    return float((conditional - marginal).mean())


def _sensible(scores: np.ndarray) -> tuple[float, float]:
    """Where estimates may lie: within the training values, without the outermost ones, which may be mistakes."""
    ordered = np.sort(scores)
    outer = max(1, len(scores) // 200) if len(scores) >= 20 else 0
    return float(ordered[outer]), float(ordered[-1 - outer])


def _with_best_estimator(
    found: LearnedAttribute,
    numbers: np.ndarray,
    scale: Scale,
    guesses: np.ndarray,
    linear: np.ndarray,
    trees: np.ndarray,
    setting: Setting,
) -> LearnedAttribute:
    """The estimator that errs least, as number and on the scale; the median unless it is beaten beyond doubt."""
    scores = scale.score(numbers)
    of_median = np.abs(numbers - np.median(numbers))
    spread = max(float(np.abs(scores - found.middle).mean()), 1e-12), max(float(of_median.mean()), 1e-300)
    kinds = [Estimator.LINES]
    if RIDGE not in setting.without:
        kinds.append(Estimator.RIDGE)
    if found.forest is not None:
        kinds += [Estimator.TREES] + [Estimator.BOTH] * (RIDGE not in setting.without)
    tried = []
    for estimator in kinds:
        for share in _SHARES:
            candidate = replace(found, estimator=estimator, share=share)
            centers = candidate.centered(choice(estimator, guesses, linear, trees))
            own = np.abs(numbers - scale.number(centers))
            if _beyond_doubt(of_median - own):
                error = float(np.abs(scores - centers).mean()) / spread[0] + float(own.mean()) / spread[1]
                tried.append((error, candidate))
    return min(tried, key=lambda pair: pair[0])[1] if tried else found


def _beyond_doubt(gains: np.ndarray) -> bool:
    """Whether errors are smaller than others in the mean, and not by chance."""
    return bool(gains.mean() > _SURE * gains.std() / np.sqrt(len(gains)))


def _experts(
    known: KnownNumbers,
    setting: Setting,
    cases: Cases,
    attribute: int,
    numbers: np.ndarray,
    scale: Scale,
    estimates: np.ndarray,
    folds: np.ndarray,
    seed: int,
) -> tuple[tuple[Expert, ...], np.ndarray]:
    """The identities that are better than what is learned where they speak; and for which entities one does."""
    messages = setting.exact(known, cases, attribute)
    ranks = known.scales[attribute]
    scores = ranks.score(numbers)
    learned = np.abs(numbers - estimates), np.abs(scores - ranks.score(estimates))
    left = find_identities(messages, numbers, folds, setting.keys, seed)
    told = np.zeros(len(numbers), dtype=bool)
    experts: list[Expert] = []
    while left and len(experts) < _EXPERTS:
        best: tuple[float, Expert, np.ndarray] | None = None
        for identity in left:
            kind: Kind = "log" if identity.logarithmic else "identity"
            said = identity.numbers(messages, folds)
            rows = np.isfinite(said) & ~told
            if rows.sum() < _FEW - 2 or not scale.fits(kind):
                continue
            on = expert_scale(scale, kind)
            expert = Expert(identity, kind, ErrorShape.of(on.score(numbers[rows]) - on.score(said[rows])))
            own = np.abs(numbers - said)[rows], np.abs(scores[rows] - ranks.score(said[rows]))
            if any(
                float(one.mean()) >= _BETTER * float(other[rows].mean())
                for one, other in zip(own, learned, strict=True)
            ):
                continue
            if not expert.exact and not _beyond_doubt(learned[0][rows] - own[0]):
                continue
            gain = float((learned[1][rows] - own[1]).sum()) * (1.0 if identity.form is Form.ALONE else _SIMPLER)
            if best is None or gain > best[0]:
                best = gain, expert, rows
        if best is None:
            break
        experts.append(best[1])
        told |= best[2]
        left = [identity for identity in left if identity is not best[1].identity]
    return tuple(experts), told
