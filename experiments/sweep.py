"""Settings compared on the validation queries: one thing changed at a time, the same trials for all encodings.

    python experiments/sweep.py BENCHMARK --models gqe [--encodings baseline dice sinusoidal] [--steps 4000]
        [--try learning_rate=0.004,0.016] [--try "batch_size=512 steps=8000"] [--set key=value] [--queries 500]
        [--seeds 1] [--only-changes] [--part 1/4] [--seconds 500] [--json FILE]

On a graph of the paper a trial starts from the settings that `kgreckon reproduce` takes for it, elsewhere from the
defaults; `--steps 0` takes the steps from there too. A change without effect on a model is left out. A change is tried
on all models and encodings before the next one, so that what is stopped early is even; `--part 2/4` takes every fourth,
to be run beside the others. The queries are put on the device once. A line is printed as each is done, and the file
holds all that are done. `--only-changes` leaves out the trials without a change, where they are known. The testing
queries are not read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import torch

from kgreckon.benchmark import PAPER_DATASETS, Benchmark, Split
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.models.devices import device_for
from kgreckon.models.neural import ENCODINGS, NeuralSettings, QueryModel
from kgreckon.models.neural.captured_steps import CapturedSteps, type_of_step
from kgreckon.models.neural.device_queries import DeviceQueries, model_for, training_queries
from kgreckon.reproduce import plans_for
from kgreckon.runs import parse_assignments, remarks_on

# Settings with an option of their own, and those of what surrounds a training.
NOT_TRIED = {"model", "encoding", "seed", "precision", "device"}
NOT_TRIED |= {"validate_every", "validation_queries", "checkpoint_every", "report_every"}


def trained(benchmark: Benchmark, queries: list[DeviceQueries], settings: NeuralSettings) -> QueryModel:
    """A model after its steps: those of `kgreckon train`, without a run folder."""
    torch.manual_seed(settings.seed)
    generator = torch.Generator().manual_seed(settings.seed)
    model = model_for(benchmark, settings, generator).to(device_for(settings.device))
    model.train()
    steps = CapturedSteps(model, queries, settings)
    steps.prepare()
    shares = np.array([len(each) for each in queries], dtype=np.float64)
    shares /= shares.sum()
    for step in range(settings.steps):
        steps.set_learning_rate(settings.rate_at(step))
        steps.run(type_of_step(settings.seed, step, shares))
    return model


class Trial(NamedTuple):
    """What is trained, what it changes, what it is compared with, and the settings of that which have been chosen."""

    settings: NeuralSettings
    change: dict[str, str]
    plain: NeuralSettings
    start: dict[str, Any]


def changes(tries: list[str]) -> list[dict[str, str]]:
    """No change, and then one at a time: each of the values of a setting, or of several settings together."""
    found: list[dict[str, str]] = [{}]
    for each in tries:
        named = [assignment.partition("=") for assignment in each.split()]
        values = [value.split(",") for _, _, value in named]
        found += [dict(zip([key for key, _, _ in named], taken, strict=True)) for taken in product(*values)]
    return found


def trials(
    dataset: str | None, models: list[str], encodings: list[str], fixed: dict[str, Any], tries: list[str], seeds: int
) -> Iterator[Trial]:
    """All that is to be trained, in order."""
    starts: list[dict[str, Any]] = [{"model": model, "encoding": each} for model in models for each in encodings]
    if dataset in PAPER_DATASETS and dataset is not None:
        starts = [plans_for(dataset, [f"{start['model']}-{start['encoding']}"])[0].settings for start in starts]
    for change in changes(tries):
        for start in starts:
            chosen = {key: value for key, value in {**start, **fixed}.items() if key not in NOT_TRIED | {"steps"}}
            for seed in range(seeds):
                settings = NeuralSettings.choose({**start, **fixed, **change, "seed": seed})
                plain = NeuralSettings.choose({**start, **fixed, "seed": seed})
                if not change or not (settings == plain or len(remarks_on(settings, change)) == len(change)):
                    yield Trial(settings, change, plain, chosen)


def main() -> None:
    """Compare the settings named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("benchmark")
    parser.add_argument("--models", nargs="+", default=["gqe", "query2box", "query2particles"])
    parser.add_argument("--encodings", nargs="+", default=list(ENCODINGS))
    parser.add_argument("--steps", type=int, default=4000, help="0 for as many as the settings it starts from have.")
    parser.add_argument("--try", dest="tries", action="append", default=[])
    parser.add_argument("--set", dest="set_", action="append", default=[])
    parser.add_argument("--queries", type=int, default=500, help="Validation queries of each type; 0 for all.")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only-changes", action="store_true")
    parser.add_argument("--part", default="1/1", help="Every so many-th trial, beginning with this one.")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="Begin no trial that may end later.")
    parser.add_argument("--json", default=None)
    arguments = parser.parse_args()
    begin, longest = perf_counter(), 0.0
    benchmark = Benchmark.open(arguments.benchmark)
    dataset = benchmark.header.get("preset")
    fixed = parse_assignments(arguments.set_)
    for key in {*fixed, *(key for change in changes(arguments.tries) for key in change)} & NOT_TRIED:
        parser.error(f"{key} has an option of its own, or no effect here")
    part, parts = map(int, arguments.part.split("/"))
    if not 1 <= part <= parts:
        parser.error("--part goes from 1/N to N/N")
    everywhere = {**({"steps": arguments.steps} if arguments.steps else {}), **fixed}
    all_trials = trials(dataset, arguments.models, arguments.encodings, everywhere, arguments.tries, arguments.seeds)
    wanted = [trial for trial in all_trials if trial.change or not arguments.only_changes]
    torch.set_float32_matmul_precision("high")
    device = device_for("auto")
    queries = training_queries(benchmark, device)
    validation = EvaluationQueries.load(benchmark, Split.VALID, device, arguments.queries)
    rows: list[dict[str, Any]] = []
    for settings, change, plain, start in wanted[part - 1 :: parts]:
        started = perf_counter()
        named = ", ".join(f"{key} {value}" for key, value in change.items()) or "no change"
        what = f"{settings.model} {settings.encoding}, seed {settings.seed}: {named}"
        if started - begin + longest > arguments.seconds:
            print(f"{what}: left out", flush=True)
            continue
        found = evaluate_scores(trained(benchmark, queries, settings).answer, validation)
        seconds = perf_counter() - started
        longest = max(longest, seconds)
        tables = found.result()
        measured = {
            "without_numbers": tables.entity_targets.without_numbers,
            "touching_numbers": tables.entity_targets.touching_numbers,
            "for_numbers": tables.number_targets.all,
        }
        shares = {name: None if part is None else part.mrr for name, part in measured.items()}
        summary = ", ".join(f"{name.replace('_', ' ')} {mrr:.2f}" for name, mrr in shares.items() if mrr is not None)
        print(f"{what}: {found.mean_mrr():.2f} ({seconds:.1f} s) {summary}", flush=True)
        trial = {
            "benchmark": dataset if not benchmark.mode.is_computed else f"{dataset}-{benchmark.mode.value}",
            "model": settings.model,
            "numbers": settings.encoding,  # as all files in results/sweeps name it
            "change": {key: value for key, value in change.items() if key != "steps"},
            "around": "reproduce" if dataset in PAPER_DATASETS else "other",
            "start": start,
            "seed": settings.seed,
            "steps": settings.steps,
            "beside_steps": plain.steps,
            "length": "short" if arguments.steps else "full",
            "validation_queries": arguments.queries,
            "validation_mrr": found.mean_mrr(),
            "seconds": round(seconds, 1),
        }
        rows.append({**trial, **shares})
        if arguments.json:
            Path(arguments.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
