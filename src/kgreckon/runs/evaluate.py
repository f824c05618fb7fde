"""Evaluating a run on its benchmark's validation or testing queries."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

from kgreckon.benchmark import Split
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, EvaluationResult, ReliabilityMeter, evaluate_scores
from kgreckon.files import listing, read_json, replacing, write_json
from kgreckon.models.devices import device_for, float32_products
from kgreckon.models.interface import ScoreMeaning
from kgreckon.processes import started_together
from kgreckon.runs.run_folder import Run

BALANCED = "_balanced"  # in the names of the results on a balanced benchmark


def evaluate(
    run: Run | str | Path,
    split: Split | str = Split.TEST,
    benchmark: Path | None = None,
    device: str = "auto",
    queries_per_type: int = 0,
    advance: Callable[[int, int], None] = lambda count, total: None,
) -> EvaluationResult:
    """Evaluate a run's best weights on a split; the result is also written to the run folder, as JSON and CSV."""
    run = run if isinstance(run, Run) else Run.open(run)
    split = Split.of(split) if isinstance(split, str) else split
    if queries_per_type < 0:
        raise UserError("queries_per_type must not be negative")
    where = device_for(device)
    processes = started_together(where)
    with processes.writing(run.folder):
        opened = run.benchmark(benchmark)
        queries = EvaluationQueries.load(opened, split, where, queries_per_type, with_hardness=processes.is_first)
        with float32_products("high" if where.type == "cuda" else "highest"):
            model = run.load(benchmark, device)
            meter = None
            if model.calibration is ScoreMeaning.PROBABILITY:
                meter = ReliabilityMeter(opened.graphs.at(Split.TRAIN), opened.mode, model.shown)
            see = None if meter is None else meter.see
            evaluation = evaluate_scores(
                model.scores_as_released, queries, advance, model.queries_at_once, see, processes
            )
        reliability = None if meter is None else meter.rows(processes)
        result = evaluation.result(queries_per_type or None, where.type, reliability)
        table = run.folder / f"{split.label}_metrics{BALANCED if 'balance' in opened.header else ''}.csv"

        def written() -> None:
            _write_csv(table, result)
            write_json(table.with_suffix(".json"), result.as_json() | {"files": listing([table])})

        processes.first(written)
        return result if processes.is_first else EvaluationResult.from_json(read_json(table.with_suffix(".json")))


def _write_csv(path: Path, result: EvaluationResult) -> None:
    rows = result.records()
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["target"])
        writer.writeheader()
        writer.writerows(rows)
