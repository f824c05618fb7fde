"""Evaluating a model on a benchmark's validation or testing queries."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch
from torch import Tensor

from kgreckon.benchmark import Benchmark, QuerySet, Split
from kgreckon.benchmark.format import write_json
from kgreckon.evaluation import Metrics, QueryScores, filtered_ranks, summarise
from kgreckon.exact import Ragged
from kgreckon.models import QueryModel
from kgreckon.query import Batch, Shape
from kgreckon.training.run_folder import Run

EVALUATION_BATCH = {"cpu": 256, "cuda": 2048}


@dataclass(frozen=True)
class ShapeResult:
    """What a model reached on the queries of one specific type."""

    type: str
    shape: Shape
    scores: QueryScores
    errors: dict[str, np.ndarray]  # for number targets, by unit: how far the best value is from the nearest hard answer


@dataclass(frozen=True)
class Evaluation:
    """What a model reached on a split."""

    split: Split
    results: tuple[ShapeResult, ...]
    seconds: float

    def select(self, keep: Callable[[ShapeResult], bool]) -> Metrics | None:
        """The mean over the queries of some specific types, or None where there are none."""
        chosen = [result.scores for result in self.results if keep(result)]
        return summarise(QueryScores.concatenate(chosen)) if chosen else None

    def mean_mrr(self) -> float:
        """The mean over all queries with an entity as target: the paper's overall number."""
        metrics = self.select(lambda result: not result.shape.denotes_numbers)
        return metrics.mrr if metrics is not None else 0.0

    def as_json(self) -> dict[str, Any]:
        """All tables as plain data, entity targets and number targets apart."""
        types = list(dict.fromkeys(result.type for result in self.results))

        def table(numbers: bool) -> dict[str, Any]:
            def json(keep: Callable[[ShapeResult], bool]) -> dict[str, float] | None:
                found = self.select(lambda result: result.shape.denotes_numbers == numbers and keep(result))
                return None if found is None else found.as_json()

            rows = {
                "all": json(lambda result: True),
                "by_type": {name: json(lambda result, name=name: result.type == name) for name in types},  # type: ignore[misc]
                "touching_numbers": json(lambda result: result.shape.touches_numbers),
                "without_numbers": json(lambda result: not result.shape.touches_numbers),
                "by_specific_type": {
                    result.shape.text: summarise(result.scores).as_json()
                    for result in self.results
                    if result.shape.denotes_numbers == numbers
                },
            }
            return rows

        errors: dict[str, list[np.ndarray]] = {}
        for result in self.results:
            for unit, values in result.errors.items():
                errors.setdefault(unit, []).append(values)
        absolute = {
            unit: {"queries": len(all_), "mean": float(all_.mean()), "median": float(np.median(all_))}
            for unit, all_ in ((unit, np.concatenate(parts)) for unit, parts in sorted(errors.items()))
        }
        return {
            "split": self.split.label,
            "queries": sum(len(result.scores.realistic) for result in self.results),
            "seconds": self.seconds,
            "entity_targets": table(False),
            "number_targets": table(True) | {"absolute_error_of_the_best_value": absolute},
        }


@torch.no_grad()
def evaluate_model(
    model: QueryModel,
    benchmark: Benchmark,
    split: Split,
    device: torch.device,
    queries_per_type: int = 0,
    advance: Callable[[int], None] = lambda count: None,
    seed: int = 0,
) -> Evaluation:
    """Rank every hard answer of a split's queries, or of some of each type."""
    model.eval()
    start = perf_counter()
    results = []
    for name in benchmark.types:
        sets = [queries for queries in benchmark.query_sets(split, name) if len(queries)]
        for queries, rows in zip(sets, _chosen(sets, queries_per_type, seed), strict=True):
            if len(rows):
                results.append(_evaluate_set(model, benchmark, name, queries, rows, device, advance))
    return Evaluation(split, tuple(results), perf_counter() - start)


def _chosen(sets: list[QuerySet], count: int, seed: int) -> list[np.ndarray]:
    """Which queries of each set to take: all, or a random choice among all of the type."""
    ends = np.cumsum([0] + [len(queries) for queries in sets])
    total = int(ends[-1])
    if not count or count >= total:
        return [np.arange(len(queries)) for queries in sets]
    picked = np.sort(np.random.default_rng(seed).permutation(total)[:count])
    return [picked[(picked >= low) & (picked < high)] - low for low, high in pairwise(ends)]


def _evaluate_set(
    model: QueryModel,
    benchmark: Benchmark,
    name: str,
    queries: QuerySet,
    rows: np.ndarray,
    device: torch.device,
    advance: Callable[[int], None],
) -> ShapeResult:
    numbers = queries.shape.denotes_numbers
    parts, errors = [], []
    size = EVALUATION_BATCH[device.type]
    for first in range(0, len(rows), size):
        chunk = rows[first : first + size]
        ids = torch.from_numpy(np.array(queries.batch.ids[chunk])).to(device)
        scores = model.scores(model.encode(Batch(queries.shape, ids)), numbers).float()  # type: ignore[arg-type]
        easy_query, easy = _pairs(queries.easy, chunk, device)
        hard_query, hard = _pairs(queries.hard, chunk, device)
        ranks = filtered_ranks(scores, easy_query, easy, hard_query, hard)
        found = QueryScores.from_ranks(ranks, len(chunk))
        parts.append(QueryScores(found.realistic.cpu(), found.optimistic.cpu()))
        if numbers:
            errors.append(_value_errors(scores, easy_query, easy, hard_query, hard, benchmark))
        advance(len(chunk))
    by_unit: dict[str, np.ndarray] = {}
    if numbers:
        units, distances = (np.concatenate(column) for column in zip(*errors, strict=True))
        names = benchmark.graph.values.units
        by_unit = {names[unit]: distances[units == unit] for unit in np.unique(units)}
    return ShapeResult(name, queries.shape, QueryScores.concatenate(parts), by_unit)


def _pairs(answers: Ragged, rows: np.ndarray, device: torch.device) -> tuple[Tensor, Tensor]:
    """The answers of some queries as pairs of place and answer."""
    counts = answers.counts[rows]
    places = np.repeat(np.arange(len(rows)), counts)
    starts = answers.offsets[rows]
    within = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    items = answers.items[np.repeat(starts, counts) + within]
    return torch.from_numpy(places).to(device), torch.from_numpy(items.astype(np.int64)).to(device)


def _value_errors(
    scores: Tensor, easy_query: Tensor, easy: Tensor, hard_query: Tensor, hard: Tensor, benchmark: Benchmark
) -> tuple[np.ndarray, np.ndarray]:
    """For each query the unit of its first hard answer, and how far the best value of that unit is from a hard one."""
    table = benchmark.graph.values
    row_units = torch.from_numpy(table.unit_ids.astype(np.int64)).to(scores.device)
    numbers = torch.from_numpy(np.array(table.numbers)).to(scores.device)
    queries = len(scores)
    first = torch.full((queries,), len(hard), device=scores.device).scatter_reduce_(
        0, hard_query, torch.arange(len(hard), device=scores.device), "amin"
    )
    unit = row_units[hard[first]]
    allowed = scores.masked_fill(row_units[None] != unit[:, None], -torch.inf)
    allowed[easy_query, easy] = -torch.inf
    best = numbers[allowed.argmax(dim=1)]
    distance = (numbers[hard] - best[hard_query]).abs()
    distance = distance.masked_fill(row_units[hard] != unit[hard_query], torch.inf)
    nearest = torch.full((queries,), torch.inf, device=scores.device, dtype=distance.dtype)
    nearest.scatter_reduce_(0, hard_query, distance, "amin")
    return unit.cpu().numpy(), nearest.cpu().numpy()


def load(run: Run | str | Path, benchmark: Path | None = None, device: str = "auto") -> QueryModel:
    """The trained model of a run, with its best weights, ready to encode and score queries."""
    run = run if isinstance(run, Run) else Run.open(run)
    return run.model(run.benchmark(benchmark), device_for(device))


def evaluate(
    run: Run | str | Path,
    split: Split = Split.TEST,
    benchmark: Path | None = None,
    device: str = "auto",
    queries_per_type: int = 0,
    advance: Callable[[int], None] = lambda count: None,
) -> dict[str, Any]:
    """Evaluate a run's best weights on a split; the result is also written to the run folder, as JSON and CSV."""
    run = run if isinstance(run, Run) else Run.open(run)
    opened = run.benchmark(benchmark)
    where = device_for(device)
    evaluation = evaluate_model(run.model(opened, where), opened, split, where, queries_per_type, advance)
    result = evaluation.as_json() | {"queries_per_type": queries_per_type or None, "device": where.type}
    name = f"{split.label}_metrics"
    write_json(run.folder / f"{name}.json", result)
    _write_csv(run.folder / f"{name}.csv", result)
    return result


def device_for(name: str) -> torch.device:
    """The device of that name; `auto` is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)


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
