"""Reproducing the paper's tables: a benchmark, runs trained side by side, a report. What is done is not done again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import torch

from kgreckon.benchmark import Benchmark, BuildProgress, BuildSettings, build, paper_dataset
from kgreckon.benchmark.balancing import Balance
from kgreckon.errors import UserError
from kgreckon.exact import ComparisonMode
from kgreckon.files import make_folders, read_json, replacing, write_json, writing
from kgreckon.graph import open_graph
from kgreckon.graph.readers import is_mmkg_folder
from kgreckon.models.registry import settings_from_json
from kgreckon.models.settings import remarks_on
from kgreckon.reproduce.pages import html, markdown
from kgreckon.reproduce.plan import Plan, plans_for
from kgreckon.reproduce.report import report
from kgreckon.reproduce.result_files import result_of
from kgreckon.runs import Run, choose_settings, is_run_folder

_LOOK_EVERY = 0.2  # seconds
_SHARING = 4  # runs that share a GPU


class FailedRunsError(UserError):
    """Some runs failed; the results of the others are there."""

    def __init__(self, message: str, results: list[Path]) -> None:
        super().__init__(message)
        self.results = results


class ReproductionProgress:
    """How a reproduction reports its progress; by default not at all."""

    def building(self) -> AbstractContextManager[BuildProgress | None]:
        """A benchmark is built inside of what this returns."""
        return nullcontext()

    def started(self, plan: Plan) -> None:
        """A run begins or goes on."""

    def finished(self, plan: Plan, mrr: float) -> None:
        """A run is trained and evaluated."""

    def stopped(self, plan: Plan) -> None:
        """The budget is spent: a run keeps its last checkpoint."""


@dataclass(frozen=True)
class Reproduction:
    """What a call of `reproduce` left in its folder."""

    report: Path  # as HTML; beside it in Markdown
    results: tuple[Path, ...]  # of the runs that are done
    planned: int  # runs asked for


def reproduce(
    dataset: str,
    data: Path,
    out: Path,
    models: Sequence[str] = (),
    *,
    seeds: int = 1,
    ablation: bool = False,
    paper_loss: bool = False,
    balanced: bool = False,
    parallel: int | None = None,
    budget: float | None = None,
    benchmark_seed: int = 0,
    progress: ReproductionProgress | None = None,
    **settings: Any,
) -> Reproduction:
    """Reproduce the paper's tables on its graph `dataset`, whose MMKG folder is `data`: benchmark, runs, report.

    `models` are names such as reckoner, gqe or gqe-dice, all if none; `settings` are those of the neural models. With
    `paper_loss` number reasoning is also trained with the paper's own loss; with `balanced` every run is also tested on
    queries in equal shares by how many facts the cheapest proofs of their answers lack. What is complete is kept in
    `out`, and the same call goes on with it; it stops after `budget` seconds. Where runs failed the report is made of
    the others, and a FailedRunsError is raised.
    """
    import_module("matplotlib")  # which the report needs: not after hours of training
    progress = progress or ReproductionProgress()
    paper = paper_dataset(dataset)
    plans = plans_for(dataset, models, settings, seeds, ablation, paper_loss)
    if not is_mmkg_folder(data):
        raise UserError(f"{data} is not the MMKG folder of {dataset}, with EntityTriples and NumericalTriples")
    with writing(out, make=True):
        graph = open_graph(data, paper.top_attributes)
        made, with_balance = {}, {}
        for mode in dict.fromkeys(plan.mode for plan in plans):
            chosen = BuildSettings.choose(graph, mode=mode, seed=benchmark_seed, dataset=dataset)
            with progress.building() as bar:
                made[mode] = build(graph, out / f"benchmark-{mode.value}", chosen, progress=bar)
            if balanced:
                chosen = replace(chosen, balance=Balance.MISSING)
                with progress.building() as bar:
                    with_balance[mode] = build(graph, out / f"benchmark-{mode.value}-balanced", chosen, progress=bar)
        failure = None
        try:
            files = take_runs(made, out, plans, parallel or runs_at_a_time(), budget, progress, with_balance)
        except FailedRunsError as error:
            failure, files = error, error.results
        results = [read_json(path) for path in sorted((out / "results").glob("*.json"))]  # of other calls too
        blocks = report(results, f"kgreckon reproduce {dataset}")
        for name, text in (("md", markdown(blocks)), ("html", html(blocks, f"kgreckon: {dataset} reproduced"))):
            with replacing(out / f"report.{name}") as temporary:
                temporary.write_text(text, encoding="utf-8")
        if failure is not None:
            raise failure
        return Reproduction(out / "report.html", tuple(files), len(plans))


def take_runs(
    made: Mapping[ComparisonMode, Benchmark],
    folder: Path,
    plans: Sequence[Plan],
    parallel: int = 1,
    budget: float | None = None,
    progress: ReproductionProgress | None = None,
    balanced: Mapping[ComparisonMode, Benchmark] | None = None,
) -> list[Path]:
    """Take all runs that are not done yet, `parallel` at a time, for at most `budget` seconds; returns the results.

    Raises a FailedRunsError where some failed, after all others.

    `made` holds the benchmark of each way to compare numbers that a plan is for, `balanced` those on which runs are
    tested as well. Each run is a process of its own, so that several share a GPU, and a run that fails leaves the
    others alone.
    """
    start, told = perf_counter(), progress or ReproductionProgress()
    balanced = balanced or {}
    for plan in plans:
        _check_settings(folder, plan)
    waiting = [plan for plan in plans if not _is_done(folder, plan, plan.mode in balanced)]
    going: dict[str, tuple[Plan, subprocess.Popen[bytes]]] = {}
    failed = []
    try:
        while waiting or going:
            spent = budget is not None and perf_counter() - start > budget
            while waiting and len(going) < parallel and not spent:
                plan = waiting.pop(0)
                told.started(plan)
                going[plan.name] = plan, _start(made, balanced, folder, plan, parallel)
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
    results = [_result(folder, plan) for plan in plans if _is_done(folder, plan, plan.mode in balanced)]
    if failed:
        where = folder / "logs"
        raise FailedRunsError(f"these runs failed: {', '.join(failed)}; what they said is in {where}", results)
    return results


def runs_at_a_time() -> int:
    """How many runs at once are fastest here: several where NVIDIA's Multi-Process Service shares a GPU, else one."""
    control = Path(os.environ.get("CUDA_MPS_PIPE_DIRECTORY", "/tmp/nvidia-mps")) / "control"  # noqa: S108  # its place
    return _SHARING if torch.cuda.is_available() and control.exists() else 1


def _start(
    made: Mapping[ComparisonMode, Benchmark],
    balanced: Mapping[ComparisonMode, Benchmark],
    folder: Path,
    plan: Plan,
    parallel: int,
) -> subprocess.Popen[bytes]:
    """Train a run, or go on with it, then evaluate it, in one process, with its share of the cores."""
    for name in ("runs", "logs", "results"):
        make_folders(folder / name)
    job = {
        "benchmark": str(made[plan.mode].folder),
        "balanced": str(balanced[plan.mode].folder) if plan.mode in balanced else None,
        "run": str(folder / "runs" / plan.name),
        "settings": plan.settings,
        "parent": os.getpid(),
    }
    with (folder / "logs" / f"{plan.name}.txt").open("ab") as log:
        command = [sys.executable, "-m", "kgreckon.reproduce.job", json.dumps(job)]
        threads = str(max(1, (os.cpu_count() or 1) // parallel))  # more than there are cores slow all runs down
        environment = {"OMP_NUM_THREADS": threads, **os.environ}
        return subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=environment)  # noqa: S603


def _check_settings(folder: Path, plan: Plan) -> None:
    """Raise a UserError where a run is there, begun or done, that has other settings than the plan."""
    run_folder = folder / "runs" / plan.name
    if _is_done(folder, plan):
        kept = read_json(_result(folder, plan))["settings"]
    elif is_run_folder(run_folder):
        kept = Run.open(run_folder).header["settings"]
    else:
        return
    settings = choose_settings(**plan.settings)
    there = settings_from_json(kept).model_dump()
    other = [
        f"{key} is {there[key]!r} there and {value!r} here"
        for key, value in settings.model_dump().items()
        if there.get(key, value) != value and not remarks_on(settings, [key])
    ]
    if other:
        raise UserError(
            f"{run_folder} has other settings: {'; '.join(other)}. Take another folder, or delete it and "
            f"{_result(folder, plan)}"
        )


def _is_done(folder: Path, plan: Plan, balanced: bool = False) -> bool:
    """Whether a run has its result, and if wanted that on the balanced benchmark too."""
    path = _result(folder, plan)
    return path.is_file() and (not balanced or "balanced" in read_json(path))


def _result(folder: Path, plan: Plan) -> Path:
    return folder / "results" / f"{plan.name}.json"


def _write_result(folder: Path, plan: Plan) -> float:
    """Write what a report needs of a run; returns the MRR of its queries for entities."""
    own = {"name": plan.name, "variant": plan.variant, "comparisons": plan.mode.value}
    result = {**own, **result_of(folder / "runs" / plan.name)}
    write_json(_result(folder, plan), result)
    return float(result["entity_targets"]["all"]["mrr"])
