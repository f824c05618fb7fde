"""A graph folder as it is now: its tables with all changes of its log, and the way to make another."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.graph.changes.change import Change
from kgreckon.graph.changes.change_log import ChangeLog
from kgreckon.graph.changes.changed_graph import changed_graph
from kgreckon.graph.changes.overlay import Overlay
from kgreckon.graph.folder_format import HEADER
from kgreckon.graph.knowledge_graph import KnowledgeGraph
from kgreckon.graph.storage import graph_identity, open_tables

_TRIES = 100


@dataclass(frozen=True)
class Moment:
    """A graph at one moment, which later changes do not reach."""

    graph: KnowledgeGraph
    tables: KnowledgeGraph  # without the changes
    changes: tuple[Change, ...]  # that stand in the log, in order
    number: int  # of the last of them

    def since(self, earlier: Moment) -> tuple[Change, ...] | None:
        """The changes after an earlier moment; None where the tables are others."""
        if earlier.tables is not self.tables:
            return None
        return self.changes[len(earlier.changes) :]


class LiveGraph:
    """A graph folder that others may change; several threads may ask for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._log: ChangeLog | None = None
        self._seen = 0  # the version of the log that was read
        self._moment = self._opened()

    def now(self) -> Moment:
        """The graph as it is: what was confirmed before is in it."""
        with self._lock:
            if self._place() != self._header or (self._log is not None and not self._log.is_here()):
                self._moment = self._opened()
            elif self._log is None:
                if (log := ChangeLog.open(self.folder)) is not None:
                    self._log = log
                    self._moment = self._followed(self._moment)
            elif self._log.version() != self._seen:
                self._moment = self._followed(self._moment)
            return self._moment

    def change(self, draft: Callable[[KnowledgeGraph], Change]) -> Change:
        """Make a change, which is durable when this returns.

        `draft` is given the graph as it is then, while nobody else can change it; an error of its changes nothing.
        """
        with self.locked() as log:
            change = draft(self._moment_of(log).graph)
            if change:
                log.append(change)
        return change

    @contextmanager
    def locked(self) -> Iterator[ChangeLog]:
        """The log, while nobody else can change the graph."""
        while True:
            identity = graph_identity(self.folder)
            with ChangeLog.writing(self.folder, graph_identity) as log:
                if graph_identity(self.folder) == identity:  # else the log may be the one of before
                    yield log
                    return

    def _moment_of(self, log: ChangeLog) -> Moment:
        """The graph as a log that is locked says it is."""
        moment = self.now()
        identity, _, last = log.head()
        if last != moment.number or identity != graph_identity(self.folder):
            raise UserError(f"{self.folder} is not the graph that its changes are of")
        return moment

    def _place(self) -> tuple[int, int]:
        try:
            found = (self.folder / HEADER).stat()
        except OSError:
            return (0, 0)
        return found.st_ino, found.st_mtime_ns

    def _opened(self) -> Moment:
        """The tables and the log of one folder, even while it is being replaced."""
        for _ in range(_TRIES):
            if self._log is not None:
                self._log.close()
            self._header, identity = self._place(), graph_identity(self.folder)
            tables, self._log = open_tables(self.folder), ChangeLog.open(self.folder)
            if identity != graph_identity(self.folder) or (self._log is not None and not self._log.is_here()):
                continue
            self._overlay, self._identity = Overlay(tables) if tables.comparisons is None else None, identity
            return self._followed(Moment(tables, tables, (), -1))
        raise UserError(f"{self.folder} is replaced again and again: try later")

    def _followed(self, before: Moment) -> Moment:
        """The graph after the changes that are new in the log."""
        log = self._log
        if log is None:
            return Moment(before.graph, before.tables, before.changes, max(0, before.number))
        self._seen = log.version()
        with log.one_moment():
            if log.is_empty():
                return Moment(before.graph, before.tables, before.changes, max(0, before.number))
            identity, first, last = log.head()
            if identity != self._identity:
                raise UserError(
                    f"{self.folder} holds changes of another graph: remove {log.path.name} to go on without them"
                )
            number = max(first, before.number)
            news = log.after(number)
        if not news:
            return Moment(before.graph, before.tables, before.changes, last)
        if self._overlay is None:
            raise UserError(f"{self.folder} carries the numerical edges of a benchmark, and cannot be changed")
        for place, change in news:
            try:
                self._overlay.apply(change)
            except UserError as error:
                raise UserError(f"{log.path} is damaged: change {place}: {error}") from None
        changes = (*before.changes, *(change for _, change in news))
        return Moment(changed_graph(self._overlay), before.tables, changes, last)


def open_graph_folder(folder: Path) -> KnowledgeGraph:
    """The graph in `folder` with the changes of its log; its arrays are mapped from the files."""
    return LiveGraph(folder).now().graph


def check_log(folder: Path) -> bool:
    """Whether a folder has a log of changes, all of which were read and found to hold, or a UserError."""
    log = ChangeLog.open(folder)
    if log is None:
        return False
    with closing(log), log.one_moment():
        log.check()
    LiveGraph(folder)
    return True
