"""What a report asks of a result: whose it is, its seed, and what it reached."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from kgreckon.benchmark.datasets import PAPER_DATASETS
from kgreckon.query import GENERAL_TYPES

Result = dict[str, Any]  # as `result_files.result_of` gives it


def settings_of(result: Result) -> dict[str, Any]:
    """The run's settings by name; older results of neural models hold them in two parts."""
    settings = result["settings"]
    if "training" not in settings:
        return dict(next(iter(settings.values())))
    both = {**settings["model"], **settings["training"]}
    return {"encoding" if name == "numbers" else name: value for name, value in both.items()}


def name_of(result: Result) -> str:
    """The model, and its number encoding where it has one."""
    settings = settings_of(result)
    return ", ".join(settings[key] for key in ("model", "encoding") if key in settings)


def is_of_the_paper(result: Result) -> bool:
    """Whether the paper's tables have a row for the model, with its number encoding."""
    settings = settings_of(result)
    return (settings["model"], settings.get("encoding")) in PAPER_DATASETS[result["benchmark"]].results


def made_on(result: Result) -> str:
    """The device and the versions it was made with, as far as the run recorded them."""
    versions = (("torch", "torch"), ("Python", "python"), ("kgreckon", "kgreckon"))
    return ", ".join([result["device_name"], *(f"{name} {result[key]}" for name, key in versions if result.get(key))])


def place_of(result: Result) -> tuple[bool, str]:
    """By what rows are sorted: models that the paper does not have come last."""
    return not is_of_the_paper(result), name_of(result)


def benchmark_seed(result: Result) -> int:
    """The seed of the benchmark that it was trained and tested on."""
    return int(result.get("benchmark_seed", 0))  # older results are all of the first


def as_the_paper_sampled(result: Result) -> bool:
    """Whether its benchmark is sampled as the paper's numbers were made; results of before do not say it."""
    return "comparisons" in result


def first_seeds(results: Sequence[Result]) -> list[Result]:
    """Of each model the run with the least seed, without those of the ablation."""
    first: dict[str, Result] = {}
    for result in sorted(results, key=_seed):
        if result.get("variant") is None:
            first.setdefault(name_of(result), result)
    return list(first.values())


def _seed(result: Result) -> int:
    return int(settings_of(result)["seed"])


def beside_the_paper(result: Result) -> dict[str, Any]:
    """The metrics of the queries for entities as the paper's are made: a baseline ranks them among values too."""
    return dict(result.get("entity_targets_among_values") or result["entity_targets"])


def mean_over_types(result: Result) -> float:
    """The mean MRR of the eight types of queries for entities."""
    by_type = result["entity_targets"]["by_type"]
    return mean(by_type[kind]["mrr"] for kind in GENERAL_TYPES)
