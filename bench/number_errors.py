"""How far a reckoner's estimates of numbers are off, by attribute, beside those of the training median.

    python bench/number_errors.py GRAPH... [--split valid] [--without trees ...] [--ablate] [--rows 12] [--json FILE]

Each graph is split as a benchmark of seed 0 splits it. The attributes are learned from the training graph, and each
fact of the split is estimated, over the training graph. The error of an attribute is the mean distance in its unit;
beside it stand that of the training median, and how many of the 90 % intervals hold the value. With --ablate the same
again without each part: the mean of the error beside that of the median, over attributes with 20 training facts or
more, and over facts. Times are of this process alone.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from rich.console import Console

from kgreckon.benchmark import Split
from kgreckon.benchmark.splits import SplitGraph, random_split
from kgreckon.cli.console import print_table
from kgreckon.graph import open_graph
from kgreckon.models.reckoner.attributes import AttributeModels, fit_attributes
from kgreckon.models.reckoner.existence import FOLDS
from kgreckon.models.reckoner.numbers.estimating import PARTS

ENOUGH = 20  # training facts, from which on an attribute counts in means over attributes
MOST = 10.0  # what an attribute's error beside the median's counts at most in means


def errors_of(models: AttributeModels, graphs: SplitGraph, split: Split) -> list[dict[str, Any]]:
    """For each attribute with facts in the split: errors, the training median's, and the coverage."""
    graph, facts, splits = graphs.graph, graphs.graph.attribute_facts, graphs.attribute_fact_splits
    numbers, rows = graph.values.numbers[facts.targets], []
    for attribute, model in enumerate(models):
        own = facts.labels == attribute
        known, asked = numbers[own & (splits == Split.TRAIN)], own & (splits == split)
        if not asked.any() or not len(known):
            continue
        wanted, found = numbers[asked], model.numbers(facts.sources[asked])
        inside = (found.quantile(0.05) <= wanted) & (wanted <= found.quantile(0.95))
        learned = model.learned
        rows.append(
            {
                "attribute": graph.vocabulary.attribute_label(attribute),
                "training_facts": len(known),
                "facts": len(wanted),
                "mean_error": float(np.abs(found.quantile(0.5) - wanted).mean()),
                "mean_error_of_the_training_median": float(np.abs(np.median(known) - wanted).mean()),
                "coverage": float(inside.mean()),
                "estimator": learned.estimator.name.lower(),
                "identities": len(learned.experts),
                "scale": learned.kind,
            }
        )
    return rows


def summary_of(rows: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Means over facts and over attributes."""
    facts = np.array([row["facts"] for row in rows])
    ratio = np.array([beside(row) for row in rows]).clip(max=MOST)
    enough = np.array([row["training_facts"] >= ENOUGH for row in rows])
    return {
        "attributes": len(rows),
        "worse_than_the_median": sum(beside(row) > 1 + 1e-9 for row in rows),
        "coverage": float((facts * [row["coverage"] for row in rows]).sum() / facts.sum()),
        "error_beside_the_median_over_facts": float((facts * ratio).sum() / facts.sum()),
        "error_beside_the_median_over_attributes": float(ratio[enough].mean()),
        "cpu_seconds": seconds,
    }


def beside(row: dict[str, Any]) -> float:
    """An attribute's error beside that of the median."""
    if row["mean_error"] == row["mean_error_of_the_training_median"]:
        return 1.0
    return float(row["mean_error"] / max(row["mean_error_of_the_training_median"], 1e-300))


def measured(graphs: SplitGraph, split: Split, without: frozenset[str]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Learn from the training graph, and estimate the facts of a split."""
    training, start = graphs.at(Split.TRAIN), process_time()
    folds = np.random.default_rng(0).integers(FOLDS, size=len(training.entities))
    models = fit_attributes(training, folds, 0, without)
    rows = errors_of(models, graphs, split)
    return rows, summary_of(rows, process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--split", type=Split.of, default=Split.VALID)
    parser.add_argument("--without", nargs="*", default=(), choices=PARTS)
    parser.add_argument("--ablate", action="store_true")
    parser.add_argument("--rows", type=int, default=12, help="attributes that are shown, the most frequent ones")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    out, found = Console(), {}
    for place in options.graphs:
        graphs = random_split(open_graph(place), np.random.default_rng(0))
        base = frozenset(options.without)
        trials = [base] + [base | {part} for part in PARTS if part not in base] * options.ablate
        results = {}
        for without in trials:
            name = "without " + ", ".join(sorted(without)) if without else "all"
            rows, summary = measured(graphs, options.split, without)
            results[name] = {"summary": summary, "attributes": rows}
            if len(results) == 1:
                shown = sorted(rows, key=lambda row: -row["facts"])[: options.rows]
                shown += [row for row in rows if beside(row) > 1 + 1e-9 and row not in shown]
                cells = [
                    [cell if isinstance(cell, int | str) else f"{cell:.4g}" for cell in row.values()] for row in shown
                ]
                print_table(out, f"{place}, {options.split.label}", [name.replace("_", " ") for name in rows[0]], cells)
            out.print(f"{place}, {name}: {json.dumps(summary)}", soft_wrap=True)
        found[place] = results
        if options.json:
            options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
