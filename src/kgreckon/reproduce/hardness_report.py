"""What the models reach by how hard answers are, on the ordinary queries and on balanced ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgreckon.query import GENERAL_TYPES
from kgreckon.reproduce.layout import Block, Heading, Table, Text
from kgreckon.reproduce.rows import Result, name_of

_WORDS = ("nothing", "one", "two", "three")


def hardness_blocks(results: Sequence[Result]) -> list[Block]:
    """Tables by how many facts and values the cheapest proofs lack; older results do not say it."""
    ordinary = {
        name_of(result): result["entity_targets"] for result in results if "by_hardness" in result["entity_targets"]
    }
    balanced = {name_of(result): result["balanced"]["entity_targets"] for result in results if "balanced" in result}
    balanced = {name: table for name, table in balanced.items() if "by_hardness" in table}
    blocks: list[Block] = []
    if ordinary:
        blocks += [
            Text(
                "MRR of hard answers by how many facts and values their cheapest proofs lack in the training graph\n"
                "(queries for entities), and how many answers there are of each:"
            ),
            _by_missing(ordinary),
        ]
    if balanced:
        blocks += [
            Text(
                "The same on the balanced benchmark, where each type has equal shares of queries by that number as\n"
                "far as the graph yields them; then its MRR by type:"
            ),
            _by_missing(balanced),
            _by_type(balanced),
        ]
    return [Heading("How hard the answers are", 3), *blocks] if blocks else []


def _by_missing(tables: dict[str, dict[str, Any]]) -> Table:
    rows = {name: {row["missing"]: row for row in table["by_hardness"]["by_missing"]} for name, table in tables.items()}
    lacking = sorted({missing for by_number in rows.values() for missing in by_number})
    answers = next(iter(rows.values()))
    counts = ["answers", *(f"{answers[missing]['answers']:,}" if missing in answers else "" for missing in lacking)]
    return Table(
        ("lacking", *(_WORDS[missing] if missing < len(_WORDS) else str(missing) for missing in lacking)),
        [
            counts,
            *(
                [name, *(f"{by_number[missing]['mrr']:.2f}" if missing in by_number else "" for missing in lacking)]
                for name, by_number in rows.items()
            ),
        ],
    )


def _by_type(tables: dict[str, dict[str, Any]]) -> Table:
    types = [kind for kind in GENERAL_TYPES if any(table["by_type"].get(kind) for table in tables.values())]
    return Table(
        ("", *types),
        [
            [name, *(f"{table['by_type'][kind]['mrr']:.2f}" if table["by_type"].get(kind) else "" for kind in types)]
            for name, table in tables.items()
        ],
    )
