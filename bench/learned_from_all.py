"""What it is worth to learn from all facts: answers about facts that neither model has seen.

    python bench/learned_from_all.py world [--seed 0] [--set rank=32]
    python bench/learned_from_all.py path/to/DB15K --seed 1 --share 0.5

A tenth of the facts and numbers is taken away for good. One model is trained as on a benchmark: on 80 % of all,
calibrated on the next 10 %. The other is learned with `kgreckon learn` from these 90 %. Both are then asked about the
last tenth, and both are told all 90 % when they are asked. `--share` takes a random part of the graph's entities.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import torch
from rich.console import Console

from kgreckon.cli.console import print_table
from kgreckon.graph import KnowledgeGraph, open_graph
from kgreckon.models.held_back import HeldBack, hold_back
from kgreckon.models.interface import TrainedModel, TrainingProgress
from kgreckon.models.registry import choose_settings, family_named
from kgreckon.models.run_files import RunFiles
from kgreckon.models.settings import parse_assignments
from kgreckon.runs.learn import learn_graph
from kgreckon.runs.measuring import measure
from kgreckon.runs.quality import Quality


def part_of(graph: KnowledgeGraph, share: float, rng: np.random.Generator) -> KnowledgeGraph:
    """What a graph states about a random share of its entities."""
    kept = rng.random(len(graph.entities)) < share
    facts, values = graph.facts, graph.attribute_facts
    return graph.restricted(kept[facts.sources] & kept[facts.targets], kept[values.sources])


def trained(known: KnowledgeGraph, folder: Path, seed: int, changed: dict[str, Any]) -> tuple[TrainedModel, float]:
    """A model that learned from eight ninths of what is known, and the CPU seconds that this took."""
    start = process_time()
    settings = choose_settings("reckoner", "small", device="cpu", seed=seed, **changed)
    training, held = hold_back(known, 1 / 9, np.random.default_rng(seed + 100))
    held_back = HeldBack(held.facts, held.attribute_facts, 0.8, 0.5)
    folder.mkdir()
    family, files, device = family_named(settings.family), RunFiles(folder), torch.device("cpu")
    family.learn(files, training, held_back, settings, device, TrainingProgress())
    took = process_time() - start
    return family.open_learned(files, training, known, 0.8, settings, device), took


def learned(known: KnowledgeGraph, folder: Path, seed: int, changed: dict[str, Any]) -> tuple[TrainedModel, float]:
    """A model that learned from all that is known, and the CPU seconds that this took."""
    start = process_time()
    run = learn_graph(known, folder, preset="small", device="cpu", seed=seed, **changed)
    return run.load(), process_time() - start


def figures(report: Quality, seconds: float) -> tuple[str, ...]:
    """A row of the table."""
    ratios = [
        row.mean_error / row.mean_error_of_the_median
        for row in report.attributes
        if row.mean_error_of_the_median > 0 and row.tested >= 10
    ]
    return (
        f"{report.mrr:.2f}",
        f"{report.hits_at_10:.2f}",
        f"{100 * report.calibration_error:.1f}",
        f"{np.mean(ratios):.3f}" if ratios else "-",
        f"{seconds:.0f}",
    )


def main() -> None:
    """Measure one graph."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("graph")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="of the entities")
    parser.add_argument("--set", action="append", default=[])
    arguments = parser.parse_args()
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "1")))
    changed = parse_assignments(arguments.set)
    rng = np.random.default_rng(arguments.seed)
    graph = open_graph(arguments.graph)
    if arguments.share < 1:
        graph = part_of(graph, arguments.share, rng)
    known, last = hold_back(graph, 0.1, rng)
    out, rows = Console(width=120), []
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (("train on 80 %", trained), ("learn from 90 %", learned)):
            model, seconds = make(known, Path(folder) / name.split()[0], arguments.seed, changed)
            report = measure(model, last, 0.1, np.random.default_rng(arguments.seed))
            rows.append((name, *figures(report, seconds)))
            out.print(rows[-1])
    columns = ("", "MRR, %", "first ten, %", "calibration, points", "error beside the median's", "CPU seconds")
    counts = f"{len(graph.facts):,} facts, {len(graph.attribute_facts):,} numbers"
    print_table(out, f"{arguments.graph}: {counts}; {report.tested:,} hidden facts asked", columns, rows)


if __name__ == "__main__":
    main()
