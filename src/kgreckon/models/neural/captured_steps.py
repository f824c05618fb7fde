"""Training steps: on a GPU each specific type's step is captured once as a CUDA graph and then only replayed."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from kgreckon.models.neural.device_queries import DeviceQueries
from kgreckon.models.neural.neural_settings import NeuralSettings
from kgreckon.models.neural.operators import Embedding, SpreadEmbedding
from kgreckon.models.neural.query_model import QueryModel

_WARM_UP = 2


def type_of_step(seed: int, step: int, shares: np.ndarray) -> int:
    """Which type's queries a step takes, in proportion to their number: the same whenever the step is taken."""
    return int(np.random.default_rng([seed, step]).choice(len(shares), p=shares))


class CapturedSteps:
    """One function for each specific type: draw a batch, compute the loss, change the weights.

    The learning rates are tensors on the device, so that a captured step sees their changes. Embeddings have one, the
    operators' matrices and norms another: a step of Adam changes every number of a matrix by about the rate, and all of
    a row's changes add up in what comes out.
    """

    def __init__(
        self,
        model: QueryModel,
        queries: list[DeviceQueries],
        settings: NeuralSettings,
        mixed_precision: bool = False,
    ) -> None:
        self.model, self.queries, self.settings, self.mixed_precision = model, queries, settings, mixed_precision
        self.device = queries[0].ids.device
        cuda = self.device.type == "cuda"
        self.processes = model.processes
        tables = [module for module in model.modules() if isinstance(module, Embedding)]
        embeddings = {table.weight for table in tables}
        sparse = {table.weight for table in tables if table.sparse}
        self._spread = {table.weight for table in tables if isinstance(table, SpreadEmbedding)}
        learned = [weight for weight in model.parameters() if weight.requires_grad]
        operators = [weight for weight in learned if weight not in embeddings]
        self._shares = (1.0, settings.operator_rate)
        self._rates = [torch.tensor(settings.learning_rate * share, device=self.device) for share in self._shares]
        groups = [
            {"params": [weight for weight in learned if weight in embeddings - sparse], "lr": self._rates[0]},
            {"params": operators, "lr": self._rates[1]},
        ]
        self.optimizer = torch.optim.Adam(groups, fused=True, capturable=cuda)
        self.optimizers: list[torch.optim.Optimizer] = [self.optimizer]
        if sparse:  # which changes the rows that a step looked at, and no others
            rows = [weight for weight in learned if weight in sparse]
            self.optimizers.append(torch.optim.SparseAdam(rows, lr=self._rates[0]))
        self._losses = [torch.zeros((), device=self.device) for _ in queries]
        self._captured: list[torch.cuda.CUDAGraph] | None = None
        self._wants_capture = cuda and not sparse and self.processes.size == 1

    def set_learning_rate(self, rate: float) -> None:
        """From the next step on, change embeddings at this rate and operators at their share of it."""
        for tensor, share in zip(self._rates, self._shares, strict=True):
            tensor.fill_(rate * share)

    def prepare(self) -> None:
        """Capture every type's step; weights, optimizer and random numbers are left as they were."""
        if not self._wants_capture or self._captured is not None:
            return
        self.model.train()
        _touch_optimizer(self.optimizer)
        kept = [tensor.clone() for tensor in self._state()]
        stream = torch.cuda.Stream()
        pool = torch.cuda.graph_pool_handle()
        captured = []
        random_state = torch.cuda.get_rng_state(self.device)
        for kind in range(len(self.queries)):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(_WARM_UP if kind == 0 else 1):
                    self._step(kind)
            torch.cuda.current_stream().wait_stream(stream)
            graph = torch.cuda.CUDAGraph()
            self.optimizer.zero_grad(set_to_none=True)
            with torch.cuda.graph(graph, pool=pool, stream=stream):
                self._losses[kind] = self._step(kind)
            captured.append(graph)
        self._captured = captured
        for tensor, old in zip(self._state(), kept, strict=True):
            tensor.copy_(old)
        torch.cuda.set_rng_state(random_state, self.device)

    def run(self, place: int) -> Tensor:
        """One step on the type at `place`; the loss stays on the device and holds until that type's next step."""
        if self._captured is not None:
            self._captured[place].replay()
        else:
            self._losses[place] = self._step(place)
        return self._losses[place]

    def _step(self, place: int) -> Tensor:
        self.model.zero_grad(set_to_none=True)
        batch, positives = self.queries[place].draw(self.settings.batch_size, self.settings.answers)
        of_numbers = batch.shape.denotes_numbers
        candidates = self.model.sizes.values if of_numbers else self.model.sizes.entities
        negatives = self.settings.negatives_among(candidates, self.device.type)
        # The cache of cast weights must not outlive a capture.
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.mixed_precision, cache_enabled=False):
            loss = self.model.loss(batch, positives, negatives)
        weight = self.settings.value_weight if of_numbers else 1.0
        (loss * weight).backward()
        if self.processes.size > 1:
            self._sum_gradients()
        for optimizer in self.optimizers:
            optimizer.step()
        return loss.detach()

    def _sum_gradients(self) -> None:
        """Sum, in one go, the gradients of what every process has whole: each found the part of its own queries."""
        weights = (weight for weight in self.model.parameters() if weight not in self._spread)
        gradients = [weight.grad for weight in weights if weight.grad is not None]
        whole = self.processes.sum_(torch.cat([gradient.flatten() for gradient in gradients]))
        for gradient, total in zip(gradients, whole.split([each.numel() for each in gradients]), strict=True):
            gradient.copy_(total.view_as(gradient))

    def _state(self) -> list[Tensor]:
        tensors: list[Tensor] = [*self.model.parameters()]
        for state in self.optimizer.state.values():
            tensors += [value for value in state.values() if isinstance(value, Tensor)]
        return [tensor.data for tensor in tensors]


def _touch_optimizer(optimizer: torch.optim.Adam) -> None:
    """Make the optimizer's state for every weight, with a step on gradients of zero that is then undone."""
    weights = [weight for group in optimizer.param_groups for weight in group["params"]]
    kept = [weight.detach().clone() for weight in weights]
    known = [{name: tensor.clone() for name, tensor in optimizer.state.get(weight, {}).items()} for weight in weights]
    for weight in weights:
        weight.grad = torch.zeros_like(weight)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    with torch.no_grad():
        for weight, value, old in zip(weights, kept, known, strict=True):
            weight.copy_(value)
            for name, tensor in optimizer.state[weight].items():
                tensor.copy_(old[name]) if old else tensor.zero_()
