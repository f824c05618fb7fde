"""Intervals: how far an estimate may be off, from errors on entities whose own number did not help to make it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

_DEGREES = (0.7, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 30.0)
_SHARES = np.concatenate([[0.0025, 0.005, 0.01], np.arange(0.02, 0.99, 0.02), [0.99, 0.995, 0.9975]])
_FEW = 20  # errors, below which the Student distribution speaks alone


@dataclass(frozen=True)
class ErrorShape:
    """How errors are distributed, as multiples of a width that each estimate has for itself."""

    degrees: float  # of freedom of the Student distribution that fits best
    spread: float  # its width
    multiples: np.ndarray  # (shares,): conformal quantiles of the multiples, rising, on either side of 0

    @staticmethod
    def of(multiples: np.ndarray) -> ErrorShape:
        """The shape of some errors."""
        n = len(multiples)
        if n < 3:
            return ErrorShape(3.0, 1.0, stats.t.ppf(_SHARES, 3.0))
        # Of an identity most errors may be nothing.
        least = max(float(np.quantile(np.abs(multiples), 0.9)) * 1e-6, 1e-12)
        fits = []
        for degrees in _DEGREES:
            spread = _spread(multiples, degrees, least)
            fits.append(
                (float(stats.t.logpdf(multiples / spread, degrees).sum() - n * np.log(spread)), degrees, spread)
            )
        _, degrees, spread = max(fits)
        tails = spread * stats.t.ppf(_SHARES, min(degrees, max(1.0, n - 1.0)))
        if n < _FEW:
            found = tails * (1 + 2 / n)
        else:
            # The k-th of n errors is what the next one stays below with a probability of k / (n + 1).
            place = _SHARES * (n + 1) - 1
            found = np.interp(place, np.arange(n), np.sort(multiples))
            found = np.where(place < 0, np.minimum(found, tails), found)
            found = np.where(place > n - 1, np.maximum(found, tails), found)
        middle = int(np.argmin(np.abs(_SHARES - 0.5)))
        found[: middle + 1] = np.minimum(found[: middle + 1], 0)
        found[middle:] = np.maximum(found[middle:], 0)
        found[middle] = 0.0  # the estimate is the median
        return ErrorShape(degrees, spread, np.maximum.accumulate(found))

    def multiple(self, share: float) -> float:
        """How many widths above the estimate the number stays below with a probability."""
        if share < _SHARES[0] or share > _SHARES[-1]:
            edge = 0 if share < 0.5 else -1
            tail = stats.t.ppf(share, self.degrees) / stats.t.ppf(_SHARES[edge], self.degrees)
            return float(self.multiples[edge] * max(1.0, tail))
        return float(np.interp(share, _SHARES, self.multiples))


def _spread(errors: np.ndarray, degrees: float, least: float) -> float:
    """The width of the Student distribution that fits some errors best."""
    spread = max(float(np.median(np.abs(errors))), least)
    for _ in range(60):
        weights = (degrees + 1) / (degrees + (errors / spread) ** 2)
        last, spread = spread, max(float(np.sqrt(np.mean(weights * errors**2))), least)
        if abs(spread - last) < 1e-4 * last:
            break
    return spread


@dataclass(frozen=True)
class WidthModel:
    """The width of an error from what is known of its estimate: a linear model of its logarithm."""

    weights: np.ndarray  # (hints,)
    low: float
    high: float

    @staticmethod
    def fit(hints: np.ndarray, errors: np.ndarray) -> WidthModel:  # (n, hints), (n,)
        """Learn from absolute errors."""
        logs = np.log(errors + 0.02)
        penalty = np.diag([0.0] + [5.0] * (hints.shape[1] - 1))
        weights = np.linalg.solve(hints.T @ hints + penalty, hints.T @ logs)
        low, high = (float(part) for part in np.quantile(logs, (0.02, 0.98)))
        return WidthModel(weights, low, high)

    def widths(self, hints: np.ndarray) -> np.ndarray:  # (n,)
        """The width of each error."""
        return np.exp((hints @ self.weights).clip(self.low, self.high))
