"""The sums that softmaxes over the tails of a label divide by, for the entities that are asked about.

A sum runs over a choice of tails, the same for every head: the most frequent tails of the label, a weighted sample of
its other tails, and one of all other entities. So it costs the same in a large graph as in a small one, and a fact has
the same probability from whichever end it is asked. What is observed does not compete.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.reckoner.caches import Latest
from kgreckon.models.reckoner.links import LinkScorer
from kgreckon.models.reckoner.observed import LabelledEdges, ragged_ranges
from kgreckon.models.scoring import inner_products

_FREQUENT, _OTHERS, _NEVER = 512, 512, 256  # tails of a choice: the most frequent, some others, some that never were
_ROWS = {"cuda": 2**13, "cpu": 2**10}  # heads at once
_KEPT = 1 << 25  # numbers


@dataclass(frozen=True)
class Choice:
    """Tails that stand for all, with the logarithm of how many each of them stands for."""

    tails: Tensor  # (n,) int64, distinct
    log_weights: Tensor  # (n,)


def choose_tails(frequency: np.ndarray, seed: int, device: torch.device) -> Choice:  # (entities,)
    """Tails by how often each is the tail of some label."""
    rng = np.random.default_rng(seed)
    order = np.argsort(-frequency, kind="stable")
    some = int((frequency > 0).sum())
    first, rest, never = order[: min(some, _FREQUENT)], order[_FREQUENT:some], order[some:]
    drawn = [(first, 1.0)]
    for population, most in ((rest, _OTHERS), (never, _NEVER)):
        sample = population if len(population) <= most else rng.choice(population, most, replace=False)
        drawn.append((sample, len(population) / max(1, len(sample))))
    tails = np.concatenate([sample for sample, _ in drawn])
    weights = np.repeat([np.log(max(weight, 1.0)) for _, weight in drawn], [len(sample) for sample, _ in drawn])
    return Choice(torch.from_numpy(tails).to(device), torch.from_numpy(weights).float().to(device))


class LogSums:
    """The logarithms of softmax sums of a scorer's labels, over tails that are entities."""

    def __init__(self, scorer: LinkScorer, entities: int, edges: LabelledEdges, loops: Tensor) -> None:
        self.scorer, self.entities, self.edges, self.loops = scorer, entities, edges, loops
        self._choices: Latest[int, Choice] = Latest(_KEPT, lambda choice: len(choice.tails))

    def choice(self, label: int, tails: Tensor | None = None) -> Choice:
        """The tails that stand for all of a label's; those of an attribute's are given as `tails`."""
        return self._choices.get(label, lambda: self._choose(label, tails))

    def _choose(self, label: int, tails: Tensor | None) -> Choice:
        if tails is None:
            tails = self.edges.targets[int(self.edges.starts[label]) : int(self.edges.starts[label + 1])]
        frequency = np.bincount(tails.cpu().numpy(), minlength=self.entities)
        return choose_tails(frequency, label, self.scorer.nodes.device)

    @torch.no_grad()
    def of(self, label: int, nodes: Tensor, tails: Tensor | None = None) -> Tensor:  # (n,) -> (n,)
        """The log of the sum for each of some nodes as heads of a label; infinite where no tail is left."""
        choice, scorer, relation = self.choice(label, tails), self.scorer, label < self.edges.num_labels
        points, found = scorer.nodes[choice.tails], []
        place = torch.full((self.entities,), -1, device=nodes.device)
        place[choice.tails] = torch.arange(len(choice.tails), device=nodes.device)
        for heads in torch.split(nodes, _ROWS[nodes.device.type]):
            asked = scorer.of_tail(scorer.nodes[heads], scorer.labels[label].expand(len(heads), -1))
            scores = inner_products(asked, points) + choice.log_weights
            if relation:
                row, edge = ragged_ranges(*self.edges.groups(torch.full_like(heads, label), heads))
                at = place[self.edges.targets[edge]]
                scores[row[at >= 0], at[at >= 0]] = -torch.inf
                if not self.loops[label]:
                    own = place[heads]
                    scores[torch.nonzero(own >= 0)[:, 0], own[own >= 0]] = -torch.inf
            sums = scores.logsumexp(dim=1)
            found.append(sums.masked_fill(sums == -torch.inf, torch.inf))
        return torch.cat(found) if found else torch.zeros(0, device=nodes.device)
