"""What is to be run for a graph: the nine models of the paper and the reckoner, with settings chosen on validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kgreckon.errors import unknown_name
from kgreckon.models import NUMBER_FORMS

RECKONER = "reckoner"
BACKBONES = ("gqe", "query2box", "query2particles")

# The same budget for a baseline and its number reasoning networks: they differ in the numbers alone.
_NEURAL: dict[str, Any] = {"steps": 25_000, "decay": 0.5, "validate_every": 5_000, "checkpoint_every": 5_000}
# What validation chose for a graph, beside the reckoner's defaults.
_RECKONER: dict[str, dict[str, Any]] = {"fb15k": {"epochs": 35, "regularisation": 0.01}}


@dataclass(frozen=True)
class Plan:
    """One run: its name, and the settings that differ from the defaults."""

    name: str
    settings: dict[str, Any]


def plans_for(preset: str, models: Sequence[str] = (), changes: dict[str, Any] | None = None) -> list[Plan]:
    """The runs of a graph in the order in which they are taken: the cheap ones first.

    `models` names some of them: a backbone, a backbone and a form (`gqe-dice`), or the reckoner.
    """
    plans = [Plan(RECKONER, {"model": RECKONER, **_RECKONER.get(preset, {})})]
    plans += [
        Plan(f"{model}-{numbers}", {"model": model, "numbers": numbers, **_NEURAL, **(changes or {})})
        for model in BACKBONES
        for numbers in NUMBER_FORMS
    ]
    known = [RECKONER, *BACKBONES, *(plan.name for plan in plans[1:])]
    for name in models:
        if name not in known:
            raise unknown_name("model", name, known)
    return [plan for plan in plans if not models or plan.name in models or plan.settings["model"] in models]
