"""Columns: what trees and linear models see of a case, as a matrix whose columns are chosen for each attribute."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.models.reckoner.numbers.cases import Cases
from kgreckon.models.reckoner.numbers.sources import Messages, SourceKeys, SourceLines

GUESSES = 5  # columns of the sources together
_SOURCES = 40
_SPREAD = 8  # sources whose extremes and count are columns too
_RELATIONS = 24
_NEIGHBOURS = 32
_LEAST = 5  # entities that a column is about


@dataclass(frozen=True)
class Columns:
    """Which sources, relations and neighbours have a column."""

    size: int  # entities
    sources: np.ndarray  # (s,) int64 rising: a column each for what they say
    own: np.ndarray  # (s,) bool: which of them are the entity's own attributes
    spread: np.ndarray  # int64 rising: sources with several voices: lowest, highest and count
    relations: np.ndarray  # int64 rising: how many facts of each
    neighbours: np.ndarray  # int64 rising, relation and neighbour in one number: whether it is one

    @staticmethod
    def choose(
        cases: Cases, messages: Messages, lines: SourceLines, keys: SourceKeys, size: int, categories: bool
    ) -> Columns:
        """The sources that explain most, and the most frequent relations and neighbours."""
        worth = (1 - lines.errors[:, -1]) * lines.counts
        often = lines.counts >= _LEAST
        sources = np.sort(lines.sources[often][np.argsort(-worth[often], kind="stable")[:_SOURCES]])
        place = np.searchsorted(lines.sources, messages.sources).clip(max=max(0, len(lines.sources) - 1))
        heard = np.isin(messages.sources, lines.sources)
        several = np.bincount(place[heard & (messages.counts > 1)], minlength=len(lines.sources))
        many = several > np.maximum(_LEAST, 0.2 * lines.counts)
        spread = np.sort(lines.sources[many][np.argsort(-worth[many], kind="stable")[:_SPREAD]])
        nothing = np.zeros(0, dtype=np.int64)
        relations, neighbours = nothing, nothing
        if categories:
            relations = _most(cases.link_labels, len(cases), 1.0, _RELATIONS)
            pairs = cases.link_labels * size + cases.link_others
            neighbours = _most(pairs, len(cases), 0.97, _NEIGHBOURS)
        return Columns(size, sources, keys.is_own(sources), spread, relations, neighbours)

    def of(self, cases: Cases, messages: Messages) -> np.ndarray:  # (cases, columns)
        """The matrix of some cases; not a number where nothing is heard."""
        count = len(cases)
        said = _placed(messages.cases, messages.sources, messages.means, self.sources, count)
        spread = [
            _placed(messages.cases, messages.sources, column, self.spread, count)
            for column in (messages.lows, messages.highs, messages.counts)
        ]
        pairs = cases.link_labels * self.size + cases.link_others
        counted = [
            _counted(cases.link_cases, wanted, chosen, count)
            for wanted, chosen in ((cases.link_labels, self.relations), (pairs, self.neighbours))
        ]
        return np.concatenate([said, *spread, *counted], axis=1)

    def linear(self, matrix: np.ndarray) -> np.ndarray:
        """The part that a linear model can use: own attributes, whether each is there, and neighbours."""
        own = matrix[:, : len(self.sources)][:, self.own]
        neighbours = matrix[:, matrix.shape[1] - len(self.neighbours) :]
        return np.concatenate([np.nan_to_num(own), np.isfinite(own), neighbours], axis=1)


def _most(labels: np.ndarray, count: int, share: float, limit: int) -> np.ndarray:
    found, often = np.unique(labels, return_counts=True)
    kept = (often >= max(_LEAST, 0.01 * count)) & (often <= max(_LEAST, share * count) if share < 1 else True)
    return np.sort(found[kept][np.argsort(-often[kept], kind="stable")[:limit]])


def _placed(rows: np.ndarray, labels: np.ndarray, values: np.ndarray, chosen: np.ndarray, count: int) -> np.ndarray:
    found = np.full((count, len(chosen)), np.nan)
    if len(chosen):
        place = np.searchsorted(chosen, labels).clip(max=len(chosen) - 1)
        there = chosen[place] == labels
        found[rows[there], place[there]] = values[there]
    return found


def _counted(rows: np.ndarray, labels: np.ndarray, chosen: np.ndarray, count: int) -> np.ndarray:
    found = np.zeros((count, len(chosen)))
    if len(chosen):
        place = np.searchsorted(chosen, labels).clip(max=len(chosen) - 1)
        there = chosen[place] == labels
        np.add.at(found, (rows[there], place[there]), 1)
    return found
