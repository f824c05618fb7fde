"""The training loop, written once for a CPU and a GPU: the host chooses the next type and launches, no more."""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, Split
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.locks import held
from kgreckon.training.data import model_for, training_queries
from kgreckon.training.evaluating import device_for, float32_products
from kgreckon.training.interrupts import WholeSteps
from kgreckon.training.reckoning import is_trained, train_reckoner
from kgreckon.training.run_folder import BEST, HEADER, LAST, Run, restore_state, state_tensors
from kgreckon.training.settings import RunSettings, Settings
from kgreckon.training.steps import Steps, type_of_step
from kgreckon.version import __version__


class TrainingProgress:
    """What a training tells of itself; the default says nothing."""

    def begin(self, step: int, steps: int) -> None:
        """Training starts at a step."""

    def report(self, step: int, loss: float, queries_per_second: float) -> None:
        """So far, with the mean loss since the last report."""

    def validated(self, step: int, mrr: float, best: bool) -> None:
        """A validation is done."""

    def stage(self, text: str) -> None:
        """What goes on beside the steps begins."""


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


def train(
    benchmark: str | Path | Benchmark,
    folder: str | Path,
    settings: Settings | None = None,
    progress: TrainingProgress | None = None,
) -> Run:
    """Train a model on a benchmark into a new run folder."""
    opened = benchmark if isinstance(benchmark, Benchmark) else Benchmark.open(benchmark)
    settings = settings or RunSettings()
    _device_of(settings)  # before anything is written
    _check_queries(opened, settings)
    run = Run.create(Path(folder), opened, settings)
    return _run_to_the_end(run, opened, progress or TrainingProgress(), resume=False)


def resume(folder: str | Path, benchmark: Path | None = None, progress: TrainingProgress | None = None) -> Run:
    """Go on with a run where its last checkpoint stood."""
    run = Run.open(folder)
    opened = run.benchmark(benchmark)
    _check_queries(opened, run.settings)
    return _run_to_the_end(run, opened, progress or TrainingProgress(), resume=True)


def _run_to_the_end(run: Run, benchmark: Benchmark, progress: TrainingProgress, resume: bool) -> Run:
    with held(run.folder / HEADER, f"{run.folder} is being trained by another process"):
        return _go_on(run, benchmark, progress, resume)


def _go_on(run: Run, benchmark: Benchmark, progress: TrainingProgress, resume: bool) -> Run:
    start = perf_counter()
    device = _device_of(run.settings)
    if not isinstance(run.settings, RunSettings) and is_trained(run):
        return run
    try:
        if isinstance(run.settings, RunSettings):
            _Trainer(run, benchmark, run.settings, progress).run_to_the_end(resume)
        else:
            with float32_products("high" if device.type == "cuda" else "highest"):
                train_reckoner(run, benchmark, device, progress)
    finally:  # what an interrupted run took counts too
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        last = max((line["step"] for line in run.records()), default=0)
        took = perf_counter() - start
        versions = {"torch": torch.__version__, "python": platform.python_version(), "kgreckon": __version__}
        run.record({"step": last, "trained_seconds": took, "device": name, **versions})
    return run


def _check_queries(benchmark: Benchmark, settings: Settings) -> None:
    """Raise a UserError where queries are not built, or a neural model has none; the reckoner learns from facts."""
    for split in (Split.TRAIN, Split.VALID):
        for name in benchmark.types:
            benchmark.check_complete(split, name)
    if isinstance(settings, RunSettings) and not any(
        benchmark.summary(Split.TRAIN, name)["found"] for name in benchmark.types
    ):
        raise UserError(f"{benchmark.folder} has no training queries")


def _device_of(settings: Settings) -> torch.device:
    """The device to train on; a UserError where it is not there, or not for these settings."""
    if not isinstance(settings, RunSettings):
        return device_for(settings.device)
    device = device_for(settings.training.device)
    if settings.training.precision == "bf16" and device.type == "cpu":
        raise UserError("precision=bf16 is for a GPU; on a CPU leave it at auto")
    return device


class _Trainer:
    """One training, from its first step or its last checkpoint to its end."""

    def __init__(self, run: Run, benchmark: Benchmark, settings: RunSettings, progress: TrainingProgress) -> None:
        self.run, self.benchmark, self.progress = run, benchmark, progress
        self.model_settings, self.settings = settings.model, settings.training
        self.device = _device_of(settings)
        self.precision = self.settings.precision
        if self.precision == "auto":
            self.precision = "tf32" if self.device.type == "cuda" else "float32"

    def run_to_the_end(self, resume: bool) -> Run:
        """Take all steps that are left."""
        devices = [self.device] if self.device.type == "cuda" else []
        # Dropout draws from torch's own generators; they are given back as they were.
        products = float32_products("highest" if self.precision == "float32" else "high")
        with torch.random.fork_rng(devices), products:
            torch.manual_seed(self.settings.seed)
            self._run(resume)
        return self.run

    def _run(self, resume: bool) -> None:
        settings = self.settings
        queries = training_queries(self.benchmark, self.device)
        per_type = settings.validation_queries
        self.validation = EvaluationQueries.load(self.benchmark, Split.VALID, self.device, per_type)
        generator = torch.Generator().manual_seed(settings.seed)
        self.model = model_for(self.benchmark, self.model_settings, generator).to(self.device)
        self.steps = Steps(self.model, queries, settings, self.precision == "bf16")
        counters = _Counters()
        if resume and (self.run.folder / LAST).is_file():
            tensors = self.run.tensors(LAST, self.device)
            try:
                counters = _Counters(**restore_state(self.model, self.steps.optimizer, tensors))
            except (RuntimeError, KeyError, TypeError) as error:
                raise UserError(f"{self.run.folder / LAST} does not fit the run's settings: {error}") from None
        if resume:
            self.run.forget_after(counters.told)
        self.steps.prepare()
        shares = np.array([len(each) for each in queries], dtype=np.float64)
        self._take_steps(counters, shares / shares.sum())

    def _take_steps(self, counters: _Counters, shares: np.ndarray) -> None:
        """Take the steps that are left; when it is interrupted, what stands is kept as a checkpoint."""
        settings = self.settings
        self.progress.begin(counters.step, settings.steps)
        total = torch.tensor(counters.total, device=self.device)
        self.clock = counters.step, perf_counter()  # since when steps are timed
        writer = _event_writer(self.run.folder, counters.told)
        with WholeSteps() as whole:
            try:
                while True:
                    if counters.told < counters.step:
                        self._tell(counters, total, shares, writer)
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
                if counters.step and self._is_finite(total):
                    self._save(counters, total)
                raise
        writer.close()

    def _tell(self, counters: _Counters, total: Tensor, shares: np.ndarray, writer: Any) -> None:
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
            self.run.record({"step": step, "loss": loss, "queries_per_second": rate})
            writer.add_scalar("loss", loss, step)
            self.progress.report(step, loss, rate)
        if validates:
            self._validate(counters, writer)
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
        self.run.save(LAST, state_tensors(self.model, self.steps.optimizer, vars(counters)))

    def _validate(self, counters: _Counters, writer: Any) -> None:
        evaluation = evaluate_scores(self.model.answer, self.validation)
        mrr = evaluation.mean_mrr()
        best = mrr > counters.best_mrr
        if best:
            self.run.save(BEST, {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()})
            counters.best_mrr, counters.best_step = mrr, counters.step
        self.run.record({"step": counters.step, "validation_mrr": mrr, "seconds": evaluation.seconds})
        writer.add_scalar("validation MRR", mrr, counters.step)
        self.progress.validated(counters.step, mrr, best)

    def _is_finite(self, total: Tensor) -> bool:
        """Whether the losses since the last report and all weights are numbers: nothing else is kept."""
        return bool(total.isfinite()) and all(bool(weight.isfinite().all()) for weight in self.model.parameters())

    def _stop_at(self, step: int, shares: np.ndarray) -> None:
        """Name the type whose loss is not finite: the first among those since the last report."""
        first = max(0, step - self.settings.report_every)
        for taken in range(first, step):
            place = type_of_step(self.settings.seed, taken, shares)
            if not math.isfinite(float(self.steps._losses[place])):
                queries = self.steps.queries[place]
                raise UserError(
                    f"the loss is not finite by step {step}, on queries of type {queries.type}, {queries.shape}: "
                    f"lower the learning rate ({self.settings.learning_rate}); the last checkpoint is kept"
                )
        raise UserError(
            f"the weights are not finite by step {step}: lower the learning rate; the last checkpoint is kept"
        )


def _event_writer(folder: Path, step: int) -> Any:
    """TensorBoard's writer of events; those after the step, which a resumed run takes again, are forgotten."""
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(folder / "events"), purge_step=step + 1)
