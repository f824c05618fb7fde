"""What rules say for facts that the graph does not state, found when a question needs it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.proofs import RulePath
from kgreckon.models.reckoner.caches import Latest
from kgreckon.models.reckoner.rules import Edges, Rules, support_of, told_by

_KEPT = 1 << 24  # facts that rules speak for, kept from question to question
_Row = tuple[np.ndarray, np.ndarray, np.ndarray]  # tails, the best confidence, what others add


class Evidence:
    """Rules, and the facts of a graph that they start from: all that is known when a question is asked."""

    def __init__(self, graph: KnowledgeGraph, rules: Rules) -> None:
        self.rules, self.num_entities = rules, len(graph.entities)
        self.edges = Edges(graph) if len(rules) else None
        self._kept: Latest[tuple[int, int], _Row] = Latest(_KEPT, lambda row: 1 + len(row[0]))

    def __len__(self) -> int:
        return len(self.rules)

    def rows(self, labels: Tensor, heads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (n,), (n,)
        """What is said for the facts of some labels and heads: rows, tails, the best confidence, what others add."""
        device = heads.device
        if self.edges is None:
            nothing = torch.zeros(0, device=device)
            return nothing.long(), nothing.long(), nothing, nothing
        asked = np.stack([labels.cpu().numpy(), heads.cpu().numpy()], axis=1)
        distinct, place = np.unique(asked, axis=0, return_inverse=True)
        keys = list(map(tuple, distinct.tolist()))
        found = [self._kept.find(key) for key in keys]
        missing = np.array([number for number, row in enumerate(found) if row is None], dtype=np.int64)
        if len(missing):
            row, *columns = told_by(self.edges, self.rules, distinct[missing, 0], distinct[missing, 1])
            bounds = np.searchsorted(row, np.arange(len(missing) + 1))
            for number, low, high in zip(missing.tolist(), bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
                own: _Row = (columns[0][low:high].copy(), columns[1][low:high].copy(), columns[2][low:high].copy())
                found[number] = own
                self._kept.keep(keys[number], own)
        chosen = [kept for number in place.ravel().tolist() if (kept := found[number]) is not None]
        rows = np.repeat(np.arange(len(chosen)), [len(kept[0]) for kept in chosen])
        tails, best, more = (
            np.concatenate([kept[column] for kept in chosen]) if chosen else np.zeros(0) for column in range(3)
        )
        arrays = (rows, tails.astype(np.int64), best.astype(np.float32), more.astype(np.float32))
        row_, tail_, best_, more_ = (torch.from_numpy(array).to(device) for array in arrays)
        return row_, tail_, best_, more_

    def support(self, head: int, label: int, tail: int) -> RulePath | None:
        """The path by which the most trusted rule speaks for a fact."""
        return None if self.edges is None else support_of(self.edges, self.rules, head, label, tail)


def rules_as_tensors(rules: Rules) -> dict[str, Tensor]:
    """What a run folder keeps."""
    return {
        "rule_starts": torch.from_numpy(rules.starts),
        "rule_steps": torch.from_numpy(np.stack([rules.first, rules.second])).int(),
        "rule_confidences": torch.from_numpy(rules.confidence).float(),
        "rule_groups": torch.from_numpy(rules.group).to(torch.uint8),
    }


def rules_from_tensors(tensors: dict[str, Tensor], num_labels: int) -> Rules:
    """The same again, for so many labels; a run without rules has none."""
    if "rule_starts" not in tensors:
        return Rules.none(num_labels)
    first, second = tensors["rule_steps"].long().cpu().numpy()
    group = tensors["rule_groups"].long().cpu().numpy()
    confidence = tensors["rule_confidences"].double().cpu().numpy()
    return Rules(tensors["rule_starts"].cpu().numpy(), first, second, confidence, group).over(num_labels)
