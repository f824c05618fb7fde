"""The softmax loss over candidates, lean in memory: one matrix of probabilities, turned into the gradient in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor


class _SmoothedCrossEntropy(torch.autograd.Function):
    """The mean over queries of the cross entropy with smoothed labels, shared by a query's positives."""

    @staticmethod
    def forward(ctx: Any, scores: Tensor, positives: Tensor, smoothing: float) -> Tensor:  # (b, n), (b, k) -> ()
        probabilities = torch.softmax(scores, dim=1)
        # The log of the sum, by way of the largest probability, which cannot vanish.
        log_sum = scores.amax(dim=1) - probabilities.amax(dim=1).log()
        wanted = scores.gather(1, positives).mean(dim=1)
        loss = log_sum - (1 - smoothing) * wanted
        if smoothing:
            loss = loss - smoothing * scores.mean(dim=1)
        ctx.save_for_backward(probabilities, positives)
        ctx.smoothing = smoothing
        return loss.mean()

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        probabilities, positives = ctx.saved_tensors
        queries, candidates = probabilities.shape
        if ctx.smoothing:
            probabilities.sub_(ctx.smoothing / candidates)
        share = (ctx.smoothing - 1) / positives.shape[1]
        probabilities.scatter_add_(1, positives, probabilities.new_full(positives.shape, share))
        return probabilities.mul_(gradient / queries), None, None


# Cross entropy of a softmax over all candidates, the mean over k positives; its gradient can be taken once.
smoothed_cross_entropy: Callable[[Tensor, Tensor, float], Tensor] = _SmoothedCrossEntropy.apply
