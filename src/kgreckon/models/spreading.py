"""Tables and softmaxes that are spread over processes: each holds some rows, and with them some of the candidates.

What all processes compute alike gives a gradient that each has whole; what each computes of its own share gives parts,
which are summed. A process that is alone has no part in this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from kgreckon.errors import UserError
from kgreckon.processes import ALONE, Processes

_DRAWN = 4096  # rows that are drawn at once


def first_rows(
    count: int, dimension: int, generator: torch.Generator, processes: Processes = ALONE
) -> Tensor:  # (own rows, d)
    """A process's rows of a table of Gaussian numbers, the same for any number of processes.

    All of them are drawn, and only one's own are kept.
    """
    own = processes.part(count)
    if own == slice(0, count):
        return torch.randn(count, dimension, generator=generator)
    rows = torch.empty(own.stop - own.start, dimension)
    first = 0
    while first < count:  # torch draws sixteen numbers together, so that a block must not end within them
        last = first + _DRAWN if count - first >= 2 * _DRAWN else count
        drawn = torch.randn(last - first, dimension, generator=generator)
        low, high = max(first, own.start), min(last, own.stop)
        if low < high:
            rows[low - own.start : high - own.start] = drawn[low - first : high - first]
        first = last
    return rows


def check_batch(size: int, processes: Processes) -> None:
    """Raise a UserError where a batch leaves nothing to some process."""
    last = processes.part(size, processes.size - 1)
    if last.start == last.stop:
        raise UserError(f"batch_size={size} is too small for {processes.size} processes: choose a larger one")


class Lookup:
    """A look into a table by rows, which others may hold, and the way back for gradients."""

    def __init__(self, ids: Tensor, count: int, processes: Processes = ALONE) -> None:  # (n,) rising, distinct
        self.processes, self._ids = processes, ids
        if processes.size > 1:
            ends = [processes.part(count, number).stop for number in range(processes.size)]
            places = torch.searchsorted(ids, torch.tensor(ends, device=ids.device)).tolist()
            self._lengths = [stop - start for start, stop in zip([0, *places], places, strict=False)]
            asked = processes.exchange(list(ids.split(self._lengths)))
            self._asked = [len(part) for part in asked]
            self._ids = torch.cat(asked) - processes.part(count).start

    def rows(self, table: Tensor) -> Tensor:  # (own rows, d) -> (n, d)
        """The rows that are looked for."""
        own = table[self._ids]
        if self.processes.size == 1:
            return own
        return torch.cat(self.processes.exchange(list(own.split(self._asked))))

    def give_back(self, gradients: Tensor) -> tuple[Tensor, Tensor]:  # (n, d) -> (m,), (m, d)
        """The places of own rows that anyone looked at, and the sums of their gradients."""
        if self.processes.size == 1:
            return self._ids, gradients
        received = torch.cat(self.processes.exchange(list(gradients.split(self._lengths))))
        places, inverse = self._ids.unique(return_inverse=True)
        return places, received.new_zeros(len(places), received.shape[1]).index_add_(0, inverse, received)


class _LookedUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, table: Tensor, ids: Tensor, count: int, sparse: bool, processes: Processes) -> Tensor:
        distinct, ctx.inverse = ids.unique(return_inverse=True)
        ctx.lookup, ctx.shape, ctx.sparse = Lookup(distinct, count, processes), table.shape, sparse
        ctx.distinct = len(distinct)
        return ctx.lookup.rows(table)[ctx.inverse]

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None, None]:
        sums = gradient.new_zeros(ctx.distinct, gradient.shape[1]).index_add_(0, ctx.inverse, gradient)
        places, sums = ctx.lookup.give_back(sums)
        if ctx.sparse:
            of_table = torch.sparse_coo_tensor(places[None], sums, ctx.shape, is_coalesced=True, check_invariants=False)
        else:
            of_table = gradient.new_zeros(ctx.shape).index_add_(0, places, sums)
        return of_table, None, None, None, None


# The rows of a table for some ids, whoever holds them: (own rows, d), (n,), the rows in all, sparse gradients -> (n, d)
looked_up: Callable[[Tensor, Tensor, int, bool, Processes], Tensor] = _LookedUp.apply


class _Gathered(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, own: Tensor, count: int, processes: Processes) -> Tensor:
        ctx.count, ctx.processes = count, processes
        return processes.joined(own, count)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        return ctx.processes.sum_(gradient.contiguous())[ctx.processes.part(ctx.count)], None, None


# Everyone's states one after the other, to be compared with own candidates: (own, ...), how many -> (all, ...)
gathered: Callable[[Tensor, int, Processes], Tensor] = _Gathered.apply


class _Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, parts: Tensor, processes: Processes) -> Tensor:
        return processes.sum_(parts.clone())

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None


# Sums over the processes, of which all then compute alike.
summed: Callable[[Tensor, Processes], Tensor] = _Summed.apply


class _LogSum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, scores: Tensor, processes: Processes) -> Tensor:
        largest = processes.max_(torch.cat([scores, scores.new_full((len(scores), 1), -1e30)], dim=1).amax(dim=1))
        total = processes.sum_((scores - largest[:, None]).exp().sum(dim=1)).log() + largest
        ctx.save_for_backward(scores, total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        scores, total = ctx.saved_tensors
        return (scores - total[:, None]).exp_().mul_(gradient[:, None]), None


# The logarithm of the sum of the exponentials of all scores, of which each process has some: (b, own) -> (b,)
log_sum: Callable[[Tensor, Processes], Tensor] = _LogSum.apply


def spread_cross_entropy(
    scores: Tensor, positives: Tensor, smoothing: float, place: slice, count: int, processes: Processes
) -> Tensor:  # (b, own candidates), (b, k) -> ()
    """losses.smoothed_cross_entropy over `count` candidates, of which a process scores those at `place`."""
    wanted = own_scores(scores, positives, place, processes).mean(dim=1)
    loss = log_sum(scores, processes) - (1 - smoothing) * wanted
    if smoothing:
        loss = loss - smoothing / count * summed(scores.sum(dim=1), processes)
    return loss.mean()


def own_scores(
    scores: Tensor, positives: Tensor, place: slice, processes: Processes
) -> Tensor:  # (b, own), (b, k) -> (b, k)
    """The scores of some candidates, each from the process that has it."""
    here = (positives >= place.start) & (positives < place.stop)
    columns = torch.where(here, positives - place.start, 0)
    nothing = scores.new_zeros(len(scores), 1)  # so that a process without candidates has a column
    found = torch.cat([scores, nothing], dim=1).gather(1, columns)
    return summed(found * here, processes)
