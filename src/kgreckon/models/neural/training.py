"""The training loop, written once for a CPU and a GPU: the host chooses the next type and launches, no more."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, Split
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.models.checkpoints import last_checkpoint, save_checkpoint
from kgreckon.models.devices import float32_products
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.interrupts import WholeSteps
from kgreckon.models.neural.captured_steps import CapturedSteps, type_of_step
from kgreckon.models.neural.device_queries import model_for, training_queries
from kgreckon.models.neural.events import EventFile
from kgreckon.models.neural.neural_settings import NeuralSettings
from kgreckon.models.neural.operators import SpreadEmbedding, Tables
from kgreckon.models.neural.query_model import QueryModel
from kgreckon.models.run_files import BEST, LAST, RunFiles
from kgreckon.models.spreading import check_batch
from kgreckon.processes import ALONE, Processes


@dataclass
class _Counters:
    """Where a training stands."""

    step: int = 0
    best_mrr: float = -1.0
    best_step: int = 0
    since: int = 0  # steps since the last report
    total: float = 0.0  # of their losses
    told: int = -1  # the last step that was reported, validated and saved, where these were due

    def __post_init__(self) -> None:
        """Checkpoints of before tell of no step that is left half done."""
        self.told = self.step if self.told < 0 else self.told


class Training:
    """One training, from its first step or its last checkpoint to its end."""

    def __init__(
        self,
        files: RunFiles,
        benchmark: Benchmark,
        settings: NeuralSettings,
        device: torch.device,
        progress: TrainingProgress,
        processes: Processes = ALONE,
    ) -> None:
        self.files, self.benchmark, self.settings = files.of_first(processes), benchmark, settings
        self.device, self.progress, self.processes = device, progress, processes
        check_batch(settings.batch_size, processes)
        self.precision = self.settings.precision
        if self.precision == "auto":
            self.precision = "tf32" if self.device.type == "cuda" else "float32"

    def run_to_the_end(self) -> None:
        """Take all steps that are left."""
        devices = [self.device] if self.device.type == "cuda" else []
        # Dropout draws from torch's own generators; they are given back as they were.
        products = float32_products("highest" if self.precision == "float32" else "high")
        with torch.random.fork_rng(devices), products:
            torch.manual_seed(self.settings.seed)
            self._run()

    def _run(self) -> None:
        settings = self.settings
        queries = training_queries(self.benchmark, self.device)
        per_type = settings.validation_queries
        self.validation = EvaluationQueries.load(self.benchmark, Split.VALID, self.device, per_type)
        generator = torch.Generator().manual_seed(settings.seed)
        tables = Tables(self.processes, settings.samples(len(self.benchmark.graph.entities), self.device.type))
        self.model = model_for(self.benchmark, self.settings, generator, tables).to(self.device)
        self.steps = CapturedSteps(self.model, queries, settings, self.precision == "bf16")
        counters = _Counters()
        tensors = last_checkpoint(self.files, spread_tensors(self.model), self.device, self.processes)
        if tensors is not None:
            try:
                counters = _Counters(**restore_state(self.model, self.steps.optimizers, tensors))
            except (RuntimeError, KeyError, TypeError) as error:
                raise UserError(f"{self.files.folder / LAST} does not fit the run's settings: {error}") from None
        self.files.forget_after(counters.told)
        self.steps.prepare()
        shares = np.array([len(one_type) for one_type in queries], dtype=np.float64)
        self._take_steps(counters, shares / shares.sum())

    def _take_steps(self, counters: _Counters, shares: np.ndarray) -> None:
        """Take the steps that are left; when it is interrupted, what stands is kept as a checkpoint."""
        settings = self.settings
        self.progress.begin(counters.step, settings.steps)
        total = torch.tensor(counters.total, device=self.device)
        self.clock = counters.step, perf_counter()  # since when steps are timed
        event_file = EventFile(self.files.folder / "events", counters.told) if self.processes.is_first else None
        with WholeSteps() as whole, event_file or nullcontext() as events:
            try:
                while True:
                    if counters.told < counters.step:
                        self._tell(counters, total, shares, events)
                    if counters.step == settings.steps:
                        break
                    with whole.step():
                        if settings.decay:
                            self.steps.set_learning_rate(settings.rate_at(counters.step))
                        self.model.train()
                        total += self.steps.run(type_of_step(settings.seed, counters.step, shares))
                        counters.step += 1
                        counters.since += 1
            except KeyboardInterrupt:
                # Several processes may have been stopped at different steps.
                if self.processes.size == 1 and counters.step and self._is_finite(total):
                    self._save(counters, total)
                raise

    def _tell(self, counters: _Counters, total: Tensor, shares: np.ndarray, events: EventFile | None) -> None:
        """Report, validate and save after a step, where it is time to."""
        settings, step = self.settings, counters.step
        ends = step == settings.steps
        reports = ends or step % settings.report_every == 0
        validates = ends or (settings.validate_every > 0 and step % settings.validate_every == 0)
        saves = ends or step % settings.checkpoint_every == 0
        if (validates or saves) and not self._is_finite(total):
            self._stop_at(step, shares)
        if reports:
            loss = float(total) / counters.since
            if not math.isfinite(loss):
                self._stop_at(step, shares)
            begun, clock = self.clock
            rate = (step - begun) * settings.batch_size / (perf_counter() - clock)
            self.files.record({"step": step, "loss": loss, "queries_per_second": rate})
            if events is not None:
                events.add("loss", loss, step)
            self.progress.report(step, loss, rate)
        if validates:
            self._validate(counters, events)
        counters.told = step
        if reports:
            total.zero_()
            counters.since = 0
        if saves:
            self._save(counters, total)
        if reports or validates:
            self.clock = step, perf_counter()

    def _save(self, counters: _Counters, total: Tensor) -> None:
        """Write a checkpoint: everything that the next step depends on."""
        counters.total = float(total)
        tensors = state_tensors(self.model, self.steps.optimizers, vars(counters))
        save_checkpoint(self.files, tensors, spread_tensors(self.model), self.processes)

    def _validate(self, counters: _Counters, events: EventFile | None) -> None:
        evaluation = evaluate_scores(self.model.answer, self.validation)
        mrr = evaluation.mean_mrr()
        best = mrr > counters.best_mrr
        if best:
            spread = spread_tensors(self.model)
            weights = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
            for name in weights.keys() & spread.keys():
                weights[name] = self.processes.on_first(weights[name], spread[name])
            self.files.save(BEST, weights)
            counters.best_mrr, counters.best_step = mrr, counters.step
        self.files.record({"step": counters.step, "validation_mrr": mrr, "seconds": evaluation.seconds})
        if events is not None:
            events.add("validation MRR", mrr, counters.step)
        self.progress.validated(counters.step, mrr, best)

    def _is_finite(self, total: Tensor) -> bool:
        """Whether the losses since the last report and all weights are numbers: nothing else is kept."""
        finite = bool(total.isfinite()) and all(bool(weight.isfinite().all()) for weight in self.model.parameters())
        return not self.processes.max_(torch.tensor(float(not finite)))

    def _stop_at(self, step: int, shares: np.ndarray) -> None:
        """Name the type whose loss is not finite: the first among those since the last report."""
        first = max(0, step - self.settings.report_every)
        for taken in range(first, step):
            kind = type_of_step(self.settings.seed, taken, shares)
            if not math.isfinite(float(self.steps._losses[kind])):
                queries = self.steps.queries[kind]
                raise UserError(
                    f"the loss is not finite by step {step}, on queries of type {queries.type}, {queries.shape}: "
                    f"lower the learning rate ({self.settings.learning_rate}); the last checkpoint is kept"
                )
        raise UserError(
            f"the weights are not finite by step {step}: lower the learning rate; the last checkpoint is kept"
        )


def spread_tensors(model: QueryModel) -> dict[str, int]:
    """The tensors of a checkpoint of which each of several processes has a part, with their rows in all."""
    tables = {name: table.count for name, table in model.named_modules() if isinstance(table, SpreadEmbedding)}
    names = ("model.{}.weight", "optimizer.{}.weight.exp_avg", "optimizer.{}.weight.exp_avg_sq")
    return {form.format(name): count for name, count in tables.items() for form in names}


def state_tensors(
    model: QueryModel, optimizers: Sequence[torch.optim.Optimizer], progress: dict[str, Any]
) -> dict[str, Tensor]:
    """Everything that the next step depends on, as tensors: weights, moments, random states and counters."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    names: dict[Tensor, str] = {weight: name for name, weight in model.named_parameters()}
    for optimizer in optimizers:
        for weight, state in optimizer.state.items():
            tensors |= {f"optimizer.{names[weight]}.{key}": torch.as_tensor(value) for key, value in state.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    text = json.dumps(progress).encode()
    tensors["progress"] = torch.from_numpy(np.frombuffer(text, dtype=np.uint8).copy())
    return tensors


def restore_state(
    model: QueryModel, optimizers: Sequence[torch.optim.Optimizer], tensors: dict[str, Tensor]
) -> dict[str, Any]:
    """Put everything back; returns the counters."""
    weights = dict(model.named_parameters())
    of = {weight: each for each in optimizers for group in each.param_groups for weight in group["params"]}
    prefix = "model."
    model.load_state_dict({k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)})
    for key, tensor in tensors.items():
        if key.startswith("optimizer."):
            name, _, part = key.removeprefix("optimizer.").rpartition(".")
            state = of[weights[name]].state[weights[name]]
            if part in state:
                state[part].copy_(tensor)
            elif part == "step":  # sparse steps are counted by an integer
                state[part] = tensor if tensor.is_floating_point() else int(tensor)
            else:
                state[part] = tensor.to(weights[name].device)
    torch.set_rng_state(tensors["random.cpu"].cpu())
    if torch.cuda.is_available() and "random.cuda" in tensors:
        torch.cuda.set_rng_state(tensors["random.cuda"].cpu())
    return dict(json.loads(tensors["progress"].cpu().numpy().tobytes()))
