"""Scores of all candidates at once: most of the arithmetic and of the memory of a step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.amp import custom_bwd, custom_fwd
from torch.nn.functional import pad

_ALIGNMENT = 8  # candidates; tensor cores are several times slower on rows whose length is not a multiple of it


def inner_products(states: Tensor, points: Tensor) -> Tensor:  # (b, d), (n, d) -> (b, n)
    """The inner product of every state with every point."""
    return (states @ _aligned(points).T)[:, : len(points)]


def best_particle_scores(states: Tensor, points: Tensor) -> Tensor:  # (b, k, d), (n, d) -> (b, n)
    """For each query and point, the largest inner product over the query's particles."""
    if torch.is_grad_enabled() and (states.requires_grad or points.requires_grad):
        return _best_particle(states, points)
    aligned = _aligned(points).T
    best = states[:, 0] @ aligned
    for particle in range(1, states.shape[1]):  # one at a time: only the best is kept in memory
        best = torch.maximum(best, states[:, particle] @ aligned)
    return best[:, : len(points)]


def _aligned(points: Tensor) -> Tensor:  # (n, d) -> (n or a few more, d)
    """The points and as many zeros as it takes to align the rows of their scores, on a GPU."""
    extra = -len(points) % _ALIGNMENT
    return pad(points, (0, 0, 0, extra)) if points.is_cuda and extra else points


class _BestParticle(torch.autograd.Function):
    """max over particles of ⟨particle, point⟩, remembering which particle was best instead of all the scores."""

    @staticmethod
    @custom_fwd(device_type="cuda", cast_inputs=torch.bfloat16)
    def forward(ctx: Any, states: Tensor, points: Tensor) -> Tensor:  # (b, k, d), (n, d) -> (b, n)
        aligned = _aligned(points)
        scores = (states.flatten(0, 1) @ aligned.T).view(*states.shape[:2], -1)
        best, which = scores.max(dim=1)
        ctx.save_for_backward(states, aligned, which.to(torch.uint8 if states.shape[1] <= 256 else torch.int16))
        ctx.count = len(points)
        return best[:, : len(points)]

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        states, aligned, which = ctx.saved_tensors
        gradient = pad(gradient, (0, len(aligned) - ctx.count))
        particles = torch.arange(states.shape[1], device=which.device, dtype=which.dtype)
        share = torch.where(which[:, None] == particles[None, :, None], gradient[:, None], 0.0).flatten(0, 1)
        return (share @ aligned).view_as(states), (share.T @ states.flatten(0, 1))[: ctx.count]


_best_particle: Callable[[Tensor, Tensor], Tensor] = _BestParticle.apply  # (b, k, d), (n, d) -> (b, n)
