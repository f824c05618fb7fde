"""Taking the runs of a plan: built once, trained side by side, evaluated; what is done is not done again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import torch

from kgreckon.benchmark import Benchmark
from kgreckon.benchmark.format import read_json, write_json
from kgreckon.errors import UserError
from kgreckon.exact import Numbers
from kgreckon.reproducing.plan import Plan
from kgreckon.training import Run, choose_settings, is_run_folder, without_effect
from kgreckon.training.settings import settings_as_json, settings_from_json

TESTED = "test_metrics.json"
_LOOK_EVERY = 0.2  # seconds
_MOST_LOSSES = 400  # of a run, in its result
_SHARING = 4  # runs that share a GPU


class FailedRunsError(UserError):
    """Some runs failed; the results of the others are there."""

    def __init__(self, message: str, results: list[Path]) -> None:
        super().__init__(message)
        self.results = results


class Progress:
    """What a reproduction tells of itself; the default says nothing."""

    def started(self, plan: Plan) -> None:
        """A run begins or goes on."""

    def finished(self, plan: Plan, mrr: float) -> None:
        """A run is trained and evaluated."""

    def stopped(self, plan: Plan) -> None:
        """The budget is spent: a run keeps its last checkpoint."""


def reproduce(
    made: Mapping[Numbers, Benchmark],
    folder: Path,
    plans: Sequence[Plan],
    parallel: int = 1,
    budget: float | None = None,
    progress: Progress | None = None,
) -> list[Path]:
    """Take all runs that are not done yet, `parallel` at a time, for at most `budget` seconds; returns the results.

    Raises a FailedRunsError where some failed, after all others.

    `made` holds the benchmark of each way to compare numbers that a plan is for. Each run is a process of its own, so
    that several share a GPU, and a run that fails leaves the others alone.
    """
    start, told = perf_counter(), progress or Progress()
    for plan in plans:
        _check_settings(folder, plan)
    waiting = [plan for plan in plans if not _is_done(folder, plan)]
    going: dict[str, tuple[Plan, subprocess.Popen[bytes]]] = {}
    failed = []
    try:
        while waiting or going:
            spent = budget is not None and perf_counter() - start > budget
            while waiting and len(going) < parallel and not spent:
                plan = waiting.pop(0)
                told.started(plan)
                going[plan.name] = plan, _start(made[plan.numbers], folder, plan, parallel)
            for name, (plan, process) in list(going.items()):
                if process.poll() is None:
                    continue
                del going[name]
                if process.returncode:
                    failed.append(name)
                else:
                    told.finished(plan, _write_result(folder, plan))
            if spent:
                break
            sleep(_LOOK_EVERY)
    finally:
        for plan, process in going.values():
            process.terminate()  # not SIGINT, which a shell has its background jobs ignore
            process.wait()
            told.stopped(plan)
    results = [_result(folder, plan) for plan in plans if _is_done(folder, plan)]
    if failed:
        where = folder / "logs"
        raise FailedRunsError(f"these runs failed: {', '.join(failed)}; what they said is in {where}", results)
    return results


def runs_at_a_time() -> int:
    """How many runs at once are fastest here: several where NVIDIA's Multi-Process Service shares a GPU, else one."""
    control = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")) / "control"  # noqa: S108  # its place
    return _SHARING if torch.cuda.is_available() and control.exists() else 1


def _start(benchmark: Benchmark, folder: Path, plan: Plan, parallel: int) -> subprocess.Popen[bytes]:
    """Train a run, or go on with it, then evaluate it, in one process, with its share of the cores."""
    for name in ("runs", "logs", "results"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    job = {
        "benchmark": str(benchmark.folder),
        "run": str(folder / "runs" / plan.name),
        "settings": plan.settings,
        "parent": os.getpid(),
    }
    with (folder / "logs" / f"{plan.name}.txt").open("ab") as log:
        command = [sys.executable, "-m", "kgreckon.reproducing.job", json.dumps(job)]
        threads = str(max(1, (os.cpu_count() or 1) // parallel))  # more than there are cores slow all runs down
        environment = {"OMP_NUM_THREADS": threads, **os.environ}
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)  # noqa: S603


def _check_settings(folder: Path, plan: Plan) -> None:
    """Raise a UserError where a run is there, begun or done, that has other settings than the plan."""
    place = folder / "runs" / plan.name
    if _is_done(folder, plan):
        kept = read_json(_result(folder, plan))["settings"]
    elif is_run_folder(place):
        kept = Run.open(place).header["settings"]
    else:
        return
    settings = choose_settings(plan.settings)
    there = settings_as_json(settings_from_json(kept))
    other = [
        f"{key} is {there[part][key]!r} there and {value!r} here"
        for part, values in settings_as_json(settings).items()
        for key, value in values.items()
        if there.get(part, {}).get(key, value) != value and not without_effect(settings, [key])
    ]
    if other:
        raise UserError(
            f"{place} has other settings: {'; '.join(other)}. Take another folder, or delete it and "
            f"{_result(folder, plan)}"
        )


def _is_done(folder: Path, plan: Plan) -> bool:
    return _result(folder, plan).is_file()


def _result(folder: Path, plan: Plan) -> Path:
    return folder / "results" / f"{plan.name}.json"


def _write_result(folder: Path, plan: Plan) -> float:
    """Write what a report needs of a run; returns the MRR of its queries for entities."""
    found = {"name": plan.name, "variant": plan.variant, **result_of(folder / "runs" / plan.name)}
    write_json(_result(folder, plan), found)
    return float(found["entity_targets"]["all"]["mrr"])


def _learning_curve(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The losses, of many some hundred, and all validations."""
    losses = sum("loss" in line for line in records)
    stride = 1 + losses // _MOST_LOSSES
    kept, seen = [], 0
    for line in records:
        seen += "loss" in line
        if "validation_mrr" in line or ("loss" in line and seen % stride == 0):
            kept.append(line)
    return kept


def result_of(place: Path) -> dict[str, Any]:
    """A run as plain data: settings, how long and where it was trained, its learning curve, and all its metrics."""
    if not is_run_folder(place) or not (place / TESTED).is_file():
        raise UserError(f"{place} is not the folder of a run that was evaluated on the testing queries")
    run = Run.open(place)
    records = run.records()
    trained = [line for line in records if "trained_seconds" in line]
    tested = read_json(place / TESTED)
    tested.pop("device", None)
    calibration = place / "calibration.json"
    last = trained[-1] if trained else {"device": "unknown", "torch": "unknown"}
    return {
        "benchmark": run.header["preset"],
        "benchmark_seed": run.header.get("benchmark_seed", 0),
        "settings": run.header["settings"],
        "train_seconds": round(sum(float(line["trained_seconds"]) for line in trained), 1),
        "device_name": last["device"],
        **{name: last[name].split("+")[0] for name in ("torch", "python", "kgreckon") if name in last},
        "records": _learning_curve(records),
        **({"calibration": read_json(calibration)} if calibration.is_file() else {}),
        **tested,
    }
