"""Processes that do one piece of work together, as torchrun starts them; one that is alone pays nothing for it.

All of them run the same program, and each call here is one that all of them make, in the same order.
"""

from __future__ import annotations

import atexit
import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgreckon.errors import ToldElsewhereError, UserError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

T = TypeVar("T")
_STARTED = ("WORLD_SIZE", "RANK", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT")  # what torchrun says to a process
_PATIENCE = timedelta(days=30)  # others wait while the first one works alone; who is killed is noticed at once


class Processes:
    """One process alone: everything is its own, and it waits for nobody."""

    number, size = 0, 1
    sent = 0  # bytes that this process has handed to others

    @property
    def is_first(self) -> bool:
        """Whether it is this one that writes files and shows progress."""
        return self.number == 0

    def part(self, count: int, of: int | None = None) -> slice:
        """The places among `count` that belong to this process, or to that of another number."""
        size, number = -(-count // self.size), self.number if of is None else of
        return slice(min(count, number * size), min(count, (number + 1) * size))

    def sum_(self, tensor: Tensor) -> Tensor:
        """The sum of everyone's tensors, in place."""
        return tensor

    def max_(self, tensor: Tensor) -> Tensor:
        """The largest of everyone's numbers, in place."""
        return tensor

    def joined(self, own: Tensor, count: int) -> Tensor:  # (part of count, ...) -> (count, ...)
        """Everyone's parts one after the other, with everyone."""
        return own

    def on_first(self, own: Tensor, count: int) -> Tensor:  # (part of count, ...) -> (count, ...)
        """Everyone's parts one after the other, with the first; the others get what they gave."""
        return own

    def exchange(self, parts: list[Tensor]) -> list[Tensor]:  # (n, ...) each -> (m, ...) each
        """Hand a tensor to each process, and get one from each."""
        return parts

    def told(self, own: bytes) -> list[bytes]:
        """What each process says, with everyone."""
        return [own]

    def first(self, work: Callable[[], T]) -> T | None:
        """Let the first do something while the others wait; a mistake that it finds ends all of them."""
        return work()

    def wait(self) -> None:
        """Go on when all are here."""

    @contextmanager
    def writing(self, folder: Path, make: bool = False) -> Iterator[None]:
        """Be the only program that writes in `folder`: the first process holds its lock for all."""
        from kgreckon.files import writing  # which imports Arrow

        with ExitStack() as held:
            self.first(lambda: held.enter_context(writing(folder, make)))
            yield

    def in_turns(self, tasks: Iterable[T], work: Callable[[T], Any]) -> Iterator[Any]:
        """The results of all tasks in their order, as plain data; each process does some, the first gets them all."""
        return map(work, tasks)

    def in_order(self, own: list[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        """The results of tasks that were dealt out one by one, in their order, with everyone."""
        return own


ALONE = Processes()


class ProcessGroup(Processes):
    """Several processes, by torch.distributed: `nccl` where each has a GPU of its own, else `gloo`.

    `sent` counts as if sums went round in a ring, in which each process sends nearly two times what is summed.
    """

    def __init__(self) -> None:
        import torch
        import torch.distributed as dist

        self._dist, self.number, self.size = dist, dist.get_rank(), dist.get_world_size()
        self.device = torch.device("cuda" if dist.get_backend() == "nccl" else "cpu")

    def sum_(self, tensor: Tensor) -> Tensor:
        """The sum of everyone's tensors, in place."""
        return self._reduce(tensor, self._dist.ReduceOp.SUM)

    def max_(self, tensor: Tensor) -> Tensor:
        """The largest of everyone's numbers, in place."""
        return self._reduce(tensor, self._dist.ReduceOp.MAX)

    def _reduce(self, tensor: Tensor, operation: Any) -> Tensor:
        self.sent += 2 * (self.size - 1) * tensor.nbytes // self.size
        there = tensor.to(self.device).contiguous()
        self._dist.all_reduce(there, operation)
        return tensor if there is tensor else tensor.copy_(there)

    def joined(self, own: Tensor, count: int) -> Tensor:
        """Everyone's parts one after the other, with everyone."""
        import torch

        longest = -(-count // self.size)
        self.sent += (self.size - 1) * own.nbytes
        padded = own.new_zeros(longest, *own.shape[1:], device=self.device)
        padded[: len(own)] = own
        all_parts = [torch.empty_like(padded) for _ in range(self.size)]
        self._dist.all_gather(all_parts, padded)
        return torch.cat(all_parts)[:count].to(own.device)

    def on_first(self, own: Tensor, count: int) -> Tensor:
        """Everyone's parts one after the other, with the first; the others get what they gave."""
        if not self.is_first:
            self.sent += own.nbytes
            if len(own):
                self._dist.send(own.to(self.device).contiguous(), 0)
            return own
        whole = own.new_empty(count, *own.shape[1:])
        whole[: len(own)] = own
        for number in range(1, self.size):
            place = self.part(count, number)
            if place.stop > place.start:
                part = whole[place].to(self.device).contiguous()
                self._dist.recv(part, number)
                whole[place] = part
        return whole

    def exchange(self, parts: list[Tensor]) -> list[Tensor]:
        """Hand a tensor to each process, and get one from each."""
        import torch

        lengths = torch.tensor([len(part) for part in parts], device=self.device)
        theirs = torch.empty_like(lengths)
        self._dist.all_to_all_single(theirs, lengths)
        out, into = lengths.tolist(), theirs.tolist()
        given = torch.cat(parts).to(self.device).contiguous()
        got = given.new_empty(sum(into), *given.shape[1:])
        self._dist.all_to_all_single(got, given, into, out)
        others = len(given) - out[self.number]
        self.sent += others * (given.nbytes // max(1, len(given))) + 8 * (self.size - 1)
        return list(got.to(parts[0].device).split(into))

    def told(self, own: bytes) -> list[bytes]:
        """What each process says, with everyone."""
        import numpy as np
        import torch

        said = torch.from_numpy(np.frombuffer(own, dtype=np.uint8).copy())
        return [part.cpu().numpy().tobytes() for part in self.exchange([said] * self.size)]

    def first(self, work: Callable[[], T]) -> T | None:
        """Let the first do something while the others wait; a mistake that it finds ends all of them."""
        if not self.is_first:
            problem = self.told(b"")[0]
            if problem:
                raise ToldElsewhereError(problem.decode())
            return None
        try:
            result = work()
        except UserError as error:
            self.told(str(error).encode() or b"?")
            raise
        self.told(b"")
        return result

    def wait(self) -> None:
        """Go on when all are here."""
        self._dist.barrier()

    def in_turns(self, tasks: Iterable[T], work: Callable[[T], Any]) -> Iterator[Any]:
        """The results of all tasks in their order, as plain data; each process does some, the first gets them all."""
        tasks = list(tasks)
        for begin in range(0, len(tasks), self.size):
            own = [work(task) for task in tasks[begin + self.number : begin + self.size][:1]]
            everyone = self.told(json.dumps(own).encode())
            if self.is_first:
                for results in everyone:
                    yield from json.loads(results)

    def in_order(self, own: list[dict[str, Tensor]]) -> list[dict[str, Tensor]]:
        """The results of tasks that were dealt out one by one, in their order, with everyone."""
        from safetensors.torch import load, save

        named = {f"{place} {name}": part.contiguous() for place, each in enumerate(own) for name, part in each.items()}
        results: dict[int, dict[str, Tensor]] = {}
        for number, said in enumerate(self.told(len(own).to_bytes(8, "big") + save(named))):
            for place in range(int.from_bytes(said[:8], "big")):
                results[place * self.size + number] = {}
            for key, part in load(said[8:]).items():
                place_of, _, name = key.partition(" ")
                results[int(place_of) * self.size + number][name] = part
        return [results[place] for place in sorted(results)]


def number_of_this() -> int:
    """The number of this process among those that were started together."""
    return int(os.environ["RANK"]) if _is_one_of_several() else 0


def _is_one_of_several() -> bool:
    return all(name in os.environ for name in _STARTED) and int(os.environ["WORLD_SIZE"]) > 1


def started_together(device: str | torch.device = "auto") -> Processes:
    """The processes that torchrun started together with this one, to work on that kind of device."""
    if not _is_one_of_several():
        return ALONE
    import torch
    import torch.distributed as dist

    if not dist.is_initialized():
        own = int(os.environ["LOCAL_RANK"])
        kind = str(device).partition(":")[0]
        uses_gpu = kind == "cuda" or (kind == "auto" and torch.cuda.is_available())
        if uses_gpu:
            torch.cuda.set_device(own % torch.cuda.device_count())  # what "cuda" is from now on
        enough = uses_gpu and int(os.environ.get("LOCAL_WORLD_SIZE", 1)) <= torch.cuda.device_count()
        dist.init_process_group("nccl" if enough else "gloo", timeout=_PATIENCE)
        atexit.register(dist.destroy_process_group)
    return ProcessGroup()
