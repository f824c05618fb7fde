"""Runs side by side, and beside the paper's tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kgreckon.benchmark.datasets import PAPER_DATASETS
from kgreckon.errors import UserError
from kgreckon.files import read_json
from kgreckon.runs.run_folder import Run


@dataclass(frozen=True)
class Row:
    """One model's numbers for queries with an entity as target, in percent."""

    name: str
    mrr: float
    hits_at_1: float
    hits_at_3: float
    hits_at_10: float
    by_type: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self)


def compare_runs(folders: Sequence[Path], split: str = "test") -> list[Row]:
    """A row for each run, after the paper's for the same model and benchmark where there is one."""
    rows: list[Row] = []
    for folder in folders:
        run = Run.open(folder)
        path = run.folder / f"{split}_metrics.json"
        if not path.is_file():
            raise UserError(f"{path} is missing: first run kgreckon evaluate {folder} --split {split}")
        paper = paper_row(run)
        if paper is not None and paper not in rows:
            rows.append(paper)
        metrics = read_json(path)
        if not {"entity_targets", "queries"} <= set(metrics):
            raise UserError(f"{path} is damaged: run kgreckon evaluate {folder} --split {split} again")
        if metrics["entity_targets"]["all"] is None:
            raise UserError(f"{folder} was asked no queries for entities: run kgreckon evaluate with more queries")
        rows.append(_row(str(folder), metrics["entity_targets"]))
        if metrics.get("entity_targets_among_values"):
            rows.append(_row(f"{folder}, among values too", metrics["entity_targets_among_values"]))
    return rows


def why_not_comparable(folders: Sequence[Path], split: str = "test") -> str | None:
    """Why the figures of runs cannot be held against each other, if so."""
    if len({Run.open(folder).header["benchmark_hash"] for folder in folders}) > 1:
        return "these runs are of different benchmarks"
    asked = {read_json(folder / f"{split}_metrics.json")["queries"] for folder in folders}
    counts = " and ".join(f"{count:,}" for count in sorted(asked))
    return f"these runs were asked {counts} queries" if len(asked) > 1 else None


def _row(name: str, table: dict[str, Any]) -> Row:
    overall = table["all"]
    by_type = {kind: metrics["mrr"] for kind, metrics in table["by_type"].items() if metrics is not None}
    return Row(name, overall["mrr"], overall["hits_at_1"], overall["hits_at_3"], overall["hits_at_10"], by_type)


def paper_row(run: Run) -> Row | None:
    """The paper's numbers for the run's model, numbers and benchmark."""
    dataset, row = PAPER_DATASETS.get(run.header.get("preset") or ""), run.settings.paper_row
    metrics = None if dataset is None or row is None else dataset.results.get(row)
    if dataset is None or row is None or metrics is None:
        return None
    hits = [metrics[f"hits_at_{count}"] for count in (1, 3, 10)]
    name = f"paper: {dataset.title} {' '.join(row)}"
    return Row(name, metrics["mrr"], hits[0], hits[1], hits[2], metrics["by_type"])
