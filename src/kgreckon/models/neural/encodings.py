"""Number encodings ψ: from a value to a point of fixed length, such that order and distance survive (section 5.2)."""

from __future__ import annotations

import math

import torch
from torch import Tensor


def signed_log(values: Tensor) -> Tensor:
    """The value x for |x| ≤ 1, else sign(x)(ln|x| + 1): populations and latitudes come to one scale."""
    magnitude = values.abs()
    return torch.where(magnitude <= 1, values, values.sign() * (magnitude.clamp(min=1).log() + 1))


# Ranks are encoded from 0 to this: the quickest wave of the sinusoidal encoding then tells hundredths of a unit's
# values apart.
RANK_SPAN = 100.0


def ranks(values: Tensor, known: Tensor) -> Tensor:  # (n,), (k,) sorted and distinct -> (n,)
    """Where values stand among known ones, from 0 to 1; between two of them in proportion, outside at the ends."""
    if len(known) < 2:
        return torch.zeros_like(values)
    after = torch.searchsorted(known, values).clamp(1, len(known) - 1)
    low, high = known[after - 1], known[after]
    return ((after - 1 + (values - low) / (high - low)) / (len(known) - 1)).clamp(0, 1)


def dice(values: Tensor, low: Tensor, high: Tensor, rotation: Tensor) -> Tensor:  # (n,), (n,), (n,), (d, d) -> (n, d)
    """DICE: the range of a unit becomes the half circle [0, π], the angle polar coordinates, turned by a rotation.

    ψ_j = sin^(j-1)(α) cos(α) for j < d, and sin^d(α) last.
    """
    dimension = len(rotation)
    angle = (values - low) / (high - low).clamp(min=1e-12) * math.pi
    angle = angle.clamp(0, math.pi)[:, None]
    powers = torch.arange(dimension - 1, device=values.device, dtype=values.dtype)
    sine = angle.sin()
    first = sine**powers * angle.cos()
    last = sine**dimension
    return torch.cat([first, last], dim=1) @ rotation.T


def random_rotation(dimension: int, generator: torch.Generator) -> Tensor:  # (d, d)
    """A random orthogonal matrix."""
    gaussian = torch.randn(dimension, dimension, generator=generator)
    orthogonal, upper = torch.linalg.qr(gaussian)
    return orthogonal * upper.diagonal().sign()


def sinusoidal(values: Tensor, dimension: int, base: float = 10000.0) -> Tensor:  # (n,) -> (n, d)
    """The transformer's encoding of positions, taken at real numbers: sin and cos in turn, slower and slower."""
    even = torch.arange(0, dimension, 2, device=values.device, dtype=values.dtype)
    angles = values[:, None] / base ** (even / dimension)
    encoding = torch.zeros(len(values), dimension, device=values.device, dtype=values.dtype)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles[:, : dimension // 2].cos()
    return encoding
