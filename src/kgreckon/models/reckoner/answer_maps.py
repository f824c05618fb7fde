"""The probability that is shown for an answer, from what fuzzy sets compute: a monotone map for each type of queries.

Fuzzy sets take facts as independent and maxima for sums, so what they compute is no more than an order for all but the
simplest questions. The log odds of an answer are a line in the log odds of its score, with a slope above zero: so the
order stays. The lines are fitted on validation queries. An answer that is one fact has no line: a fact has one
probability in every question, also in one whose other conditions certainly hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.evaluation import RankedQueries
from kgreckon.models.reckoner.calibrating import fit_share
from kgreckon.models.reckoner.fuzzy import FuzzySet
from kgreckon.query import Batch, Operator, Shape, general_type

_LEAST = 1e-4  # of a score that is fitted on
_MOST = 4000  # candidates of a batch of queries that are fitted on
_ONE = 1 - 1e-6
_SAME = 1e-4  # of a fact's probability: how far it may be from a score that is no other's
Answering = Callable[[Batch[Tensor]], tuple[Tensor, Sequence[FuzzySet]]]  # scores, and the sets of the parts


@dataclass(frozen=True)
class AnswerMaps:
    """By type of queries, the offset and the slope of a line between log odds."""

    lines: Mapping[str, tuple[float, float]]

    def shown(self, shape: Shape, scores: Tensor, alone: Tensor | None = None) -> Tensor:
        """The probabilities of answers to queries of a shape; 0 and 1 stay, and the order does.

        Those that are one fact `alone` stay too, and others stay on their side of them.
        """
        line = self.lines.get(general_type(shape))
        if line is None or shape.denotes_numbers or is_one_fact(shape):
            return scores
        offset, slope = line
        log_odds = torch.logit(scores.double().clamp(1e-12, _ONE))
        found = torch.sigmoid(offset + slope * log_odds).to(scores.dtype)
        found = torch.where((scores <= 0) | (scores >= _ONE), scores, found)
        return found if alone is None or not alone.any() else _between(scores, alone, found)

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


def _between(scores: Tensor, fixed: Tensor, found: Tensor) -> Tensor:  # (b, n) each
    """What was found for scores, each kept between the nearest scores that are fixed and so are their own."""
    ordered, order = scores.sort(dim=1)
    fixed = fixed.gather(1, order)
    low = torch.where(fixed, ordered, 0.0).cummax(dim=1).values
    high = torch.where(fixed, ordered, 1.0).flip(1).cummin(dim=1).values.flip(1)
    kept = torch.where(fixed, ordered, found.gather(1, order).clamp(low, high))
    return torch.empty_like(found).scatter_(1, order, kept)


def is_one_fact(shape: Shape) -> bool:
    """Whether the answers to such a query are the ends of single facts, or of none."""
    if shape.operator is Operator.NOT:
        return is_one_fact(shape.parts[0])
    return shape.operator is Operator.FOLLOW and shape.parts[0].operator is Operator.ENTITY


def one_fact_alone(shape: Shape, scores: Tensor, parts: Sequence[FuzzySet]) -> Tensor:  # -> (b, n) bool
    """Which answers are one fact because all other conditions certainly hold, or all other alternatives do not."""
    found = torch.zeros_like(scores, dtype=torch.bool)
    if shape.operator in (Operator.AND, Operator.OR):
        for part, own in zip(shape.parts, parts, strict=True):
            if is_one_fact(part) and isinstance(own, Tensor):
                found |= (scores - own).abs() <= _SAME * own
    return found


class AnswerSample:
    """Sees the scores of validation queries, and keeps some candidates that the training graph does not prove."""

    def __init__(self, of_hidden: float, rng: np.random.Generator, answer: Answering | None = None) -> None:
        self.of_hidden, self.rng, self.answer = of_hidden, rng, answer
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
        if self.answer is not None:  # what is one fact is shown as it is
            _, parts = self.answer(Batch(queries.shape, queries.ids[first:last]))
            possible &= ~one_fact_alone(queries.shape, scores, parts)
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
            if not len(log_odds):  # every query's candidates are known
                continue
            features = np.stack([np.ones(len(log_odds)), log_odds], axis=1)
            offset, slope = fit_share(features, held, counts, share, (0.0, 1.0), [(None, None), (0.05, None)])
            lines[name] = (offset, slope)
        return AnswerMaps(lines)
