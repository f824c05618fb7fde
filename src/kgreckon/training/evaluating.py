"""Evaluating a run on its benchmark's validation or testing queries."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from kgreckon.benchmark import Benchmark, Split
from kgreckon.benchmark.format import write_json
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.models import QueryModel
from kgreckon.reckoner import Reckoner
from kgreckon.training.reckoning import AT_ONCE, load_reckoner
from kgreckon.training.run_folder import Run
from kgreckon.training.settings import RunSettings


def load(
    run: Run | str | Path, benchmark: Path | None = None, device: str = "auto", known: Split = Split.TRAIN
) -> QueryModel | Reckoner:
    """The trained model of a run, with its best weights; its `answer` scores all candidates of a batch of queries.

    A reckoner counts the facts of the graph that is known as observed.
    """
    run = run if isinstance(run, Run) else Run.open(run)
    return _load(run, run.benchmark(benchmark), device_for(device), known)


def _load(run: Run, benchmark: Benchmark, device: torch.device, known: Split = Split.TRAIN) -> QueryModel | Reckoner:
    if isinstance(run.settings, RunSettings):
        return run.model(benchmark, device)
    return load_reckoner(run, benchmark, device, known)


def evaluate(
    run: Run | str | Path,
    split: Split | str = Split.TEST,
    benchmark: Path | None = None,
    device: str = "auto",
    queries_per_type: int = 0,
    advance: Callable[[int, int], None] = lambda count, total: None,
) -> dict[str, Any]:
    """Evaluate a run's best weights on a split; the result is also written to the run folder, as JSON and CSV."""
    run = run if isinstance(run, Run) else Run.open(run)
    split = Split.of(split) if isinstance(split, str) else split
    if queries_per_type < 0:
        raise UserError("queries_per_type must not be negative")
    if not os.access(run.folder, os.W_OK):  # told before the work, not after it
        raise UserError(f"{run.folder} cannot be written to, and its tables are kept there")
    opened = run.benchmark(benchmark)
    where = device_for(device)
    queries = EvaluationQueries.load(opened, split, where, queries_per_type)
    at_once = 0 if isinstance(run.settings, RunSettings) else AT_ONCE[where.type]
    with float32_products("high" if where.type == "cuda" else "highest"):
        evaluation = evaluate_scores(_load(run, opened, where).answer, queries, advance, at_once)
    result = evaluation.as_json() | {"queries_per_type": queries_per_type or None, "device": where.type}
    name = f"{split.label}_metrics"
    write_json(run.folder / f"{name}.json", result)
    _write_csv(run.folder / f"{name}.csv", result)
    return result


@contextmanager
def float32_products(precision: str) -> Iterator[None]:
    """Within, float32 matrix products are as exact as torch calls it ("highest", or TF32: "high"); then as before."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def device_for(name: str) -> torch.device:
    """The device of that name; `auto` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if not re.fullmatch(r"cpu|cuda(:\d+)?", name):
        raise UserError(f"unknown device {name!r}: choose auto, cpu or cuda")
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UserError("there is no GPU that torch can use here: leave device at auto")
    return device


def _write_csv(path: Path, result: dict[str, Any]) -> None:
    rows = []
    for target in ("entity_targets", "number_targets"):
        table = result[target]
        named = {
            "all": table["all"],
            "touching numbers": table["touching_numbers"],
            "without": table["without_numbers"],
        }
        for name, metrics in {**named, **table["by_type"], **table["by_specific_type"]}.items():
            if metrics is not None:
                rows.append({"target": target, "queries of": name, **metrics})
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["target"])
        writer.writeheader()
        writer.writerows(rows)
    temporary.replace(path)
