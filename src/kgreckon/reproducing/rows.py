"""What a report asks of a result: whose it is, its seed, and what it reached."""

from __future__ import annotations

from statistics import mean
from typing import Any

from kgreckon.query import GENERAL_TYPES

Result = dict[str, Any]  # as `reproducing.result_of` gives it


def is_reckoner(result: Result) -> bool:
    """Whether it is a run of the reckoner, which has settings of its own."""
    return "reckoner" in result["settings"]


def name_of(result: Result) -> str:
    """The model and its form of numbers."""
    if is_reckoner(result):
        return "reckoner"
    settings = result["settings"]["model"]
    return f"{settings['model']}, {settings['numbers']}"


def made_on(result: Result) -> str:
    """The device and the versions it was made with, as far as the run told them."""
    versions = (("torch", "torch"), ("Python", "python"), ("kgreckon", "kgreckon"))
    return ", ".join([result["device_name"], *(f"{name} {result[key]}" for name, key in versions if result.get(key))])


def place_of(result: Result) -> tuple[bool, str]:
    """By what rows are sorted: the reckoner comes last."""
    return is_reckoner(result), name_of(result)


def benchmark_seed(result: Result) -> int:
    """The seed of the benchmark that it was trained and tested on."""
    return int(result.get("benchmark_seed", 0))  # older results are all of the first


def first_seeds(results: list[Result]) -> list[Result]:
    """Of each model the run with the least seed, without those of the ablation."""
    found: dict[str, Result] = {}
    for result in sorted(results, key=_seed):
        if result.get("variant") is None:
            found.setdefault(name_of(result), result)
    return list(found.values())


def _seed(result: Result) -> int:
    settings = result["settings"]
    return int(settings["reckoner"]["seed"] if is_reckoner(result) else settings["training"]["seed"])


def mean_over_types(result: Result) -> float:
    """The mean MRR of the eight types of queries for entities."""
    by_type = result["entity_targets"]["by_type"]
    return mean(by_type[kind]["mrr"] for kind in GENERAL_TYPES)
