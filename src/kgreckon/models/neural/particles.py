"""What is done to sets that are a handful of points: Query2Particles' operators (Bai et al., 2022)."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from kgreckon.models.neural.operators import Attention, FeedForward, GatedTransition


class ParticleTransition(nn.Module):
    """A gated transition of every particle, then attention among them, each with a norm."""

    def __init__(self, state_dimension: int, label_dimension: int, dimension: int, dropout: float) -> None:
        super().__init__()
        self.gated = GatedTransition(state_dimension, label_dimension, dimension)
        self.attention = Attention(dimension)
        self.before, self.after = nn.LayerNorm(dimension), nn.LayerNorm(dimension)
        self.dropout = nn.Dropout(dropout)

    def forward(self, particles: Tensor, label: Tensor) -> Tensor:  # (b, n, s), (b, l) -> (b, n, d)
        """The particles where the label leads."""
        moved = self.before(self.dropout(self.gated(particles, label[:, None])))
        return self.after(moved + self.attention(moved))


class ParticleIntersection(nn.Module):
    """All particles look at each other twice; each place then takes the mean over the parts.

    The means make the result independent of the parts' order. Parts may have more particles than others.
    """

    def __init__(self, particles: int, dimension: int, dropout: float) -> None:
        super().__init__()
        self.particles = particles
        self.blocks = nn.Sequential(_Block(dimension, dropout), _Block(dimension, dropout))

    def forward(self, parts: list[Tensor]) -> Tensor:  # (b, n, d) each -> (b, particles, d)
        """What all parts share."""
        mixed = self.blocks(torch.cat(parts, dim=1))
        pieces = mixed.split([part.shape[1] for part in parts], dim=1)
        even = [piece.unflatten(1, (-1, self.particles)).mean(dim=1) for piece in pieces]
        return torch.stack(even, dim=1).mean(dim=1)


class _Block(nn.Module):
    """Attention and a feed-forward layer, each with a norm."""

    def __init__(self, dimension: int, dropout: float) -> None:
        super().__init__()
        self.attention, self.feed_forward = Attention(dimension), FeedForward(dimension, dropout)
        self.first_norm, self.second_norm = nn.LayerNorm(dimension), nn.LayerNorm(dimension)

    def forward(self, rows: Tensor) -> Tensor:  # (b, n, d) -> (b, n, d)
        rows = self.first_norm(rows + self.attention(rows))
        return self.second_norm(rows + self.feed_forward(rows))
