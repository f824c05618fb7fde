"""Settings compared on the validation queries: one changed at a time, the same steps for every one.

    python benchmarks/sweep.py BENCHMARK --model gqe [--numbers baseline sinusoidal] [--steps 4000]
        [--try learning_rate=0.0005,0.002] [--try dropout=0.1] [--set key=value] [--json FILE]

The queries are put on the device once. A line is printed as each is done, and the file holds all that are done, so that
what is stopped is not lost. The testing queries are not read.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from kgreckon.benchmark import Benchmark, Split
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.models import QueryModel
from kgreckon.training import parse_assignments
from kgreckon.training.data import DeviceQueries, model_for, training_queries
from kgreckon.training.evaluating import device_for
from kgreckon.training.settings import RunSettings
from kgreckon.training.steps import Steps


def trained(benchmark: Benchmark, queries: list[DeviceQueries], settings: RunSettings) -> QueryModel:
    """A model after its steps: those of `kgreckon train`, without a run folder."""
    training, device = settings.training, device_for(settings.training.device)
    torch.manual_seed(training.seed)
    model = model_for(benchmark, settings.model, torch.Generator().manual_seed(training.seed)).to(device)
    model.train()
    steps = Steps(model, queries, training)
    steps.prepare()
    shares = np.array([len(each) for each in queries], dtype=np.float64)
    order = np.random.default_rng(training.seed).choice(len(shares), size=training.steps, p=shares / shares.sum())
    for step, place in enumerate(order):
        steps.set_learning_rate(training.rate_at(step))
        steps.run(int(place))
    return model


def variants(tries: list[str]) -> list[dict[str, Any]]:
    """No change, and then one change at a time."""
    changes: list[dict[str, Any]] = [{}]
    for each in tries:
        key, _, values = each.partition("=")
        changes += [{key: value} for value in values.split(",")]
    return changes


def main() -> None:
    """Compare the settings named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("benchmark")
    parser.add_argument("--model", default="gqe")
    parser.add_argument("--numbers", nargs="*", default=["baseline", "sinusoidal"])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--try", dest="tries", action="append", default=[])
    parser.add_argument("--set", dest="set_", action="append", default=[])
    parser.add_argument("--queries", type=int, default=500, help="Validation queries of each type.")
    parser.add_argument("--json", default=None)
    arguments = parser.parse_args()
    torch.set_float32_matmul_precision("high")
    device = device_for("auto")
    benchmark = Benchmark.open(arguments.benchmark)
    queries = training_queries(benchmark, device)
    validation = EvaluationQueries.load(benchmark, Split.VALID, device, arguments.queries)
    fixed = {"model": arguments.model, "steps": arguments.steps, "decay": 0.5}
    start_from = parse_assignments(arguments.set_)
    rows = []
    for numbers in arguments.numbers:
        for change in ({**start_from, **each} for each in variants(arguments.tries)):
            if numbers == "baseline" and "value_loss" in change:
                continue
            start = perf_counter()
            settings = RunSettings.choose({**fixed, "numbers": numbers, **change})
            model = trained(benchmark, queries, settings)
            found = evaluate_scores(model.answer, validation)
            parts = found.as_json()
            entities, numbers_too = parts["entity_targets"], parts["number_targets"]["all"]
            shares = {
                "without_numbers": entities["without_numbers"]["mrr"],
                "touching_numbers": entities["touching_numbers"]["mrr"],
                "for_numbers": numbers_too["mrr"] if numbers_too else None,
            }
            named = ", ".join(f"{key} {value}" for key, value in change.items()) or "defaults"
            seconds = perf_counter() - start
            print(f"{arguments.model} {numbers}: {named}: {found.mean_mrr():.2f} ({seconds:.1f} s)", end=" ")
            print(", ".join(f"{key.replace('_', ' ')} {value:.2f}" for key, value in shares.items()), flush=True)
            trial = {
                "benchmark": benchmark.header.get("preset"),
                "model": arguments.model,
                "numbers": numbers,
                "change": change,
                "steps": settings.training.steps,
                "validation_mrr": found.mean_mrr(),
                "seconds": round(seconds, 1),
            }
            rows.append({**trial, **shares})
            if arguments.json:
                Path(arguments.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")
            del model


if __name__ == "__main__":
    main()
