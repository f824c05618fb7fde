"""What is learned of one attribute: its best source of estimates, their errors, and the lines that are exact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np

from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.cases import Cases, KnownNumbers
from kgreckon.models.reckoner.numbers.columns import GUESSES, Columns
from kgreckon.models.reckoner.numbers.forests import Forest
from kgreckon.models.reckoner.numbers.identities import Identity
from kgreckon.models.reckoner.numbers.intervals import ErrorShape, WidthModel
from kgreckon.models.reckoner.numbers.positions import Positions, renumbered
from kgreckon.models.reckoner.numbers.scales import Kind, Scale
from kgreckon.models.reckoner.numbers.sources import Messages, SharedNumbers, SourceKeys, SourceLines, stated_messages

SHARED, POSITIONS, CATEGORIES = "shared", "positions", "categories"
TREES, RIDGE, IDENTITIES, OTHERS = "trees", "ridge", "identities", "others"
_RARE = 0.01  # the share at either end that a model rules out
_BEYOND = 18.0  # halves of the range of the training values, beyond which a number is far from them
_EXACT = 0.05  # of the spread: the width of an exact line's interval
PARTS = (IDENTITIES, TREES, RIDGE, OTHERS, SHARED, POSITIONS, CATEGORIES)  # each can be left out


class Estimator(IntEnum):
    """Where the estimate of an attribute comes from, but where an identity speaks."""

    MEDIAN = 0  # of the training values, whatever is known
    LINES = 1  # all sources, each by its line
    RIDGE = 2  # a linear model of sources, positions and categories
    TREES = 3
    BOTH = 4  # the mean of the last two


@dataclass(frozen=True)
class Setting:
    """What all attributes of a graph share."""

    positions: Positions
    keys: SourceKeys
    size: int  # entities
    without: frozenset[str] = frozenset()  # parts that are left out, to see what they are worth

    def stated(self, known: KnownNumbers, cases: Cases, attribute: int) -> Messages:
        """What is heard of other numbers."""
        if OTHERS in self.without:
            nothing = np.zeros(0, dtype=np.int64)
            return Messages.of(nothing, nothing, np.zeros(0))
        return stated_messages(known, cases, attribute, self.keys)

    def exact(self, known: KnownNumbers, cases: Cases, attribute: int) -> Messages:
        """What is heard of other numbers as they are stated; nothing where an entity has several."""
        said = np.where(known.single, known.numbers, np.nan)
        return stated_messages(known, cases, attribute, self.keys, said)

    def heard(self, stated: Messages, cases: Cases, shared: SharedNumbers, whole_folds: bool) -> Messages:
        """All that is heard, with the numbers of those that share a neighbour."""
        if SHARED in self.without:
            return stated
        return Messages.joined([stated, shared.messages(cases, whole_folds, self.keys)])

    def places(self, cases: Cases) -> np.ndarray:  # (cases, dimensions)
        """Where some cases stand."""
        return np.zeros((len(cases), 0)) if POSITIONS in self.without else self.positions.of(cases)


@dataclass(frozen=True)
class ModelInputs:
    """What models see of some cases."""

    guesses: np.ndarray  # (cases, guesses): the sources together
    places: np.ndarray  # (cases, dimensions)
    matrix: np.ndarray  # (cases, columns)
    links: np.ndarray  # (cases,): how many
    linear: np.ndarray  # (cases, l): what the linear model sees

    @staticmethod
    def of(guesses: np.ndarray, places: np.ndarray, matrix: np.ndarray, cases: Cases, columns: Columns) -> ModelInputs:
        """Put side by side what is known."""
        links = np.bincount(cases.link_cases, minlength=len(cases)).astype(np.float64)
        ones = np.ones((len(cases), 1))
        linear = np.concatenate([ones, 3 * guesses, places, columns.linear(matrix)], axis=1)
        return ModelInputs(guesses, places, matrix, links, linear)

    @property
    def trees(self) -> np.ndarray:
        """What the trees see."""
        return np.concatenate([self.guesses, self.places, self.matrix], axis=1)

    def hints(self, center: np.ndarray, apart: np.ndarray) -> np.ndarray:  # (cases, hints)
        """What says how far an estimate may be off; `apart` is how much two models disagree."""
        sure = self.guesses[:, GUESSES - 1]
        length = np.linalg.norm(self.places, axis=1) if self.places.shape[1] else np.zeros(len(sure))
        columns = [np.ones(len(sure)), sure, sure**2, np.abs(center), center, length, np.log1p(self.links), apart]
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Expert:
    """An identity that is used wherever its numbers are known, and the errors it makes."""

    identity: Identity
    kind: Kind  # of the scale on which its errors are
    shape: ErrorShape

    @property
    def exact(self) -> bool:
        """Whether nine errors of ten are small beside the spread; what is not exact must be plausible to be used."""
        return self.shape.multiple(0.95) - self.shape.multiple(0.05) < _EXACT


@dataclass(frozen=True)
class Estimates:
    """Where the numbers of some cases lie: an estimate and a width, each on the scale of what made it."""

    makers: np.ndarray  # (cases,): 0 is the learned model, others count the experts from 1
    centers: np.ndarray  # (cases,)
    widths: np.ndarray  # (cases,)


@dataclass(frozen=True)
class LearnedAttribute:
    """Everything that estimates an attribute, learned from the training graph."""

    estimator: Estimator
    share: float  # of the way from the median to what the estimator says
    kind: Kind  # of scale
    middle: float  # the median, on the scale
    low: float  # no estimate lies below, on the scale
    high: float
    lines: SourceLines
    columns: Columns
    ridge: np.ndarray  # (folds + 1, l): the weights without each fold, and their mean
    forest: Forest | None
    width: WidthModel | None
    shape: ErrorShape
    experts: tuple[Expert, ...]

    def estimates(
        self,
        setting: Setting,
        known: KnownNumbers,
        scale: Scale,
        shared: SharedNumbers,
        cases: Cases,
        attribute: int,
        folds: np.ndarray,
    ) -> Estimates:
        """Of some cases, each with the fold that it was learned in; FOLDS where it was not."""
        count = len(cases)
        makers = np.zeros(count, dtype=np.int64)
        centers, widths = np.full(count, self.middle), np.ones(count)
        if self.estimator is not Estimator.MEDIAN:
            stated = setting.stated(known, cases, attribute)
            messages = setting.heard(stated, cases, shared, whole_folds=False)
            guesses = self.lines.guesses(messages, count, folds)
            matrix = self.columns.of(cases, messages)
            seen = ModelInputs.of(guesses, setting.places(cases), matrix, cases, self.columns)
            linear = (seen.linear * self.ridge[folds]).sum(axis=1)
            trees = self.forest.predict(seen.trees, folds) if self.forest is not None else linear
            centers = self.centered(choice(self.estimator, guesses, linear, trees))
            if self.width is not None:
                widths = self.width.widths(seen.hints(centers, np.abs(linear - trees)))
        if self.experts:
            general, general_widths = centers.copy(), widths.copy()
            raw = setting.exact(known, cases, attribute)
            for place, expert in reversed(list(enumerate(self.experts, 1))):
                numbers = expert.identity.numbers(raw, folds)
                told = np.isfinite(numbers)
                if not expert.exact:
                    told &= self.plausible(scale, numbers, general, general_widths)
                own = expert_scale(scale, expert.kind)
                makers[told], widths[told] = place, 1.0
                centers[told] = own.score(numbers[told])
        return Estimates(makers, centers, widths)

    def over(self, old: int, size: int) -> LearnedAttribute:
        """The same over a graph of so many entities, learned from one of fewer."""
        if old == size:
            return self
        neighbours = renumbered(self.columns.neighbours, old, size)
        return replace(self, columns=replace(self.columns, size=size, neighbours=neighbours))

    def plausible(self, scale: Scale, numbers: np.ndarray, centers: np.ndarray, widths: np.ndarray) -> np.ndarray:
        """Which of some numbers are near the training values, or likely: what a line is made of may be a mistake."""
        with np.errstate(invalid="ignore"):
            multiples = (scale.score(numbers) - centers) / widths
            likely = (multiples >= self.shape.multiple(_RARE)) & (multiples <= self.shape.multiple(1 - _RARE))
            low, high = float(scale.numbers[0]), float(scale.numbers[-1])
            reach = _BEYOND * (high / 2 - low / 2)
            return likely | ((numbers >= low - reach) & (numbers <= high + reach))

    def centered(self, said: np.ndarray) -> np.ndarray:
        """The estimate between the median and what a model says, within what is sensible."""
        return (self.middle + self.share * (said - self.middle)).clip(self.low, self.high)


def choice(estimator: Estimator, guesses: np.ndarray, linear: np.ndarray, trees: np.ndarray) -> np.ndarray:
    """What one of the estimators says."""
    match estimator:
        case Estimator.LINES:
            return guesses[:, 2]
        case Estimator.RIDGE:
            return linear
        case Estimator.TREES:
            return trees
    return (linear + trees) / 2


def expert_scale(scale: Scale, kind: Kind) -> Scale:
    """The scale of another kind of the same training values."""
    return scale if scale.kind == kind else Scale.of(scale.sample, kind)


def ridge_weights(
    features: np.ndarray, folds: np.ndarray, target: np.ndarray, penalties: tuple[float, ...] = (3, 10, 30, 100, 300)
) -> tuple[np.ndarray, np.ndarray]:  # -> (folds + 1, f), (n,)
    """A linear model without each fold, and their mean; and what it says out of fold. The penalty that errs least."""
    keep = np.eye(features.shape[1])
    keep[: 1 + GUESSES] *= 0.1  # the first say most
    squares = [features[folds == f].T @ features[folds == f] for f in range(FOLDS)]
    products = [features[folds == f].T @ target[folds == f] for f in range(FOLDS)]
    best: tuple[float, np.ndarray, np.ndarray] | None = None
    for penalty in penalties:
        weights = np.array(
            [
                np.linalg.solve(sum(squares) - squares[f] + penalty * keep, sum(products) - products[f])
                for f in range(FOLDS)
            ]
        )
        found = (features * weights[folds]).sum(axis=1)
        error = float(np.abs(found - target).mean())
        if best is None or error < best[0]:
            best = error, np.concatenate([weights, weights.mean(axis=0, keepdims=True)]), found
    assert best is not None
    return best[1], best[2]
