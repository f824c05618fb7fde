"""The log of a graph's changes: a SQLite database in its folder, in which a confirmed change is durable.

Whoever writes holds SQLite's own lock, also while a folder is replaced by one in which the changes are folded in. So
two writers come one after the other, and none writes into a folder that is not at its place any more.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

from kgreckon.errors import UserError
from kgreckon.files import checksum
from kgreckon.graph.changes.change import Change

LOG = "changes.sqlite"
_FORMAT = 0x6B676368  # "kgch", SQLite's number of an application
_VERSION = 1
_PATIENCE = 30.0  # seconds for which a writer or reader waits for another
_TABLES = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), graph TEXT NOT NULL, first INTEGER NOT NULL, "
    "last INTEGER NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE change (number INTEGER PRIMARY KEY, made_at TEXT NOT NULL, content TEXT NOT NULL, "
    "checksum TEXT NOT NULL)",
)


class ChangeLog:
    """The log of the graph folder at a place, as it is now; several processes may have it open."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder, self.path, self._connection = folder, folder / LOG, connection
        self._place = _identity(self.path)
        self.close: Callable[[], object] = connection.close

    @staticmethod
    def open(folder: Path) -> ChangeLog | None:
        """The log of a folder to read from, as long as it is not closed; None where it has none."""
        if not (folder / LOG).is_file():
            return None
        log = ChangeLog(folder, _connected(folder, "rw"))
        log.close = weakref.finalize(log, log._connection.close)
        return log

    def version(self) -> int:
        """A number that another process or thread's change makes another."""
        with _plainly(self.folder):
            return int(self._connection.execute("PRAGMA data_version").fetchone()[0])

    @contextmanager
    def one_moment(self) -> Iterator[None]:
        """All that is read within is of one moment."""
        with _plainly(self.folder):
            self._connection.execute("BEGIN")
            try:
                yield
            finally:
                self._connection.execute("COMMIT")

    @staticmethod
    @contextmanager
    def writing(folder: Path, graph_at: Callable[[Path], str]) -> Iterator[ChangeLog]:
        """The log of a folder, made where there is none, locked for others who write.

        `graph_at` tells the identity of the graph in a folder, which changes are of. What is appended is durable, and
        seen by others, when the block ends; nothing of it if the block fails.
        """
        while True:
            with closing(_connected(folder, "rwc")) as connection, _plainly(folder):
                connection.execute("PRAGMA synchronous = EXTRA")
                log = ChangeLog(folder, connection)
                connection.execute("BEGIN IMMEDIATE")
                graph = graph_at(folder)
                if not log.is_here():  # the folder was replaced: the log, and perhaps the graph, are of another one
                    continue
                if log.is_empty():  # of itself: what is written while the folder is replaced cannot be committed
                    _make(connection, graph)
                    connection.execute("COMMIT")
                    continue
                try:
                    yield log
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                if log.is_here():
                    connection.execute("COMMIT")
                return  # else its folder has been replaced and is gone: what counts was carried to the new one

    def is_here(self) -> bool:
        """Whether this is still the log of the folder at its place."""
        return _identity(self.path) == self._place

    def is_empty(self) -> bool:
        """Whether it was only begun, by a writer that was killed."""
        return not self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def head(self) -> tuple[str, int, int]:
        """The graph that the changes are of, the number before the first of them, and that of the last."""
        rows = self._connection.execute("SELECT graph, first, last, checksum FROM head").fetchall()
        if len(rows) != 1 or rows[0][3] != _sealed(*rows[0][:3]):
            raise _damaged(self.folder, "it has no head")
        return rows[0][0], rows[0][1], rows[0][2]

    def count(self) -> int:
        """How many changes there are."""
        _, first, last = self.head()
        return last - first

    def after(self, number: int) -> list[tuple[int, Change]]:
        """The changes after one, with their numbers."""
        _, first, last = self.head()
        rows = self._connection.execute(
            "SELECT number, made_at, content, checksum FROM change WHERE number > ? ORDER BY number", (number,)
        ).fetchall()
        if [row[0] for row in rows] != list(range(max(first, number) + 1, last + 1)):
            raise _damaged(self.folder, "changes are missing")
        found = []
        for place, made_at, content, seal in rows:
            if seal != _sealed(place, made_at, content):
                raise _damaged(self.folder, f"change {place} has another checksum")
            try:
                found.append((place, Change.from_text(content)))
            except UserError as error:
                raise _damaged(self.folder, f"change {place}: {error}") from None
        return found

    def append(self, change: Change) -> int:
        """Put a change after all others; returns its number."""
        graph, first, last = self.head()
        made_at, content = datetime.now(UTC).isoformat(timespec="milliseconds"), change.as_text()
        row = (last + 1, made_at, content, _sealed(last + 1, made_at, content))
        self._connection.execute("INSERT INTO change VALUES (?, ?, ?, ?)", row)
        _set_head(self._connection, graph, first, last + 1)
        return last + 1

    def carry(self, number: int, folder: Path, graph: str) -> None:
        """Write the log of a new folder: of the graph in which all changes up to a number are folded in."""
        rows = self._connection.execute("SELECT * FROM change WHERE number > ?", (number,)).fetchall()
        with closing(_connected(folder, "rwc")) as connection:
            connection.execute("BEGIN IMMEDIATE")
            _make(connection, graph)
            connection.executemany("INSERT INTO change VALUES (?, ?, ?, ?)", rows)
            _set_head(connection, graph, number, self.head()[2])
            connection.execute("COMMIT")

    def check(self) -> None:
        """Raise a UserError unless the database and all changes in it are whole."""
        problems = [row[0] for row in self._connection.execute("PRAGMA integrity_check")]
        if problems != ["ok"]:
            raise _damaged(self.folder, str(problems[0]).splitlines()[0])
        if not self.is_empty():
            self.after(0)


def _connected(folder: Path, mode: str) -> sqlite3.Connection:
    path = folder / LOG
    if mode == "rw" and not os.access(path, os.W_OK):
        mode = "ro"  # where it can be written, what a killed writer left is undone first
    try:
        connection = sqlite3.connect(
            f"{path.resolve().as_uri()}?mode={mode}",
            uri=True,
            timeout=_PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
    except sqlite3.OperationalError as error:
        raise UserError(f"{path} cannot be opened: {error}") from None
    try:
        with _plainly(folder):
            application = connection.execute("PRAGMA application_id").fetchone()[0]
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if tables and (application, version) != (_FORMAT, _VERSION):
                raise _damaged(folder, f"it is not a log of version {_VERSION}")
            if not tables and path.stat().st_size:
                raise _damaged(folder, "it has no tables")
    except BaseException:
        connection.close()
        raise
    return connection


def _make(connection: sqlite3.Connection, graph: str) -> None:
    connection.execute(f"PRAGMA application_id = {_FORMAT}")
    connection.execute(f"PRAGMA user_version = {_VERSION}")
    for table in _TABLES:
        connection.execute(table)
    _set_head(connection, graph, 0, 0)


def _set_head(connection: sqlite3.Connection, graph: str, first: int, last: int) -> None:
    seal = _sealed(graph, first, last)
    connection.execute("INSERT OR REPLACE INTO head VALUES (1, ?, ?, ?, ?)", (graph, first, last, seal))


def _sealed(*parts: str | int) -> str:
    return checksum("\0".join(map(str, parts)).encode())


def _identity(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return found.st_dev, found.st_ino


@contextmanager
def _plainly(folder: Path) -> Iterator[None]:
    """SQLite's errors as errors of a user's."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise UserError(f"{folder} is being changed by another process: try again") from None
        if "readonly" in str(error) or "full" in str(error) or "disk I/O" in str(error):
            raise UserError(f"{folder / LOG} cannot be written: {error}") from None
        raise _damaged(folder, str(error)) from None
    except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:
        raise _damaged(folder, str(error)) from None


def _damaged(folder: Path, problem: str) -> UserError:
    return UserError(f"{folder / LOG} is damaged: {problem}; kgreckon check FOLDER says what still holds")
