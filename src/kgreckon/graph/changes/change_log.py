"""The log of a graph's changes: a SQLite database in its folder, in which a confirmed change is durable.

Whoever writes holds SQLite's own lock, and whoever replaces the folder holds it while the new one takes its place. So
two writers come one after the other, and none writes into a folder that is not at its place any more.
"""

from __future__ import annotations

import os
import sqlite3
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic, sleep

from kgreckon.errors import UserError
from kgreckon.files import checksum
from kgreckon.graph.changes.change import Change

LOG = "changes.sqlite"
_FORMAT = 0x6B676368  # "kgch", SQLite's number of an application
_VERSION = 1
_ABSENT = (0, 0)  # in the place of a file's device and number
_PATIENCE = 30.0  # seconds for which a writer or reader waits for another
_TABLES = (
    "CREATE TABLE head (one INTEGER PRIMARY KEY CHECK (one = 1), graph TEXT NOT NULL, first INTEGER NOT NULL, "
    "last INTEGER NOT NULL, checksum TEXT NOT NULL)",
    "CREATE TABLE change (number INTEGER PRIMARY KEY, made_at TEXT NOT NULL, content TEXT NOT NULL, "
    "checksum TEXT NOT NULL)",
)


class _BusyError(UserError):
    """Another process holds the log for longer than one waits."""


class ChangeLog:
    """The log of the graph folder at a place, as it is now; several processes may have it open."""

    def __init__(self, folder: Path, mode: str) -> None:
        self.folder, self.path = folder, folder / LOG
        self._place, self._connection = _connected(folder, mode)
        self.close: Callable[[], object] = self._connection.close

    @staticmethod
    def open(folder: Path) -> ChangeLog | None:
        """The log of a folder to read from, as long as it is not closed; None where it has none."""
        try:
            log = ChangeLog(folder, "rw")
        except FileNotFoundError:
            return None
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
            with closing(ChangeLog(folder, "rwc")) as log, _plainly(folder):
                connection = log._connection
                connection.execute("PRAGMA synchronous = EXTRA")
                log._wait_for_others()
                graph = graph_at(folder)
                if not log.is_here():  # the folder was replaced: the log, and perhaps the graph, are of another one
                    continue
                # Of itself: SQLite begins a journal for an empty one, and would remove it by a name that is of another
                # log once the folder has been replaced.
                if log.is_empty():
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
                return  # else the block has replaced the folder: what counts was carried to the new one

    @staticmethod
    @contextmanager
    def still(folder: Path, graph_at: Callable[[Path], str]) -> Iterator[None]:
        """Nobody changes the graph in a folder, which the block replaces; it may be damaged."""
        with ExitStack() as locked:
            if os.name != "nt":  # Windows renames no folder in which a file is open
                try:
                    locked.enter_context(ChangeLog.writing(folder, graph_at))
                except _BusyError:
                    raise
                except UserError:
                    pass  # nobody else can write it either
            yield

    def _wait_for_others(self) -> None:
        """Take SQLite's lock; it is not asked for in a folder that has been replaced, whose journal is another's."""
        since = monotonic()
        self._connection.execute("PRAGMA busy_timeout = 0")
        while True:
            try:
                if self.is_here():
                    self._connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or monotonic() - since > _PATIENCE:
                    raise
            sleep(0.005)
        self._connection.execute(f"PRAGMA busy_timeout = {_PATIENCE * 1000:.0f}")

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
        with closing(ChangeLog(folder, "rwc")) as log:
            connection = log._connection
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


def _connected(folder: Path, mode: str) -> tuple[tuple[int, int], sqlite3.Connection]:
    """Which file the log of a folder is, and a connection to it; a FileNotFoundError where none is to be made."""
    path = folder / LOG
    while True:
        place = _identity(path)
        if mode != "rwc" and place == _ABSENT:
            raise FileNotFoundError(path)
        # Where it can be written, what a killed writer left is undone first.
        readable = "ro" if mode == "rw" and not os.access(path, os.W_OK) else mode
        try:
            connection = sqlite3.connect(
                f"{path.resolve().as_uri()}?mode={readable}",
                uri=True,
                timeout=_PATIENCE,
                isolation_level=None,
                check_same_thread=False,
            )
        except sqlite3.OperationalError as error:
            if _identity(path) != place:
                continue
            raise UserError(f"{path} cannot be opened: {error}") from None
        try:
            if _identity(path) == place != _ABSENT:
                with _plainly(folder):
                    _check_format(folder, connection)
                return place, connection
        except BaseException:
            connection.close()
            raise
        connection.close()  # it was made, or its folder replaced, meanwhile: which of the two is open is not known


def _check_format(folder: Path, connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN")  # so that all is of one moment, even while another writer makes the tables
    application, version, pages, tables = (
        connection.execute(query).fetchone()[0]
        for query in (
            "PRAGMA application_id", "PRAGMA user_version", "PRAGMA page_count", "SELECT count(*) FROM sqlite_master",
        )
    )  # fmt: skip
    connection.execute("COMMIT")
    if tables and (application, version) != (_FORMAT, _VERSION):
        raise _damaged(folder, f"it is not a log of version {_VERSION}")
    if pages and not tables:
        raise _damaged(folder, "it has no tables")


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
        return _ABSENT
    return found.st_dev, found.st_ino


@contextmanager
def _plainly(folder: Path) -> Iterator[None]:
    """SQLite's errors as errors of a user's."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise _BusyError(f"{folder} is being changed by another process: try again") from None
        if error.sqlite_errorcode == sqlite3.SQLITE_READONLY_DBMOVED:
            raise UserError(f"{folder} was moved or removed meanwhile: nothing is changed") from None
        if "readonly" in str(error) or "full" in str(error) or "disk I/O" in str(error):
            raise UserError(f"{folder / LOG} cannot be written: {error}") from None
        raise _damaged(folder, str(error)) from None
    except (sqlite3.DatabaseError, UnicodeDecodeError, OverflowError) as error:
        raise _damaged(folder, str(error)) from None


def _damaged(folder: Path, problem: str) -> UserError:
    return UserError(f"{folder / LOG} is damaged: {problem}; kgreckon check FOLDER says what still holds")
