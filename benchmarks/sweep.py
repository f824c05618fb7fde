"""Settings compared on the validation queries: one thing changed at a time, the same trials for all forms of numbers.

    python benchmarks/sweep.py BENCHMARK --models gqe [--numbers baseline dice sinusoidal] [--steps 4000]
        [--try learning_rate=0.004,0.016] [--try "batch_size=512 steps=8000"] [--set key=value] [--queries 500]
        [--seeds 1] [--only-changes] [--part 1/4] [--seconds 500] [--json FILE]

On a graph of the paper a trial starts from the settings that `kgreckon reproduce` takes for it, elsewhere from the
defaults; `--steps 0` takes the steps from there too. A change without effect on a model is left out. A change is tried
on all models and forms before the next one, so that what is stopped early is even; `--part 2/4` takes every fourth, to
be run beside the others. The queries are put on the device once. A line is printed as each is done, and the file holds
all that are done. `--only-changes` leaves out the trials without a change, where they are known. The testing queries
are not read.
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

from kgreckon.benchmark import PRESETS, Benchmark, Split
from kgreckon.errors import UserError
from kgreckon.evaluation import EvaluationQueries, evaluate_scores
from kgreckon.exact import Numbers
from kgreckon.models import NUMBER_FORMS, QueryModel
from kgreckon.reproducing import plans_for
from kgreckon.training import parse_assignments, without_effect
from kgreckon.training.data import DeviceQueries, model_for, training_queries
from kgreckon.training.evaluating import device_for
from kgreckon.training.settings import RunSettings
from kgreckon.training.steps import Steps, type_of_step

# Settings with an option of their own, and those of what surrounds a training.
NOT_TRIED = {"model", "numbers", "seed", "precision", "device"}
NOT_TRIED |= {"validate_every", "validation_queries", "checkpoint_every", "report_every"}


def trained(benchmark: Benchmark, queries: list[DeviceQueries], settings: RunSettings) -> QueryModel:
    """A model after its steps: those of `kgreckon train`, without a run folder."""
    training, device = settings.training, device_for(settings.training.device)
    torch.manual_seed(training.seed)
    model = model_for(benchmark, settings.model, torch.Generator().manual_seed(training.seed)).to(device)
    model.train()
    steps = Steps(model, queries, training)
    steps.prepare()
    shares = np.array([len(each) for each in queries], dtype=np.float64)
    shares /= shares.sum()
    for step in range(training.steps):
        steps.set_learning_rate(training.rate_at(step))
        steps.run(type_of_step(training.seed, step, shares))
    return model


class Trial(NamedTuple):
    """What is trained, what it changes, what it is compared with, and the settings of that which have been chosen."""

    settings: RunSettings
    change: dict[str, str]
    plain: RunSettings
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
    preset: str | None, models: list[str], forms: list[str], fixed: dict[str, Any], tries: list[str], seeds: int
) -> Iterator[Trial]:
    """All that is to be trained, in order."""
    starts: list[dict[str, Any]] = [{"model": model, "numbers": numbers} for model in models for numbers in forms]
    if preset in PRESETS and preset is not None:
        starts = [plans_for(preset, [f"{start['model']}-{start['numbers']}"])[0].settings for start in starts]
    for change in changes(tries):
        for start in starts:
            chosen = {key: value for key, value in {**start, **fixed}.items() if key not in NOT_TRIED | {"steps"}}
            for seed in range(seeds):
                settings = RunSettings.choose({**start, **fixed, **change, "seed": seed})
                plain = RunSettings.choose({**start, **fixed, "seed": seed})
                if not change or not (settings == plain or len(without_effect(settings, change)) == len(change)):
                    yield Trial(settings, change, plain, chosen)


def main() -> None:
    """Compare the settings named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("benchmark")
    parser.add_argument("--models", nargs="+", default=["gqe", "query2box", "query2particles"])
    parser.add_argument("--numbers", nargs="+", default=list(NUMBER_FORMS))
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
    preset = benchmark.header.get("preset")
    fixed = parse_assignments(arguments.set_)
    for key in {*fixed, *(key for change in changes(arguments.tries) for key in change)} & NOT_TRIED:
        parser.error(f"{key} has an option of its own, or no effect here")
    part, parts = map(int, arguments.part.split("/"))
    if not 1 <= part <= parts:
        parser.error("--part goes from 1/N to N/N")
    everywhere = {**({"steps": arguments.steps} if arguments.steps else {}), **fixed}
    all_trials = trials(preset, arguments.models, arguments.numbers, everywhere, arguments.tries, arguments.seeds)
    wanted = [trial for trial in all_trials if trial.change or not arguments.only_changes]
    torch.set_float32_matmul_precision("high")
    device = device_for("auto")
    queries = training_queries(benchmark, device)
    validation = EvaluationQueries.load(benchmark, Split.VALID, device, arguments.queries)
    rows: list[dict[str, Any]] = []
    for settings, change, plain, start in wanted[part - 1 :: parts]:
        started = perf_counter()
        named = ", ".join(f"{key} {value}" for key, value in change.items()) or "no change"
        what = f"{settings.model.model} {settings.model.numbers}, seed {settings.training.seed}: {named}"
        if started - begin + longest > arguments.seconds:
            print(f"{what}: left out", flush=True)
            continue
        found = evaluate_scores(trained(benchmark, queries, settings).answer, validation)
        seconds = perf_counter() - started
        longest = max(longest, seconds)
        metrics = found.as_json()
        entities, for_numbers = metrics["entity_targets"], metrics["number_targets"]["all"]
        shares = {
            "without_numbers": entities["without_numbers"]["mrr"],
            "touching_numbers": entities["touching_numbers"]["mrr"],
            "for_numbers": for_numbers["mrr"] if for_numbers else None,
        }
        told = ", ".join(f"{key.replace('_', ' ')} {mrr:.2f}" for key, mrr in shares.items() if mrr is not None)
        print(f"{what}: {found.mean_mrr():.2f} ({seconds:.1f} s) {told}", flush=True)
        told_of = {
            "benchmark": preset if benchmark.numbers is Numbers.SAMPLED else f"{preset}-{benchmark.numbers.value}",
            "model": settings.model.model,
            "numbers": settings.model.numbers,
            "change": {key: value for key, value in change.items() if key != "steps"},
            "around": "reproduce" if preset in PRESETS else "other",
            "start": start,
            "seed": settings.training.seed,
            "steps": settings.training.steps,
            "beside_steps": plain.training.steps,
            "length": "short" if arguments.steps else "full",
            "validation_queries": arguments.queries,
            "validation_mrr": found.mean_mrr(),
            "seconds": round(seconds, 1),
        }
        rows.append({**told_of, **shares})
        if arguments.json:
            Path(arguments.json).write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        sys.exit(str(error))
