"""The score of the best particle: its memory and its backward pass are what Query2Particles costs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.amp import custom_bwd, custom_fwd


class _BestParticle(torch.autograd.Function):
    """max over particles of ⟨particle, point⟩, remembering which particle was best instead of all the scores."""

    @staticmethod
    @custom_fwd(device_type="cuda", cast_inputs=torch.bfloat16)
    def forward(ctx: Any, state: Tensor, points: Tensor) -> Tensor:  # (b, k, d), (n, d) -> (b, n)
        scores = (state.flatten(0, 1) @ points.T).view(*state.shape[:2], -1)
        best, which = scores.max(dim=1)
        ctx.save_for_backward(state, points, which.to(torch.uint8))
        return best

    @staticmethod
    @custom_bwd(device_type="cuda")
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        state, points, which = ctx.saved_tensors
        share = gradient.new_zeros(*state.shape[:2], len(points))
        share.scatter_(1, which.long()[:, None], gradient[:, None])
        share = share.flatten(0, 1)
        return (share @ points).view_as(state), share.T @ state.flatten(0, 1)


def best_particle_scores(state: Tensor, points: Tensor) -> Tensor:  # (b, k, d), (n, d) -> (b, n)
    """For each query and point, the largest inner product over the query's particles."""
    if torch.is_grad_enabled() and (state.requires_grad or points.requires_grad):
        return _BestParticle.apply(state, points)  # type: ignore[no-untyped-call]
    best = state[:, 0] @ points.T
    for particle in range(1, state.shape[1]):  # one at a time: only the best is kept in memory
        best = torch.maximum(best, state[:, particle] @ points.T)
    return best
