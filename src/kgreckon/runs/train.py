"""Training a model on a benchmark into a run folder, and continuing one that was stopped."""

from __future__ import annotations

import platform
from pathlib import Path
from time import perf_counter
from typing import Any

from kgreckon.benchmark import Benchmark, Split
from kgreckon.errors import UserError, naming_extras
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.registry import DEFAULT_MODEL, choose_settings, family_named
from kgreckon.models.settings import Settings
from kgreckon.processes import Processes, started_together
from kgreckon.runs.run_folder import Run
from kgreckon.version import __version__


@naming_extras()
def train(
    benchmark: str | Path | Benchmark,
    model: str = DEFAULT_MODEL,
    *,
    out: str | Path,
    preset: str | None = None,
    progress: TrainingProgress | None = None,
    **settings: Any,
) -> Run:
    """Train a model on a benchmark into the run folder `out`; see docs/training.md for the settings.

    A run that was begun there with the same benchmark and settings goes on from its last checkpoint.
    """
    return train_with(benchmark, out, choose_settings(model, preset, **settings), progress)


def train_with(
    benchmark: str | Path | Benchmark,
    out: str | Path,
    settings: Settings,
    progress: TrainingProgress | None = None,
) -> Run:
    """Train with settings that are chosen already."""
    from kgreckon.models.devices import device_for

    opened = benchmark if isinstance(benchmark, Benchmark) else Benchmark.open(benchmark)
    _check_built(opened)
    device = device_for(settings.device)
    processes = started_together(device)
    check_together(settings, processes)
    family_named(settings.family).check(opened, settings, device)  # before anything is written
    with processes.writing(Path(out), make=True):
        processes.first(lambda: Run.begin(Path(out), opened, settings))
        return _run_to_the_end(Run.open(out), opened, progress or TrainingProgress(), processes)


@naming_extras()
def resume(folder: str | Path, benchmark: Path | None = None, progress: TrainingProgress | None = None) -> Run:
    """Continue a run from its last checkpoint."""
    from kgreckon.models.devices import device_for

    run = Run.open(folder)
    processes = started_together(device_for(run.settings.device))
    check_together(run.settings, processes)
    with processes.writing(Path(folder)):
        opened = run.benchmark(benchmark)
        _check_built(opened)
        run.family.check(opened, run.settings, device_for(run.settings.device))
        return _run_to_the_end(run, opened, progress or TrainingProgress(), processes)


def _check_built(benchmark: Benchmark) -> None:
    """Raise a UserError where queries are not built yet."""
    for split in (Split.TRAIN, Split.VALID):
        for name in benchmark.types:
            benchmark.check_complete(split, name)


def check_together(settings: Settings, processes: Processes) -> None:
    """Raise a UserError where several processes were started for a model that one trains."""
    if processes.size > 1 and not family_named(settings.family).together:
        raise UserError(f"{settings.model} is trained by one process: start kgreckon without torchrun")


def _run_to_the_end(run: Run, benchmark: Benchmark, progress: TrainingProgress, processes: Processes) -> Run:
    import torch

    from kgreckon.models.devices import device_for, device_name

    device, files = device_for(run.settings.device), run.files
    start = perf_counter()
    try:
        run.family.train(files, benchmark, run.settings, device, progress)
    finally:  # the time of an interrupted run counts too
        last = max((line["step"] for line in files.records()), default=0)
        versions = {"torch": torch.__version__, "python": platform.python_version(), "kgreckon": __version__}
        took = {"trained_seconds": perf_counter() - start, "device": device_name(device)}
        files.of_first(processes).record({"step": last, **took, **versions})
    processes.wait()
    return run
