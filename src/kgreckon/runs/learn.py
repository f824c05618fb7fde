"""Learning from all facts of a graph into a run folder: a trial that is measured on facts it has not seen, then all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from kgreckon.errors import UserError
from kgreckon.files import write_json
from kgreckon.graph import KnowledgeGraph
from kgreckon.models.held_back import HeldBack, hold_back
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.registry import DEFAULT_MODEL, choose_settings
from kgreckon.processes import started_together
from kgreckon.runs.measuring import measure
from kgreckon.runs.quality import Quality, Suggestion
from kgreckon.runs.run_folder import QUALITY, Run
from kgreckon.runs.train import check_together

Suggest = Callable[[Run, Quality], tuple[Suggestion, ...]]
HELD_BACK = 0.1  # of the facts and values, while the model is calibrated and measured
_CALIBRATED_ON = 0.5  # of what is held back; on the rest it is seen what probabilities are worth


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
    from kgreckon.models.checkpoints import forget_checkpoint
    from kgreckon.models.devices import device_for

    if not 0 < held_back <= 0.5:
        raise UserError(f"the share of facts to hold back must be above 0 and at most 0.5, not {held_back:g}")
    device = device_for(settings.get("device", "auto"))
    processes = started_together(device)
    chosen = choose_settings(model, preset or ("small" if device.type == "cpu" else None), **settings)
    check_together(chosen, processes)
    progress = progress or TrainingProgress()
    with processes.writing(Path(out), make=True):
        processes.first(lambda: Run.begin_learning(Path(out), graph, chosen, held_back))
        run = Run.open(out)
        start = perf_counter()
        kept, hidden = hold_back(graph, held_back, np.random.default_rng(chosen.seed))
        if not len(kept.facts) + len(kept.attribute_facts):
            raise UserError("the graph has too few facts to learn from")
        calibrated_on, unseen = hidden.split(_CALIBRATED_ON, np.random.default_rng([chosen.seed, 1]))
        with processes.writing(run.trial.folder, make=True):
            run.family.learn(run.trial, kept, calibrated_on, chosen, device, progress)

        def measured() -> None:
            if run.quality() is not None:
                return
            progress.stage("measuring on the facts that were held back")
            trial = run.family.open_learned(run.trial, kept, kept, hidden.stated_share, chosen, device)
            report = measure(trial, hidden, held_back, np.random.default_rng(chosen.seed), unseen=unseen)
            write_json(run.folder / QUALITY, report.model_dump())

        def finished() -> None:
            report = run.quality()
            if report is not None and report.seconds == 0:
                suggestions = () if suggest is None else suggest(run, report)
                told = {"seconds": round(perf_counter() - start, 1), "suggestions": suggestions}
                write_json(run.folder / QUALITY, report.model_copy(update=told).model_dump())
            for files in (run.trial, run.files):  # nothing is left to go on with
                forget_checkpoint(files)

        processes.first(measured)
        everything = HeldBack.nothing(graph, hidden.stated_share)
        run.family.learn(run.files, graph, everything, chosen, device, progress, run.trial)
        processes.first(finished)
    return run
