"""Learning the changes of a run in for good: its graph, with them in the tables, and its model, in one step."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path

from kgreckon.benchmark.format import fingerprint
from kgreckon.errors import UserError
from kgreckon.files import new_folder, put_right, read_header, write_json
from kgreckon.graph.changes.change_log import LOG
from kgreckon.graph.storage import graph_identity, write_graph
from kgreckon.models.interface import TrainingProgress
from kgreckon.models.run_files import BEST, HEADER, LAST, LAST_OF_SEVERAL, METRICS
from kgreckon.processes import started_together
from kgreckon.runs.run_folder import GRAPH, TRIAL, VERSION, Run

_MADE_ANEW = (GRAPH, BEST, LAST, LAST_OF_SEVERAL, METRICS, "calibration.json", "answer_calibration.json")


def update_run(folder: str | Path, progress: TrainingProgress | None = None) -> int:
    """Learn all facts of a run's graph as it is now, from what it has learned; returns how many changes are in.

    The run answers as before until the new one takes its place; changes that are made meanwhile stand in the log of the
    new graph. The trial model, and the report that it was measured for, stay those of the first learning.
    """
    from kgreckon.models.devices import device_for

    run = Run.open(folder)
    if not run.is_learned:
        raise UserError(f"{folder} was trained on a benchmark, which has no changes: train it again")
    live = run.live_graph()
    moment = live.now()
    if not moment.changes:
        put_right(run.folder)
        return 0
    device, share = device_for(run.settings.device), 1 - run.held_back
    if started_together(device).size > 1:
        raise UserError("changes are learned in by one process: start kgreckon without torchrun")
    with ExitStack() as until_replaced, new_folder(run.folder, HEADER, overwrite=True) as target:
        shutil.copytree(run.folder, target, ignore=_left_out, dirs_exist_ok=True)
        (target / GRAPH).mkdir()
        write_graph(moment.graph, target / GRAPH)
        if not (target / TRIAL / GRAPH).is_dir():  # the trial is of the tables that it learned from
            ignored = shutil.ignore_patterns(f"{LOG}*", ".kgreckon-*")
            shutil.copytree(run.folder / GRAPH, target / TRIAL / GRAPH, ignore=ignored)
        header = read_header(run.folder / HEADER, "run", VERSION)
        header["learned_from"] = {**header["learned_from"], "graph_hash": fingerprint(moment.graph)}
        write_json(target / HEADER, header)
        new = Run.open(target)
        new.family.go_on(
            run.files, moment.tables, new.files, moment.graph, share, run.settings, device,
            progress or TrainingProgress(),
        )  # fmt: skip
        (target / LAST).unlink(missing_ok=True)
        log = until_replaced.enter_context(live.locked())
        log.carry(moment.number, target / GRAPH, graph_identity(target / GRAPH))
    return len(moment.changes)


def _left_out(folder: str, names: list[str]) -> set[str]:
    """What is not copied: what is made anew at the top of a run, and what locks it."""
    top = (Path(folder) / HEADER).is_file() and Path(folder).name != TRIAL
    return {name for name in names if (top and name in _MADE_ANEW) or name.startswith(".kgreckon-")}
