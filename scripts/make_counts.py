"""Write the counts of benchmarks beside the paper's into docs/benchmarks.md, between its markers.

python scripts/make_counts.py STATISTICS...   each what `kgreckon stats BENCHMARK --json` prints, ordinary or balanced
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from kgreckon.benchmark.datasets import PAPER_DATASETS
from kgreckon.query import GENERAL_TYPES

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- counts -->\n", "<!-- end of counts -->\n"
_COUNTED = ("nodes", "relations", "attributes", "relation_edges", "attribute_edges", "numerical_edges", "edges")
_FEW = 4  # numbers of missing facts with a column of their own

Statistics = dict[str, Any]


def table(heading: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table in Markdown."""
    lines = [list(heading), *([*map(str, row)] for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def title(statistics: Statistics) -> str:
    """The graph of a benchmark."""
    return PAPER_DATASETS[statistics["dataset"]].title


def graph_rows(statistics: Statistics) -> Iterable[list[str]]:
    """The size of each split's graph, the paper's, and the difference."""
    for graph in statistics["graphs"]:
        sizes, paper = [graph[name] for name in _COUNTED], [graph["paper"][name] for name in _COUNTED]
        yield [f"{title(statistics)} {graph['split']}", *(f"{size:,}" for size in sizes)]
        yield ["paper", *(f"{size:,}" for size in paper)]
        yield ["difference", *(f"{size / of - 1:+.1%}" for size, of in zip(sizes, paper, strict=True))]


def query_rows(statistics: Statistics) -> Iterable[list[str]]:
    """The queries of each split by type, the paper's, and those that ask for or touch a number."""
    for split in ("train", "valid", "test"):
        by_type = {row["type"]: row for row in statistics["queries"] if row["split"] == split}
        for label, field in (
            (f"{title(statistics)} {split}", "found"),
            ("paper", "paper"),
            ("for a number", "number_targets"),
            ("touching a number", "touching_numbers"),
        ):
            counts = [by_type[name][field] for name in GENERAL_TYPES]
            yield [label, *(f"{count:,}" for count in [*counts, sum(counts)])]


def unit_rows(statistics: Statistics) -> Iterable[list[str]]:
    """What share of the numbers is measured in each unit."""
    for row in statistics["value_types"]:
        facts, share, values = row["attribute_facts"], row["share"], row["values"]
        yield [title(statistics), row["unit"], f"{facts:,}", f"{share:.1%}", f"{values:,}"]


def missing_rows(statistics: Statistics) -> Iterable[list[str]]:
    """The shares of hard answers to test queries by how many facts and values their cheapest proofs lack."""
    for row in statistics["queries"]:
        if row["split"] == "test":
            shares = {int(count): share for count, share in row["missing"].items()}
            cells = [f"{shares[count]:.1%}" if count in shares else "" for count in range(_FEW)]
            yield [title(statistics), row["type"], f"{row['found']:,}", *cells]


def counts(ordinary: list[Statistics], balanced: list[Statistics]) -> str:
    """All tables."""
    sizes = table(
        ("graph", *(name.replace("_", " ") for name in _COUNTED)), chain.from_iterable(map(graph_rows, ordinary))
    )
    queries = table(("queries", *GENERAL_TYPES, "all"), chain.from_iterable(map(query_rows, ordinary)))
    heading: tuple[str, ...] = ("graph", "unit", "attribute facts", "share", "distinct values")
    units = table(heading, chain.from_iterable(map(unit_rows, ordinary)))
    heading = ("test queries", "type", "queries", *(f"{count} missing" for count in range(_FEW)))
    missing = [table(heading, chain.from_iterable(map(missing_rows, some))) for some in (ordinary, balanced)]
    return (
        f"{sizes}\n{queries}\n### Types of values\n\nWhat the numbers of the test graphs are measured in:\n\n{units}\n"
        "### Missing facts\n\nHard answers to test queries by how many facts and values their cheapest proofs lack:\n"
        f"\n{missing[0]}\nThe same in a balanced benchmark:\n\n{missing[1]}"
    )


def main() -> None:
    """Write the page's tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("statistics", nargs="+", type=Path)
    read = [json.loads(path.read_text(encoding="utf-8")) for path in parser.parse_args().statistics]
    made = counts([each for each in read if not each["balance"]], [each for each in read if each["balance"]])
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{made}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
