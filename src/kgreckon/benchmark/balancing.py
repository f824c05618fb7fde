"""Equal shares of queries by how many facts and values the cheapest proofs of their answers lack."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

import numpy as np

from kgreckon.benchmark.hardness import Hardness, most_missing
from kgreckon.benchmark.sampling import Walker
from kgreckon.benchmark.splits import Split, SplitGraph
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode, Ragged
from kgreckon.exact.sets import combine_points
from kgreckon.query import Shape, specific_shapes


class Balance(Enum):
    """By what the validation and testing queries of a type are in equal shares."""

    MISSING = "missing"  # by how many facts and values the cheapest proof of an answer lacks

    @staticmethod
    def of(balance: Balance | str) -> Balance:
        """The same, or the one of that name."""
        try:
            return Balance(balance)
        except ValueError:
            raise UserError(f"queries can be balanced by {Balance.MISSING.value}, not by {balance!r}") from None


def equal_shares(shape: Shape, wanted: int) -> dict[int, int]:
    """How many queries of a type to draw for each number of missing facts and values that a proof can lack."""
    specific = specific_shapes(shape)
    most = max(most_missing(each) for each in specific) if specific else 1
    return {missing: (wanted + most - missing) // most for missing in range(1, most + 1)}


def walkers_along_missing_facts(graphs: SplitGraph, split: Split, mode: ComparisonMode) -> tuple[Walker, Walker]:
    """Walks on the graph of a split, and walks that go only along facts and values that the training graph lacks.

    The first rarely meet proofs that lack several.
    """
    facts, values = graphs.fact_splits, graphs.attribute_fact_splits
    within = graphs.graph.restricted(*((own > Split.TRAIN) & (own <= split) for own in (facts, values)))
    return Walker(graphs.at(split), mode), Walker(within, mode)


def by_missing(easy: Ragged, hard: Ragged, hardness: Hardness) -> Iterator[tuple[int, np.ndarray, Ragged, Ragged]]:
    """The queries that have hard answers of each number of missing facts and values, as a mask, with their answers.

    The answers of that number stay hard, all others count with the easy ones: they are left out of a ranking.
    """
    of = np.repeat(np.arange(len(hard)), hard.counts)
    for missing in np.unique(hardness.missing):
        chosen = hardness.missing == missing
        counts = np.bincount(of[chosen], minlength=len(hard))
        asked = counts > 0
        kept = chosen[asked[of]]
        own, others = _some(hard, asked), _some(easy, asked)
        offsets = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts[asked])])
        wanted = Ragged(offsets, own.items[kept])
        left = Ragged(*combine_points(own.offsets, own.items, offsets, wanted.items, True, False, False))
        known = Ragged(*combine_points(others.offsets, others.items, left.offsets, left.items, True, True, True))
        yield int(missing), asked, known, wanted


def _some(answers: Ragged, queries: np.ndarray) -> Ragged:
    return answers.take(np.flatnonzero(queries))
