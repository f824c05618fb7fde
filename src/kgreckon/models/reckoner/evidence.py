"""What rules say for facts that the graph does not state, found when a question needs it."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgreckon.graph import KnowledgeGraph
from kgreckon.models.proofs import RulePath
from kgreckon.models.reckoner.caches import Latest
from kgreckon.models.reckoner.observed import ragged_ranges
from kgreckon.models.reckoner.rules import Edges, Rules, support_of, told_by

_KEPT = 1 << 24  # facts that rules speak for, kept from question to question
_MANY = 1 << 11  # labels and heads at once, of which nothing is kept
_NOTHING = np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.float32)
_Row = tuple[np.ndarray, np.ndarray, np.ndarray]  # tails, the best confidence, what others add


class Evidence:
    """Rules, and the facts of a graph that they start from: all that is known when a question is asked."""

    def __init__(self, graph: KnowledgeGraph, rules: Rules) -> None:
        self.rules, self.num_entities = rules, len(graph.entities)
        self.edges = Edges(graph) if len(rules) else None
        self._kept: Latest[int, _Row] = Latest(_KEPT, lambda row: 1 + len(row[0]))

    def __len__(self) -> int:
        return len(self.rules)

    def rows(self, labels: Tensor, heads: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # (n,), (n,)
        """What is said for the facts of some labels and heads: rows, tails, the best confidence, what others add."""
        device = heads.device
        if self.edges is None:
            nothing = torch.zeros(0, device=device)
            return nothing.long(), nothing.long(), nothing, nothing
        keys, place = torch.unique(labels * self.num_entities + heads, return_inverse=True)
        starts, *columns = (torch.from_numpy(column).to(device) for column in self._told(keys.cpu().numpy()))
        row, at = ragged_ranges(starts[place], starts[place + 1])
        tails, best, more = (column[at] for column in columns)
        return row, tails, best, more

    def _told(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # (n,)
        """The same of distinct labels and heads: where each begins, and where the last ends; tails, and what is said.

        Looking for many one by one takes longer than finding them again.
        """
        if len(keys) > _MANY:
            row, tails, best, more = self._found(keys)
            return np.searchsorted(row, np.arange(len(keys) + 1)), tails, best, more
        names: list[int] = keys.tolist()
        kept = {key: known for key in names if (known := self._kept.find(key)) is not None}
        missing = [key for key in names if key not in kept]
        if missing:
            row, *columns = self._found(np.array(missing))
            bounds = np.searchsorted(row, np.arange(len(missing) + 1)).tolist()
            for key, low, high in zip(missing, bounds[:-1], bounds[1:], strict=True):
                kept[key] = (columns[0][low:high].copy(), columns[1][low:high].copy(), columns[2][low:high].copy())
                self._kept.keep(key, kept[key])
        starts = np.cumsum([0, *(len(kept[key][0]) for key in names)])
        tails, best, more = (np.concatenate([_NOTHING[column], *(kept[key][column] for key in names)])
                             for column in range(3))  # fmt: skip
        return starts, tails, best, more

    def _found(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:  # (n,)
        assert self.edges is not None
        return told_by(self.edges, self.rules, keys // self.num_entities, keys % self.num_entities)

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
