"""Neural operators that models are put together from."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from kgreckon.models.spreading import first_rows, looked_up
from kgreckon.processes import ALONE, Processes


def start_as_rotations(module: nn.Module, generator: torch.Generator) -> None:
    """Let every matrix of an operator start as a rotation, and biases at 0: what goes in comes out at its length.

    The usual start shortens a vector at each layer. Where no norm makes up for it, a set that went through a few of
    them would hardly distinguish the candidates, and learn slowly.
    """
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            for block in torch.split(layer.weight, min(layer.weight.shape)):  # gates lie one below the other
                nn.init.orthogonal_(block, generator=generator)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)
    for layer in module.modules():
        if isinstance(layer, FeedForward):  # its ReLU lets half of the square length through
            layer.layers.get_parameter("0.weight").data.mul_(2**0.5)


class GatedTransition(nn.Module):
    """The paper's gated transition (its equation 3): a state moves along a label, as much as a gate lets it."""

    def __init__(self, state_dimension: int, label_dimension: int, dimension: int) -> None:
        super().__init__()
        self.enter = nn.Linear(state_dimension, dimension)  # W_p, b_p
        self.label_gates = nn.Linear(label_dimension, 3 * dimension)  # W_z, W_r, W_h and their biases
        self.state_gates = nn.Linear(dimension, 2 * dimension, bias=False)  # U_z, U_r
        self.candidate = nn.Linear(dimension, dimension, bias=False)  # U_h

    def forward(self, state: Tensor, label: Tensor) -> Tensor:  # (..., s), (..., l) -> (..., d)
        """θ = (1 - z) ⊙ p + z ⊙ t; a label of (b, 1, l) moves all rows of a state of (b, n, s)."""
        entered = self.enter(state)
        update, reset, proposal = self.label_gates(label).chunk(3, dim=-1)
        update_state, reset_state = self.state_gates(entered).chunk(2, dim=-1)
        gate = torch.sigmoid(update + update_state)
        kept = torch.sigmoid(reset + reset_state) * entered
        return torch.lerp(entered, torch.tanh(proposal + self.candidate(kept)), gate)


class Attention(nn.Module):
    """Scaled dot-product attention among the rows of a small set."""

    def __init__(self, dimension: int) -> None:
        super().__init__()
        self.projections = nn.Linear(dimension, 3 * dimension, bias=False)  # W_q, W_k, W_v

    def forward(self, rows: Tensor) -> Tensor:  # (b, n, d) -> (b, n, d)
        """Softmax(QKᵀ/√d) V."""
        query, key, value = self.projections(rows).chunk(3, dim=-1)
        weights = torch.softmax(query @ key.transpose(1, 2) * query.shape[-1] ** -0.5, dim=-1)
        return weights @ value


class FeedForward(nn.Module):
    """Two layers with a ReLU between."""

    def __init__(self, dimension: int, dropout: float) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(dimension, dimension), nn.ReLU(), nn.Dropout(dropout), nn.Linear(dimension, dimension)
        )

    def forward(self, rows: Tensor) -> Tensor:  # (..., d) -> (..., d)
        """The transformed rows."""
        return self.layers(rows)


class SetOperator(nn.Module):
    """A function of a set of states: attention among them, an MLP, and their mean (the paper's DeepSet)."""

    def __init__(self, dimension: int, dropout: float) -> None:
        super().__init__()
        self.attention = Attention(dimension)
        self.feed_forward = FeedForward(dimension, dropout)

    def forward(self, states: Tensor) -> Tensor:  # (b, n, d) -> (b, d)
        """One state for the set, whatever the order of its members."""
        return self.feed_forward(self.attention(states)).mean(dim=1)


# Up to this many vectors are looked up by a matrix product: on a GPU its gradient is one too, where that of a lookup
# would add thousands of rows into a few places.
_FEW = 64


class Embedding(nn.Module):
    """Vectors of about unit length, one for each id."""

    sparse = False  # whether a gradient is that of the rows that were looked at alone

    def __init__(self, count: int, dimension: int, generator: torch.Generator) -> None:
        super().__init__()
        self.count = max(count, 1)
        self.weight = nn.Parameter(torch.randn(self.count, dimension, generator=generator) * dimension**-0.5)

    def at(self, rows: slice | Tensor) -> Tensor:  # (n,) -> (n, d)
        """Some of the vectors; unlike an index, a selection has the same gradient on any number of threads."""
        return self.weight[rows] if isinstance(rows, slice) else self.weight.index_select(0, rows)

    def forward(self, ids: Tensor) -> Tensor:  # (n,) -> (n, d)
        """The vectors of some ids."""
        if self.count > _FEW:
            return self.weight.index_select(0, ids)
        one_hot = ids[:, None] == torch.arange(self.count, device=ids.device, dtype=ids.dtype)
        return one_hot.to(self.weight.dtype) @ self.weight


class SparseEmbedding(Embedding):
    """The same with gradients of the rows that were looked at, and no others: an optimizer may change those alone."""

    sparse = True

    def at(self, rows: slice | Tensor) -> Tensor:
        """Some of the vectors."""
        if isinstance(rows, slice):
            rows = torch.arange(self.count, device=self.weight.device)[rows]
        return embedding(rows, self.weight, sparse=True)

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors of some ids."""
        return self.at(ids)


class SpreadEmbedding(Embedding):
    """The same of several processes: each holds a part of the rows, and looks the others up where they are."""

    def __init__(
        self, count: int, dimension: int, generator: torch.Generator, processes: Processes, sparse: bool
    ) -> None:
        nn.Module.__init__(self)
        self.count, self.processes, self.sparse = max(count, 1), processes, sparse
        self.weight = nn.Parameter(first_rows(self.count, dimension, generator, processes) * dimension**-0.5)

    def at(self, rows: slice | Tensor) -> Tensor:
        """Some of the vectors; those of a slice are the process's own."""
        if not isinstance(rows, slice):
            return looked_up(self.weight, rows, self.count, self.sparse, self.processes)
        own = self.processes.part(self.count)
        here = slice(rows.start - own.start, rows.stop - own.start) if rows.start < rows.stop else slice(0, 0)
        assert 0 <= here.start <= here.stop <= len(self.weight)
        if self.sparse:
            return embedding(torch.arange(here.start, here.stop, device=self.weight.device), self.weight, sparse=True)
        return self.weight[here]

    def forward(self, ids: Tensor) -> Tensor:
        """The vectors of some ids."""
        return self.at(ids)


@dataclass(frozen=True)
class Tables:
    """How the large tables of a model are kept: spread over processes, and with sparse gradients, or neither."""

    processes: Processes = ALONE
    sparse: bool = False

    def new(self, count: int, dimension: int, generator: torch.Generator) -> Embedding:
        """A table with so many rows; its first weights do not depend on how it is kept."""
        if self.processes.size > 1:
            return SpreadEmbedding(count, dimension, generator, self.processes, self.sparse)
        return (SparseEmbedding if self.sparse else Embedding)(count, dimension, generator)


WHOLE = Tables()
