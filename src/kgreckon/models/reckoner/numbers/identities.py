"""Identities and linear relations: an attribute's number as a line in another number, or in two others put together.

Mass from the number of nucleons, density from population and area, the end from the start and the duration: where such
a line fits, its answer is used as it is, and nothing else is asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.sources import Messages, SourceKeys

_LEAST = 8  # entities on which a line must be seen
_SOURCES = 24  # of those that speak to most entities, tried alone
_MOST = 16  # lines that are given
_IN_PAIRS = 10  # and tried in pairs
_DRAWS = 40  # lines through two points that are tried
_FIRST_DRAWS, _FEW = 15, 200  # of so many points, to see whether there may be a line at all
_SIMPLE = 0.02  # of the spread that two sources must miss less than one
_FITS = 0.25  # of the spread, at most, that an identity misses
_SIMPLER = 0.98  # a simpler line stands unless another errs less than this share of it


class Form(IntEnum):
    """How two numbers become one."""

    ALONE = 0
    SUM = 1
    DIFFERENCE = 2
    PRODUCT = 3
    RATIO = 4

    def of(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """The one number; not a number where there is none."""
        with np.errstate(all="ignore"):
            match self:
                case Form.ALONE:
                    found = first
                case Form.SUM:
                    found = first + second
                case Form.DIFFERENCE:
                    found = first - second
                case Form.PRODUCT:
                    found = first * second
                case Form.RATIO:
                    found = first / second
        return np.where(np.isfinite(found) & (np.abs(found) < 1e150), found, np.nan)


@dataclass(frozen=True)
class Identity:
    """The number is slope times what one or two sources say, plus offset; or their logarithms are so related."""

    form: Form
    first: int  # source key
    second: int  # the same as the first where it stands alone
    logarithmic: bool
    slopes: np.ndarray  # (folds + 1,): without each fold, and with all
    offsets: np.ndarray  # (folds + 1,)

    def heard(self, messages: Messages, count: int) -> np.ndarray:  # (cases,)
        """What the sources say of each case; not a number where they are silent."""
        first, second = (_column(messages, key, count) for key in (self.first, self.second))
        return _ready(self.form.of(first, second), self.logarithmic)

    def straight(self, heard: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """What the line gives, before a logarithm is undone."""
        return self.slopes[columns] * heard + self.offsets[columns]

    def numbers(self, messages: Messages, columns: np.ndarray) -> np.ndarray:  # (cases,) -> (cases,)
        """The numbers that the line gives; not a number where a source is silent."""
        straight = self.straight(self.heard(messages, len(columns)), columns)
        return np.exp(np.minimum(straight, 600.0)) if self.logarithmic else straight


def _ready(heard: np.ndarray, logarithmic: bool) -> np.ndarray:
    if not logarithmic:
        return heard
    with np.errstate(all="ignore"):
        return np.where(heard > 0, np.log(heard), np.nan)


def _column(messages: Messages, key: int, count: int) -> np.ndarray:
    found = np.full(count, np.nan)
    own = messages.sources == key
    found[messages.cases[own]] = messages.means[own]
    return found


@np.errstate(over="ignore", invalid="ignore")  # a line through the largest numbers there are may leave them
def find_identities(
    messages: Messages, numbers: np.ndarray, folds: np.ndarray, keys: SourceKeys, seed: int
) -> list[Identity]:
    """The lines that fit an attribute's numbers far better than their spread, the best first."""
    rng = np.random.default_rng(seed)
    count = len(numbers)
    positive = bool((numbers > 0).all())
    ranks = np.argsort(np.argsort(numbers, kind="stable"), kind="stable") / max(1, count - 1)
    found: list[tuple[float, Identity]] = []
    for form, first, second, heard in _candidates(messages, count, keys):
        told = np.isfinite(heard)
        if told.sum() < _LEAST or np.ptp(heard[told]) == 0:
            continue
        # Where the order is not the same or the reverse, no line fits well.
        order = np.corrcoef(np.argsort(np.argsort(heard[told])), ranks[told])[0, 1] if told.sum() > 2 else 0.0
        if not abs(order) > 0.5:
            continue
        # A power may be negative, so of the two ratios the one that rises with the number is enough.
        powers = positive and (form in (Form.ALONE, Form.PRODUCT) or (form is Form.RATIO and order > 0))
        for logarithmic in (False, True) if powers else (False,):
            x, y = _ready(heard, logarithmic), np.log(numbers) if logarithmic else numbers
            rows = np.isfinite(x)
            if rows.sum() < _LEAST or np.ptp(x[rows]) == 0:
                continue
            # A first look at some of them: most are no identity.
            some = np.flatnonzero(rows)
            some = some[:: 1 + len(some) // _FEW]
            if _missed(y[some], x[some], *_robust_line(x[some], y[some], rng, _FIRST_DRAWS)) > 2 * _FITS:
                continue
            lines = [_robust_line(x[rows & (folds != fold)], y[rows & (folds != fold)], rng) for fold in range(FOLDS)]
            lines.append(_robust_line(x[rows], y[rows], rng))
            slopes, offsets = (np.array(column) for column in zip(*lines, strict=True))
            identity = Identity(form, first, second, logarithmic, slopes, offsets)
            if not np.abs(slopes).min() > 0:
                continue
            share = _missed(y[rows], x[rows], slopes[folds[rows]], offsets[folds[rows]])
            if share < _FITS:
                found.append((share + _SIMPLE * (form is not Form.ALONE) + _SIMPLE / 10 * logarithmic, identity))
    return [identity for _, identity in sorted(found, key=lambda pair: pair[0])[:_MOST]]


def _candidates(messages: Messages, count: int, keys: SourceKeys) -> Iterator[tuple[Form, int, int, np.ndarray]]:
    sources, heard = np.unique(messages.sources, return_counts=True)
    order = np.argsort(-heard, kind="stable")
    often = sources[order][heard[order] >= _LEAST]
    own, others = often[keys.is_own(often)], often[~keys.is_own(often)]
    columns = {int(key): _column(messages, int(key), count) for key in (*own[:_SOURCES], *others[:_SOURCES])}
    for key, column in columns.items():
        yield Form.ALONE, key, key, column
    paired = [int(key) for key in own[:_IN_PAIRS]]
    for place, first in enumerate(paired):
        for second in paired[:place]:
            both = columns[first], columns[second]
            if (np.isfinite(both[0]) & np.isfinite(both[1])).sum() < _LEAST:
                continue
            for form in (Form.SUM, Form.DIFFERENCE, Form.PRODUCT, Form.RATIO):
                yield form, first, second, form.of(*both)
            yield Form.RATIO, second, first, Form.RATIO.of(both[1], both[0])


def _missed(y: np.ndarray, x: np.ndarray, slope: np.ndarray | float, offset: np.ndarray | float) -> float:
    """The error of a line beside that of the median, both as medians."""
    spread, left = np.abs(y - np.median(y)), np.abs(y - slope * x - offset)
    of_spread = float(np.median(spread))
    if of_spread == 0:  # most numbers are the same
        return float(left.mean()) / max(float(spread.mean()), 1e-300)
    return float(np.median(left)) / of_spread


def _robust_line(x: np.ndarray, y: np.ndarray, rng: np.random.Generator, draws: int = _DRAWS) -> tuple[float, float]:
    """Slope and offset with the least sum of absolute errors among many lines; a simple one where it does as well."""
    if len(x) < 2:
        return 1.0, 0.0
    tried = [(1.0, 0.0), (1.0, float(np.median(y - x)))]
    some = x != 0
    if some.any():
        tried.append((float(np.median(y[some] / x[some])), 0.0))
    one, other = rng.integers(len(x), size=(2, draws))
    apart = x[one] != x[other]
    slopes = (y[one] - y[other])[apart] / (x[one] - x[other])[apart]
    tried += [(float(slope), float(np.median(y - slope * x))) for slope in np.unique(slopes)]
    errors = [float(np.abs(y - slope * x - offset).mean()) for slope, offset in tried]
    best = 0
    for place, error in enumerate(errors):
        if error < _SIMPLER * errors[best]:
            best = place
    return tried[best]
