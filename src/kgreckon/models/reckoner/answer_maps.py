"""The probability that is shown for an answer, from what fuzzy sets compute: a monotone map for each type of queries.

Fuzzy sets take facts as independent and maxima for sums, so what they compute is no more than an order for all but the
simplest questions. The log odds of an answer are a line in the log odds of its score, with a slope above zero: so the
order stays. The lines are fitted on validation queries. A query for the tails of one fact needs none: a fact has one
probability.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.evaluation import RankedQueries
from kgreckon.models.reckoner.calibrating import fit_share
from kgreckon.query import Operator, Shape, general_type

_LEAST = 1e-4  # of a score that is fitted on
_MOST = 4000  # candidates of a batch of queries that are fitted on
_ONE = 1 - 1e-6


@dataclass(frozen=True)
class AnswerMaps:
    """By type of queries, the offset and the slope of a line between log odds."""

    lines: Mapping[str, tuple[float, float]]

    def shown(self, shape: Shape, scores: Tensor) -> Tensor:
        """The probabilities of answers to queries of a shape; 0 and 1 stay, and the order does."""
        line = self.lines.get(general_type(shape))
        if line is None or shape.denotes_numbers or is_one_fact(shape):
            return scores
        offset, slope = line
        log_odds = torch.logit(scores.double().clamp(1e-12, _ONE))
        found = torch.sigmoid(offset + slope * log_odds).to(scores.dtype)
        return torch.where((scores <= 0) | (scores >= _ONE), scores, found)

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return {name: list(line) for name, line in self.lines.items()}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> AnswerMaps:
        """The inverse; a TypeError or ValueError where the data is malformed."""
        pairs = {name: pair for name, pair in data.items() if name != "checksum"}
        lines = {name: (float(offset), float(slope)) for name, (offset, slope) in pairs.items()}
        if not all(slope > 0 for _, slope in lines.values()):
            raise ValueError("a map of answers must rise")
        return AnswerMaps(lines)


def is_one_fact(shape: Shape) -> bool:
    """Whether the answers to such a query are the ends of single facts."""
    return shape.operator is Operator.FOLLOW and shape.parts[0].operator is Operator.ENTITY


class AnswerSample:
    """Sees the scores of validation queries, and keeps some candidates that the training graph does not prove."""

    def __init__(self, of_hidden: float, rng: np.random.Generator) -> None:
        self.of_hidden, self.rng = of_hidden, rng
        self._kept: dict[str, list[tuple[np.ndarray, ...]]] = {}

    def see(self, queries: RankedQueries, first: int, last: int, scores: Tensor) -> None:
        """Keep candidates of some neighbouring queries: log odds, whether true, how many each stands for, share seen.

        A query is there because of one hidden answer; of its other true answers only a share is known.
        """
        if queries.shape.denotes_numbers or is_one_fact(queries.shape):
            return
        easy, hard = queries.answers(first, last)
        possible = scores >= _LEAST
        possible[easy.query, easy.item] = False
        row, item = torch.nonzero(possible, as_tuple=True)
        true = torch.zeros_like(possible)
        true[hard.query, hard.item] = True
        held = true[row, item].cpu().numpy()
        log_odds = torch.logit(scores[row, item].double().clamp(max=_ONE)).cpu().numpy()
        others = np.flatnonzero(~held)
        some = others if len(others) <= _MOST else np.sort(self.rng.permutation(others)[:_MOST])
        chosen = np.concatenate([np.flatnonzero(held), some])
        counts = np.where(held[chosen], 1.0, len(others) / max(1, len(some)))
        known = hard.on_host.astype(np.float64)
        share = known / (known + (known - 1) * (1 / self.of_hidden - 1))
        own = (log_odds[chosen], held[chosen], counts, share[row.cpu().numpy()[chosen]])
        self._kept.setdefault(queries.type, []).append(own)

    def fit(self) -> AnswerMaps:
        """The lines that fit what was seen."""
        lines = {}
        for name, parts in self._kept.items():
            log_odds, held, counts, share = (np.concatenate(column) for column in zip(*parts, strict=True))
            features = np.stack([np.ones(len(log_odds)), log_odds], axis=1)
            offset, slope = fit_share(features, held, counts, share, (0.0, 1.0), [(None, None), (0.05, None)])
            lines[name] = (offset, slope)
        return AnswerMaps(lines)
