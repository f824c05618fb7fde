"""Scales: monotone maps from an attribute's numbers to where prediction is easy, and what is possible at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

Kind = Literal["quantile", "log", "identity"]
KINDS: tuple[Kind, ...] = ("quantile", "log", "identity")

_LARGEST = float(np.finfo(np.float64).max)
_GRID = 512  # points of a density
_KELVIN = ("kelvin", "kelvins", "k")
_DEGREES = ("degree", "degrees", "°")


@dataclass(frozen=True)
class Scale:
    """A monotone map from an attribute's numbers to a scale on which its training values are spread about 1."""

    numbers: np.ndarray  # (knots,) rising: the distinct training values
    scores: np.ndarray  # (knots,) rising: their normal quantiles
    counts: np.ndarray  # (knots,): how often each occurs
    kind: Kind = "quantile"
    middle: float = 0.0  # of the scales that are no quantile transforms
    spread: float = 1.0
    shift: float = 0.0  # added before the logarithm, where zeros occur

    @staticmethod
    def of(numbers: np.ndarray, kind: Kind = "quantile") -> Scale:
        """The scale of some training values: the one with normal quantiles unless another kind is asked for."""
        distinct, counts = np.unique(numbers, return_counts=True)
        shares = (np.cumsum(counts) - counts / 2) / counts.sum()
        scores = special.ndtri(shares)
        if len(distinct) == 1:
            distinct, scores = np.array([distinct[0], distinct[0] + 1]), np.array([0.0, 1.0])
            counts = np.array([counts[0], 0])
        if kind == "quantile":
            return Scale(distinct, scores, counts)
        positive = numbers[numbers > 0]
        shift = float(positive.min() / 2) if kind == "log" and (numbers == 0).any() and len(positive) else 0.0
        straight = np.log(numbers + shift) if kind == "log" else numbers
        low, middle, high = (float(part) for part in np.quantile(straight, (0.25, 0.5, 0.75)))
        spread = (high - low) / 1.349
        if not spread > 1e-9 * max(1.0, abs(middle)):
            spread = max(float(straight.std()), 1e-9 * max(1.0, abs(middle)))
        return Scale(distinct, scores, counts, kind, middle, spread, shift)

    @property
    def sample(self) -> np.ndarray:
        """The training values."""
        return np.repeat(self.numbers, self.counts)

    def fits(self, kind: Kind) -> bool:
        """Whether the training values, and so means of them, have a scale of this kind."""
        if kind == "quantile":
            return True
        values = self.numbers[self.counts > 0]
        if kind == "log" and not (values[0] >= 0 and values[-1] > 0):
            return False
        return len(values) > 1 and float(np.abs(values).max()) < _LARGEST / 1e4

    def score(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers on the scale; beyond the training values, quantiles go on as steep as over their outer tenth."""
        if self.kind == "quantile":
            return _extended(numbers, self.numbers, self.scores)
        if self.kind == "identity":
            return (numbers - self.middle) / self.spread
        least = max(self.numbers[self.numbers > 0].min(initial=_LARGEST) / 1e3, np.finfo(np.float64).tiny)
        return (np.log(np.maximum(numbers + self.shift, least)) - self.middle) / self.spread

    def number(self, scores: np.ndarray) -> np.ndarray:
        """The way back."""
        if self.kind == "quantile":
            return _extended(scores, self.scores, self.numbers)
        straight = self.middle + self.spread * np.asarray(scores, dtype=np.float64)
        if self.kind == "identity":
            return straight
        return np.exp(np.minimum(straight, np.log(_LARGEST) - 1)) - self.shift


@np.errstate(over="ignore")  # beyond the largest numbers there are
def _extended(x: np.ndarray, knots: np.ndarray, values: np.ndarray) -> np.ndarray:
    x, knots, values = x / 4, knots / 4, values / 4  # so that numbers at both ends of all there are have a difference
    found = np.interp(x, knots, values)
    tenth = max(1, len(knots) // 10)
    low = (values[tenth] - values[0]) / (knots[tenth] - knots[0])
    high = (values[-1] - values[-1 - tenth]) / (knots[-1] - knots[-1 - tenth])
    found = np.where(x < knots[0], values[0] + low * (x - knots[0]), found)
    found = np.where(x > knots[-1], values[-1] + high * (x - knots[-1]), found)
    return (4 * found).clip(-_LARGEST, _LARGEST)


@dataclass(frozen=True)
class Density:
    """A smooth density of some scores: how likely each is among all training values."""

    grid: np.ndarray  # (points,) rising
    logs: np.ndarray  # (points,)

    @staticmethod
    def of(scores: np.ndarray) -> Density:
        """A kernel density, with a floor of a broad one."""
        width = max(0.9 * len(scores) ** -0.2, 0.05)
        low, high = float(scores.min()) - 4 * width, float(scores.max()) + 4 * width
        edges = np.linspace(low, high, _GRID + 1)
        grid = (edges[1:] + edges[:-1]) / 2
        step = grid[1] - grid[0]
        counts, _ = np.histogram(scores, edges)
        reach = min(_GRID // 2, max(1, int(4 * width / step)))
        kernel = np.exp(-((np.arange(-reach, reach + 1) * step / width) ** 2) / 2)
        smooth = np.convolve(counts, kernel / kernel.sum(), mode="same") / counts.sum() / step
        return Density(grid, np.log(0.95 * smooth + 0.05 / (high - low)))

    def log(self, scores: np.ndarray) -> np.ndarray:
        """The logarithm of the density."""
        return np.interp(scores, self.grid, self.logs)


def limits(numbers: np.ndarray, unit: str) -> tuple[float, float]:
    """What numbers an attribute can have, from its training values and its unit.

    No amount is negative where none is; no temperature lies below absolute zero, no latitude beyond the poles.
    """
    least, most = float(numbers.min()), float(numbers.max())
    name = unit.lower().strip()
    low, high = (0.0 if least >= 0 else -_LARGEST), _LARGEST
    if name in _KELVIN:
        low = min(0.0, least)
    if name in _DEGREES:
        for bound in (90.0, 180.0, 360.0):
            if -bound <= least and most <= bound:
                return (0.0 if bound == 360.0 and least >= 0 else -bound), bound
    if name in ("percent", "%") and least >= 0 and most <= 100:
        high = 100.0
    return low, high
