"""Learning from all facts of a graph into a run folder: a trial that is measured on facts it has not seen, then all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kgreckon.errors import UserError
from kgreckon.files import write_json, writing
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.held_back import HeldBack, hold_back
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.registry import DEFAULT_MODEL, choose_settings
from kgreckon.models.run_files import LAST
from kgreckon.runs.measuring import measure
from kgreckon.runs.quality import Quality, Suggestion
from kgreckon.runs.run_folder import QUALITY, Run

Suggest = Callable[[Run, Quality], tuple[Suggestion, ...]]
HELD_BACK = 0.1  # of the facts and values, while the model is calibrated and measured


def learn_graph(
    graph: KnowledgeGraph,
    out: str | Path,
    *,
    held_back: float = HELD_BACK,
    model: str = DEFAULT_MODEL,
    preset: str | None = None,
    progress: TrainingProgress | None = None,
    suggest: Suggest | None = None,
    **settings: Any,
) -> Run:
    """Learn from all facts of a graph into the run folder `out`, which carries the graph.

    A share of the facts is held back from a trial model, which is calibrated and measured on them; then the model
    learns from them too. `suggest` says what to ask it next. A run that was begun there with the same graph and
    settings goes on. Without a preset a CPU takes the small one.
    """
    from kgreckon.models.devices import device_for

    if not 0 < held_back <= 0.5:
        raise UserError(f"the share of facts to hold back must be above 0 and at most 0.5, not {held_back:g}")
    device = device_for(settings.get("device", "auto"))
    chosen = choose_settings(model, preset or ("small" if device.type == "cpu" else None), **settings)
    progress = progress or TrainingProgress()
    with writing(Path(out), make=True):
        run = Run.begin_learning(Path(out), graph, chosen, held_back)
        start = perf_counter()
        kept, hidden = hold_back(graph, held_back, np.random.default_rng(chosen.seed))
        if not len(kept.facts) + len(kept.attribute_facts):
            raise UserError("the graph has too few facts to learn from")
        with writing(run.trial.folder, make=True):
            run.family.learn(run.trial, kept, hidden, chosen, device, progress)
        report = run.quality()
        if report is None:
            progress.stage("measuring on the facts that were held back")
            trial = run.family.open_learned(run.trial, kept, kept, hidden.stated_share, chosen, device)
            report = measure(trial, hidden, held_back, np.random.default_rng(chosen.seed))
            write_json(run.folder / QUALITY, report.model_dump())
        run.family.learn(
            run.files, graph, HeldBack.nothing(graph, hidden.stated_share), chosen, device, progress, run.trial
        )
        if report.seconds == 0:
            suggestions = () if suggest is None else suggest(run, report)
            told = {"seconds": round(perf_counter() - start, 1), "suggestions": suggestions}
            write_json(run.folder / QUALITY, report.model_copy(update=told).model_dump())
        for files in (run.trial, run.files):  # nothing is left to go on with
            (files.folder / LAST).unlink(missing_ok=True)
    return run
