"""Sources: everything that may say something of an attribute's number on an entity, and how much each explains.

An entity hears a number from each of its other attributes, from its neighbours along a relation for each attribute
that they have, and from the entities that share a neighbour with it and have the attribute themselves. Each source
speaks by a line of its own; a line that speaks to an entity of some fold was fitted without that fold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.cases import Cases, KnownNumbers, ranges

_PSEUDO = 4.0  # observations of no use, added to every source, so that a few lucky ones do not persuade
_SHARPNESS = (1.0, 3.0)  # how much more a source weighs that explains more: gently, and steeply
_NOTHING = 0.995  # of the variance that is left, from which on a source is forgotten
_LEAST = 3  # observations that a source needs to be heard


@dataclass(frozen=True)
class SourceKeys:
    """Each source as one number: an attribute along a relation, an own attribute, or whoever shares a neighbour."""

    labels: int  # relations in both directions
    attributes: int

    def neighbours(self, labels: np.ndarray, attributes: np.ndarray) -> np.ndarray:
        """What the neighbours along a relation have."""
        return labels * self.attributes + attributes

    def own(self, attributes: np.ndarray) -> np.ndarray:
        """What the entity itself has."""
        return self.labels * self.attributes + attributes

    def sharing(self, labels: np.ndarray) -> np.ndarray:
        """What those have that share a neighbour along a relation."""
        return (self.labels + 1) * self.attributes + labels

    def is_own(self, keys: np.ndarray) -> np.ndarray:
        """Which of some sources are the entity itself."""
        return keys // max(1, self.attributes) == self.labels


@dataclass(frozen=True)
class Messages:
    """What cases hear: one number for each case and source, the mean of what there is, with its extremes."""

    cases: np.ndarray  # (n,)
    sources: np.ndarray  # (n,)
    means: np.ndarray  # (n,)
    lows: np.ndarray  # (n,)
    highs: np.ndarray  # (n,)
    counts: np.ndarray  # (n,)

    @staticmethod
    def of(
        cases: np.ndarray, sources: np.ndarray, heard: np.ndarray, weights: np.ndarray | None = None
    ) -> Messages:  # (m,) each
        """Gather what was heard, by case and then by source."""
        order = np.lexsort((sources, cases))
        cases, sources, heard = cases[order], sources[order], heard[order]
        weights = np.ones(len(heard)) if weights is None else weights[order]
        new = np.ones(len(cases), dtype=bool)
        new[1:] = (np.diff(cases) != 0) | (np.diff(sources) != 0)
        first = np.flatnonzero(new)
        if not len(first):
            nothing = np.zeros(0)
            return Messages(cases, sources, nothing, nothing, nothing, nothing)
        means = np.add.reduceat(weights * heard, first) / np.add.reduceat(weights, first)
        lows, highs = np.minimum.reduceat(heard, first), np.maximum.reduceat(heard, first)
        counts = np.diff(np.append(first, len(cases))).astype(np.float64)
        return Messages(cases[first], sources[first], means, lows, highs, counts)

    @staticmethod
    def joined(parts: list[Messages]) -> Messages:
        """All messages, whose sources are different."""
        names = ("cases", "sources", "means", "lows", "highs", "counts")
        return Messages(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def stated_messages(
    known: KnownNumbers, cases: Cases, attribute: int, keys: SourceKeys, said: np.ndarray | None = None
) -> Messages:
    """What is heard from other attributes of the case, and from its neighbours: scores, or what is given to be said.

    What the graph that was learned from does not know has no key.
    """
    said = known.scores if said is None else said
    attributes = known.attributes[cases.own_rows]
    own = (attributes != attribute) & (attributes < keys.attributes)
    own_rows = cases.own_rows[own]
    own_keys = keys.own(known.attributes[own_rows].astype(np.int64))
    link, rows = ranges(known.offsets[cases.link_others], known.offsets[cases.link_others + 1])
    familiar = (known.attributes[rows] < keys.attributes) & (cases.link_labels[link] < keys.labels)
    link, rows = link[familiar], rows[familiar]
    link_keys = keys.neighbours(cases.link_labels[link], known.attributes[rows].astype(np.int64))
    return Messages.of(
        np.concatenate([cases.own_cases[own], cases.link_cases[link]]),
        np.concatenate([own_keys, link_keys]),
        np.concatenate([said[own_rows], said[rows]]),
    )


@dataclass(frozen=True)
class SharedNumbers:
    """The numbers of an attribute on the entities that have each neighbour along each relation."""

    size: int  # entities
    keys: np.ndarray  # (pairs,) int64 rising: relation and neighbour in one number
    sums: np.ndarray  # (pairs, folds, 3): of ones, scores and squared scores, by the fold of the entity
    holders: np.ndarray  # (holders,) rising
    scores: np.ndarray  # (holders,)
    folds: np.ndarray  # (holders,)

    @staticmethod
    def of(cases: Cases, scores: np.ndarray, folds: np.ndarray, size: int) -> SharedNumbers:
        """Of entities that have the attribute, with their scores."""
        pairs = cases.link_labels * size + cases.link_others
        keys, place = np.unique(pairs, return_inverse=True)
        cell = place * FOLDS + folds[cases.link_cases]
        own = scores[cases.link_cases]
        columns = [
            np.bincount(cell, weights=weights, minlength=len(keys) * FOLDS) for weights in (None, own, own * own)
        ]
        sums = np.stack(columns, axis=1).reshape(len(keys), FOLDS, 3)
        return SharedNumbers(size, keys, sums, cases.entities, scores, folds)

    def messages(self, cases: Cases, whole_folds: bool, keys: SourceKeys) -> Messages:
        """What is heard from those that share a neighbour: but for the case itself, or for all of its fold."""
        wanted = cases.link_labels * self.size + cases.link_others
        place = np.searchsorted(self.keys, wanted).clip(max=max(0, len(self.keys) - 1))
        there = self.keys[place] == wanted if len(self.keys) else np.zeros(len(wanted), dtype=bool)
        there &= cases.link_labels < keys.labels
        case, place, label = cases.link_cases[there], place[there], cases.link_labels[there]
        holder = np.searchsorted(self.holders, cases.entities).clip(max=max(0, len(self.holders) - 1))
        holds = (self.holders[holder] == cases.entities)[case] if len(self.holders) else np.zeros(len(case), dtype=bool)
        sums = self.sums[place].sum(axis=1)
        if whole_folds:
            sums -= self.sums[place, self.folds[holder[case]]]
        else:
            score = self.scores[holder[case]]
            sums -= np.stack([np.ones(len(case)), score, score * score], axis=1) * holds[:, None]
        heard = sums[:, 0] > 0.5
        n, total, squares = sums[heard].T
        mean = total / n
        variance = np.maximum(squares / n - mean**2, 0)
        # A group that agrees weighs more; a small one counts as if three of no use belonged to it.
        variance = (n * variance + 3) / (n + 3)
        weight = n / (n + 1) * np.maximum(1 / (variance + 0.02) - 0.9, 0.05)
        return Messages.of(case[heard], keys.sharing(label[heard]), mean, weight)


@dataclass(frozen=True)
class SourceLines:
    """Each source predicts on its own by a line; the more it explains, the more its guess weighs."""

    sources: np.ndarray  # (sources,) int64 rising
    slopes: np.ndarray  # (sources, folds + 1): without each fold, and with all
    offsets: np.ndarray  # (sources, folds + 1)
    errors: np.ndarray  # (sources, folds + 1): the share that is not explained; 1 says nothing
    counts: np.ndarray  # (sources,): how many entities heard it

    @staticmethod
    def fit(messages: Messages, folds: np.ndarray, target: np.ndarray) -> SourceLines:  # (cases,), (cases,)
        """The lines from what the cases hear to their scores."""
        sources, place = np.unique(messages.sources, return_inverse=True)
        count = len(sources)
        x, y = messages.means, target[messages.cases]
        cell = place * FOLDS + folds[messages.cases]

        def left_out(values: np.ndarray | None) -> np.ndarray:
            cells = np.bincount(cell, weights=values, minlength=count * FOLDS).reshape(count, FOLDS)
            total = cells.sum(axis=1, keepdims=True)
            return np.concatenate([total - cells, total], axis=1)

        n = left_out(None)
        safe = np.maximum(n, 1)
        mean_x, mean_y = left_out(x) / safe, left_out(y) / safe
        var_x = np.maximum(left_out(x * x) / safe - mean_x**2, 0)
        var_y = np.maximum(left_out(y * y) / safe - mean_y**2, 0)
        cov = left_out(x * y) / safe - mean_x * mean_y
        shrink = n / (n + _PSEUDO)
        slope = shrink * cov / (var_x + 0.02)
        offset = shrink * (mean_y - slope * mean_x)
        rest = np.maximum(var_y - 2 * slope * cov + slope**2 * var_x, 0)
        error = np.where(n >= _LEAST, (n * rest + _PSEUDO) / (n + _PSEUDO), 1.0)
        kept = (n[:, -1] >= _LEAST) & (error.min(axis=1) < _NOTHING)
        columns = (column[kept].astype(np.float32) for column in (slope, offset, error, n[:, -1]))
        return SourceLines(sources[kept], *columns)

    def guesses(self, messages: Messages, count: int, columns: np.ndarray) -> np.ndarray:  # (cases,) -> (cases, 5)
        """The sources together, weighed gently and steeply, and how sure they are; a case has its column of lines."""
        place = np.searchsorted(self.sources, messages.sources).clip(max=max(0, len(self.sources) - 1))
        there = self.sources[place] == messages.sources if len(self.sources) else np.zeros(len(place), dtype=bool)
        place, case = place[there], messages.cases[there]
        column = columns[case]
        guess = self.offsets[place, column] + self.slopes[place, column] * messages.means[there]
        found, sure = [], np.zeros(count)
        for sharpness in _SHARPNESS:
            weight = np.maximum(1 / self.errors[place, column] - 1, 0) ** sharpness
            total = np.bincount(case, weights=weight, minlength=count)
            joint = np.bincount(case, weights=weight * guess, minlength=count) / (1 + total)
            found += [joint, joint * total / (1 + total)]
            sure = total / (1 + total) if sharpness == _SHARPNESS[0] else sure
        return np.stack([*found, sure], axis=1)
