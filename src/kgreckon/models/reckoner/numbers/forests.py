"""Forests: boosted regression trees as plain arrays, learned by scikit-learn and read without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kgreckon.compiling import compiled
from kgreckon.models.reckoner.existence import FOLDS

_RATE = 8.0  # the learning rate, times the number of trees
_LEAVES = 15
_BINS = 63  # in which a column's numbers are told apart: few are faster, and as good


@dataclass(frozen=True)
class Forest:
    """One sum of trees for each fold, learned without it."""

    starts: np.ndarray  # (folds + 1,) int32: the trees of each fold
    roots: np.ndarray  # (trees,) int32
    features: np.ndarray  # (nodes,) int16: what a node asks for; -1 at a leaf
    thresholds: np.ndarray  # (nodes,) float64: up to here to the left
    lefts: np.ndarray  # (nodes,) int32
    rights: np.ndarray  # (nodes,) int32
    missing_left: np.ndarray  # (nodes,) bool
    values: np.ndarray  # (nodes,) float32: of leaves
    bases: np.ndarray  # (folds,) float64: what the trees are added to

    @staticmethod
    def fit(features: np.ndarray, target: np.ndarray, folds: np.ndarray, seed: int, trees: int) -> Forest:
        """Learn from cases with their scores, for each fold from the others."""
        from sklearn.ensemble import HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        tables: list[np.ndarray] = []
        starts, bases = [0], []
        with threadpool_limits(1):  # sums in one order: the same seed gives the same bytes
            for fold in range(FOLDS):
                rows = folds != fold
                heard = np.isfinite(features[rows]).any(axis=0)  # scikit-learn refuses a column that is empty
                least = int(np.clip(rows.sum() // 40, 5, 20))
                learner = HistGradientBoostingRegressor(
                    loss="absolute_error",
                    learning_rate=_RATE / trees,
                    max_iter=trees,
                    max_leaf_nodes=_LEAVES,
                    min_samples_leaf=least,
                    l2_regularization=3.0,
                    max_features=0.5,
                    max_bins=_BINS,
                    early_stopping=False,
                    random_state=seed + fold,
                ).fit(np.where(heard, features[rows], 0.0), target[rows])
                tables += [tree.nodes for (tree,) in learner._predictors]
                starts.append(len(tables))
                bases.append(float(np.asarray(learner._baseline_prediction).item()))
        nodes = np.concatenate(tables)
        roots = np.cumsum([0] + [len(table) for table in tables[:-1]])
        shift = np.repeat(roots, [len(table) for table in tables])
        return Forest(
            starts=np.array(starts, dtype=np.int32),
            roots=roots.astype(np.int32),
            features=np.where(nodes["is_leaf"].astype(bool), -1, nodes["feature_idx"]).astype(np.int16),
            thresholds=np.nan_to_num(nodes["num_threshold"].astype(np.float64)),  # infinite: only what is missing right
            lefts=(nodes["left"] + shift).astype(np.int32),
            rights=(nodes["right"] + shift).astype(np.int32),
            missing_left=nodes["missing_go_to_left"].astype(np.bool_),
            values=nodes["value"].astype(np.float32),
            bases=np.array(bases),
        )

    def predict(self, features: np.ndarray, folds: np.ndarray) -> np.ndarray:  # (n, f), (n,) -> (n,)
        """The score of each case: of what was learned without its fold, or of all together where that is FOLDS."""
        nodes = self.features, self.thresholds, self.lefts, self.rights, self.missing_left, self.values
        found = np.zeros(len(features))
        _walk(
            np.ascontiguousarray(features), folds.astype(np.int64), self.starts, self.roots, *nodes, self.bases, found
        )
        return found


@compiled
def _walk(
    rows: np.ndarray,
    folds: np.ndarray,
    starts: np.ndarray,
    roots: np.ndarray,
    features: np.ndarray,
    thresholds: np.ndarray,
    lefts: np.ndarray,
    rights: np.ndarray,
    missing_left: np.ndarray,
    values: np.ndarray,
    bases: np.ndarray,
    found: np.ndarray,
) -> None:
    """Walk all trees of each row's fold, or of all folds."""
    num_folds = len(starts) - 1
    for row in range(len(rows)):
        first, last, share = 0, num_folds, 1.0 / num_folds
        if folds[row] < num_folds:
            first, last, share = folds[row], folds[row] + 1, 1.0
        total = 0.0
        for fold in range(first, last):
            total += bases[fold]
            for tree in range(starts[fold], starts[fold + 1]):
                node = roots[tree]
                while features[node] >= 0:
                    x = rows[row, features[node]]
                    if np.isnan(x):
                        node = lefts[node] if missing_left[node] else rights[node]
                    else:
                        node = lefts[node] if x <= thresholds[node] else rights[node]
                total += values[node]
        found[row] = total * share
