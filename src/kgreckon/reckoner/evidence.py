"""What rules say for facts that the graph does not state, as an addition to the link predictor's scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.reckoner.observed import LabelledEdges, ObservedFacts, ragged_ranges
from kgreckon.reckoner.rules import foretell, mine_rules

_SMALL = 0.03  # the chance from which on a rule's word counts
_LEAST_EXPECTED = 1e-3  # facts to be expected of an entity and a label, below which no rule is asked
_MOST = 10_000_000  # facts in all, those that rules speak for most


@dataclass(frozen=True)
class Evidence:
    """Facts that rules speak for: what is added to their scores, seen from the head and seen from the tail."""

    facts: LabelledEdges
    from_head: Tensor  # (facts,) float32
    from_tail: Tensor  # (facts,) float32

    def __len__(self) -> int:
        return len(self.from_head)

    @staticmethod
    def none(observed: ObservedFacts) -> Evidence:
        """Nobody says anything."""
        nothing = np.zeros(0, dtype=np.int64)
        return _evidence(observed, nothing, nothing, nothing, np.zeros((2, 0), dtype=np.float32))

    @staticmethod
    def of_rules(observed: ObservedFacts, expected: Tensor) -> Evidence:  # (relations in both directions, entities)
        """What the graph's rules say for the facts of entities and labels that are expected to have some."""
        graph = observed.graph
        labels, heads = (each.cpu().numpy() for each in torch.nonzero(expected > _LEAST_EXPECTED, as_tuple=True))
        told = foretell(graph, mine_rules(graph), labels, heads)
        scores = np.log1p(told.chances / _SMALL)
        chosen = np.argsort(-scores, kind="stable")[:_MOST]
        size = len(graph.entities)
        there = (told.labels[chosen] * size + told.heads[chosen]) * size + told.tails[chosen]
        back = ((told.labels[chosen] ^ 1) * size + told.tails[chosen]) * size + told.heads[chosen]
        keys, places = np.unique(np.concatenate([there, back]), return_inverse=True)
        columns = np.zeros((2, len(keys)), dtype=np.float32)
        columns[0, places[: len(chosen)]] = columns[1, places[len(chosen) :]] = scores[chosen]
        return _evidence(observed, keys // size // size, keys // size % size, keys % size, columns)

    def as_tensors(self) -> dict[str, Tensor]:
        """What a run folder keeps."""
        counts = self.facts.starts.diff()
        labels = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
        columns = [labels, self.facts.sources, self.facts.targets]
        return {
            "evidence_facts": torch.stack(columns).int(),
            "evidence_scores": torch.stack([self.from_head, self.from_tail]).half(),
        }

    @staticmethod
    def from_tensors(tensors: dict[str, Tensor], observed: ObservedFacts) -> Evidence:
        """The same again; a run without it has none."""
        if "evidence_facts" not in tensors:
            return Evidence.none(observed)
        labels, heads, tails = tensors["evidence_facts"].long().cpu().numpy()
        return _evidence(observed, labels, heads, tails, tensors["evidence_scores"].float().cpu().numpy())

    def add_to(
        self, scores: Tensor, labels: Tensor, heads: Tensor, to: slice, from_head: float, from_tail: float
    ) -> None:  # (n, tails), (n,), (n,)
        """Add what is said for each row's facts, from both sides with a weight, to the scores of some tails."""
        if not len(self) or not (from_head or from_tail):
            return
        row, fact = ragged_ranges(*self.facts.groups(labels, heads))
        first, last, _ = to.indices(self.facts.num_targets)
        tail = self.facts.targets[fact]
        inside = (tail >= first) & (tail < last)
        row, fact, tail = row[inside], fact[inside], tail[inside]
        scores[row, tail - first] += from_head * self.from_head[fact] + from_tail * self.from_tail[fact]


def _evidence(
    observed: ObservedFacts, labels: np.ndarray, heads: np.ndarray, tails: np.ndarray, columns: np.ndarray
) -> Evidence:
    """Facts sorted by label, head and tail."""
    size = len(observed.graph.entities)
    facts = LabelledEdges.of(heads, labels, tails, (size, observed.relations.num_labels, size), observed.device)
    from_head, from_tail = (torch.from_numpy(column.copy()).to(observed.device) for column in columns)
    return Evidence(facts, from_head, from_tail)
