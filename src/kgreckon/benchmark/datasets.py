"""The paper's three benchmarks: how many attributes and queries each has, and the paper's own tables."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kgreckon.benchmark.splits import Split
from kgreckon.errors import unknown_name
from kgreckon.query import GENERAL_TYPES

Counts = dict[Split, dict[str, int]]
_BACKBONES = {"GQE": "gqe", "Q2B": "query2box", "Q2P": "query2particles"}  # as the paper writes them


@dataclass(frozen=True)
class PaperDataset:
    """A benchmark of the paper."""

    name: str
    title: str  # as the paper writes it
    top_attributes: int

    @property
    def queries(self) -> Counts:
        """How many distinct queries of each split and type the paper has."""
        rows = {row["split"]: row for row in paper_tables()["queries"] if row["dataset"] == self.title}
        return {split: {name: rows[split.graph_name][name] for name in GENERAL_TYPES} for split in Split}

    @property
    def graphs(self) -> dict[Split, dict[str, int]]:
        """The sizes of the paper's three graphs."""
        rows = {row["split"]: row for row in paper_tables()["graphs"] if row["dataset"] == self.title}
        return {split: rows[split.graph_name] for split in Split}

    @property
    def results(self) -> dict[tuple[str, str], dict[str, Any]]:
        """What the paper's nine models reach, by backbone and form of numbers: `mrr`, `hits_at_…`, and `by_type`."""
        overall, by_type = (
            {
                (_BACKBONES[row["backbone"]], row["values"]): row
                for row in paper_tables()[name]
                if row["dataset"] == self.title
            }
            for name in ("overall", "by_type")
        )
        return {model: {**row, "by_type": by_type[model]["mrr"]} for model, row in overall.items()}


PAPER_DATASETS = {
    dataset.name: dataset
    for dataset in (
        PaperDataset("fb15k", "FB15k", 15),
        PaperDataset("db15k", "DB15k", 30),
        PaperDataset("yago15k", "YAGO15k", 7),
    )
}


def paper_dataset(name: str) -> PaperDataset:
    """The dataset of that name."""
    if name not in PAPER_DATASETS:
        raise unknown_name("dataset", name, PAPER_DATASETS)
    return PAPER_DATASETS[name]


@cache
def paper_tables() -> dict[str, Any]:
    """The tables of the paper as data."""
    path = Path(__file__).with_name("paper_tables.json")
    return dict(json.loads(path.read_text(encoding="utf-8")))


def scaled_counts(num_facts: int, types: list[str], queries: int | None) -> Counts:
    """How many queries a graph of one's own gets of each type: as many as it has facts, and a tenth to test on."""
    train = queries if queries is not None else max(1000, num_facts)
    return {split: dict.fromkeys(types, train if split is Split.TRAIN else max(1, train // 10)) for split in Split}
