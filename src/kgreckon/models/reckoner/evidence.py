"""What rules say for facts that the graph does not state, as an addition to the link predictor's scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.proofs import RulePath
from kgreckon.models.reckoner.observed import LabelledEdges, ObservedFacts, ragged_ranges
from kgreckon.models.reckoner.rules import Rules, foretell, mine_rules, support_of

_SMALL = 0.03  # the chance from which on a rule's word counts
_LEAST_EXPECTED = 1e-3  # facts to be expected of an entity and a label, below which no rule is asked
_MOST = 10_000_000  # facts in all, those that rules speak for most


@dataclass(frozen=True)
class Evidence:
    """Facts that rules speak for: what is added to their scores, seen from the head and seen from the tail."""

    facts: LabelledEdges
    from_head: Tensor  # (facts,) float32
    from_tail: Tensor  # (facts,) float32
    rules: Rules

    def __len__(self) -> int:
        return len(self.from_head)

    @staticmethod
    def none(observed: ObservedFacts) -> Evidence:
        """Nobody says anything."""
        nothing = np.zeros(0, dtype=np.int64)
        rules = Rules.none(observed.relations.num_labels)
        return _evidence(observed, nothing, nothing, nothing, np.zeros((2, 0), dtype=np.float32), rules)

    @staticmethod
    def of_rules(observed: ObservedFacts, expected: Tensor) -> Evidence:  # (relations in both directions, entities)
        """What the graph's rules say for the facts of entities and labels that are expected to have some."""
        graph = observed.graph
        labels, heads = (each.cpu().numpy() for each in torch.nonzero(expected > _LEAST_EXPECTED, as_tuple=True))
        rules = mine_rules(graph)
        told = foretell(graph, rules, labels, heads)
        scores = np.log1p(told.chances / _SMALL)
        chosen = np.argsort(-scores, kind="stable")[:_MOST]
        size = len(graph.entities)
        there = (told.labels[chosen] * size + told.heads[chosen]) * size + told.tails[chosen]
        back = ((told.labels[chosen] ^ 1) * size + told.tails[chosen]) * size + told.heads[chosen]
        keys, places = np.unique(np.concatenate([there, back]), return_inverse=True)
        columns = np.zeros((2, len(keys)), dtype=np.float32)
        columns[0, places[: len(chosen)]] = columns[1, places[len(chosen) :]] = scores[chosen]
        return _evidence(observed, keys // size // size, keys // size % size, keys % size, columns, rules)

    def as_tensors(self) -> dict[str, Tensor]:
        """What a run folder keeps."""
        counts = self.facts.starts.diff()
        labels = torch.repeat_interleave(torch.arange(len(counts), device=counts.device), counts)
        columns = [labels, self.facts.sources, self.facts.targets]
        return {
            "evidence_facts": torch.stack(columns).int(),
            "evidence_scores": torch.stack([self.from_head, self.from_tail]).half(),
            "rule_starts": torch.from_numpy(self.rules.starts),
            "rule_steps": torch.from_numpy(np.stack([self.rules.first, self.rules.second])).int(),
            "rule_confidences": torch.from_numpy(self.rules.confidence).float(),
        }

    @staticmethod
    def from_tensors(tensors: dict[str, Tensor], observed: ObservedFacts) -> Evidence:
        """The same again; a run without it has none."""
        if "evidence_facts" not in tensors:
            return Evidence.none(observed)
        labels, heads, tails = tensors["evidence_facts"].long().cpu().numpy()
        first, second = tensors["rule_steps"].long().cpu().numpy()
        starts, confidences = (tensors[name].cpu().numpy() for name in ("rule_starts", "rule_confidences"))
        rules = Rules(starts, first, second, confidences)
        return _evidence(observed, labels, heads, tails, tensors["evidence_scores"].float().cpu().numpy(), rules)

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

    def support(self, observed: ObservedFacts, head: int, label: int, tail: int) -> RulePath | None:
        """The path by which the most trusted rule speaks for a fact, from either end."""
        row = torch.tensor([[label], [head]], device=self.facts.starts.device)
        start, end = (int(each) for each in self.facts.groups(*row))
        if not (self.facts.targets[start:end] == tail).any():
            return None
        ends = (head, label, tail), (tail, label ^ 1, head)
        found = [support_of(observed.graph, self.rules, *each) for each in ends]
        return max((each for each in found if each is not None), key=lambda each: each.confidence, default=None)


def _evidence(
    observed: ObservedFacts,
    labels: np.ndarray,
    heads: np.ndarray,
    tails: np.ndarray,
    columns: np.ndarray,
    rules: Rules,
) -> Evidence:
    """Facts sorted by label, head and tail."""
    size = len(observed.graph.entities)
    facts = LabelledEdges.of(heads, labels, tails, (size, observed.relations.num_labels, size), observed.device)
    from_head, from_tail = (torch.from_numpy(column.copy()).to(observed.device) for column in columns)
    return Evidence(facts, from_head, from_tail, rules)
