"""What is to be run for a graph: the nine models of the paper and the reckoner, with settings chosen on validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kgreckon.errors import UserError, unknown_name
from kgreckon.exact import ComparisonMode
from kgreckon.models.neural import ENCODINGS
from kgreckon.runs import choose_settings

RECKONER = "reckoner"
BACKBONES = ("gqe", "query2box", "query2particles")
ABLATED = ("query2particles", "sinusoidal")

# What validation chose (results/sweeps), for a backbone the same with its baseline and its number reasoning networks:
# they differ in the numbers alone. The rate falls from the first step on.
_NEURAL: dict[str, Any] = {
    "decay": 1.0,
    "dropout": 0.1,
    "answers": 16,
    "validate_every": 4_000,
    "checkpoint_every": 4_000,
}
_BACKBONE: dict[str, dict[str, Any]] = {
    "gqe": {"learning_rate": 0.008, "operator_rate": 0.125},
    "query2box": {"learning_rate": 0.016, "operator_rate": 0.125},
    "query2particles": {"learning_rate": 0.004, "operator_rate": 0.25, "value_weight": 0.5},
}
# GQE and Query2Box take fewer on the graph with the fewest facts.
_STEPS: dict[str, dict[str, int]] = {
    "db15k": {"gqe": 12_000, "query2box": 12_000, "query2particles": 12_000},
    "fb15k": {"gqe": 20_000, "query2box": 20_000, "query2particles": 10_000},
    "yago15k": {"gqe": 20_000, "query2box": 20_000, "query2particles": 10_000},
}
# What validation chose for a graph, beside the reckoner's defaults.
_RECKONER: dict[str, dict[str, Any]] = {"fb15k": {"epochs": 35, "regularisation": 0.01}}
# One thing changed at a time, by what is to be seen; other encodings are rows of their own.
_ABLATION: dict[str, dict[str, Any]] = {
    "MAP loss on values": {"value_loss": "map"},
    "MAP loss on values, no prior": {"value_loss": "map", "type_prior": False},
    "values fixed, not learned": {"learn_values": False},
}
COMPUTED = "computed comparisons"
# The paper's own numerical phase: a Gaussian, a prior of its type, the MAP loss, and values as their encoding alone.
_PAPER_LOSS: dict[str, Any] = {"value_loss": "map", "learn_values": False}
PAPER_LOSS = "the paper's MAP loss"


@dataclass(frozen=True)
class Plan:
    """One run: its name, the settings that differ from the defaults, and the benchmark it is for."""

    name: str
    settings: dict[str, Any]
    mode: ComparisonMode = ComparisonMode.RELEASED
    variant: str | None = None  # what an ablation changes


def plans_for(
    dataset: str,
    models: Sequence[str] = (),
    changes: dict[str, Any] | None = None,
    seeds: int = 1,
    ablation: bool = False,
    paper_loss: bool = False,
) -> list[Plan]:
    """The runs of a graph in the order in which they are taken: the reckoner, then the cheaper backbones first.

    `models` names some of them: a backbone, a backbone and a form (`gqe-dice`), or the reckoner. Each is run with so
    many seeds. The ablation is that of Query2Particles with sinusoidal numbers. With `paper_loss` the models with
    number reasoning are also run with the paper's own loss.
    """
    for name in changes or {}:
        if name in ("model", "encoding", "seed"):
            raise UserError(f"{name} distinguishes runs: choose it with --models and --seeds")
    plans = [Plan(RECKONER, {"model": RECKONER, **_RECKONER.get(dataset, {})})]
    plans += [_neural(dataset, model, encoding, changes or {}) for model in BACKBONES for encoding in ENCODINGS]
    known = [RECKONER, *BACKBONES, *(plan.name for plan in plans[1:])]
    for name in models:
        if name not in known:
            raise unknown_name("model", name, known)
    chosen = [plan for plan in plans if not models or plan.name in models or plan.settings["model"] in models]
    more = [_with_seed(plan, seed) for plan in chosen for seed in range(1, seeds)]
    taken = [*chosen, *more, *(_ablated(dataset, changes or {}) if ablation else ())]
    if paper_loss:
        taken += [_with_paper_loss(plan) for plan in chosen if plan.settings.get("encoding", "baseline") != "baseline"]
    for plan in taken:
        choose_settings(**plan.settings)  # an error in them is raised before anything is built
    return taken


def _neural(dataset: str, model: str, encoding: str, changes: dict[str, Any]) -> Plan:
    chosen = {**_NEURAL, **_BACKBONE[model], "steps": _STEPS[dataset][model]}
    return Plan(f"{model}-{encoding}", {"model": model, "encoding": encoding, **chosen, **changes})


def _with_seed(plan: Plan, seed: int) -> Plan:
    return replace(plan, name=f"{plan.name}-seed{seed}", settings={**plan.settings, "seed": seed})


def _with_paper_loss(plan: Plan) -> Plan:
    settings = {**plan.settings, **_PAPER_LOSS}
    return replace(plan, name=f"{plan.name}-paper-loss", settings=settings, variant=PAPER_LOSS)


def _ablated(dataset: str, changes: dict[str, Any]) -> list[Plan]:
    whole = _neural(dataset, *ABLATED, changes)
    plans = [
        replace(whole, name=f"{whole.name}-{_slug(variant)}", settings={**whole.settings, **change}, variant=variant)
        for variant, change in _ABLATION.items()
    ]
    computed = replace(whole, name=f"{whole.name}-{_slug(COMPUTED)}", mode=ComparisonMode.COMPUTED, variant=COMPUTED)
    return [*plans, computed]


def _slug(text: str) -> str:
    return text.lower().replace(",", "").replace(" ", "-")
