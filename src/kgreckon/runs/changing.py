"""Where changes go: the graph folder at a place, or the graph that a learned run carries."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from kgreckon.benchmark import is_benchmark_folder
from kgreckon.errors import UserError
from kgreckon.files import put_right
from kgreckon.graph.changes.change_log import ChangeLog
from kgreckon.graph.changes.live_graph import LiveGraph
from kgreckon.graph.changes.rewriting import rewrite_graph
from kgreckon.graph.storage import is_graph_folder
from kgreckon.models.run_files import is_run_folder
from kgreckon.runs.run_folder import GRAPH, Run


def changeable_graph(place: str | Path) -> LiveGraph:
    """The graph at a place, which may be changed; a UserError where it may not."""
    folder = Path(place)
    if is_run_folder(folder):
        run = Run.open(folder)
        if not run.is_learned:
            raise UserError(
                f"{folder} was trained on a benchmark, whose graph stays as it is: changes are for runs that learned "
                "from a graph (kgreckon learn)"
            )
        return run.live_graph()
    if not is_graph_folder(folder):
        remedy = (
            "'world' is part of the program: kgreckon learn world --out RUN makes a run that can be changed"
            if str(place) == "world"
            else f"make one with: kgreckon import {place} --out FOLDER"
            if folder.is_file()
            else "give a graph folder or a run folder"
        )
        raise UserError(f"{place} is not a graph that can be changed; {remedy}")
    if is_benchmark_folder(folder.resolve().parent):
        raise UserError(f"{folder} is the graph of a benchmark, which stays as it is")
    return LiveGraph(folder)


def compact(place: str | Path) -> int:
    """Fold the changes of a graph folder into its tables, and return how many there were.

    Others may change the graph meanwhile: their changes stand in the log of the new tables. A run learns its changes
    too, with `kgreckon learn --update`.
    """
    if is_run_folder(place):
        raise UserError(f"{place} is a run: fold its changes in, and learn them, with: kgreckon learn --update {place}")
    folder, count = changeable_graph(place).folder, standing_changes(place)
    if count:
        rewrite_graph(folder, lambda graph: graph)
    else:
        put_right(folder)
    return count


def standing_changes(place: str | Path) -> int:
    """How many changes stand in the log of a graph folder or a run; 0 where there is none."""
    folder = Path(place)
    folder = folder / GRAPH if is_run_folder(folder) else folder
    log = ChangeLog.open(folder)
    if log is None:
        return 0
    with closing(log), log.one_moment():
        return 0 if log.is_empty() else log.count()
