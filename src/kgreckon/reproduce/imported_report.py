"""The report's part on benchmarks of others, which have types of queries and published splits of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from kgreckon.reproduce.layout import Block, Heading, Table, Text
from kgreckon.reproduce.rows import Result, made_on, name_of


def imported_blocks(result: Result) -> list[Block]:
    """A run on a benchmark of others: the MRR by type, also of its parts where those were measured."""
    by_type = {name: row["mrr"] for name, row in result["entity_targets"]["by_type"].items() if row is not None}
    rows = {name_of(result): by_type}
    parts = [row for row in result.get("parts", {}).get("ablation", ()) if row["variant"] != "as trained"]
    rows |= {row["variant"]: row["by_type"] for row in parts if "by_type" in row}
    tables = {
        "MRR, without negation": [name for name in by_type if not _negates(name)],
        "with negation": [name for name in by_type if _negates(name)],
    }
    return [
        Heading(result["benchmark"]),
        Text(
            f"The {result['queries']:,} testing queries that were published with this split, ranked among all\n"
            f"entities; trained in {result['train_seconds']:.0f} s on {made_on(result)}, with the default settings.\n"
            "Links alone are the same link predictor: a softmax over tails, times how many tails are stated, the\n"
            "maximum over what lies between, and products."
        ),
        *(_by_type(title, rows, types) for title, types in tables.items() if types),
    ]


def _negates(kind: str) -> bool:
    return "n" in kind


def _by_type(title: str, rows: Mapping[str, Mapping[str, Any]], types: Sequence[str]) -> Table:
    cells = [
        [name, *(f"{own[kind]:.2f}" for kind in types), f"{mean(own[kind] for kind in types):.2f}"]
        for name, own in rows.items()
    ]
    return Table((title, *types, "mean"), cells)
